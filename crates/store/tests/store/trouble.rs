//! Writes that cannot be stored: they fail alone, and loudly.

use domain::event::Role;
use domain::ids::TurnId;
use store::{Row, StoreError};
use uuid::Uuid;

use crate::fixture::*;

#[tokio::test]
async fn a_write_for_an_unknown_session_fails_alone() {
    let (fixture, id) = Fixture::with_session().await;
    let before = fixture.store.submit(events(id, vec![notice("a")])).await.unwrap();
    let unknown = fixture.store.submit(events(session_id(7), vec![notice("x")])).await.unwrap();
    let after = fixture.store.submit(events(id, vec![notice("b")])).await.unwrap();
    within(before).await.unwrap();
    assert!(matches!(within(unknown).await, Err(StoreError::NoSession(session)) if session == session_id(7)));
    assert_eq!(within(after).await.unwrap().last_seq, 2);
}

#[tokio::test]
async fn a_session_is_created_once() {
    let (fixture, id) = Fixture::with_session().await;
    assert!(matches!(fixture.store.commit(create(id)).await, Err(StoreError::Conflict { .. })));
    assert_eq!(fixture.store.commit(events(id, vec![notice("a")])).await.unwrap().last_seq, 1);
}

#[tokio::test]
async fn a_refused_write_leaves_nothing_behind_and_takes_no_number() {
    let (fixture, id) = Fixture::with_session().await;
    let mut first = message(1, Role::User, "hello");
    first.client_id = Some("c".into());
    first.turn_id = Some(TurnId(Uuid::from_u128(1)));
    let mut second = message(2, Role::User, "hello again");
    second.client_id = Some("c".into());
    second.turn_id = Some(TurnId(Uuid::from_u128(2)));
    let kept = fixture.store.submit(rows(id, vec![Row::Message(first)])).await.unwrap();
    let mut refused = rows(id, vec![Row::Message(message(3, Role::User, "with it")), Row::Message(second)]);
    refused.events.push(notice("never"));
    let refused = fixture.store.commit(refused).await;
    within(kept).await.unwrap();
    assert!(matches!(refused, Err(StoreError::Conflict { .. })));
    assert_eq!(fixture.store.messages(id, None, 10).await.unwrap().messages.len(), 1);
    assert_eq!(fixture.store.commit(events(id, vec![notice("a")])).await.unwrap().last_seq, 1);
}

#[tokio::test]
async fn a_submitted_write_that_is_refused_fences_what_follows_until_it_is_mended() {
    let (fixture, id) = Fixture::with_session().await;
    let refused = fixture.store.submit(rows(id, vec![Row::RunnerCursor { id: "gone".into(), cursor: 3 }])).await.unwrap();
    let behind = fixture.store.submit(events(id, vec![notice("behind")])).await.unwrap();
    assert!(matches!(within(refused).await, Err(StoreError::Gone { .. })));
    assert!(matches!(within(behind).await, Err(StoreError::Fenced { .. })));
    fixture.store.mend(id).await.unwrap();
    assert_eq!(fixture.store.commit(events(id, vec![notice("again")])).await.unwrap().last_seq, 1);
}

#[tokio::test]
async fn deleting_a_session_takes_everything_along_and_late_writes_do_no_harm() {
    let (fixture, id) = Fixture::with_session().await;
    let other = session_id(2);
    fixture.store.commit(create(other)).await.unwrap();
    fixture.store.commit(rows(id, vec![Row::Message(message(1, Role::User, "hello"))])).await.unwrap();
    let before = fixture.store.submit(events(id, vec![notice("before")])).await.unwrap();
    let deletion = fixture.store.submit(rows(id, vec![Row::DeleteSession])).await.unwrap();
    let late = fixture.store.submit(events(id, vec![notice("late")])).await.unwrap();
    let twice = fixture.store.submit(rows(id, vec![Row::DeleteSession])).await.unwrap();
    let elsewhere = fixture.store.submit(events(other, vec![notice("x")])).await.unwrap();
    within(before).await.unwrap();
    within(deletion).await.unwrap();
    assert!(matches!(within(late).await, Err(StoreError::NoSession(_))));
    assert!(matches!(within(twice).await, Err(StoreError::NoSession(_))));
    within(elsewhere).await.unwrap();
    assert_eq!(fixture.store.session(id).await.unwrap(), None);
    assert_eq!(fixture.store.snapshot(id, 10).await.unwrap(), None);
    assert!(fixture.store.events(id, 0, 10).await.unwrap().is_empty());
    assert!(fixture.store.messages(id, None, 10).await.unwrap().messages.is_empty());
}

#[tokio::test]
async fn after_closing_every_call_says_so() {
    let (fixture, id) = Fixture::with_session().await;
    fixture.store.close().await;
    fixture.store.close().await;
    assert!(matches!(fixture.store.commit(events(id, vec![notice("a")])).await, Err(StoreError::Closed)));
    assert!(matches!(fixture.store.session(id).await, Err(StoreError::Closed)));
    assert!(matches!(fixture.store.mend(id).await, Err(StoreError::Closed)));
}
