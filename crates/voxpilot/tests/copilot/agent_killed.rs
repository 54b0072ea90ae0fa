//! `kill -9` of Copilot in the middle of an answer: noticed at once, nothing of it lost, and the session goes on in a new process.

use std::time::Instant;

use serde_json::json;
use testkit::model_server::{Gate, Reply, Script};
use testkit::processes;

use crate::replies::{bash, delegate, held_command};
use crate::setup::{AgentProcesses, eventually, journal_of, said, start, start_with};

/// Holds S0-32, S0-37, S0-45, C19, C20.
#[tokio::test]
async fn the_native_process_killed_in_mid_answer() {
    killed_in_mid_answer("native", AgentProcesses::native).await;
}

#[tokio::test]
async fn the_npm_wrapper_killed_in_mid_answer() {
    killed_in_mid_answer("wrapper", AgentProcesses::wrapper).await;
}

async fn killed_in_mid_answer(which: &str, victim: impl Fn(&AgentProcesses) -> i32) {
    let mut setup = start().await;
    setup.exchange("task", "the first request", "The first answer.").await;
    let gate = Gate::new();
    setup.main([delegate("task", "the second request"), Reply::text("It broke off.")]);
    setup.coder([Reply::chunks(["half of ", "the answer"]).gate(&gate)]);
    setup.send("go").await;
    gate.release(1);
    setup.until_written("task", "half of ").await;
    eventually("Copilot has noted the request", || journal_of(&setup, "the second request").is_some()).await;
    let killed = Instant::now();
    processes::signal(victim(&setup.processes()), "KILL");
    setup.until_notice("agent_gone").await;
    println!("the end of the {which} was noticed after {:?}", killed.elapsed());
    let text = setup.notices("agent_gone")[0]["text"].as_str().unwrap().to_owned();
    assert!(!text.contains("package"), "the wrapper's guess is not passed on: {text}");
    assert_eq!(setup.turn_end().await, "completed", "the main AI is told and answers");

    let result = setup.results().await.pop().unwrap();
    assert_eq!(result["display"], "half of ", "the partial text is kept");
    assert_eq!((result["is_error"].as_bool(), result["delegation"]["stop_reason"].as_str()), (Some(true), Some("interrupted")));
    let told = setup.main_requests().last().unwrap().messages().last().unwrap()["content"].as_str().unwrap().to_owned();
    assert!(told.contains("half of"), "{told}");
    eventually("the whole process tree is gone", || setup.processes().natives.is_empty() && setup.processes().wrappers.is_empty()).await;

    setup.exchange("task", "the third request", "Here again.").await;
    let restored = setup.notices("session_restored");
    assert_eq!(restored.len(), 1);
    assert_eq!(restored[0]["session_name"], "task");
    assert!(restored[0]["text"].as_str().unwrap().contains("cut off"), "S0-45: {}", restored[0]);
    assert!(setup.notices("session_lost").is_empty());
    let asked = said(setup.coder_requests().last().unwrap());
    for earlier in ["the first request", "The first answer.", "the second request", "the third request"] {
        assert!(asked.contains(earlier), "no `{earlier}` in the restored session");
    }
    let told = setup.coder_requests().last().unwrap().last_user().to_owned();
    assert!(told.contains("[Note: your process ended") && told.contains("half of"), "{told}");
    assert_eq!(setup.coder_requests().len(), 3, "the broken prompt was not repeated");
    setup.exchange("task", "the fourth request", "Going on.").await;
    assert!(!setup.coder_requests().last().unwrap().last_user().contains("[Note:"), "it is told once");
    setup.end().await;
}

#[tokio::test]
async fn killed_in_mid_tool_its_shells_end_and_the_call_is_interrupted() {
    let mut setup = start().await;
    setup.main([delegate("task", "run it"), Reply::text("It broke off.")]);
    setup.coder([Reply::text("Running. ").and_call(held_command())]);
    setup.send("go").await;
    setup.until_printed("started").await;
    processes::signal(setup.processes().native(), "KILL");
    assert_eq!(setup.turn_end().await, "completed");
    let result = setup.results().await.pop().unwrap();
    assert_eq!(result["delegation"]["stop_reason"], "interrupted");
    let calls = result["delegation"]["updates"].as_array().unwrap().iter().filter(|placed| placed["update"]["type"] == "tool_call");
    assert_eq!(calls.map(|placed| placed["update"]["status"].clone()).collect::<Vec<_>>(), ["interrupted"]);
    // Copilot leaves its shells behind when it is killed; the runner does not.
    eventually("nothing but the server is left", || processes::of_dir(setup.server.rig().home()).len() == 1).await;
    setup.exchange("task", "and now?", "Files may be half changed.").await;
    assert_eq!(setup.read("runs.txt"), "run\n");
    setup.end().await;
}

#[tokio::test]
async fn killed_while_it_asks_its_question_is_withdrawn_and_nothing_runs() {
    let mut setup = start_with(Script::new(), json!({ "permission_policy": "ask" }), |rig| rig).await;
    setup.main([delegate("task", "touch it"), Reply::text("It broke off.")]);
    setup.coder([Reply::new().and_call(bash("touch asked.txt"))]);
    setup.send("go").await;
    let request = setup.until_kind("permission-request").await.data["request_id"].as_str().unwrap().to_owned();
    processes::signal(setup.processes().native(), "KILL");
    assert_eq!(setup.turn_end().await, "completed");
    assert_eq!(setup.client.seen.of_kind("permission-resolved").last().unwrap().data["by"], "agent_gone");
    assert_eq!(setup.post(&format!("permissions/{request}"), json!({ "option_id": "allow_once" })).await, 409);
    assert!(setup.new_client().await.seen.of_kind("permission-request").next().is_none());
    setup.exchange("task", "and now?", "Nothing was touched.").await;
    assert!(!setup.server.rig().work_dir().join("asked.txt").exists());
    setup.end().await;
}
