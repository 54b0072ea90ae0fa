//! Copilot asks before it acts, and does what it was told: once, never, from any device, several at once. What is asked while the server
//! is killed is in `server_killed`, what is asked while the turn is stopped in `stopping`.

use serde_json::{Value, json};
use testkit::model_server::{Reply, Script};

use crate::script::{bash, create, delegate};
use crate::stage::{SOON, Stage};

/// Quotes, blanks at the ends, a tab, a dollar, a backslash, letters beyond ASCII, and more than one line.
const ODD: &str = "cat > odd.txt <<'END' \n  \"double\" 'single' $HOME `tick` \\\\ \\n\ttab  \n\u{e4}\u{20ac}\u{1f642} *?[a-z] # not a comment  \nEND\necho done >> runs.txt";

pub(crate) async fn asking() -> Stage {
    Stage::with(Script::new(), json!({ "permission_policy": "ask" }), |rig| rig).await
}

pub(crate) async fn answer(stage: &Stage, request: &Value, body: Value) -> u16 {
    let request = request["request_id"].as_str().unwrap();
    stage.post(&format!("permissions/{request}"), body).await
}

pub(crate) async fn choose(stage: &Stage, request: &Value, option: &str) -> u16 {
    answer(stage, request, json!({ "option_id": option })).await
}

/// The next question.
pub(crate) async fn asked(stage: &mut Stage) -> Value {
    stage.until_kind("permission-request").await.data
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
    let command = asked(&mut stage).await;
    assert_eq!((command["kind"].as_str(), command["command"].as_str()), (Some("execute"), Some("echo yes > made.txt")));
    assert_eq!(command["session_name"], "ask");
    let kinds: Vec<_> = command["options"].as_array().unwrap().iter().map(|option| option["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["allow_once", "allow_always", "reject_once"]);
    assert!(!stage.server.rig().work_dir().join("made.txt").exists(), "nothing happens before the answer");
    assert_eq!(choose(&stage, &command, "no such option").await, 422);
    assert_eq!(choose(&stage, &command, "allow_once").await, 202);
    assert_eq!(choose(&stage, &command, "reject_once").await, 409);

    let diff = asked(&mut stage).await;
    assert!(diff["diff"].as_str().unwrap().contains("+noted"), "{diff}");
    assert_eq!(choose(&stage, &diff, "allow_once").await, 202);
    assert_eq!(stage.turn_end().await, "completed");
    assert_eq!((stage.read("made.txt").as_str(), stage.read("note.md").as_str()), ("yes\n", "noted\n"));
    assert_eq!(stage.client.seen.of_kind("permission-resolved").count(), 2);
    stage.end().await;
}

#[tokio::test]
async fn allowed_once_a_command_runs_once_byte_for_byte_as_it_was_shown() {
    let mut stage = asking().await;
    stage.main([delegate("odd", "run it twice"), Reply::text("Ran.")]);
    stage.coder([Reply::new().and_call(bash(ODD)), Reply::new().and_call(bash(ODD)), Reply::text("Once.")]);
    stage.send("go").await;
    let first = asked(&mut stage).await;
    let seen = first["command"].as_str().unwrap();
    assert_eq!(seen, ODD, "what the model wrote is what the person sees");
    assert_eq!(choose(&stage, &first, "allow_once").await, 202);
    let second = asked(&mut stage).await;
    assert_eq!(second["command"], ODD, "once is once");
    let body = seen.split_once('\n').unwrap().1.split_once("END").unwrap().0;
    assert_eq!(stage.read("odd.txt"), body, "what the person saw is what ran");
    assert_eq!(choose(&stage, &second, "reject_once").await, 202);
    assert_eq!(stage.turn_end().await, "completed");
    assert_eq!(stage.read("runs.txt"), "done\n");
    let by: Vec<_> = stage.client.seen.of_kind("permission-resolved").map(|event| event.data["by"].clone()).collect();
    assert_eq!(by, ["person", "person"]);
    assert!(stage.notices("unasked_tool").is_empty(), "both were asked for");
    stage.end().await;
}

#[tokio::test]
async fn rejected_a_command_does_not_run_and_its_call_has_failed() {
    let mut stage = asking().await;
    stage.main([delegate("no", "touch it"), Reply::text("It was not allowed.")]);
    stage.coder([Reply::new().and_call(bash("touch unwanted.txt")), Reply::text("Never said.")]);
    stage.send("go").await;
    let question = asked(&mut stage).await;
    assert_eq!(choose(&stage, &question, "reject_once").await, 202);
    assert_eq!(stage.turn_end().await, "completed");
    assert!(!stage.server.rig().work_dir().join("unwanted.txt").exists());
    let updates = stage.results().await[0]["delegation"]["updates"].as_array().unwrap().clone();
    let calls: Vec<_> = updates.iter().map(|placed| &placed["update"]).filter(|update| update["type"] == "tool_call").collect();
    assert_eq!(calls.iter().map(|call| call["status"].as_str().unwrap()).collect::<Vec<_>>(), ["failed"], "{calls:?}");
    assert_eq!(stage.coder_requests().len(), 1, "Copilot's model is not asked again");
    stage.end().await;
}

#[tokio::test]
async fn a_second_device_answers_and_the_first_one_sees_it() {
    let mut stage = asking().await;
    stage.main([delegate("two", "touch it"), Reply::text("Touched.")]);
    stage.coder([Reply::new().and_call(bash("echo touched > shared.txt")), Reply::text("Done.")]);
    stage.send("go").await;
    let here = asked(&mut stage).await;
    let mut second = stage.newcomer().await;
    let there = second.seen.of_kind("permission-request").next().unwrap().data.clone();
    assert_eq!(there, here, "the same question on both");
    assert_eq!(choose(&stage, &there, "allow_once").await, 202);
    let resolved = stage.until_kind("permission-resolved").await.data;
    assert_eq!((&resolved["request_id"], resolved["option_id"].as_str()), (&here["request_id"], Some("allow_once")));
    assert_eq!(choose(&stage, &here, "reject_once").await, 409, "it is answered once");
    assert_eq!((stage.turn_end().await, second.turn_end(SOON).await), ("completed".to_owned(), "completed".to_owned()));
    assert_eq!(stage.read("shared.txt"), "touched\n");
    stage.end().await;
}

#[tokio::test]
async fn three_tools_ask_at_once_and_each_answer_reaches_its_own() {
    let mut stage = asking().await;
    stage.main([delegate("three", "touch three"), Reply::text("Two of three.")]);
    let files = ["wanted.txt", "unwanted.txt", "wanted too.txt"];
    let reply = files.iter().fold(Reply::new(), |reply, file| reply.and_call(bash(&format!("touch '{file}'"))));
    stage.coder([reply, Reply::text("So be it.")]);
    stage.send("go").await;
    let mut questions = Vec::new();
    for _ in files {
        questions.push(asked(&mut stage).await);
    }
    assert_eq!(stage.newcomer().await.seen.of_kind("permission-request").count(), 3, "all of them wait");
    // The last first, and the one that is refused in the end: a refusal ends Copilot's turn.
    for (file, option) in [(files[2], "allow_once"), (files[0], "allow_once"), (files[1], "reject_once")] {
        let question = questions.iter().find(|question| question["command"] == format!("touch '{file}'")).unwrap();
        assert_eq!(choose(&stage, question, option).await, 202);
    }
    assert_eq!(stage.turn_end().await, "completed");
    let made: Vec<_> = files.iter().map(|file| stage.server.rig().work_dir().join(file).exists()).collect();
    assert_eq!(made, [true, false, true]);
    stage.end().await;
}
