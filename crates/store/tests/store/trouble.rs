//! Writes that cannot be stored: they fail alone, and loudly.

use domain::event::Role;
use domain::ids::TurnId;
use store::{Row, StoreError};
use uuid::Uuid;

use crate::fixture::*;

#[tokio::test]
async fn a_write_for_an_unknown_session_fails_alone() {
    let (fixture, id) = Fixture::with_session().await;
    let writes = [(id, "a"), (session_id(7), "x"), (id, "b")].map(|(session, text)| events(session, vec![notice(text)]));
    let [before, unknown, after] = <[_; 3]>::try_from(fixture.commit_all(writes).await).unwrap();
    before.unwrap();
    assert!(matches!(unknown, Err(StoreError::NoSession(session)) if session == session_id(7)));
    assert_eq!(after.unwrap().last_seq, 2);
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
    let kept = rows(id, vec![Row::Message(first)]);
    let mut refused = rows(id, vec![Row::Message(message(3, Role::User, "with it")), Row::Message(second)]);
    refused.events.push(notice("never"));
    let [kept, refused] = <[_; 2]>::try_from(fixture.commit_all([kept, refused]).await).unwrap();
    kept.unwrap();
    assert!(matches!(refused, Err(StoreError::Conflict { .. })));
    assert_eq!(fixture.store.messages(id, None, 10).await.unwrap().messages.len(), 1);
    assert_eq!(fixture.store.commit(events(id, vec![notice("a")])).await.unwrap().last_seq, 1);
}

#[tokio::test]
async fn a_refused_write_concerns_no_other_of_its_session() {
    let (fixture, id) = Fixture::with_session().await;
    let gone = rows(id, vec![Row::RunnerCursor { id: "gone".into(), cursor: 3 }]);
    let writes = [events(id, vec![notice("before")]), gone, events(id, vec![notice("behind")])];
    let [before, refused, behind] = <[_; 3]>::try_from(fixture.commit_all(writes).await).unwrap();
    assert_eq!(before.unwrap().last_seq, 1);
    assert!(matches!(refused, Err(StoreError::Gone { .. })));
    assert_eq!(behind.unwrap().last_seq, 2);
}

#[tokio::test]
async fn deleting_a_session_takes_everything_along_and_late_writes_do_no_harm() {
    let (fixture, id) = Fixture::with_session().await;
    let other = session_id(2);
    fixture.store.commit(create(other)).await.unwrap();
    fixture.store.commit(rows(id, vec![Row::Message(message(1, Role::User, "hello"))])).await.unwrap();
    let writes = [
        events(id, vec![notice("before")]),
        rows(id, vec![Row::DeleteSession]),
        events(id, vec![notice("late")]),
        rows(id, vec![Row::DeleteSession]),
        events(other, vec![notice("x")]),
    ];
    let [before, deletion, late, twice, elsewhere] = <[_; 5]>::try_from(fixture.commit_all(writes).await).unwrap();
    before.unwrap();
    deletion.unwrap();
    assert!(matches!(late, Err(StoreError::NoSession(_))));
    assert!(matches!(twice, Err(StoreError::NoSession(_))));
    elsewhere.unwrap();
    assert_eq!(fixture.store.session(id).await.unwrap(), None);
    assert_eq!(fixture.store.snapshot(id, 10).await.unwrap(), None);
    assert!(fixture.stored(id).is_empty());
    assert!(fixture.store.messages(id, None, 10).await.unwrap().messages.is_empty());
}

#[tokio::test]
async fn after_closing_every_call_says_so() {
    let (fixture, id) = Fixture::with_session().await;
    fixture.store.close().await;
    fixture.store.close().await;
    assert!(matches!(fixture.store.commit(events(id, vec![notice("a")])).await, Err(StoreError::Closed)));
    assert!(matches!(fixture.store.session(id).await, Err(StoreError::Closed)));
    assert!(matches!(fixture.store.compact(at(0)).await, Err(StoreError::Closed)));
}
