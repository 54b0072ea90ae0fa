//! What each policy lets through on the real CLI.

use serde_json::{Value, json};
use testkit::client::Event;
use testkit::model_server::Reply;

use crate::permissions::{asked, choose};
use crate::replies::{beyond, create, delegate, shell};
use crate::setup::{SOON, Setup, start_under, start_with};

/// Codex tries a command outside of its own sandbox and a patch, one after the other.
async fn tries_both(setup: &Setup) {
    setup.main([delegate("try", "try both"), Reply::text("Tried.")]);
    setup.coder([
        Reply::new().and_call(beyond("echo made > made.txt")),
        Reply::new().and_call(create("patched.txt", "patched")),
        Reply::text("Tried."),
    ]);
    setup.send("go").await;
}

/// Codex tries a command inside of its sandbox, for which it may not ask at all. What is asked is refused.
async fn tries_quietly(setup: &mut Setup) {
    setup.main([delegate("try", "try it quietly"), Reply::text("Tried.")]);
    setup.coder([Reply::new().and_call(shell("echo quietly > quietly.txt")), Reply::text("Tried.")]);
    setup.send("go").await;
    let is_end = |event: &Event| event.kind == "turn" && event.data["state"] != "running";
    loop {
        let event = setup.client.until("question or end", SOON, |event| event.kind == "permission-request" || is_end(event)).await;
        if is_end(&event) {
            return assert_eq!(event.data["state"], "completed");
        }
        assert_eq!(choose(setup, &event.data, "reject_once").await, 202);
    }
}

fn questions(setup: &Setup) -> usize {
    setup.client.seen.of_kind("permission-request").count()
}

#[tokio::test]
async fn the_policy_auto_lets_commands_and_patches_through_and_asks_nobody() {
    let mut setup = start_under("auto").await;
    tries_both(&setup).await;
    assert_eq!(setup.turn_end().await, "completed", "{}", setup.client.seen.tail());
    assert_eq!((setup.read("made.txt").as_str(), setup.read("patched.txt").as_str()), ("made\n", "patched\n"));
    assert_eq!(questions(&setup), 0);
    setup.end().await;
}

#[tokio::test]
async fn the_policies_ask_and_read_only_ask_for_each() {
    for policy in ["ask", "read-only"] {
        let mut setup = start_under(policy).await;
        tries_both(&setup).await;
        for (file, kind) in [("made.txt", "execute"), ("patched.txt", "edit")] {
            let question: Value = asked(&mut setup).await;
            assert_eq!(question["kind"], kind, "{policy}: {question}");
            assert!(!setup.exists(file), "{policy}: {file} before the answer");
            assert_eq!(choose(&setup, &question, "allow_once").await, 202);
        }
        assert_eq!(setup.turn_end().await, "completed", "{policy}");
        assert_eq!((setup.read("made.txt").as_str(), setup.read("patched.txt").as_str()), ("made\n", "patched\n"), "{policy}");
        tries_quietly(&mut setup).await;
        assert!(!setup.exists("quietly.txt"), "{policy}");
        setup.end().await;
    }
}

#[tokio::test]
async fn the_policy_deny_changes_nothing_and_asks_nobody() {
    let mut setup = start_under("deny").await;
    tries_both(&setup).await;
    assert_eq!(setup.turn_end().await, "completed", "{}", setup.client.seen.tail());
    tries_quietly(&mut setup).await;
    assert!(!setup.exists("made.txt") && !setup.exists("patched.txt") && !setup.exists("quietly.txt"));
    assert_eq!(questions(&setup), 0);
    setup.end().await;
}

/// What Codex's own configuration would let through without a question is held to the policy all the same.
#[tokio::test]
async fn the_policy_goes_before_codexs_own_configuration() {
    let own = "approval_policy = \"never\"\nsandbox_mode = \"danger-full-access\"\n";
    let mut setup = start_with(testkit::model_server::Script::new(), json!({ "permission_policy": "deny" }), |rig| {
        let file = rig.codex_home().join("config.toml");
        let config = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, format!("{own}{config}")).unwrap();
        rig
    })
    .await;
    tries_both(&setup).await;
    assert_eq!(setup.turn_end().await, "completed", "{}", setup.client.seen.tail());
    tries_quietly(&mut setup).await;
    assert!(!setup.exists("made.txt") && !setup.exists("patched.txt") && !setup.exists("quietly.txt"));
    setup.end().await;
}

#[tokio::test]
async fn a_change_of_the_policy_counts_for_the_next_thing_that_is_asked() {
    let mut setup = start_under("ask").await;
    setup.main([delegate("change", "run it"), Reply::text("Ran.")]);
    setup.coder([Reply::new().and_call(beyond("touch one")), Reply::new().and_call(beyond("touch two")), Reply::text("Ran.")]);
    setup.send("go").await;
    asked(&mut setup).await;
    let path = format!("/api/sessions/{}", setup.session);
    let (status, body) = setup.server.call("PATCH", &path, Some(json!({ "permission_policy": "auto" }))).await;
    assert_eq!(status, 200, "{body}");
    assert_eq!(setup.turn_end().await, "completed", "{}", setup.client.seen.tail());
    assert!(setup.exists("one") && setup.exists("two"));
    assert_eq!(questions(&setup), 1);

    let (status, _) = setup.server.call("PATCH", &path, Some(json!({ "permission_policy": "deny" }))).await;
    assert_eq!(status, 200);
    tries_both(&setup).await;
    assert_eq!(setup.turn_end().await, "completed");
    assert!(!setup.exists("made.txt") && !setup.exists("patched.txt"), "also what Codex would now do without asking");
    setup.end().await;
}
