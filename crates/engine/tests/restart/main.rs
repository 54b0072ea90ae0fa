//! One server stops and another takes over, at the engine: what was under way goes on, and nothing is asked, run or shown twice.

#![allow(clippy::unwrap_used)]

mod requests;
mod setup;

use std::time::Duration;

use domain::event::Event;
use engine::{Answer, AnsweredBy, Wanted};
use serde_json::json;
use setup::{Setup, agent_text, is_end, kinds};
use store::{Row, RunnerRow, Write};
use testkit::model_server::{Gate, Reply, ToolCall};

fn relay() -> Wanted {
    Wanted { model: Some("relay".to_owned()), ..Wanted::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_works_on_and_its_words_come_exactly_once() {
    let setup = Setup::new([]);
    let engine = setup.engine().await;
    let id = engine.create(relay()).await.unwrap().id;
    engine.post(id, "slow 60".to_owned(), None, vec![]).await.unwrap();
    setup::until(&engine, id, |event| matches!(event, Event::CopilotDelta(_))).await;
    assert_eq!(engine.shutdown().await, 1, "one agent goes on");
    let engine = setup.engine().await;
    let events = setup::until(&engine, id, is_end).await;
    let expected: String = (1..=60).map(|number| format!("{number} ")).collect();
    assert_eq!(agent_text(&events), expected);
    assert_eq!(kinds(&events).last().unwrap(), "turn completed");
    assert!(events.iter().any(|event| matches!(event, Event::Notice(notice) if notice.code == "recovered")));
    let log = setup.agent_log();
    assert_eq!(log.iter().filter(|line| line["method"] == "session/prompt").count(), 1, "{log:?}");
    engine.shutdown().await;
}

/// A store may come from elsewhere: a copy that was moved, a backup of another machine.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_outside_of_the_data_directory_is_cleared_away_on_the_word_of_a_row() {
    let setup = Setup::new([]);
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::write(elsewhere.path().join("precious"), "").unwrap();
    let engine = setup.engine().await;
    let id = engine.create(relay()).await.unwrap().id;
    let row = |id_end: u8| RunnerRow {
        id: format!("00000000-0000-7000-8000-0000000000{id_end:02}"),
        session: id,
        agent: "faulty".to_owned(),
        dir: elsewhere.path().display().to_string(),
        cursor: 0,
        capabilities: None,
        ending: false,
    };
    let rows = [1, 2].map(|id_end| Row::Runner(row(id_end))).to_vec();
    engine.store().commit(Write { session: id, events: vec![], rows }).await.unwrap();
    engine.shutdown().await;
    let engine = setup.engine().await;
    engine.post(id, "say hello".to_owned(), None, vec![]).await.unwrap();
    setup::until(&engine, id, is_end).await;
    assert!(elsewhere.path().join("precious").exists());
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_is_not_forgotten() {
    let setup = Setup::new([]);
    let engine = setup.engine().await;
    let id = engine.create(relay()).await.unwrap().id;
    engine.post(id, "ignores_cancel 60".to_owned(), None, vec![]).await.unwrap();
    setup::until(&engine, id, |event| matches!(event, Event::CopilotDelta(_))).await;
    engine.cancel(id, None).await.unwrap();
    engine.shutdown().await;
    let engine = setup.engine().await;
    let events = setup::until(&engine, id, is_end).await;
    assert_eq!(kinds(&events).last().unwrap(), "turn cancelled");
    assert!(agent_text(&events).ends_with("tick 60 "), "the agent was heard to its end");
    let stops = setup.agent_log().iter().filter(|line| line["method"] == "session/cancel").count();
    assert_eq!(stops, 1, "told by the old server, or by the new one where that came too late; never by both");
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_stop_of_one_call_is_not_forgotten() {
    let call = |name: &str, prompt: &str| ToolCall::new("copilot_agent", json!({ "prompt": prompt, "session_name": name }));
    let calls = [call("stopped", "ignores_cancel 60"), call("going", "slow 60")];
    let setup = Setup::new([Reply::tool_calls(calls), Reply::text("one of two")]);
    let engine = setup.engine().await;
    let id = engine.create(Wanted::default()).await.unwrap().id;
    engine.post(id, "go".to_owned(), None, vec![]).await.unwrap();
    let (mut stopped, mut going) = (None, false);
    setup::until(&engine, id, |event| {
        if let Event::CopilotDelta(delta) = event {
            match delta.session_name.as_str() {
                "stopped" => stopped = Some(delta.tool_call_id.clone()),
                _ => going = true,
            }
        }
        stopped.is_some() && going
    })
    .await;
    engine.cancel(id, stopped.clone()).await.unwrap();
    engine.shutdown().await;
    let engine = setup.engine().await;
    engine.cancel(id, stopped.clone()).await.unwrap();
    let events = setup::until(&engine, id, is_end).await;
    assert_eq!(kinds(&events).last().unwrap(), "turn completed", "the other one went on");
    let marks = events.iter().filter(|event| matches!(event, Event::ToolStopping { id } if Some(id) == stopped.as_ref())).count();
    assert_eq!(marks, 1);
    let log = setup.agent_log();
    assert_eq!(log.iter().filter(|line| line["method"] == "session/cancel").count(), 1, "told once, by whichever server: {log:?}");
    assert_eq!(log.iter().filter(|line| line["method"] == "session/prompt").count(), 2, "nothing was begun again");
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_time_to_answer_goes_on_while_there_is_no_server() {
    let mut setup = Setup::new([]);
    let engine = setup.engine().await;
    let id = engine.create(relay()).await.unwrap().id;
    engine.post(id, "ask".to_owned(), None, vec![]).await.unwrap();
    let events = setup::until(&engine, id, |event| matches!(event, Event::PermissionRequest(_))).await;
    let Some(Event::PermissionRequest(asked)) = events.last() else { unreachable!("it was just found") };
    engine.shutdown().await;
    // What was asked a moment ago is overdue under the new server, which counts from then.
    setup.permission_timeout = Some(Duration::from_millis(1));
    let engine = setup.engine().await;
    let events = setup::until(&engine, id, is_end).await;
    let resolved = events.iter().find_map(|event| if let Event::PermissionResolved(resolved) = event { Some(resolved) } else { None });
    let resolved = resolved.unwrap();
    assert_eq!((resolved.request_id, resolved.by.as_str(), resolved.option_id.as_deref()), (asked.request_id, "timeout", Some("no")));
    assert!(agent_text(&events).contains("\"no\""), "{}", agent_text(&events));
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unfinished_answer_is_void_and_asked_for_again_and_the_queue_follows() {
    let setup = Setup::new([Reply::text("half").stall(), Reply::text("whole"), Reply::text("second")]);
    let engine = setup.engine().await;
    let id = engine.create(Wanted::default()).await.unwrap().id;
    engine.post(id, "one".to_owned(), None, vec![]).await.unwrap();
    engine.post(id, "two".to_owned(), Some("client-1".to_owned()), vec![]).await.unwrap();
    setup::until(&engine, id, |event| matches!(event, Event::TextDelta(_))).await;
    engine.shutdown().await;
    let engine = setup.engine().await;
    let again = engine.post(id, "two".to_owned(), Some("client-1".to_owned()), vec![]).await.unwrap();
    assert!(again.queued, "the same message, with the same answer");
    let mut ends = 0;
    let events = setup::until(&engine, id, move |event| {
        ends += usize::from(is_end(event));
        ends == 2
    })
    .await;
    let texts: Vec<_> =
        events.iter().filter_map(|event| if let Event::Message(message) = event { Some(message.content.as_str()) } else { None }).collect();
    assert_eq!(texts, ["one", "whole", "two", "second"]);
    assert_eq!(events.iter().filter(|event| matches!(event, Event::Superseded { .. })).count(), 1);
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_confirmation_still_waits_and_still_runs_out() {
    let mut setup = Setup::new([Reply::tool_call("read_file_external", json!({ "path": "/etc/hostname" })), Reply::text("done")]);
    let engine = setup.engine().await;
    let id = engine.create(Wanted::default()).await.unwrap().id;
    engine.post(id, "read".to_owned(), None, vec![]).await.unwrap();
    setup::until(&engine, id, |event| matches!(event, Event::ToolConfirm(_))).await;
    engine.shutdown().await;
    setup.confirm_timeout = Duration::from_millis(50);
    let engine = setup.engine().await;
    let events = setup::until(&engine, id, is_end).await;
    let expected = ["tool-confirm", "waits", "tool-result", "waits", "text-delta", "message", "done", "turn completed"];
    assert_eq!(kinds(&events)[4..], expected, "{:?}", kinds(&events));
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_permission_still_waits_and_its_answer_reaches_the_agent() {
    let setup = Setup::new([]);
    let engine = setup.engine().await;
    let id = engine.create(relay()).await.unwrap().id;
    engine.post(id, "ask".to_owned(), None, vec![]).await.unwrap();
    setup::until(&engine, id, |event| matches!(event, Event::PermissionRequest(_))).await;
    engine.shutdown().await;
    let engine = setup.engine().await;
    let waiting = engine.store().permissions(id).await.unwrap();
    assert_eq!(waiting.len(), 1);
    engine.answer(id, waiting[0].request.request_id, Answer::once("yes".to_owned(), AnsweredBy::Person)).await.unwrap();
    let events = setup::until(&engine, id, is_end).await;
    assert!(agent_text(&events).contains("\"yes\""), "{}", agent_text(&events));
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_agent_is_ended_with_its_server_and_a_session_goes_on_without_it() {
    let gate = Gate::new();
    let setup = Setup::new([Reply::text("unused").gate(&gate)]);
    let engine = setup.engine().await;
    let id = engine.create(relay()).await.unwrap().id;
    engine.post(id, "say one".to_owned(), None, vec![]).await.unwrap();
    setup::until(&engine, id, is_end).await;
    assert_eq!(engine.shutdown().await, 0, "nothing is left behind");
    let engine = setup.engine().await;
    engine.post(id, "say two".to_owned(), None, vec![]).await.unwrap();
    let mut ends = 0;
    let events = setup::until(&engine, id, move |event| {
        ends += usize::from(is_end(event));
        ends == 2
    })
    .await;
    assert!(agent_text(&events).ends_with("two"));
    engine.shutdown().await;
    testkit::processes::none_left(setup.dir.path(), Duration::from_secs(60)).await.unwrap();
}

/// Two agents at most: one idles, one works, and a third is wanted, and then a fourth.
#[tokio::test(flavor = "multi_thread")]
async fn beyond_the_most_an_agent_waits_until_another_has_ended() {
    let mut setup = Setup::new([]);
    setup.agents_most = 2;
    let engine = setup.engine().await;
    let mut ids = Vec::new();
    for _ in 0..4 {
        ids.push(engine.create(relay()).await.unwrap().id);
    }
    let waits = |event: &Event| matches!(event, Event::Notice(notice) if notice.code == "agents_waiting");
    engine.post(ids[0], "slow 1".to_owned(), None, vec![]).await.unwrap();
    setup::until(&engine, ids[0], is_end).await;
    engine.post(ids[1], "slow 40".to_owned(), None, vec![]).await.unwrap();
    setup::until(&engine, ids[1], |event| matches!(event, Event::CopilotDelta(_))).await;
    // The idle one makes room.
    engine.post(ids[2], "slow 40".to_owned(), None, vec![]).await.unwrap();
    setup::until(&engine, ids[2], waits).await;
    setup::until(&engine, ids[2], |event| matches!(event, Event::CopilotDelta(_))).await;
    // Now both work, so this one begins when the first of them is done and has been asked to leave.
    engine.post(ids[3], "slow 1".to_owned(), None, vec![]).await.unwrap();
    setup::until(&engine, ids[3], waits).await;
    for id in &ids[1..] {
        let events = setup::until(&engine, *id, is_end).await;
        assert_eq!(kinds(&events).last().unwrap(), "turn completed");
    }
    engine.shutdown().await;
}
