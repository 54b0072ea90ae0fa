//! The writer in trouble: a full disk (SQLite is told to keep the file small), somebody else's row in the way, a long log, a panic.

use std::path::Path;

use domain::event::{CopilotDelta, Event, Notice};
use rusqlite::Connection;
use tempfile::TempDir;
use uuid::Uuid;

use super::*;
use crate::table::event;
use crate::{NewSession, Row, RunnerRow, Store, open};

const SESSION: SessionId = SessionId(Uuid::from_u128(1));

/// A store whose file may have so many pages of 4 KiB.
async fn small_store(path: &Path, pages: u32) -> Store {
    let mut opened = open::open(path, false, open::MIGRATIONS).await.unwrap();
    opened.access.pages_most = Some(pages);
    opened.conn = opened.access.writer().unwrap();
    Store::start(opened).unwrap()
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

fn piece(runner: &str, cursor: u64, offset: u64) -> Write {
    Write { rows: vec![Row::RunnerCursor { id: runner.to_owned(), cursor }], ..delta(SESSION, offset, 4) }
}

fn notice(session: SessionId) -> Write {
    let event =
        Event::Notice(Notice { code: "c".into(), level: "info".into(), title: "t".into(), text: "small".into(), session_name: None });
    Write { session, events: vec![event], rows: vec![] }
}

/// With one session and one runner.
async fn store(dir: &TempDir) -> Store {
    let store = Store::open(&dir.path().join("log.db"), false).await.unwrap();
    let runner = RunnerRow {
        id: "r".into(),
        session: SESSION,
        agent: "demo".into(),
        dir: "/d".into(),
        cursor: 0,
        capabilities: None,
        ending: false,
    };
    let mut write = create(SESSION);
    write.rows.push(Row::Runner(runner));
    store.commit(write).await.unwrap();
    store
}

async fn stored(store: &Store, session: SessionId) -> Vec<u64> {
    let frames = store.read(move |conn| event::frames(conn, session, 0, 10, usize::MAX)).await.unwrap();
    frames.iter().map(|frame| frame.seq).collect()
}

#[tokio::test]
async fn a_full_disk_fails_the_write_that_met_it_and_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let store = small_store(&dir.path().join("log.db"), 100).await;
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
    assert_eq!(stored(&store, a).await, [1, 2]);
    store.close().await;
}

#[tokio::test]
async fn a_disk_that_is_full_of_small_pieces_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let store = small_store(&dir.path().join("log.db"), 100).await;
    store.commit(create(SESSION)).await.unwrap();
    let mut stored = 0;
    let failed = loop {
        match store.commit(delta(SESSION, stored * 10_000, 10_000)).await {
            Ok(committed) => stored = committed.last_seq,
            Err(error) => break error,
        }
    };
    assert!(matches!(failed, StoreError::Full), "{failed}");
    assert!(stored > 0);
    assert_eq!(store.session(SESSION).await.unwrap().unwrap().last_seq, stored);
    store.close().await;
}

#[tokio::test]
async fn a_writer_whose_transaction_was_broken_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(&dir).await;
    let intruder = Connection::open(dir.path().join("log.db")).unwrap();
    // A row that the writer does not know of makes its next insert fail.
    intruder.execute("INSERT INTO events (session_id, seq, kind, data) VALUES (?1, 1, 'x', '{}')", [SESSION.to_string()]).unwrap();
    assert!(matches!(store.commit(notice(SESSION)).await, Err(StoreError::Conflict { .. })));
    intruder.execute_batch("DELETE FROM events").unwrap();
    assert_eq!(store.commit(notice(SESSION)).await.unwrap().last_seq, 1);
    store.close().await;
}

#[tokio::test]
async fn a_piece_is_stored_with_its_cursor() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(&dir).await;
    for number in 1..=3 {
        assert_eq!(store.commit(piece("r", number * 10, (number - 1) * 4)).await.unwrap().last_seq, number);
    }
    assert_eq!(store.session_runners(SESSION).await.unwrap()[0].cursor, 30);
    assert_eq!(store.session(SESSION).await.unwrap().unwrap().last_seq, 3);
    assert_eq!(stored(&store, SESSION).await, [1, 2, 3]);
    store.close().await;
}

#[tokio::test]
async fn a_piece_from_an_unknown_runner_is_refused_whole() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(&dir).await;
    store.commit(piece("r", 1, 0)).await.unwrap();
    assert!(matches!(store.commit(piece("other", 2, 4)).await, Err(StoreError::Gone { .. })));
    assert_eq!(stored(&store, SESSION).await, [1]);
    assert_eq!(store.commit(piece("r", 2, 4)).await.unwrap().last_seq, 2);
    store.close().await;
}

#[tokio::test]
async fn a_piece_that_fails_halfway_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(&dir).await;
    store.commit(piece("r", 1, 0)).await.unwrap();
    let intruder = Connection::open(dir.path().join("log.db")).unwrap();
    intruder.execute("INSERT INTO events (session_id, seq, kind, data) VALUES (?1, 2, 'x', '{}')", [SESSION.to_string()]).unwrap();
    assert!(matches!(store.commit(piece("r", 2, 4)).await, Err(StoreError::Conflict { .. })));
    assert_eq!(store.session_runners(SESSION).await.unwrap()[0].cursor, 1);
    intruder.execute_batch("DELETE FROM events WHERE seq = 2").unwrap();
    assert_eq!(store.commit(piece("r", 2, 4)).await.unwrap().last_seq, 2);
    store.close().await;
}

/// The piece does not wait where it stands, and the thread waits until the other is done.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_piece_waits_in_the_thread_for_whoever_has_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(&dir).await;
    store.commit(piece("r", 1, 0)).await.unwrap();
    let intruder = Connection::open(dir.path().join("log.db")).unwrap();
    intruder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut late = Box::pin(store.commit(piece("r", 2, 4)));
    assert!(futures::poll!(&mut late).is_pending());
    intruder.execute_batch("COMMIT").unwrap();
    assert_eq!(late.await.unwrap().last_seq, 2);
    store.close().await;
}

#[tokio::test]
async fn when_the_thread_panics_nobody_waits_for_ever() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(&dir).await;
    let panic = store.inner.writer.hand_over(Command::Panic);
    let (handed, waiting) = tokio::join!(panic, store.commit(notice(SESSION)));
    handed.unwrap();
    assert!(matches!(waiting, Err(StoreError::Closed)), "{waiting:?}");
    assert!(matches!(store.commit(piece("r", 1, 0)).await, Err(StoreError::Closed)));
    assert!(matches!(store.save(vec![]).await, Err(StoreError::Closed)));
    assert!(store.session(SESSION).await.unwrap().is_some(), "what is stored can still be read");
    store.close().await;
    Store::open(&dir.path().join("log.db"), false).await.unwrap().close().await;
}

async fn store_with_short_log(path: &Path, bytes: u32) -> Store {
    let mut opened = open::open(path, false, open::MIGRATIONS).await.unwrap();
    opened.access.log_bytes_most = bytes;
    let store = Store::start(opened).unwrap();
    store.commit(create(SESSION)).await.unwrap();
    store
}

async fn until(mut done: impl FnMut() -> bool) {
    let wait = async {
        while !done() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(20), wait).await.expect("within the deadline");
}

const MEGABYTE: u64 = 1024 * 1024;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_log_stays_short_under_a_flood_and_is_begun_anew_in_a_quiet_moment() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.db");
    let store = store_with_short_log(&path, 8 * 1024 * 1024).await;
    let mut longest = 0;
    for n in 0..1000 {
        store.commit(delta(SESSION, n * 40_000, 40_000)).await.unwrap();
        longest = longest.max(open::beside(&path, "-wal").metadata().unwrap().len());
    }
    // Forty megabytes were written. A checkpoint may be under way when the bound is reached.
    assert!(longest < 24 * MEGABYTE, "{longest}");
    assert!(store.counts().checkpoints > 0);
    until(|| held(&store.inner.writer.shared.pen).log.bytes() < 5 * MEGABYTE).await;
    assert_eq!(store.session(SESSION).await.unwrap().unwrap().last_seq, 1000);
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn somebody_who_reads_for_long_holds_up_nobody_who_writes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.db");
    let store = store_with_short_log(&path, 2 * 1024 * 1024).await;
    store.commit(delta(SESSION, 0, 10)).await.unwrap();
    let reader = Connection::open(&path).unwrap();
    let count = |conn: &Connection| conn.query_row("SELECT COUNT(*) FROM events", [], |row| row.get::<_, i64>(0)).unwrap();
    reader.execute_batch("BEGIN").unwrap();
    assert_eq!(count(&reader), 1);
    for n in 0..300 {
        store.commit(delta(SESSION, 10 + n * 40_000, 40_000)).await.unwrap();
    }
    assert_eq!(count(&reader), 1, "it reads of one moment");
    assert!(store.counts().commit_us_most < 5_000_000, "{:?}", store.counts());
    reader.execute_batch("COMMIT").unwrap();
    assert_eq!(count(&reader), 301);
    let mut offset = 10 + 300 * 40_000;
    while held(&store.inner.writer.shared.pen).log.bytes() > 2 * MEGABYTE {
        store.commit(delta(SESSION, offset, 40_000)).await.unwrap();
        offset += 40_000;
    }
    store.close().await;
}
