//! What an agent hides in its words, or means for a terminal, is seen by whoever reads them: in questions, on screens, in exports.

use serde_json::json;
use testkit::server::Rig;

use crate::SOON;
use crate::program::{Ended, run};

/// Clears a screen, goes back to the start of the line, reorders, and is not there.
const HIDDEN: [char; 6] = ['\u{1b}', '\r', '\u{202e}', '\u{200b}', '\u{9b}', '\u{e0041}'];

#[track_caller]
fn assert_seen(ran: &Ended) {
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(!ran.stdout.contains(HIDDEN), "{:?}", ran.stdout);
}

#[tokio::test]
async fn nothing_that_an_agent_hides_reaches_a_terminal_or_a_file() {
    let server = Rig::default().faulty_agent().start().await;
    let session = server.new_session(json!({ "model": "relay", "permission_policy": "ask", "title": "a\u{202e}b" })).await;
    let mut client = server.stream(&session, None).await;
    let hidden: String = HIDDEN.iter().collect();
    let call = json!({ "toolCallId": format!("c{hidden}"), "kind": "execute", "title": format!("List{hidden}"),
        "rawInput": { "command": format!("ls{hidden}; rm -rf ."), "cwd": format!("sub{hidden}") }, "locations": [{ "path": format!("x{hidden}") }] });
    let options = json!([{ "optionId": "yes", "name": format!("Yes{hidden}"), "kind": "allow_once" },
        { "optionId": "also", "name": "Yes, and more", "kind": "allow_once" }]);
    let calls = json!([["session/request_permission", { "toolCall": call, "options": options }]]);
    server.send(&session, &format!("calls {calls}")).await;
    client.until("the question", SOON, |event| event.kind == "permission-request").await;

    let shown = run(&server, &["approve", "--format", "text"]).await;
    assert_seen(&shown);
    for part in
        ["List⟨U+001B⟩⟨U+000D⟩⟨U+202E⟩⟨U+200B⟩⟨U+009B⟩⟨U+E0041⟩", "    ls⟨U+001B⟩", "  in sub⟨U+001B⟩", "  file ", "1) Allow: Yes⟨U+001B⟩"]
    {
        assert!(shown.stdout.contains(part), "{part} in {}", shown.stdout);
    }
    let listed = run(&server, &["approve"]).await;
    assert_seen(&listed);
    assert_eq!(listed.lines()[0]["data"]["title"], format!("List{hidden}"), "as JSON it is the same text");
    let id = listed.lines()[0]["data"]["request_id"].as_str().unwrap().to_owned();
    assert_eq!(run(&server, &["approve", &id, "allow"]).await.code, 0);
    assert_eq!(client.turn_end(SOON).await, "completed");
    server.send(&session, &format!("say red{hidden}alert")).await;
    assert_eq!(client.turn_end(SOON).await, "completed");

    let paper = run(&server, &["export", "--format", "markdown", &session]).await;
    assert_seen(&paper);
    assert!(paper.stdout.contains("red⟨U+001B⟩"), "{}", paper.stdout);
    let events = run(&server, &["export", &session]).await;
    assert_seen(&events);
    assert!(
        events.lines().iter().any(|event| event["data"]["content"].as_str().is_some_and(|text| text.contains(&hidden))),
        "nothing is lost"
    );
    assert_seen(&run(&server, &["sessions", "--format", "text"]).await);
    server.end().await;
}
