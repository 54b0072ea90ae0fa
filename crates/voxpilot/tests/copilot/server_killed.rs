//! `kill -9` of the server while Copilot works: its runner holds the pipe, and the next server goes on in the same turn.

use serde_json::{Value, json};
use testkit::model_server::{Gate, Reply, Script};

use crate::replies::{bash, delegate, delegate_all, held_command};
use crate::setup::{SOON, kill_idle_agent, said, start, start_with};

const PIECES: [&str; 5] = ["before, ", "still before 🙂, ", "while it was down, ", "after, ", "and the end"];

/// Holds S3-14, S3-15, S3-V4, C18, C20.
#[tokio::test]
async fn killed_while_copilot_streams_the_same_turn_completes_with_the_exact_text() {
    let mut setup = start().await;
    let gate = Gate::new();
    setup.main([delegate("long", "write something long"), Reply::text("Written.")]);
    setup.coder([Reply::chunks(PIECES).gate(&gate)]);
    let turn = setup.send("go").await["turn_id"].clone();
    gate.release(2);
    setup.until_written("long", PIECES[1]).await;
    let agent = setup.processes().native();
    setup.kill_server().await;
    // The agent says more while there is no server to hear it.
    gate.release(1);
    setup.restart_server().await;
    setup.until_written("long", PIECES[2]).await;
    let mut new_client = setup.new_client().await;
    gate.open();
    assert_eq!(setup.turn_end().await, "completed");
    assert_eq!(new_client.turn_end(SOON).await, "completed");

    assert_eq!(setup.client.seen.agent_text("long"), PIECES.concat());
    assert_eq!(new_client.seen.agent_text("long"), PIECES.concat());
    assert_eq!(setup.results().await[0]["display"], PIECES.concat());
    assert!(setup.client.seen.of_kind("turn").all(|event| event.data["turn_id"] == turn), "it is the same turn");
    assert_eq!(setup.client.seen.of_kind("done").count(), 1);
    assert_eq!((setup.main_requests().len(), setup.coder_requests().len()), (2, 1), "nobody was asked twice");
    assert_eq!(setup.notices("recovered").len(), 1);
    let told = new_client.seen.of_kind("notice").filter(|event| event.data["code"] == "recovered");
    assert_eq!(told.count(), 1, "who comes later is told too");
    assert_eq!(setup.processes().native(), agent);
    setup.exchange("long", "go on", "Gone on.").await;
    assert!(said(setup.coder_requests().last().unwrap()).contains("and the end"));
    setup.end().await;
}

/// Two long answers at once, as fast as they come; the server dies three times in the middle.
#[tokio::test]
async fn killed_again_and_again_in_a_flood_of_two_names_not_a_byte_is_missing_doubled_or_mixed() {
    let chunks = |word: &str| (0..2000).map(|number| format!("{word} {number} 🙂\n")).collect::<Vec<_>>();
    let (left, right) = (chunks("left"), chunks("right"));
    let gate = Gate::new();
    let answers = (left.clone(), right.clone(), gate.clone());
    let script = Script::rules(move |request| match request.last_user() {
        _ if request.model() == "main" && request.has_tool_result() => Reply::text("Written."),
        _ if request.model() == "main" => delegate_all([("left", "write the left"), ("right", "write the right")]),
        prompt if prompt.contains("left") => Reply::chunks(answers.0.iter().map(String::as_str)).gate(&answers.2),
        _ => Reply::chunks(answers.1.iter().map(String::as_str)).gate(&answers.2),
    });
    let mut setup = start_with(script, json!({}), |rig| rig).await;
    setup.send("go").await;
    for _ in 0..3 {
        gate.release(800);
        setup.until_kind("copilot-delta").await;
        setup.kill_server().await;
        setup.restart_server().await;
    }
    gate.open();
    assert_eq!(setup.turn_end().await, "completed");
    assert!(setup.client.seen.agent_text("left") == left.concat(), "the left text differs");
    assert!(setup.client.seen.agent_text("right") == right.concat(), "the right text differs");
    for result in setup.results().await {
        let expected = if result["delegation"]["session_name"] == "left" { &left } else { &right };
        assert!(result["display"] == expected.concat(), "the stored text differs");
    }
    assert_eq!((setup.main_requests().len(), setup.coder_requests().len()), (2, 2));
    setup.end().await;
}

#[tokio::test]
async fn killed_while_copilots_tool_runs_the_tool_ends_once_and_the_turn_completes() {
    let mut setup = start().await;
    setup.main([delegate("tool", "run it"), Reply::text("It ran.")]);
    setup.coder([Reply::text("Running. ").and_call(held_command()), Reply::text("It has ended.")]);
    setup.send("go").await;
    setup.until_printed("started").await;
    setup.kill_server().await;
    // The tool ends, and Copilot goes on to its end, all without a server.
    setup.let_go();
    setup.model.wait_for_requests(3).await;
    setup.restart_server().await;
    assert_eq!(setup.turn_end().await, "completed");
    assert_eq!(setup.read("runs.txt"), "run\n", "the command ran once");
    assert_eq!(setup.client.seen.agent_text("tool"), "Running. It has ended.");
    assert_eq!((setup.main_requests().len(), setup.coder_requests().len()), (2, 2));
    let result = &setup.results().await[0];
    let call = result["delegation"]["updates"].as_array().unwrap().iter().find(|placed| placed["update"]["type"] == "tool_call").unwrap();
    assert_eq!((call["update"]["status"].as_str(), call["update"]["exit_code"].as_i64()), (Some("completed"), Some(0)), "{call}");
    assert!(call["update"]["input"]["command"].as_str().unwrap().contains("runs.txt"), "what was known before the kill is kept");
    setup.end().await;
}

#[tokio::test]
async fn killed_while_copilot_asks_the_question_is_still_there_and_is_answered_once() {
    let mut setup = start_with(Script::new(), json!({ "permission_policy": "ask" }), |rig| rig).await;
    setup.main([delegate("ask", "append twice"), Reply::text("Appended.")]);
    setup.coder([
        Reply::new().and_call(bash("echo one >> lines.txt")),
        Reply::new().and_call(bash("echo two >> lines.txt")),
        Reply::text("Twice."),
    ]);
    setup.send("go").await;
    let first = setup.until_kind("permission-request").await.data;
    setup.kill_server().await;
    setup.restart_server().await;
    let open: Vec<Value> = setup.new_client().await.seen.of_kind("permission-request").map(|event| event.data.clone()).collect();
    assert_eq!(open, std::slice::from_ref(&first), "the same question, on every device");
    let path = |request: &Value| format!("permissions/{}", request["request_id"].as_str().unwrap());
    assert_eq!(setup.post(&path(&first), json!({ "option_id": "allow_once" })).await, 202);
    assert_eq!(setup.post(&path(&first), json!({ "option_id": "allow_once" })).await, 409);

    // This time it dies the moment it has taken the answer, which is stored and perhaps not sent.
    let second = setup.until_kind("permission-request").await.data;
    assert_ne!(second["request_id"], first["request_id"]);
    assert_eq!(setup.post(&path(&second), json!({ "option_id": "allow_once" })).await, 202);
    setup.kill_server().await;
    setup.restart_server().await;
    assert_eq!(setup.turn_end().await, "completed");
    assert_eq!(setup.read("lines.txt"), "one\ntwo\n", "each ran once");
    assert_eq!(setup.client.seen.of_kind("permission-request").count(), 2);
    assert_eq!(setup.client.seen.of_kind("permission-resolved").count(), 2);
    assert_eq!((setup.main_requests().len(), setup.coder_requests().len()), (2, 3));
    setup.end().await;
}

#[tokio::test]
async fn killed_with_two_messages_queued_both_run_once_and_in_order() {
    let mut setup = start().await;
    let gate = Gate::new();
    for prompt in ["first", "second", "third"] {
        setup.main([delegate("queue", prompt), Reply::text(prompt)]);
    }
    setup.coder([Reply::chunks(["1", "!"]).gate(&gate), Reply::text("2!"), Reply::text("3!")]);
    setup.send("message one").await;
    gate.release(1);
    setup.until_written("queue", "1").await;
    assert_eq!(setup.send("message two").await["queued"], true);
    assert_eq!(setup.send("message three").await["queued"], true);
    setup.kill_server().await;
    setup.restart_server().await;
    let waiting: Vec<_> = setup.get("queue").await["items"].as_array().unwrap().iter().map(|item| item["content"].clone()).collect();
    assert_eq!(waiting, ["message two", "message three"]);
    gate.open();
    for _ in 0..3 {
        assert_eq!(setup.turn_end().await, "completed");
    }
    assert_eq!((setup.main_requests().len(), setup.coder_requests().len()), (6, 3));
    let told: Vec<_> = setup
        .messages()
        .await
        .iter()
        .map(|message| format!("{} {}", message["role"].as_str().unwrap(), message["content"].as_str().unwrap()))
        .collect();
    let talk: Vec<_> = told.iter().map(String::as_str).filter(|line| !line.starts_with("tool") && *line != "assistant ").collect();
    assert_eq!(
        talk,
        ["user message one", "assistant first", "user message two", "assistant second", "user message three", "assistant third"]
    );
    assert_eq!(setup.client.seen.agent_text("queue"), "1!2!3!");
    setup.end().await;
}

#[tokio::test]
async fn killed_while_copilot_starts_one_agent_gets_the_prompt_once() {
    let mut setup = start().await;
    setup.main([delegate("start", "append a line"), Reply::text("Appended.")]);
    setup.coder([Reply::new().and_call(bash("echo line >> lines.txt")), Reply::text("Appended.")]);
    setup.send("go").await;
    setup.until_kind("tool-call").await;
    setup.kill_server().await;
    setup.restart_server().await;
    assert_eq!(setup.turn_end().await, "completed");
    assert_eq!(setup.read("lines.txt"), "line\n");
    assert_eq!(setup.coder_requests().len(), 2);
    setup.processes().native();
    assert_eq!(setup.processes().runners.len(), 1);
    // And what was started in such a hurry can be restored like any other.
    kill_idle_agent(&setup).await;
    setup.exchange("start", "and again?", "No.").await;
    assert_eq!(setup.notices("session_restored").len(), 1, "{}", setup.client.seen.tail());
    setup.end().await;
}
