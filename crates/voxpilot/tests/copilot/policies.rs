//! What each policy lets through on the real CLI, and that a change of it counts at once.

use serde_json::{Value, json};
use testkit::model_server::{Reply, Script, ToolCall};

use crate::permissions::{asked, asking, choose};
use crate::replies::{bash, create, delegate, edit};
use crate::setup::{Setup, start_with};

async fn with_policy(policy: &str) -> Setup {
    start_with(Script::new(), json!({ "permission_policy": policy }), |rig| rig).await
}

async fn change_policy(setup: &Setup, policy: &str) {
    let path = format!("/api/sessions/{}", setup.session);
    let (status, body) = setup.server.call("PATCH", &path, Some(json!({ "permission_policy": policy }))).await;
    assert_eq!(status, 200, "{body}");
}

/// The questions so far: kind, and command or title.
fn questions(setup: &Setup) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let question = |data: &Value| (text(&data["kind"]), text(data.get("command").unwrap_or(&data["title"])));
    setup.client.seen.of_kind("permission-request").map(|event| question(&event.data)).collect()
}

/// Holds C25.
#[tokio::test]
async fn the_policy_deny_lets_nothing_through_and_asks_nobody() {
    let mut setup = with_policy("deny").await;
    setup.main([delegate("deny", "touch it"), Reply::text("It was not allowed.")]);
    setup.coder([Reply::new().and_call(bash("touch denied.txt")), Reply::text("Never said.")]);
    assert_eq!(setup.turn("go").await, "completed");
    assert!(!setup.server.rig().work_dir().join("denied.txt").exists());
    assert_eq!(questions(&setup), []);
    setup.end().await;
}

/// Holds C25.
#[tokio::test]
async fn the_policy_read_only_lets_copilot_read_and_search_and_asks_for_every_write_and_command() {
    let mut setup = with_policy("read-only").await;
    let work = setup.server.rig().work_dir();
    std::fs::write(work.join("known.txt"), "one needle\n").unwrap();
    setup.main([delegate("look", "look around, then change things"), Reply::text("Looked and changed.")]);
    setup.coder([
        Reply::new().and_call(ToolCall::new("view", json!({ "path": work.join("known.txt") }))),
        Reply::new().and_call(ToolCall::new("grep", json!({ "pattern": "needle", "output_mode": "content" }))),
        Reply::new().and_call(ToolCall::new("glob", json!({ "pattern": "**/*.txt" }))),
        // Outside of the work directory Copilot asks, and so do we.
        Reply::new().and_call(ToolCall::new("view", json!({ "path": "/etc/hostname" }))),
        Reply::new().and_call(bash("ls")),
        Reply::new().and_call(bash("cat known.txt")),
        Reply::new().and_call(edit(&work.join("known.txt"), "needle", "thread")),
        Reply::new().and_call(create(&work.join("new.txt"), "new\n")),
        Reply::text("That is all."),
    ]);
    setup.send("go").await;
    for _ in 0..5 {
        let question = asked(&mut setup).await;
        assert_eq!(choose(&setup, &question, "allow_once").await, 202);
    }
    assert_eq!(setup.turn_end().await, "completed");
    let expected = [
        ("read", "Access paths outside trusted directories"),
        ("execute", "ls"),
        ("execute", "cat known.txt"),
        ("edit", "Edit file"),
        ("edit", "Create file"),
    ];
    assert_eq!(questions(&setup), expected.map(|(kind, what)| (kind.to_owned(), what.to_owned())));
    assert_eq!((setup.read("known.txt").as_str(), setup.read("new.txt").as_str()), ("one thread\n", "new\n"));
    let told = crate::setup::said(setup.coder_requests().last().unwrap());
    assert!(told.contains("one needle"), "the reads were done: {told}");
    assert!(setup.notices("unasked_tool").is_empty(), "{:?}", setup.notices("unasked_tool"));
    setup.end().await;
}

#[tokio::test]
async fn a_change_of_the_policy_counts_at_once_also_for_what_already_waits() {
    let mut setup = asking().await;
    setup.main([delegate("change", "run four"), Reply::text("Ran.")]);
    setup.coder([
        Reply::new().and_call(bash("touch one")).and_call(bash("touch two")),
        Reply::new().and_call(bash("touch three")),
        Reply::new().and_call(bash("touch four")),
        Reply::text("Four."),
    ]);
    setup.send("go").await;
    let waiting = [asked(&mut setup).await, asked(&mut setup).await];
    change_policy(&setup, "auto").await;
    for _ in &waiting {
        let resolved = setup.until_kind("permission-resolved").await.data;
        assert_eq!((resolved["by"].as_str(), resolved["option_id"].as_str()), (Some("policy"), Some("allow_once")));
    }
    assert_eq!(choose(&setup, &waiting[0], "reject_once").await, 409);
    assert_eq!(setup.turn_end().await, "completed");
    assert_eq!(questions(&setup).len(), 2, "nobody was asked about the third and the fourth");
    assert!(["one", "two", "three", "four"].iter().all(|file| setup.server.rig().work_dir().join(file).exists()));

    change_policy(&setup, "ask").await;
    setup.main([delegate("change", "run another"), Reply::text("Not run.")]);
    setup.coder([Reply::new().and_call(bash("touch five")), Reply::text("Never said.")]);
    setup.send("and another").await;
    asked(&mut setup).await;
    change_policy(&setup, "deny").await;
    assert_eq!(setup.turn_end().await, "completed");
    assert!(!setup.server.rig().work_dir().join("five").exists());
    setup.end().await;
}

/// Holds C25.
#[tokio::test]
async fn copilots_own_allow_all_is_turned_off_where_the_policy_asks() {
    let mut setup = asking().await;
    setup.main([delegate("all", "/allow-all on"), Reply::text("Switched.")]);
    assert_eq!(setup.turn("switch").await, "completed", "{}", setup.client.seen.tail());
    // Copilot tells of the switch about when it answers.
    if setup.notices("allow_all_off").is_empty() {
        setup.until_notice("allow_all_off").await;
    }
    setup.main([delegate("all", "touch it"), Reply::text("Touched.")]);
    setup.coder([Reply::new().and_call(bash("touch all.txt")), Reply::text("Done.")]);
    setup.send("go").await;
    let question = asked(&mut setup).await;
    assert_eq!(choose(&setup, &question, "allow_once").await, 202);
    assert_eq!(setup.turn_end().await, "completed");
    assert!(setup.server.rig().work_dir().join("all.txt").exists());
    assert!(setup.notices("unasked_tool").is_empty());
    setup.end().await;
}
