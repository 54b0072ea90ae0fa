//! The writer when the disk is full; SQLite is told to keep the file small.

use std::path::Path;

use domain::event::{CopilotDelta, Event, Notice};
use sqlx::Executor;
use uuid::Uuid;

use super::*;
use crate::table::event;
use crate::{NewSession, Store, open};

/// A store whose file may have so many pages of 4 KiB.
async fn small_store(path: &Path, pages: u32) -> Store {
    let mut opened = open::open(path, false, open::MIGRATIONS).await.unwrap();
    let conn = std::mem::replace(&mut opened.conn, opened.reading.connect().await.unwrap());
    conn.close().await.unwrap();
    opened.writing = opened.writing.pragma("max_page_count", pages.to_string());
    opened.conn = opened.writing.connect().await.unwrap();
    Store::start(opened)
}

fn create(session: SessionId) -> Write {
    let new = NewSession {
        title: "t".into(),
        work_dir: "/w".into(),
        model: "relay".into(),
        agent: "demo".into(),
        permission_policy: None,
        created_at: Timestamp::now(),
    };
    Write { session, events: vec![], rows: vec![Row::CreateSession(new)] }
}

fn delta(session: SessionId, offset: u64, length: usize) -> Write {
    let event =
        Event::CopilotDelta(CopilotDelta { tool_call_id: "c".into(), session_name: "n".into(), offset, content: "x".repeat(length) });
    Write { session, events: vec![event], rows: vec![] }
}

fn notice(session: SessionId) -> Write {
    let event =
        Event::Notice(Notice { code: "c".into(), level: "info".into(), title: "t".into(), text: "small".into(), session_name: None });
    Write { session, events: vec![event], rows: vec![] }
}

#[tokio::test]
async fn a_full_disk_fails_the_write_that_met_it_and_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let store = small_store(&dir.path().join("log.db"), 80).await;
    let (a, b) = (SessionId(Uuid::from_u128(1)), SessionId(Uuid::from_u128(2)));
    store.commit(create(a)).await.unwrap();
    store.commit(create(b)).await.unwrap();

    let writes = [delta(a, 0, 1_000_000), notice(a), notice(b)];
    let answers = futures::future::join_all(writes.into_iter().map(|write| store.commit(write))).await;
    let [full, behind, other] = <[_; 3]>::try_from(answers).unwrap();
    assert!(matches!(full, Err(StoreError::Full)));
    assert_eq!(behind.unwrap().last_seq, 1);
    assert_eq!(other.unwrap().last_seq, 1);

    assert!(matches!(store.commit(delta(a, 0, 1_000_000)).await, Err(StoreError::Full)));
    assert_eq!(store.commit(notice(a)).await.unwrap().last_seq, 2);
    let stored = event::frames(&mut store.reader().await.unwrap(), a, 0, 10, usize::MAX).await.unwrap();
    assert_eq!(stored.iter().map(|frame| frame.seq).collect::<Vec<_>>(), [1, 2]);
    store.close().await;
}

#[tokio::test]
async fn a_writer_whose_transaction_was_broken_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.db");
    let opened = open::open(&path, false, open::MIGRATIONS).await.unwrap();
    let mut intruder = opened.writing.connect().await.unwrap();
    let store = Store::start(opened);
    let session = SessionId(Uuid::from_u128(1));
    store.commit(create(session)).await.unwrap();
    // A row that the writer does not know of makes its next insert fail.
    intruder
        .execute(sqlx::query("INSERT INTO events (session_id, seq, kind, data) VALUES ($1, 1, 'x', '{}')").bind(session.to_string()))
        .await
        .unwrap();
    assert!(matches!(store.commit(notice(session)).await, Err(StoreError::Conflict { .. })));
    intruder.execute("DELETE FROM events").await.unwrap();
    assert_eq!(store.commit(notice(session)).await.unwrap().last_seq, 1);
    store.close().await;
}
