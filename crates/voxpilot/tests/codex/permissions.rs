//! Codex asks before it acts, and does what it was told: once, for the session, not at all. What is asked while the server is killed is
//! in `server_killed`, what is asked while the turn is stopped in `stopping`.

use serde_json::{Value, json};
use testkit::model_server::{Reply, ToolCall};

use crate::replies::{beyond, create, delegate, edit};
use crate::setup::{Setup, calls, start_under};

pub(crate) async fn choose(setup: &Setup, request: &Value, option: &str) -> u16 {
    let options = request["options"].as_array().unwrap();
    let chosen = options.iter().find(|known| known["kind"] == option).unwrap_or_else(|| panic!("no {option} in {request}"));
    let request = request["request_id"].as_str().unwrap();
    setup.post(&format!("permissions/{request}"), json!({ "option_id": chosen["option_id"] })).await
}

/// The next question.
pub(crate) async fn asked(setup: &mut Setup) -> Value {
    setup.until_kind("permission-request").await.data
}

/// Codex asks its model once, which wants this; then the main AI closes.
async fn wants(setup: &Setup, call: ToolCall) {
    setup.main([delegate("ask", "do it"), Reply::text("So it is.")]);
    setup.coder([Reply::new().and_call(call), Reply::text("I see.")]);
    setup.send("go").await;
}

#[tokio::test]
async fn a_question_shows_the_exact_command_and_it_runs_once_when_it_is_allowed() {
    let mut setup = start_under("ask").await;
    wants(&setup, beyond("echo 'it is' >> made.txt")).await;
    let question = asked(&mut setup).await;
    assert_eq!(question["kind"], "execute", "{question}");
    assert!(question["command"].as_str().unwrap().contains("echo 'it is' >> made.txt"), "{question}");
    assert_eq!(question["session_name"], "ask");
    assert!(!setup.exists("made.txt"), "nothing happens before the answer");
    assert_eq!(choose(&setup, &question, "allow_once").await, 202);
    assert_eq!(choose(&setup, &question, "reject_once").await, 409, "it is answered once");
    assert_eq!(setup.turn_end().await, "completed");
    assert_eq!(setup.read("made.txt"), "it is\n");
    assert_eq!(setup.results().await[0]["delegation"]["stop_reason"], "end_turn");
    // Once is once.
    wants(&setup, beyond("echo 'it is' >> made.txt")).await;
    let again = asked(&mut setup).await;
    assert_eq!(choose(&setup, &again, "allow_once").await, 202);
    assert_eq!(setup.turn_end().await, "completed");
    assert_eq!(setup.read("made.txt"), "it is\nit is\n");
    assert!(setup.notices("unasked_tool").is_empty(), "{:?}", setup.notices("unasked_tool"));
    setup.end().await;
}

#[tokio::test]
async fn allowed_for_the_session_the_same_command_is_not_asked_for_again_and_another_one_is() {
    let mut setup = start_under("ask").await;
    wants(&setup, beyond("echo line >> lines.txt")).await;
    let question = asked(&mut setup).await;
    assert_eq!(choose(&setup, &question, "allow_always").await, 202);
    assert_eq!(setup.turn_end().await, "completed");
    wants(&setup, beyond("echo line >> lines.txt")).await;
    assert_eq!(setup.turn_end().await, "completed", "{}", setup.client.seen.tail());
    assert_eq!(setup.client.seen.of_kind("permission-request").count(), 1);
    assert_eq!(setup.read("lines.txt"), "line\nline\n");

    wants(&setup, beyond("echo other >> lines.txt")).await;
    let other = asked(&mut setup).await;
    assert_eq!(choose(&setup, &other, "reject_once").await, 202);
    assert_eq!(setup.turn_end().await, "completed");
    assert_eq!(setup.read("lines.txt"), "line\nline\n");
    setup.end().await;
}

/// Codex goes on after a refusal: its model is told, and may say or try something else.
#[tokio::test]
async fn declined_a_command_does_not_run_and_the_turn_goes_on() {
    let mut setup = start_under("ask").await;
    wants(&setup, beyond("touch unwanted.txt")).await;
    let question = asked(&mut setup).await;
    assert_eq!(choose(&setup, &question, "reject_once").await, 202);
    assert_eq!(setup.turn_end().await, "completed");
    assert!(!setup.exists("unwanted.txt"));
    assert_eq!(setup.coder_requests().len(), 2, "its model was told");
    let result = setup.results().await.pop().unwrap();
    assert_eq!(result["display"], "I see.", "{result}");
    assert_eq!(calls(&result).iter().map(|call| call["status"].as_str().unwrap()).collect::<Vec<_>>(), ["declined"], "{result}");
    setup.end().await;
}

#[tokio::test]
async fn a_change_of_files_is_shown_as_a_diff_before_it_is_made() {
    let mut setup = start_under("ask").await;
    std::fs::write(setup.server.rig().work_dir().join("old.txt"), "one\ntwo\n").unwrap();
    wants(&setup, edit("old.txt", "two", "three")).await;
    let question = asked(&mut setup).await;
    assert_eq!(question["kind"], "edit", "{question}");
    let diff = question["diff"].as_str().unwrap_or_else(|| panic!("{question}"));
    assert!(diff.contains("-two") && diff.contains("+three"), "{diff}");
    assert_eq!(setup.read("old.txt"), "one\ntwo\n");
    assert_eq!(choose(&setup, &question, "allow_once").await, 202);
    assert_eq!(setup.turn_end().await, "completed");
    assert_eq!(setup.read("old.txt"), "one\nthree\n");

    wants(&setup, create("new.txt", "unwanted")).await;
    let question = asked(&mut setup).await;
    assert!(question["diff"].as_str().unwrap_or_default().contains("+unwanted"), "{question}");
    assert_eq!(choose(&setup, &question, "reject_once").await, 202);
    assert_eq!(setup.turn_end().await, "completed");
    assert!(!setup.exists("new.txt"));
    setup.end().await;
}
