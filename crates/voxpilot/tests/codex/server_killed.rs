//! `kill -9` of the server while Codex works: its runner holds the pipe, and the next server goes on in the same turn.

use serde_json::Value;
use testkit::model_server::{Gate, Reply};

use crate::permissions::choose;
use crate::replies::{beyond, delegate, held_command};
use crate::setup::{SOON, calls, said, start, start_under};

const PIECES: [&str; 5] = ["before, ", "still before 🙂, ", "while it was down, ", "after, ", "and the end"];

#[tokio::test]
async fn killed_while_codex_streams_the_same_turn_completes_with_the_exact_text() {
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
    assert_eq!((setup.main_requests().len(), setup.coder_requests().len()), (2, 1), "nobody was asked twice");
    assert_eq!(setup.processes().native(), agent);
    setup.exchange("long", "go on", "Gone on.").await;
    assert!(said(setup.coder_requests().last().unwrap()).contains("and the end"));
    setup.end().await;
}

#[tokio::test]
async fn killed_while_a_command_runs_it_ends_once_and_the_turn_completes() {
    let mut setup = start().await;
    setup.main([delegate("tool", "run it"), Reply::text("It ran.")]);
    setup.coder([Reply::text("Running. ").and_call(held_command()), Reply::text("It has ended.")]);
    setup.send("go").await;
    setup.until_printed("started").await;
    setup.kill_server().await;
    // The command ends, and Codex goes on to its end, all without a server.
    setup.let_go();
    setup.model.wait_for_requests(3).await;
    setup.restart_server().await;
    assert_eq!(setup.turn_end().await, "completed");
    assert_eq!(setup.read("runs.txt"), "run\n", "the command ran once");
    let result = setup.results().await.pop().unwrap();
    assert_eq!(result["display"], setup.client.seen.agent_text("tool"));
    assert!(result["display"].as_str().unwrap().ends_with("It has ended."), "{result}");
    assert_eq!((setup.main_requests().len(), setup.coder_requests().len()), (2, 2));
    let [call] = &calls(&result)[..] else { panic!("{result}") };
    assert_eq!((call["status"].as_str(), call["exit_code"].as_i64()), (Some("completed"), Some(0)), "{call}");
    setup.end().await;
}

#[tokio::test]
async fn killed_while_codex_asks_the_question_is_still_there_and_is_answered_once() {
    let mut setup = start_under("ask").await;
    setup.main([delegate("ask", "append twice"), Reply::text("Appended.")]);
    setup.coder([
        Reply::new().and_call(beyond("echo one >> lines.txt")),
        Reply::new().and_call(beyond("echo two >> lines.txt")),
        Reply::text("Twice."),
    ]);
    setup.send("go").await;
    let first = setup.until_kind("permission-request").await.data;
    setup.kill_server().await;
    setup.restart_server().await;
    let open: Vec<Value> = setup.new_client().await.seen.of_kind("permission-request").map(|event| event.data.clone()).collect();
    assert_eq!(open, std::slice::from_ref(&first), "the same question, on every device");
    assert_eq!(choose(&setup, &first, "allow_once").await, 202);
    assert_eq!(choose(&setup, &first, "allow_once").await, 409);

    // This time it dies the moment it has taken the answer, which is stored and perhaps not sent.
    let second = setup.until_kind("permission-request").await.data;
    assert_ne!(second["request_id"], first["request_id"]);
    assert_eq!(choose(&setup, &second, "allow_once").await, 202);
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
async fn killed_with_three_messages_queued_all_run_once_and_in_order() {
    let mut setup = start().await;
    let gate = Gate::new();
    for prompt in ["first", "second", "third", "fourth"] {
        setup.main([delegate("queue", prompt), Reply::text(prompt)]);
    }
    setup.coder([Reply::chunks(["1", "!"]).gate(&gate), Reply::text("2!"), Reply::text("3!"), Reply::text("4!")]);
    setup.send("message one").await;
    gate.release(1);
    setup.until_written("queue", "1").await;
    for message in ["message two", "message three", "message four"] {
        assert_eq!(setup.send(message).await["queued"], true);
    }
    setup.kill_server().await;
    setup.restart_server().await;
    let waiting: Vec<_> = setup.get("queue").await["items"].as_array().unwrap().iter().map(|item| item["content"].clone()).collect();
    assert_eq!(waiting, ["message two", "message three", "message four"]);
    gate.open();
    for _ in 0..4 {
        assert_eq!(setup.turn_end().await, "completed");
    }
    assert_eq!((setup.main_requests().len(), setup.coder_requests().len()), (8, 4));
    assert_eq!(setup.client.seen.agent_text("queue"), "1!2!3!4!");
    let answers: Vec<_> = setup.messages().await.iter().filter_map(|message| message["content"].as_str().map(str::to_owned)).collect();
    let order: Vec<_> = answers.iter().filter(|text| ["first", "second", "third", "fourth"].contains(&text.as_str())).collect();
    assert_eq!(order, ["first", "second", "third", "fourth"]);
    setup.end().await;
}

#[tokio::test]
async fn killed_while_codex_starts_one_agent_gets_the_prompt_once() {
    let mut setup = start().await;
    setup.main([delegate("start", "append a line"), Reply::text("Appended.")]);
    setup.coder([Reply::new().and_call(beyond("echo line >> lines.txt")), Reply::text("Appended.")]);
    setup.send("go").await;
    setup.until_kind("tool-call").await;
    setup.kill_server().await;
    setup.restart_server().await;
    assert_eq!(setup.turn_end().await, "completed");
    assert_eq!(setup.read("lines.txt"), "line\n");
    assert_eq!(setup.coder_requests().len(), 2);
    setup.processes().native();
    assert_eq!(setup.processes().runners.len(), 1);
    setup.end().await;
}
