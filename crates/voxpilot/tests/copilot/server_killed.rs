//! `kill -9` of the server while Copilot works: its runner holds the pipe, and the next server goes on in the same turn.

use serde_json::{Value, json};
use testkit::model_server::{Gate, Reply, Script};

use crate::script::{bash, delegate, delegate_all, held_command};
use crate::stage::{SOON, Stage, said};

const PIECES: [&str; 5] = ["before, ", "still before 🙂, ", "while it was down, ", "after, ", "and the end"];

#[tokio::test]
async fn killed_while_copilot_streams_the_same_turn_completes_with_the_exact_text() {
    let mut stage = Stage::set().await;
    let gate = Gate::new();
    stage.main([delegate("long", "write something long"), Reply::text("Written.")]);
    stage.coder([Reply::chunks(PIECES).gate(&gate)]);
    let turn = stage.send("go").await["turn_id"].clone();
    gate.release(2);
    stage.until_written("long", PIECES[1]).await;
    let agent = stage.cast().native();
    stage.kill_server().await;
    // The agent says more while there is no server to hear it.
    gate.release(1);
    stage.restart_server().await;
    stage.until_written("long", PIECES[2]).await;
    let mut newcomer = stage.newcomer().await;
    gate.open();
    assert_eq!(stage.turn_end().await, "completed");
    assert_eq!(newcomer.turn_end(SOON).await, "completed");

    assert_eq!(stage.client.seen.agent_text("long"), PIECES.concat());
    assert_eq!(newcomer.seen.agent_text("long"), PIECES.concat());
    assert_eq!(stage.results().await[0]["display"], PIECES.concat());
    assert!(stage.client.seen.of_kind("turn").all(|event| event.data["turn_id"] == turn), "it is the same turn");
    assert_eq!(stage.client.seen.of_kind("done").count(), 1);
    assert_eq!((stage.main_requests().len(), stage.coder_requests().len()), (2, 1), "nobody was asked twice");
    assert_eq!(stage.notices("recovered").len(), 1);
    let told = newcomer.seen.of_kind("notice").filter(|event| event.data["code"] == "recovered");
    assert_eq!(told.count(), 1, "who comes later is told too");
    assert_eq!(stage.cast().native(), agent);
    stage.exchange("long", "go on", "Gone on.").await;
    assert!(said(stage.coder_requests().last().unwrap()).contains("and the end"));
    stage.end().await;
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
    let mut stage = Stage::with(script, json!({}), |rig| rig).await;
    stage.send("go").await;
    for _ in 0..3 {
        gate.release(800);
        stage.until_kind("copilot-delta").await;
        stage.kill_server().await;
        stage.restart_server().await;
    }
    gate.open();
    assert_eq!(stage.turn_end().await, "completed");
    assert!(stage.client.seen.agent_text("left") == left.concat(), "the left text differs");
    assert!(stage.client.seen.agent_text("right") == right.concat(), "the right text differs");
    for result in stage.results().await {
        let expected = if result["delegation"]["session_name"] == "left" { &left } else { &right };
        assert!(result["display"] == expected.concat(), "the stored text differs");
    }
    assert_eq!((stage.main_requests().len(), stage.coder_requests().len()), (2, 2));
    stage.end().await;
}

#[tokio::test]
async fn killed_while_copilots_tool_runs_the_tool_ends_once_and_the_turn_completes() {
    let mut stage = Stage::set().await;
    stage.main([delegate("tool", "run it"), Reply::text("It ran.")]);
    stage.coder([Reply::text("Running. ").and_call(held_command()), Reply::text("It has ended.")]);
    stage.send("go").await;
    stage.until_printed("started").await;
    stage.kill_server().await;
    // The tool ends, and Copilot goes on to its end, all without a server.
    stage.let_go();
    stage.model.wait_for_requests(3).await;
    stage.restart_server().await;
    assert_eq!(stage.turn_end().await, "completed");
    assert_eq!(stage.read("runs.txt"), "run\n", "the command ran once");
    assert_eq!(stage.client.seen.agent_text("tool"), "Running. It has ended.");
    assert_eq!((stage.main_requests().len(), stage.coder_requests().len()), (2, 2));
    let result = &stage.results().await[0];
    let call = result["delegation"]["updates"].as_array().unwrap().iter().find(|placed| placed["update"]["type"] == "tool_call").unwrap();
    assert_eq!((call["update"]["status"].as_str(), call["update"]["exit_code"].as_i64()), (Some("completed"), Some(0)), "{call}");
    assert!(call["update"]["input"]["command"].as_str().unwrap().contains("runs.txt"), "what was known before the kill is kept");
    stage.end().await;
}

#[tokio::test]
async fn killed_while_copilot_asks_the_question_is_still_there_and_is_answered_once() {
    let mut stage = Stage::with(Script::new(), json!({ "permission_policy": "ask" }), |rig| rig).await;
    stage.main([delegate("ask", "append twice"), Reply::text("Appended.")]);
    stage.coder([
        Reply::new().and_call(bash("echo one >> lines.txt")),
        Reply::new().and_call(bash("echo two >> lines.txt")),
        Reply::text("Twice."),
    ]);
    stage.send("go").await;
    let first = stage.until_kind("permission-request").await.data;
    stage.kill_server().await;
    stage.restart_server().await;
    let open: Vec<Value> = stage.newcomer().await.seen.of_kind("permission-request").map(|event| event.data.clone()).collect();
    assert_eq!(open, std::slice::from_ref(&first), "the same question, on every device");
    let path = |request: &Value| format!("permissions/{}", request["request_id"].as_str().unwrap());
    assert_eq!(stage.post(&path(&first), json!({ "option_id": "allow_once" })).await, 202);
    assert_eq!(stage.post(&path(&first), json!({ "option_id": "allow_once" })).await, 409);

    // This time it dies the moment it has taken the answer, which is stored and perhaps not sent.
    let second = stage.until_kind("permission-request").await.data;
    assert_ne!(second["request_id"], first["request_id"]);
    assert_eq!(stage.post(&path(&second), json!({ "option_id": "allow_once" })).await, 202);
    stage.kill_server().await;
    stage.restart_server().await;
    assert_eq!(stage.turn_end().await, "completed");
    assert_eq!(stage.read("lines.txt"), "one\ntwo\n", "each ran once");
    assert_eq!(stage.client.seen.of_kind("permission-request").count(), 2);
    assert_eq!(stage.client.seen.of_kind("permission-resolved").count(), 2);
    assert_eq!((stage.main_requests().len(), stage.coder_requests().len()), (2, 3));
    stage.end().await;
}

#[tokio::test]
async fn killed_with_two_messages_queued_both_run_once_and_in_order() {
    let mut stage = Stage::set().await;
    let gate = Gate::new();
    for prompt in ["first", "second", "third"] {
        stage.main([delegate("queue", prompt), Reply::text(prompt)]);
    }
    stage.coder([Reply::chunks(["1", "!"]).gate(&gate), Reply::text("2!"), Reply::text("3!")]);
    stage.send("message one").await;
    gate.release(1);
    stage.until_written("queue", "1").await;
    assert_eq!(stage.send("message two").await["queued"], true);
    assert_eq!(stage.send("message three").await["queued"], true);
    stage.kill_server().await;
    stage.restart_server().await;
    let waiting: Vec<_> = stage.get("queue").await["items"].as_array().unwrap().iter().map(|item| item["content"].clone()).collect();
    assert_eq!(waiting, ["message two", "message three"]);
    gate.open();
    for _ in 0..3 {
        assert_eq!(stage.turn_end().await, "completed");
    }
    assert_eq!((stage.main_requests().len(), stage.coder_requests().len()), (6, 3));
    let told: Vec<_> = stage
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
    assert_eq!(stage.client.seen.agent_text("queue"), "1!2!3!");
    stage.end().await;
}

#[tokio::test]
async fn killed_while_copilot_starts_one_agent_gets_the_prompt_once() {
    let mut stage = Stage::set().await;
    stage.main([delegate("start", "append a line"), Reply::text("Appended.")]);
    stage.coder([Reply::new().and_call(bash("echo line >> lines.txt")), Reply::text("Appended.")]);
    stage.send("go").await;
    stage.until_kind("tool-call").await;
    stage.kill_server().await;
    stage.restart_server().await;
    assert_eq!(stage.turn_end().await, "completed");
    assert_eq!(stage.read("lines.txt"), "line\n");
    assert_eq!(stage.coder_requests().len(), 2);
    stage.cast().native();
    assert_eq!(stage.cast().runners.len(), 1);
    // And what was started in such a hurry can be restored like any other.
    stage.kill_idle_agent().await;
    stage.exchange("start", "and again?", "No.").await;
    assert_eq!(stage.notices("session_restored").len(), 1, "{}", stage.client.seen.tail());
    stage.end().await;
}
