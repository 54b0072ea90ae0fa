//! `kill -9` of Codex in the middle of an answer: noticed at once, nothing of it lost here, and the thread goes on in a new process.

use serde_json::json;
use testkit::model_server::{Gate, Reply};
use testkit::processes;

use crate::replies::{beyond, delegate, held_command};
use crate::setup::{Setup, calls, eventually, said, start, start_under};

#[tokio::test]
async fn the_native_process_killed_in_mid_answer() {
    killed_in_mid_answer(|setup| setup.processes().native()).await;
}

/// It passes on the signals that it can see. This one it cannot, and Codex is left without it.
#[tokio::test]
async fn the_npm_wrapper_killed_in_mid_answer() {
    killed_in_mid_answer(|setup| {
        let processes = setup.processes();
        // On a newer Node the program takes its wrapper's place.
        processes.wrappers.first().map_or_else(|| processes.native(), |wrapper| wrapper.pid)
    })
    .await;
}

async fn killed_in_mid_answer(victim: impl Fn(&Setup) -> i32) {
    let mut setup = start().await;
    setup.exchange("task", "the first request", "The first answer.").await;
    let gate = Gate::new();
    setup.main([delegate("task", "the second request"), Reply::text("It broke off.")]);
    setup.coder([Reply::chunks(["half of ", "the answer"]).gate(&gate)]);
    setup.send("go").await;
    gate.release(1);
    setup.until_written("task", "half of ").await;
    processes::signal(victim(&setup), "KILL");
    setup.until_notice("agent_gone").await;
    assert_eq!(setup.turn_end().await, "completed", "the main AI is told and answers");

    let result = setup.results().await.pop().unwrap();
    assert_eq!(result["display"], "half of ", "the partial text is kept");
    assert_eq!((result["is_error"].as_bool(), result["delegation"]["stop_reason"].as_str()), (Some(true), Some("interrupted")));
    eventually("the whole process tree is gone", || setup.processes().natives.is_empty() && setup.count("codex app-server") == 0).await;

    setup.exchange("task", "the third request", "Here again.").await;
    let restored = setup.notices("session_restored");
    assert_eq!(restored.len(), 1, "{}", setup.client.seen.tail());
    assert_eq!(restored[0]["session_name"], "task");
    assert!(setup.notices("session_lost").is_empty());
    let asked = said(setup.coder_requests().last().unwrap());
    for earlier in ["the first request", "The first answer.", "the second request", "the third request"] {
        assert!(asked.contains(earlier), "no `{earlier}` in the restored thread: {asked}");
    }
    let told = setup.coder_requests().last().unwrap().last_user();
    assert!(told.contains("[Note: your process ended") && told.contains("half of"), "{told}");
    assert_eq!(setup.coder_requests().len(), 3, "the broken prompt was not repeated");
    setup.exchange("task", "the fourth request", "Going on.").await;
    assert!(!setup.coder_requests().last().unwrap().last_user().contains("[Note:"), "it is told once");
    setup.end().await;
}

#[tokio::test]
async fn killed_in_a_command_its_shells_end_and_the_call_is_interrupted() {
    let mut setup = start().await;
    setup.main([delegate("task", "run it"), Reply::text("It broke off.")]);
    setup.coder([Reply::text("Running. ").and_call(held_command())]);
    setup.send("go").await;
    setup.until_printed("started").await;
    processes::signal(setup.processes().native(), "KILL");
    assert_eq!(setup.turn_end().await, "completed");
    let result = setup.results().await.pop().unwrap();
    assert_eq!(result["delegation"]["stop_reason"], "interrupted");
    assert_eq!(calls(&result).iter().map(|call| call["status"].clone()).collect::<Vec<_>>(), ["interrupted"]);
    eventually("nothing but the server is left", || processes::of_dir(setup.server.rig().home()).len() == 1).await;
    setup.exchange("task", "and now?", "Files may be half changed.").await;
    assert!(said(setup.coder_requests().last().unwrap()).contains("run it"));
    assert_eq!(setup.read("runs.txt"), "run\n");
    setup.end().await;
}

#[tokio::test]
async fn killed_while_it_asks_its_question_is_withdrawn_and_nothing_runs() {
    let mut setup = start_under("ask").await;
    setup.main([delegate("task", "touch it"), Reply::text("It broke off.")]);
    setup.coder([Reply::new().and_call(beyond("touch asked.txt"))]);
    setup.send("go").await;
    let request = setup.until_kind("permission-request").await.data["request_id"].as_str().unwrap().to_owned();
    processes::signal(setup.processes().native(), "KILL");
    assert_eq!(setup.turn_end().await, "completed");
    assert_eq!(setup.client.seen.of_kind("permission-resolved").last().unwrap().data["by"], "agent_gone");
    assert_eq!(setup.post(&format!("permissions/{request}"), json!({ "option_id": "accept" })).await, 409);
    assert!(setup.new_client().await.seen.of_kind("permission-request").next().is_none());
    setup.exchange("task", "and now?", "Nothing was touched.").await;
    assert!(!setup.exists("asked.txt"));
    setup.end().await;
}
