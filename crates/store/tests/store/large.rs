//! Rows that are large: how much of them is read at a time, and how long they stay so.

use domain::agent::PermissionAsk;
use domain::event::{Event, Role, Turn, TurnState};
use domain::ids::{PermissionId, SessionId, TurnId};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use store::{PermissionRow, Row, Store, TurnRow, Write};
use uuid::Uuid;

use crate::fixture::*;

const MIB: usize = 1024 * 1024;

#[tokio::test]
async fn a_page_of_large_messages_is_short_and_says_that_there_are_more() {
    let (fixture, id) = Fixture::with_session().await;
    for number in 1..=12 {
        let large = domain::event::Message { display: Some("x".repeat(3 * MIB)), ..message(number, Role::Tool, "done") };
        fixture.store.commit(rows(id, vec![Row::Message(large)])).await.unwrap();
    }
    let mut before = None;
    let mut seen = Vec::new();
    loop {
        let page = fixture.store.messages(id, before, 50).await.unwrap();
        assert!((1..=3).contains(&page.messages.len()), "{} messages at once", page.messages.len());
        before = page.messages.first().map(|message| message.id);
        seen.splice(0..0, page.messages.into_iter().map(|message| message.id));
        if !page.more {
            break;
        }
    }
    assert_eq!(
        seen,
        (1..=12).map(|number| message(number, Role::Tool, "").id).collect::<Vec<_>>(),
        "none is left out and none comes twice"
    );
    let snapshot = fixture.store.snapshot(id, 50).await.unwrap().unwrap();
    assert!(snapshot.more && snapshot.messages.len() <= 3);
    let huge = domain::event::Message { display: Some("x".repeat(20 * MIB)), ..message(13, Role::Tool, "done") };
    fixture.store.commit(rows(id, vec![Row::Message(huge)])).await.unwrap();
    let page = fixture.store.messages(id, None, 50).await.unwrap();
    assert_eq!((page.messages.len(), page.more), (1, true), "one comes however long it is");
    assert!(fixture.store.message_bytes(id).await.unwrap() > 56 * MIB as u64);
}

async fn heavy_turn(store: &Store, id: SessionId, n: u128, mib: usize) {
    let turn_id = TurnId(Uuid::from_u128(n));
    let row = |state, ended_at| {
        Row::Turn(TurnRow { id: turn_id, state, reason: None, user_message_id: None, started_seq: 0, started_at: at(1), ended_at })
    };
    let event = |state| Event::Turn(Turn::new(turn_id, state, None));
    let begin = Write { session: id, events: vec![event(TurnState::Running)], rows: vec![row(TurnState::Running, None)] };
    store.commit(begin).await.unwrap();
    for _ in 0..mib / 8 {
        store.commit(events(id, vec![notice("x".repeat(8 * MIB))])).await.unwrap();
    }
    let now = Some(Timestamp::now());
    store
        .commit(Write { session: id, events: vec![event(TurnState::Completed)], rows: vec![row(TurnState::Completed, now)] })
        .await
        .unwrap();
}

#[tokio::test]
async fn a_session_keeps_no_more_than_so_many_bytes_of_turns_that_are_over() {
    let (fixture, id) = Fixture::with_session().await;
    for (n, mib) in [(1, 104), (2, 104), (3, 104), (4, 8)] {
        heavy_turn(&fixture.store, id, n, mib).await;
    }
    let day_ago = Timestamp::now() - SignedDuration::from_hours(24);
    assert_eq!(fixture.store.compact(day_ago).await.unwrap(), 1);
    let left = fixture.stored(id);
    assert_eq!(left[0].kind, "turn", "whole turns go");
    let bytes: usize = left.iter().map(|frame| frame.data.len()).sum();
    assert!((200 * MIB..=256 * MIB).contains(&bytes), "{bytes}");
    assert_eq!(fixture.store.compact(day_ago).await.unwrap(), 0);
}

#[tokio::test]
async fn what_was_asked_is_not_kept_whole_once_the_agent_has_its_answer() {
    let (fixture, id) = Fixture::with_session().await;
    fixture.store.commit(rows(id, vec![Row::Runner(runner(id, "r"))])).await.unwrap();
    let long = "x".repeat(2 * MIB);
    let large = PermissionAsk { agent_call: Some("k".into()), diff: Some(long.clone()), input: Some(json!({ "content": long })), ..ask() };
    for (n, ask) in [(1, large), (2, ask())] {
        let request_id = PermissionId(Uuid::from_u128(n));
        let row = PermissionRow { request: request(n, ask), rpc_id: "1".into(), runner_id: "r".into() };
        let answer = Row::ResolvePermission { request_id, decision: domain::decision::Decision::cancelled(), by: "policy".into() };
        fixture.store.commit(rows(id, vec![Row::OpenPermission(row), answer])).await.unwrap();
    }
    let bytes = |asked: &[domain::event::PermissionRequest]| serde_json::to_string(asked).unwrap().len();
    assert!(bytes(&fixture.store.asked(id, "r").await.unwrap()) > 4 * MIB, "until then it may have to be shown again");
    let delivered = |n| Row::PermissionDelivered { request_id: PermissionId(Uuid::from_u128(n)) };
    fixture.store.commit(rows(id, vec![delivered(1), delivered(2)])).await.unwrap();
    let asked = fixture.store.asked(id, "r").await.unwrap();
    assert!(bytes(&asked) < 2000);
    assert_eq!((asked[0].ask.agent_call.as_deref(), &asked[1]), (Some("k"), &request(2, ask())));
    fixture.store.commit(rows(id, vec![Row::RemoveRunner { id: "r".into() }])).await.unwrap();
    assert!(fixture.store.asked(id, "r").await.unwrap().is_empty());
}
