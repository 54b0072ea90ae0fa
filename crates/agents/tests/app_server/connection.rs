//! What a connection asks of an app-server, and what comes of it.

use agents::{Attached, How, Known, KnownSession, Part, Signal};
use domain::agent::{Demand, Fault, FormAction, Problem, Reply, Update};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::rig::{Rig, text};
use crate::sent;

fn known(thread: &str) -> KnownSession {
    KnownSession { agent_session: thread.into(), prompted: true, ..KnownSession::default() }
}

fn methods(rig: &Rig) -> Vec<String> {
    rig.sent().iter().filter_map(|line| line["method"].as_str().map(str::to_owned)).collect()
}

/// S2-44 to S2-47, S2-52.
#[tokio::test]
async fn a_prompt_is_a_turn() {
    let mut rig = Rig::ready().await;
    let capabilities = rig.connection.capabilities();
    assert_eq!(capabilities.agent_version.as_deref(), Some("0.166.0"));
    assert!(capabilities.load && capabilities.resume && capabilities.list && capabilities.close && capabilities.image);
    rig.prompt("c1", "say").await;
    assert_eq!(rig.turn().await, ("one two".to_owned(), Ok("end_turn".to_owned())));
    assert_eq!(methods(&rig), ["initialize", "initialized", "account/read", "thread/start", "model/list", "turn/start"]);
    rig.stop().await;
}

/// It asks before it changes anything, whatever its own configuration says.
#[tokio::test]
async fn a_thread_starts_and_is_resumed_in_the_mode_that_asks() {
    let rig = Rig::ready().await;
    rig.open(Some(&known("t1"))).await.unwrap();
    for line in rig.sent().iter().filter(|line| line["method"] == "thread/start" || line["method"] == "thread/resume") {
        let params = &line["params"];
        assert_eq!((&params["approvalPolicy"], &params["sandbox"]), (&json!("on-request"), &json!("read-only")));
        assert_eq!(params["approvalsReviewer"], "user");
    }
    rig.stop().await;
}

#[tokio::test]
async fn what_can_be_set_is_described_and_set() {
    let rig = Rig::ready().await;
    let opened = rig.open(None).await.unwrap();
    let options = opened.options.unwrap();
    let values: Vec<_> = options.as_array().unwrap().iter().map(|option| (option["id"].clone(), option["currentValue"].clone())).collect();
    let expected = [("mode", "read-only"), ("model", "small"), ("reasoning_effort", "low")];
    assert_eq!(values, expected.map(|(id, value)| (json!(id), json!(value))));
    assert_eq!(opened.mode.as_deref(), Some("read-only"));
    for (id, value) in [("mode", "workspace-write"), ("model", "large"), ("reasoning_effort", "high")] {
        rig.connection.set_option("t1", Some(&options), id, &json!(value)).await.unwrap();
    }
    let refused = rig.connection.set_option("t1", Some(&options), "mode", &json!("full")).await.unwrap_err();
    assert_eq!(refused.fault, Fault::Unsupported);
    let set: Vec<Value> = rig.sent().into_iter().filter(|line| line["method"] == "thread/settings/update").collect();
    assert_eq!(set[0]["params"]["sandboxPolicy"]["type"], "workspaceWrite");
    assert_eq!((&set[1]["params"]["model"], &set[2]["params"]["effort"]), (&json!("large"), &json!("high")));
    rig.stop().await;
}

/// What was chosen is put back after a resume.
#[tokio::test]
async fn a_resumed_thread_is_as_it_was() {
    let rig = Rig::ready().await;
    let options =
        json!([{ "id": "mode", "category": "mode", "currentValue": "workspace-write" }, { "id": "model", "currentValue": "small" }]);
    let opened = rig.open(Some(&KnownSession { options: Some(options), ..known("t1") })).await.unwrap();
    assert_eq!((opened.how, opened.mode.as_deref()), (How::Resumed, Some("workspace-write")));
    assert_eq!(methods(&rig).iter().filter(|method| *method == "thread/settings/update").count(), 1);
    rig.stop().await;
}

/// Without a list of models there is the one that the thread has.
#[tokio::test]
async fn an_older_one_still_opens() {
    let rig = Rig::start("plain").await;
    let options = rig.open(None).await.unwrap().options.unwrap();
    assert_eq!(options[1]["options"], json!([{ "value": "small", "name": "small" }]));
    rig.stop().await;
}

#[tokio::test]
async fn a_thread_that_is_not_there_is_lost_and_one_that_is_open_elsewhere_is_left_alone() {
    let rig = Rig::start("").await;
    let lost = rig.open(Some(&known("gone"))).await.unwrap();
    assert_eq!(lost.how, How::Lost { message: "no rollout found for thread id gone".to_owned() });
    let before = methods(&rig).len();
    let failure = rig.open(Some(&known("owned"))).await.unwrap_err();
    assert_eq!(failure.fault, Fault::OwnedElsewhere);
    assert!(failure.message.starts_with("another program has this conversation open"), "{failure}");
    assert_eq!(methods(&rig)[before..], ["account/read", "thread/resume"]);
    let unprompted = KnownSession { prompted: false, ..known("owned") };
    assert_eq!(rig.open(Some(&unprompted)).await.unwrap().how, How::New);
    rig.stop().await;
}

#[tokio::test]
async fn a_login_that_is_missing_is_known_before_anything_is_prompted() {
    let rig = Rig::start("logged-out").await;
    assert_eq!(rig.open(None).await.unwrap_err().fault, Fault::NeedsLogin);
    assert_eq!(rig.open(Some(&known("t1"))).await.unwrap_err().fault, Fault::NeedsLogin);
    rig.stop().await;
}

/// A key that is refused is not a login that is missing.
#[tokio::test]
async fn a_turn_that_fails_says_why() {
    let mut rig = Rig::ready().await;
    // What its model failed of is the last thing it says.
    rig.prompt("fail", "fail").await;
    let told = format!("{:?}", rig.until(|signal| matches!(signal, Signal::PromptEnded { .. })).await);
    assert!(told.contains("end_turn"), "{told}");
    assert!(told.contains("no such model (httpConnectionFailed, HTTP 404)") && told.contains("in_text: true"), "{told}");
    rig.prompt("logged-out", "logged-out").await;
    let failure = rig.turn().await.1.unwrap_err();
    assert_eq!((failure.fault, failure.message.as_str()), (Fault::NeedsLogin, "token expired (unauthorized)"));
    rig.stop().await;
}

/// S2-51: as a request, with the turn's name, once however often it is sent.
#[tokio::test]
async fn a_stop_names_the_turn() {
    let mut rig = Rig::ready().await;
    for (call, prompt) in [("c1", "go"), ("c2", "late")] {
        rig.prompt(call, prompt).await;
        // Of the late one the name is not known yet.
        let write = Uuid::now_v7();
        for _ in 0..2 {
            rig.connection.cancel(write, "t1").await.unwrap();
        }
        assert_eq!(rig.turn().await.1.unwrap(), "cancelled");
    }
    let stops: Vec<Value> = rig.sent().into_iter().filter(|line| line["method"] == "turn/interrupt").collect();
    assert_eq!(stops.iter().map(|stop| stop["params"]["turnId"].as_str().unwrap()).collect::<Vec<_>>(), ["u1", "u2"]);
    // Nothing runs any more.
    rig.connection.cancel(Uuid::now_v7(), "t1").await.unwrap();
    assert_eq!(rig.sent().iter().filter(|line| line["method"] == "turn/interrupt").count(), 2);
    rig.stop().await;
}

/// A new server knows the turn's name from the journal, and what of a message was told before.
#[tokio::test]
async fn a_new_server_goes_on_in_the_middle_of_a_turn() {
    let mut rig = Rig::ready().await;
    rig.prompt("c1", "half").await;
    let before = rig.until(|signal| matches!(signal, Signal::Text { .. })).await;
    assert_eq!(text(&before), "one ");
    let cursor = rig.cursor;
    let mut rig = rig.restart(cursor, Known { prompts: vec![("t1".to_owned(), "c1".to_owned())], ..Known::default() }).await;
    rig.connection.cancel(Uuid::now_v7(), "t1").await.unwrap();
    assert_eq!(rig.turn().await, (String::new(), Ok("cancelled".to_owned())));
    rig.stop().await;
}

/// S2-50: what a person chose is sent as it is stored, whoever asked for it.
#[tokio::test]
async fn every_decision_reaches_the_program_in_its_own_form() {
    let mut rig = Rig::ready().await;
    let cases = [(Some("accept"), "end_turn"), (Some("acceptForSession"), "end_turn"), (Some("decline"), "end_turn"), (None, "cancelled")];
    for (number, (chosen, end)) in cases.into_iter().enumerate() {
        rig.prompt(&format!("c{number}"), "ask").await;
        let signals = rig.until(|signal| matches!(signal, Signal::Demand { .. })).await;
        let Some(Signal::Demand { rpc_id, demand: Demand::Permission(ask), .. }) = signals.into_iter().last() else { panic!() };
        assert_eq!((ask.title.as_str(), ask.command.as_deref(), ask.cwd.as_deref()), ("Remove it?", Some("rm x"), Some("/w")));
        let offered: Vec<&str> = ask.options.iter().map(|option| option.option_id.as_str()).collect();
        // What would change its own rules for good is left out, also where it offers that.
        assert_eq!(offered, ["accept", "acceptForSession", "decline"]);
        // As another server would.
        let cursor = rig.cursor;
        rig = rig.restart(cursor, Known { prompts: vec![("t1".to_owned(), format!("c{number}"))], ..Known::default() }).await;
        let reply = Reply::Chosen { option_id: chosen.map(str::to_owned) };
        rig.connection.answer(Uuid::now_v7(), &rpc_id, &reply).await.unwrap();
        let (said, ended) = rig.turn().await;
        let expected = chosen.unwrap_or("cancel");
        assert_eq!((said.trim_matches('"'), ended.unwrap().as_str()), (expected, end));
    }
    for line in rig.sent().iter().filter(|line| line.get("result").is_some()) {
        sent::check_answer("item/commandExecution/requestApproval", line);
    }
    rig.stop().await;
}

#[tokio::test]
async fn what_is_sent_along_is_in_the_turn() {
    let mut rig = Rig::ready().await;
    let image = Attached::Image { name: "a.png".into(), mime_type: "image/png".into(), data: b"x".as_slice().into() };
    let file = Attached::File { name: "a.txt".into(), mime_type: "text/plain".into(), data: b"words".as_slice().into() };
    let link = Attached::Link { name: "src".into(), path: "/w/src".into(), size: None };
    rig.prompt_with("c1", &[image, file, link]).await.unwrap();
    rig.turn().await.1.unwrap();
    let binary = Attached::File { name: "a.bin".into(), mime_type: "x/y".into(), data: b"\xff".as_slice().into() };
    assert_eq!(rig.prompt_with("c2", &[binary]).await.unwrap_err().fault, Fault::Unsupported);
    let turn = rig.sent().into_iter().find(|line| line["method"] == "turn/start").unwrap();
    assert_eq!(turn["params"]["input"][1], json!({ "type": "image", "url": "data:image/png;base64,eA==" }));
    rig.stop().await;
}

/// The agent's own threads, and what was said in one: history, and opened nowhere.
#[tokio::test]
async fn threads_are_listed_and_read() {
    let mut rig = Rig::start("").await;
    let listed = rig.connection.list_sessions(None).await.unwrap();
    assert_eq!(listed.iter().map(|one| one.agent_session.as_str()).collect::<Vec<_>>(), ["t1", "t2"]);
    assert_eq!((listed[0].title.as_deref(), listed[0].updated_at.as_deref()), (Some("hi"), Some("2026-11-16T13:43:35Z")));
    rig.connection.load_session("main", "t1", "/w".as_ref()).await.unwrap();
    let last = |signal: &Signal| matches!(signal, Signal::Replay { part: Part::Text(text), .. } if text == "then");
    let told: Vec<String> = rig
        .until(last)
        .await
        .into_iter()
        .map(|signal| match signal {
            Signal::Replay { part: Part::Text(text), .. } => text,
            Signal::Replay { part: Part::Update(update), .. } => match *update {
                Update::UserMessage { text } => format!("> {text}"),
                Update::ToolCall(call) => call.title.unwrap(),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(told, ["> hi", "ls", "hello", "> and", "ls", "then"]);
    assert!(!methods(&rig).contains(&"thread/resume".to_owned()));
    rig.stop().await;
}

/// Answers to what is asked in other forms need nothing but what is stored.
#[tokio::test]
async fn forms_and_permissions_are_answered_in_their_own_form() {
    let rig = Rig::ready().await;
    let grant = r#"{"permissions":{"network":{"enabled":true}},"scope":"turn"}"#;
    let form = |action, content| Reply::Form { action, content };
    let cases = [
        ("permissions", Reply::Chosen { option_id: Some(grant.to_owned()) }, "item/permissions/requestApproval"),
        ("permissions", Reply::Chosen { option_id: Some("decline".to_owned()) }, "item/permissions/requestApproval"),
        ("permissions", Reply::Chosen { option_id: None }, "item/permissions/requestApproval"),
        ("questions", form(FormAction::Accept, Some(json!({ "q": "A" }))), "item/tool/requestUserInput"),
        ("questions", form(FormAction::Cancel, None), "item/tool/requestUserInput"),
        ("elicitation", form(FormAction::Accept, Some(json!({ "name": "x" }))), "mcpServer/elicitation/request"),
        ("elicitation", form(FormAction::Decline, None), "mcpServer/elicitation/request"),
    ];
    for (kind, reply, method) in cases {
        let rpc_id = json!({ "id": 7, "for": kind }).to_string();
        rig.connection.answer(Uuid::now_v7(), &rpc_id, &reply).await.unwrap();
        let line = rig.sent().pop().unwrap();
        assert_eq!(line["id"], 7);
        sent::check_answer(method, &line);
    }
    let refused = Reply::refused(Problem::Unsupported, "no");
    rig.connection.answer(Uuid::now_v7(), "3", &refused).await.unwrap();
    assert_eq!(rig.sent().pop().unwrap()["error"], json!({ "code": -32601, "message": "no" }));
    assert_eq!(rig.connection.answer(Uuid::now_v7(), "[", &refused).await.unwrap_err().fault, Fault::Refused);
    rig.stop().await;
}
