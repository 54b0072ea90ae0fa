//! Copilot asks before it acts, and does what it was told: once, never, from any device, several at once. What is asked while the server
//! is killed is in `server_killed`, what is asked while the turn is stopped in `stopping`.

use serde_json::{Value, json};
use testkit::model_server::{Reply, Script};

use crate::replies::{bash, create, delegate};
use crate::setup::{SOON, Setup, start_with};

/// Quotes, blanks at the ends, a tab, a dollar, a backslash, letters beyond ASCII, and more than one line.
const ODD: &str = "cat > odd.txt <<'END' \n  \"double\" 'single' $HOME `tick` \\\\ \\n\ttab  \n\u{e4}\u{20ac}\u{1f642} *?[a-z] # not a comment  \nEND\necho done >> runs.txt";

pub(crate) async fn asking() -> Setup {
    start_with(Script::new(), json!({ "permission_policy": "ask" }), |rig| rig).await
}

pub(crate) async fn answer(setup: &Setup, request: &Value, body: Value) -> u16 {
    let request = request["request_id"].as_str().unwrap();
    setup.post(&format!("permissions/{request}"), body).await
}

pub(crate) async fn choose(setup: &Setup, request: &Value, option: &str) -> u16 {
    answer(setup, request, json!({ "option_id": option })).await
}

/// The next question.
pub(crate) async fn asked(setup: &mut Setup) -> Value {
    setup.until_kind("permission-request").await.data
}

#[tokio::test]
async fn a_question_shows_the_exact_command_or_diff_and_is_answered_once() {
    let mut setup = asking().await;
    let note = setup.server.rig().work_dir().join("note.md");
    setup.main([delegate("ask", "make two files"), Reply::text("Made.")]);
    setup.coder([
        Reply::new().and_call(bash("echo yes > made.txt")),
        Reply::new().and_call(create(&note, "noted\n")),
        Reply::text("Both."),
    ]);
    setup.send("go").await;
    let command = asked(&mut setup).await;
    assert_eq!((command["kind"].as_str(), command["command"].as_str()), (Some("execute"), Some("echo yes > made.txt")));
    assert_eq!(command["session_name"], "ask");
    let kinds: Vec<_> = command["options"].as_array().unwrap().iter().map(|option| option["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["allow_once", "allow_always", "reject_once"]);
    assert!(!setup.server.rig().work_dir().join("made.txt").exists(), "nothing happens before the answer");
    assert_eq!(choose(&setup, &command, "no such option").await, 422);
    assert_eq!(choose(&setup, &command, "allow_once").await, 202);
    assert_eq!(choose(&setup, &command, "reject_once").await, 409);

    let diff = asked(&mut setup).await;
    assert!(diff["diff"].as_str().unwrap().contains("+noted"), "{diff}");
    assert_eq!(choose(&setup, &diff, "allow_once").await, 202);
    assert_eq!(setup.turn_end().await, "completed");
    assert_eq!((setup.read("made.txt").as_str(), setup.read("note.md").as_str()), ("yes\n", "noted\n"));
    assert_eq!(setup.client.seen.of_kind("permission-resolved").count(), 2);
    setup.end().await;
}

#[tokio::test]
async fn allowed_once_a_command_runs_once_byte_for_byte_as_it_was_shown() {
    let mut setup = asking().await;
    setup.main([delegate("odd", "run it twice"), Reply::text("Ran.")]);
    setup.coder([Reply::new().and_call(bash(ODD)), Reply::new().and_call(bash(ODD)), Reply::text("Once.")]);
    setup.send("go").await;
    let first = asked(&mut setup).await;
    let seen = first["command"].as_str().unwrap();
    assert_eq!(seen, ODD, "what the model wrote is what the person sees");
    assert_eq!(choose(&setup, &first, "allow_once").await, 202);
    let second = asked(&mut setup).await;
    assert_eq!(second["command"], ODD, "once is once");
    let body = seen.split_once('\n').unwrap().1.split_once("END").unwrap().0;
    assert_eq!(setup.read("odd.txt"), body, "what the person saw is what ran");
    assert_eq!(choose(&setup, &second, "reject_once").await, 202);
    assert_eq!(setup.turn_end().await, "completed");
    assert_eq!(setup.read("runs.txt"), "done\n");
    let by: Vec<_> = setup.client.seen.of_kind("permission-resolved").map(|event| event.data["by"].clone()).collect();
    assert_eq!(by, ["person", "person"]);
    assert!(setup.notices("unasked_tool").is_empty(), "both were asked for");
    setup.end().await;
}

/// C26: the delegated call ends as denied, although Copilot says that it has finished.
#[tokio::test]
async fn rejected_a_command_does_not_run_and_its_call_is_called_rejected() {
    let mut setup = asking().await;
    setup.main([delegate("no", "touch it"), Reply::text("It was not allowed.")]);
    setup.coder([Reply::new().and_call(bash("touch unwanted.txt")), Reply::text("Never said.")]);
    setup.send("go").await;
    let question = asked(&mut setup).await;
    assert_eq!(choose(&setup, &question, "reject_once").await, 202);
    assert_eq!(setup.turn_end().await, "completed");
    assert!(!setup.server.rig().work_dir().join("unwanted.txt").exists());
    let delegation = setup.results().await[0]["delegation"].clone();
    assert_eq!(delegation["stop_reason"], "denied");
    let updates = delegation["updates"].as_array().unwrap();
    let calls: Vec<_> = updates.iter().map(|placed| &placed["update"]).filter(|update| update["type"] == "tool_call").collect();
    assert_eq!(calls.iter().map(|call| call["status"].as_str().unwrap()).collect::<Vec<_>>(), ["declined"], "{calls:?}");
    assert_eq!(setup.coder_requests().len(), 1, "Copilot's model is not asked again");
    setup.end().await;
}

/// Copilot ends its turn after a refusal; the reason is its next prompt in the same session, and the call ends after that.
#[tokio::test]
async fn a_refusal_with_a_reason_goes_on_with_the_reason() {
    let mut setup = asking().await;
    setup.main([delegate("no", "touch it"), Reply::text("It was done in another way.")]);
    setup.coder([Reply::new().and_call(bash("touch unwanted.txt")), Reply::text("Then without the file.")]);
    setup.send("go").await;
    let question = asked(&mut setup).await;
    let body = json!({ "option_id": "reject_once", "reason": "do it without a file" });
    assert_eq!(answer(&setup, &question, body).await, 202);
    assert_eq!(setup.turn_end().await, "completed");
    assert!(!setup.server.rig().work_dir().join("unwanted.txt").exists());
    let result = setup.results().await[0].clone();
    assert_eq!(result["delegation"]["stop_reason"], "end_turn", "{result}");
    assert!(result["content"].as_str().unwrap().contains("Then without the file."), "{result}");
    let requests = setup.coder_requests();
    assert_eq!(requests.len(), 2, "asked once more, with the reason");
    assert!(format!("{:?}", requests[1].messages()).contains("do it without a file"));
    setup.end().await;
}

#[tokio::test]
async fn a_second_device_answers_and_the_first_one_sees_it() {
    let mut setup = asking().await;
    setup.main([delegate("two", "touch it"), Reply::text("Touched.")]);
    setup.coder([Reply::new().and_call(bash("echo touched > shared.txt")), Reply::text("Done.")]);
    setup.send("go").await;
    let here = asked(&mut setup).await;
    let mut second = setup.new_client().await;
    let there = second.seen.of_kind("permission-request").next().unwrap().data.clone();
    assert_eq!(there, here, "the same question on both");
    assert_eq!(choose(&setup, &there, "allow_once").await, 202);
    let resolved = setup.until_kind("permission-resolved").await.data;
    assert_eq!((&resolved["request_id"], resolved["option_id"].as_str()), (&here["request_id"], Some("allow_once")));
    assert_eq!(choose(&setup, &here, "reject_once").await, 409, "it is answered once");
    assert_eq!((setup.turn_end().await, second.turn_end(SOON).await), ("completed".to_owned(), "completed".to_owned()));
    assert_eq!(setup.read("shared.txt"), "touched\n");
    setup.end().await;
}

#[tokio::test]
async fn three_tools_ask_at_once_and_each_answer_reaches_its_own() {
    let mut setup = asking().await;
    setup.main([delegate("three", "touch three"), Reply::text("Two of three.")]);
    let files = ["wanted.txt", "unwanted.txt", "wanted too.txt"];
    let reply = files.iter().fold(Reply::new(), |reply, file| reply.and_call(bash(&format!("touch '{file}'"))));
    setup.coder([reply, Reply::text("So be it.")]);
    setup.send("go").await;
    let mut questions = Vec::new();
    for _ in files {
        questions.push(asked(&mut setup).await);
    }
    assert_eq!(setup.new_client().await.seen.of_kind("permission-request").count(), 3, "all of them wait");
    // The last first, and the one that is refused in the end: a refusal ends Copilot's turn.
    for (file, option) in [(files[2], "allow_once"), (files[0], "allow_once"), (files[1], "reject_once")] {
        let question = questions.iter().find(|question| question["command"] == format!("touch '{file}'")).unwrap();
        assert_eq!(choose(&setup, question, option).await, 202);
    }
    assert_eq!(setup.turn_end().await, "completed");
    let made: Vec<_> = files.iter().map(|file| setup.server.rig().work_dir().join(file).exists()).collect();
    assert_eq!(made, [true, false, true]);
    setup.end().await;
}
