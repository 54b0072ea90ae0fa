//! A row of the list of sessions: what people keep in it, and what it says of the turns.

use domain::event::{Event, ToolCall, Turn, TurnState};
use domain::ids::{SessionId, TurnId};
use jiff::Timestamp;
use store::{ChangeCounts, Marks, Row, SessionFilter, SessionRow, Store, TurnRow, Write};
use uuid::Uuid;

use crate::fixture::*;

async fn row(store: &Store, id: SessionId) -> SessionRow {
    store.session(id).await.unwrap().unwrap()
}

fn turn(id: SessionId, n: u128, state: TurnState) -> Write {
    let now = Timestamp::now();
    let turn_id = TurnId(Uuid::from_u128(n));
    let ended_at = (state != TurnState::Running).then_some(now);
    let row = TurnRow { id: turn_id, state, reason: None, user_message_id: None, started_seq: 0, started_at: now, ended_at };
    Write { session: id, events: vec![Event::Turn(Turn::new(turn_id, state, None))], rows: vec![Row::Turn(row)] }
}

async fn mark(store: &Store, id: SessionId, marks: Marks) {
    store.commit(rows(id, vec![Row::MarkSession(marks)])).await.unwrap();
}

#[tokio::test]
async fn a_mark_is_no_activity() {
    let (fixture, id) = Fixture::with_session().await;
    let before = row(&fixture.store, id).await;
    assert_eq!((before.pinned, before.archived, before.muted, before.unseen), (false, false, false, false));
    mark(&fixture.store, id, Marks { pinned: Some(true), muted: Some(true), ..Marks::default() }).await;
    mark(&fixture.store, id, Marks { archived: Some(true), muted: Some(false), seen: true, ..Marks::default() }).await;
    let after = row(&fixture.store, id).await;
    assert_eq!((after.pinned, after.archived, after.muted), (true, true, false));
    assert_eq!((after.updated_at, after.last_seq), (before.updated_at, before.last_seq));
    assert!(fixture.stored(id).is_empty(), "and nothing of the conversation");
}

#[tokio::test]
async fn pieces_of_a_stream_are_activity_but_not_each_of_them() {
    let (fixture, id) = Fixture::with_session().await;
    let store = &fixture.store;
    let piece = |n| events(id, vec![output("c", n, "x")]);
    let made = row(store, id).await.updated_at;
    store.commit(piece(0)).await.unwrap();
    let began = row(store, id).await.updated_at;
    assert!(began > made);
    for n in 1..20 {
        store.commit(piece(n)).await.unwrap();
    }
    assert_eq!(row(store, id).await.updated_at, began);
    store.commit(events(id, vec![notice("done")])).await.unwrap();
    assert!(row(store, id).await.updated_at > began);
}

#[tokio::test]
async fn a_row_says_how_the_last_turn_ended_and_whether_anybody_saw_it() {
    let (fixture, id) = Fixture::with_session().await;
    let store = &fixture.store;
    let begin = turn(id, 1, TurnState::Running);
    store.commit(begin).await.unwrap();
    let running = row(store, id).await;
    assert_eq!((running.outcome, running.unseen, running.running), (None, false, true));
    assert!(running.running_since.is_some());
    store.commit(turn(id, 1, TurnState::Failed)).await.unwrap();
    let ended = row(store, id).await;
    assert_eq!((ended.outcome, ended.unseen, ended.running_since), (Some(TurnState::Failed), true, None));
    mark(store, id, Marks { seen: true, ..Marks::default() }).await;
    assert!(!row(store, id).await.unseen);
    store.commit(turn(id, 2, TurnState::Running)).await.unwrap();
    let again = row(store, id).await;
    assert_eq!((again.outcome, again.unseen), (Some(TurnState::Failed), false), "what runs has not ended");
    store.commit(turn(id, 2, TurnState::Completed)).await.unwrap();
    let done = row(store, id).await;
    assert_eq!((done.outcome, done.unseen), (Some(TurnState::Completed), true));
    store.commit(rows(id, vec![Row::Changed(Some(ChangeCounts { files: 2, additions: 30, deletions: 4 }))])).await.unwrap();
    assert_eq!(row(store, id).await.changes, Some(ChangeCounts { files: 2, additions: 30, deletions: 4 }));
    store.commit(rows(id, vec![Row::Changed(None)])).await.unwrap();
    assert_eq!(row(store, id).await.changes, None);
}

#[tokio::test]
async fn a_row_shows_the_question_that_waits_longest() {
    let (fixture, id) = Fixture::with_session().await;
    let ask = |call: &str, name: &str| {
        let call = ToolCall { id: call.into(), name: name.into(), arguments: "{}".into() };
        Write { session: id, events: vec![Event::ToolConfirm(call.clone())], rows: vec![Row::OpenConfirm(call)] }
    };
    fixture.store.commit(ask("b", "git_push")).await.unwrap();
    fixture.store.commit(ask("a", "other")).await.unwrap();
    assert_eq!(row(&fixture.store, id).await.question.as_deref(), Some("Allow git_push?"));
    fixture.store.commit(rows(id, vec![Row::ResolveConfirm { tool_call_id: "b".into() }])).await.unwrap();
    assert_eq!(row(&fixture.store, id).await.question.as_deref(), Some("Allow other?"));
    let file = fixture.file();
    file.execute_batch("UPDATE confirms SET call = '{'").unwrap();
    assert_eq!(row(&fixture.store, id).await.question.as_deref(), Some("A question that cannot be read"));
    fixture.store.commit(rows(id, vec![Row::ResolveConfirm { tool_call_id: "a".into() }])).await.unwrap();
    assert_eq!(row(&fixture.store, id).await.question, None);
}

#[tokio::test]
async fn what_is_archived_is_listed_apart_unless_it_needs_somebody() {
    let fixture = Fixture::new().await;
    for n in 1..=3 {
        fixture.store.commit(create(session_id(n))).await.unwrap();
    }
    let archive = Marks { archived: Some(true), ..Marks::default() };
    mark(&fixture.store, session_id(2), archive).await;
    mark(&fixture.store, session_id(3), archive).await;
    fixture.store.commit(turn(session_id(3), 1, TurnState::Running)).await.unwrap();
    let listed = async |archived: Option<bool>| -> Vec<SessionId> {
        let filter = SessionFilter { query: None, archived };
        fixture.store.find_sessions(filter, None, 10).await.unwrap().into_iter().map(|row| row.id).collect()
    };
    assert_eq!(listed(Some(false)).await, [3, 1].map(session_id));
    assert_eq!(listed(Some(true)).await, [3, 2].map(session_id));
    assert_eq!(listed(None).await, [3, 2, 1].map(session_id));
}

#[tokio::test]
async fn titles_are_found_in_whatever_case_and_wildcards_are_letters() {
    let fixture = Fixture::new().await;
    let titles = ["Die Überschrift", "100% done", "1000 done", "snake_case", "snakeXcase", "über"];
    for (n, title) in titles.into_iter().enumerate() {
        let id = session_id(n as u128 + 1);
        fixture.store.commit(create(id)).await.unwrap();
        let change = domain::event::SessionChange { title: Some(title.into()), ..Default::default() };
        fixture.store.commit(rows(id, vec![Row::UpdateSession(change)])).await.unwrap();
    }
    let found = async |query: &'static str, limit: u32| -> Vec<String> {
        let filter = SessionFilter { query: Some(query), archived: None };
        fixture.store.find_sessions(filter, None, limit).await.unwrap().into_iter().map(|row| row.title).collect()
    };
    assert_eq!(found("ÜBER", 10).await, ["über", "Die Überschrift"]);
    assert_eq!(found("ÜBER", 1).await, ["über"]);
    assert_eq!(found("100%", 10).await, ["100% done"]);
    assert_eq!(found("KE_C", 10).await, ["snake_case"]);
    assert_eq!(found("öber", 10).await, [""; 0]);
}
