//! What an agent asks of its client while one server goes and another comes: every request gets one answer.

use std::time::Duration;

use domain::agent::Update;
use domain::agent::{OptionKind, PermissionOption};
use domain::decision::Decision;
use domain::event::{Event, PermissionResolved};
use domain::ids::PermissionId;
use domain::policy::Policy;
use engine::{Answer, AnsweredBy, Engine, Wanted};
use serde_json::{Value, json};
use store::{Row, Store, Write};

use crate::setup::{self, Setup, agent_text, is_end};

fn wanted(policy: Policy) -> Wanted {
    Wanted { model: Some("relay".to_owned()), permission_policy: Some(policy), ..Wanted::default() }
}

fn calls(list: &Value) -> String {
    format!("calls {list}")
}

/// The answers that the agent was given to requests of its own, as it got them.
fn answers(setup: &Setup) -> Vec<Value> {
    setup.agent_log().into_iter().filter(|line| line.get("method").is_none() && line["id"].is_number()).collect()
}

async fn waiting(engine: &Engine, id: domain::ids::SessionId) -> PermissionId {
    setup::until(engine, id, |event| matches!(event, Event::PermissionRequest(_))).await;
    engine.store().permissions(id).await.unwrap()[0].request.request_id
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_that_waits_for_a_person_is_done_by_the_next_server_once() {
    let setup = Setup::new([]);
    let engine = setup.engine().await;
    let id = engine.create(wanted(Policy::Ask)).await.unwrap().id;
    let list = json!([["fs/write_text_file", { "path": "a.txt", "content": "new" }], ["fs/read_text_file", { "path": "a.txt" }]]);
    engine.post(id, calls(&list), None, vec![]).await.unwrap();
    waiting(&engine, id).await;
    engine.shutdown().await;
    assert!(!setup.dir.path().join("work/a.txt").exists());
    let engine = setup.engine().await;
    let request = waiting(&engine, id).await;
    engine.answer(id, request, Answer::once("allow_once".to_owned(), AnsweredBy::Person)).await.unwrap();
    let events = setup::until(&engine, id, is_end).await;
    assert_eq!(agent_text(&events), "{}\n{\"content\":\"new\"}\n");
    assert_eq!(answers(&setup).len(), 2, "{:?}", answers(&setup));
    assert!(engine.store().requests(id, "").await.unwrap().is_empty());
    engine.shutdown().await;
}

/// The server dies while a denial is held: the next one tells the agent when the time is over, and until then it can be taken back.
#[tokio::test(flavor = "multi_thread")]
async fn a_denial_that_is_held_outlives_its_server() {
    let mut setup = Setup::new([]);
    setup.denial_hold = Duration::from_secs(600);
    let is_held = |event: &Event| matches!(event, Event::PermissionHeld(_));
    let engine = setup.engine().await;
    let id = engine.create(wanted(Policy::Ask)).await.unwrap().id;
    engine.post(id, "ask".to_owned(), None, vec![]).await.unwrap();
    let request = waiting(&engine, id).await;
    engine.answer(id, request, Answer::once("no".to_owned(), AnsweredBy::Person)).await.unwrap();
    setup::until(&engine, id, is_held).await;
    engine.shutdown().await;
    let engine = setup.engine().await;
    engine.take_back(id, request).await.unwrap();
    assert!(engine.take_back(id, request).await.is_err(), "only once");
    engine.answer(id, request, Answer::once("no".to_owned(), AnsweredBy::Person)).await.unwrap();
    engine.shutdown().await;
    assert!(answers(&setup).is_empty(), "{:?}", answers(&setup));
    // No clock that was wrong when it was given holds it longer than a denial is held.
    setup.denial_hold = Duration::from_millis(50);
    let engine = setup.engine().await;
    let events = setup::until(&engine, id, is_end).await;
    let resolved = events.iter().filter_map(|event| if let Event::PermissionResolved(resolved) = event { Some(resolved) } else { None });
    let resolved: Vec<_> = resolved.map(|resolved| (resolved.by.as_str(), resolved.option_id.as_deref())).collect();
    assert_eq!(resolved, [("person", Some("no"))]);
    assert_eq!(answers(&setup).len(), 1);
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_that_was_begun_and_never_answered_is_not_repeated() {
    let setup = Setup::new([]);
    let engine = setup.engine().await;
    let id = engine.create(wanted(Policy::Ask)).await.unwrap().id;
    let list = json!([["fs/write_text_file", { "path": "a.txt", "content": "new" }]]);
    engine.post(id, calls(&list), None, vec![]).await.unwrap();
    let request_id = waiting(&engine, id).await;
    engine.shutdown().await;
    // As a server leaves it that is killed right after it has begun.
    let store = Store::open(&setup.dir.path().join("voxpilot.db"), false).await.unwrap();
    let decision = Decision::of(&PermissionOption::new("allow_once", "Allow", OptionKind::AllowOnce));
    let resolved = PermissionResolved::new(request_id, &decision, "person", None);
    let rows = vec![Row::ResolvePermission { request_id, decision, by: resolved.by.clone() }, Row::BeginRequest { id: request_id }];
    store.commit(Write { session: id, events: vec![Event::PermissionResolved(resolved)], rows }).await.unwrap();
    store.close().await;
    drop(store);
    let engine = setup.engine().await;
    let events = setup::until(&engine, id, is_end).await;
    assert!(agent_text(&events).contains("may or may not have happened"), "{}", agent_text(&events));
    assert!(!setup.dir.path().join("work/a.txt").exists());
    assert_eq!(answers(&setup).len(), 1);
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_still_waits_and_what_is_filled_in_reaches_the_agent() {
    let setup = Setup::new([]);
    let engine = setup.engine().await;
    let id = engine.create(wanted(Policy::Auto)).await.unwrap().id;
    let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] });
    let list = json!([["elicitation/create", { "mode": "form", "message": "Who?", "requestedSchema": schema }]]);
    engine.post(id, calls(&list), None, vec![]).await.unwrap();
    waiting(&engine, id).await;
    engine.shutdown().await;
    let engine = setup.engine().await;
    let request = waiting(&engine, id).await;
    assert!(
        engine
            .answer(id, request, Answer { content: Some(json!({})), ..Answer::once("accept".to_owned(), AnsweredBy::Person) })
            .await
            .is_err()
    );
    engine
        .answer(id, request, Answer { content: Some(json!({ "name": "Ada" })), ..Answer::once("accept".to_owned(), AnsweredBy::Person) })
        .await
        .unwrap();
    let events = setup::until(&engine, id, is_end).await;
    assert_eq!(agent_text(&events), "{\"action\":\"accept\",\"content\":{\"name\":\"Ada\"}}\n");
    assert_eq!(answers(&setup).len(), 1);
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_ends_with_its_server_and_whoever_asks_for_it_is_told() {
    let setup = Setup::new([]);
    let engine = setup.engine().await;
    let id = engine.create(wanted(Policy::Auto)).await.unwrap().id;
    let list = json!([
        ["terminal/create", { "command": "sh", "args": ["-c", "setsid sleep 1000 & echo up; sleep 1000"] }],
        ["terminal/wait_for_exit", { "terminalId": "$terminal" }],
        ["terminal/output", { "terminalId": "$terminal" }],
    ]);
    engine.post(id, calls(&list), None, vec![]).await.unwrap();
    let is_up = |event: &Event| event.data().contains("up\\n");
    setup::until(&engine, id, is_up).await;
    engine.shutdown().await;
    let engine = setup.engine().await;
    let events = setup::until(&engine, id, is_end).await;
    let text = agent_text(&events);
    assert_eq!(text.matches("-32002").count(), 2, "{text}");
    assert_eq!(answers(&setup).len(), 3);
    engine.shutdown().await;
    testkit::processes::none_left(setup.dir.path(), std::time::Duration::from_secs(60)).await.unwrap();
}

/// The prompts that the agent was sent, in words.
fn prompts(setup: &Setup) -> Vec<String> {
    let sent = setup.agent_log().into_iter().filter(|line| line["method"] == "session/prompt");
    sent.map(|line| line["params"]["prompt"][0]["text"].as_str().unwrap().to_owned()).collect()
}

fn refused(reason: &str) -> Answer {
    Answer { reason: Some(reason.to_owned()), ..Answer::once("no".to_owned(), AnsweredBy::Person) }
}

/// What a person says when they refuse is told once, whichever server dies when: before the refused prompt has ended, or while the
/// agent works on what it was told.
#[tokio::test(flavor = "multi_thread")]
async fn a_reason_reaches_the_agent_once_over_a_restart() {
    for in_follow_up in [false, true] {
        let setup = Setup::new([]);
        let engine = setup.engine().await;
        let id = engine.create(wanted(Policy::Ask)).await.unwrap().id;
        engine.post(id, "rejected-then-done".to_owned(), None, vec![]).await.unwrap();
        let request = waiting(&engine, id).await;
        engine.answer(id, request, refused("slow 30")).await.unwrap();
        if in_follow_up {
            let mut told = false;
            setup::until(&engine, id, move |event| {
                told |= matches!(event, Event::AgentUpdate(update) if matches!(update.update, Update::FollowUp { .. }));
                told && matches!(event, Event::CopilotDelta(_))
            })
            .await;
        }
        engine.shutdown().await;
        let engine = setup.engine().await;
        let events = setup::until(&engine, id, is_end).await;
        assert_eq!(prompts(&setup), ["rejected-then-done", "slow 30"], "in the follow-up: {in_follow_up}");
        let done: Vec<_> = events
            .iter()
            .filter_map(|event| if let Event::CopilotDone(done) = event { Some(done.stop_reason.as_str()) } else { None })
            .collect();
        assert_eq!(done, ["end_turn"]);
        assert!(agent_text(&events).starts_with("Then I leave it as it is."), "{}", agent_text(&events));
        engine.shutdown().await;
    }
}
