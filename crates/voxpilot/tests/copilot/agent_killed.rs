//! `kill -9` of Copilot in the middle of an answer: noticed at once, nothing of it lost, and the session goes on in a new process.

use std::time::Instant;

use serde_json::json;
use testkit::model_server::{Gate, Reply, Script};
use testkit::processes;

use crate::script::{bash, delegate, held_command};
use crate::stage::{Cast, Stage, eventually, said};

#[tokio::test]
async fn the_native_process_killed_in_mid_answer() {
    killed_in_mid_answer("native", Cast::native).await;
}

#[tokio::test]
async fn the_npm_wrapper_killed_in_mid_answer() {
    killed_in_mid_answer("wrapper", Cast::wrapper).await;
}

async fn killed_in_mid_answer(which: &str, victim: impl Fn(&Cast) -> i32) {
    let mut stage = Stage::set().await;
    stage.exchange("task", "the first request", "The first answer.").await;
    let gate = Gate::new();
    stage.main([delegate("task", "the second request"), Reply::text("It broke off.")]);
    stage.coder([Reply::chunks(["half of ", "the answer"]).gate(&gate)]);
    stage.send("go").await;
    gate.release(1);
    stage.until_written("task", "half of ").await;
    eventually("Copilot has noted the request", || stage.journal_of("the second request").is_some()).await;
    let killed = Instant::now();
    processes::signal(victim(&stage.cast()), "KILL");
    stage.until_notice("agent_gone").await;
    println!("the end of the {which} was noticed after {:?}", killed.elapsed());
    let text = stage.notices("agent_gone")[0]["text"].as_str().unwrap().to_owned();
    assert!(!text.contains("package"), "the wrapper's guess is not passed on: {text}");
    assert_eq!(stage.turn_end().await, "completed", "the main AI is told and answers");

    let result = stage.results().await.pop().unwrap();
    assert_eq!(result["display"], "half of ", "the partial text is kept");
    assert_eq!((result["is_error"].as_bool(), result["delegation"]["stop_reason"].as_str()), (Some(true), Some("interrupted")));
    let told = stage.main_requests().last().unwrap().messages().last().unwrap()["content"].as_str().unwrap().to_owned();
    assert!(told.contains("half of"), "{told}");
    eventually("the whole process tree is gone", || stage.cast().natives.is_empty() && stage.cast().wrappers.is_empty()).await;

    stage.exchange("task", "the third request", "Here again.").await;
    let restored = stage.notices("session_restored");
    assert_eq!(restored.len(), 1);
    assert_eq!(restored[0]["session_name"], "task");
    assert!(restored[0]["text"].as_str().unwrap().contains("cut off"), "S0-45: {}", restored[0]);
    assert!(stage.notices("session_lost").is_empty());
    let asked = said(stage.coder_requests().last().unwrap());
    for earlier in ["the first request", "The first answer.", "the second request", "the third request"] {
        assert!(asked.contains(earlier), "no `{earlier}` in the restored session");
    }
    let told = stage.coder_requests().last().unwrap().last_user().to_owned();
    assert!(told.contains("[Note: your process ended") && told.contains("half of"), "{told}");
    assert_eq!(stage.coder_requests().len(), 3, "the broken prompt was not repeated");
    stage.exchange("task", "the fourth request", "Going on.").await;
    assert!(!stage.coder_requests().last().unwrap().last_user().contains("[Note:"), "it is told once");
    stage.end().await;
}

#[tokio::test]
async fn killed_in_mid_tool_its_shells_end_and_the_call_is_interrupted() {
    let mut stage = Stage::set().await;
    stage.main([delegate("task", "run it"), Reply::text("It broke off.")]);
    stage.coder([Reply::text("Running. ").and_call(held_command())]);
    stage.send("go").await;
    stage.until_printed("started").await;
    processes::signal(stage.cast().native(), "KILL");
    assert_eq!(stage.turn_end().await, "completed");
    let result = stage.results().await.pop().unwrap();
    assert_eq!(result["delegation"]["stop_reason"], "interrupted");
    let calls = result["delegation"]["updates"].as_array().unwrap().iter().filter(|placed| placed["update"]["type"] == "tool_call");
    assert_eq!(calls.map(|placed| placed["update"]["status"].clone()).collect::<Vec<_>>(), ["interrupted"]);
    // Copilot leaves its shells behind when it is killed; the runner does not.
    eventually("nothing but the server is left", || processes::of_dir(stage.server.rig().home()).len() == 1).await;
    stage.exchange("task", "and now?", "Files may be half changed.").await;
    assert_eq!(stage.read("runs.txt"), "run\n");
    stage.end().await;
}

#[tokio::test]
async fn killed_while_it_asks_its_question_is_withdrawn_and_nothing_runs() {
    let mut stage = Stage::with(Script::new(), json!({ "permission_policy": "ask" }), |rig| rig).await;
    stage.main([delegate("task", "touch it"), Reply::text("It broke off.")]);
    stage.coder([Reply::new().and_call(bash("touch asked.txt"))]);
    stage.send("go").await;
    let request = stage.until_kind("permission-request").await.data["request_id"].as_str().unwrap().to_owned();
    processes::signal(stage.cast().native(), "KILL");
    assert_eq!(stage.turn_end().await, "completed");
    assert_eq!(stage.client.seen.of_kind("permission-resolved").last().unwrap().data["by"], "agent_gone");
    assert_eq!(stage.post(&format!("permissions/{request}"), json!({ "option_id": "allow_once" })).await, 409);
    assert!(stage.newcomer().await.seen.of_kind("permission-request").next().is_none());
    stage.exchange("task", "and now?", "Nothing was touched.").await;
    assert!(!stage.server.rig().work_dir().join("asked.txt").exists());
    stage.end().await;
}
