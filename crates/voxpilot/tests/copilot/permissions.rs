//! Copilot asks before it acts, and does what it was told.

use serde_json::{Value, json};
use testkit::model_server::{Reply, Script};

use crate::script::{bash, create, delegate};
use crate::stage::Stage;

async fn asking() -> Stage {
    Stage::with(Script::new(), json!({ "permission_policy": "ask" }), |rig| rig).await
}

async fn answer(stage: &Stage, request: &Value, option: &str) -> u16 {
    let request = request["request_id"].as_str().unwrap();
    stage.post(&format!("permissions/{request}"), json!({ "option_id": option })).await
}

#[tokio::test]
async fn a_question_shows_the_exact_command_or_diff_and_is_answered_once() {
    let mut stage = asking().await;
    let note = stage.server.rig().work_dir().join("note.md");
    stage.main([delegate("ask", "make two files"), Reply::text("Made.")]);
    stage.coder([
        Reply::new().and_call(bash("echo yes > made.txt")),
        Reply::new().and_call(create(&note, "noted\n")),
        Reply::text("Both."),
    ]);
    stage.send("go").await;
    let command = stage.until_kind("permission-request").await.data;
    assert_eq!((command["kind"].as_str(), command["command"].as_str()), (Some("execute"), Some("echo yes > made.txt")));
    assert_eq!(command["session_name"], "ask");
    let kinds: Vec<_> = command["options"].as_array().unwrap().iter().map(|option| option["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["allow_once", "allow_always", "reject_once"]);
    assert!(!stage.server.rig().work_dir().join("made.txt").exists(), "nothing happens before the answer");
    assert_eq!(answer(&stage, &command, "no such option").await, 422);
    assert_eq!(answer(&stage, &command, "allow_once").await, 202);
    assert_eq!(answer(&stage, &command, "reject_once").await, 409);

    let diff = stage.until_kind("permission-request").await.data;
    assert!(diff["diff"].as_str().unwrap().contains("+noted"), "{diff}");
    assert_eq!(answer(&stage, &diff, "allow_once").await, 202);
    assert_eq!(stage.turn_end().await, "completed");
    assert_eq!((stage.read("made.txt").as_str(), stage.read("note.md").as_str()), ("yes\n", "noted\n"));
    assert_eq!(stage.client.seen.of_kind("permission-resolved").count(), 2);
    stage.end().await;
}

#[tokio::test]
async fn parallel_tools_ask_at_once_and_each_answer_reaches_its_own() {
    let mut stage = asking().await;
    stage.main([delegate("ask", "touch two"), Reply::text("One of two.")]);
    stage.coder([Reply::new().and_call(bash("touch wanted.txt")).and_call(bash("touch unwanted.txt")), Reply::text("So be it.")]);
    stage.send("go").await;
    let questions = [stage.until_kind("permission-request").await.data, stage.until_kind("permission-request").await.data];
    let by_command = |command: &str| questions.iter().find(|question| question["command"] == command).unwrap();
    assert_eq!(answer(&stage, by_command("touch wanted.txt"), "allow_once").await, 202);
    assert_eq!(answer(&stage, by_command("touch unwanted.txt"), "reject_once").await, 202);
    assert_eq!(stage.turn_end().await, "completed");
    let work = stage.server.rig().work_dir();
    assert!(work.join("wanted.txt").exists() && !work.join("unwanted.txt").exists());
    stage.end().await;
}

#[tokio::test]
async fn the_policy_deny_lets_nothing_through_and_asks_nobody() {
    let mut stage = Stage::with(Script::new(), json!({ "permission_policy": "deny" }), |rig| rig).await;
    stage.main([delegate("deny", "touch it"), Reply::text("It was not allowed.")]);
    stage.coder([Reply::new().and_call(bash("touch denied.txt")), Reply::text("Never said.")]);
    assert_eq!(stage.turn("go").await, "completed");
    assert!(!stage.server.rig().work_dir().join("denied.txt").exists());
    assert_eq!(stage.client.seen.of_kind("permission-request").count(), 0);
    stage.end().await;
}
