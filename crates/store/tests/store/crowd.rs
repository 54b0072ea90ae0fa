//! Writes that are alone and writes that are many: where they are committed, what they share, and that nobody sees them before.

use std::collections::HashMap;

use domain::event::Role;
use domain::ids::SessionId;
use rusqlite::Connection;
use store::{Batch, Row, Store, Write};
use tokio::task::JoinSet;

use crate::fixture::*;

#[tokio::test]
async fn a_lone_piece_is_committed_where_it_stands() {
    let (fixture, id) = Fixture::with_session().await;
    for n in 0..200 {
        fixture.store.commit(events(id, vec![output("c", n, "x")])).await.unwrap();
    }
    let counts = fixture.store.counts();
    assert!(counts.commits_in_place >= 150, "{counts:?}");
    assert_eq!(counts.commits, 201, "a session alone is not made to wait for others");
    assert_dense(&fixture.stored(id), 0);
}

#[tokio::test]
async fn what_is_more_than_a_piece_goes_to_the_thread() {
    let (fixture, id) = Fixture::with_session().await;
    let mut with_row = events(id, vec![output("c", 0, "x")]);
    with_row.rows.push(Row::Message(message(1, Role::User, "m")));
    let large = events(id, vec![output("c", 1, &"x".repeat(64 * 1024))]);
    for write in [with_row, large, events(id, vec![notice("n")])] {
        fixture.store.commit(write).await.unwrap();
    }
    assert_eq!(fixture.store.counts().commits_in_place, 0);
    let durable = Fixture::durable().await;
    durable.store.commit(create(id)).await.unwrap();
    durable.store.commit(events(id, vec![output("c", 0, "x")])).await.unwrap();
    assert_eq!(durable.store.counts().commits_in_place, 0, "waiting for the disk holds up whoever shares the thread");
}

const SESSIONS: u128 = 40;
const WRITES: u64 = 50;

/// Pieces, rows and both, one after the other.
fn write(session: SessionId, task: u128, n: u64) -> Write {
    let mut write = events(session, vec![output(&task.to_string(), n, "x")]);
    match n % 7 {
        3 => write.events.push(notice(format!("{task} {n}"))),
        5 => write.rows.push(Row::Message(message(task * 1000 + u128::from(n), Role::User, "m"))),
        _ => {}
    }
    write
}

/// Says where the log ended after each of the writes.
async fn write_all(store: Store, session: SessionId, task: u128) -> Vec<u64> {
    let mut ends = Vec::new();
    for n in 0..WRITES {
        ends.push(store.commit(write(session, task, n)).await.unwrap().last_seq);
    }
    ends
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowd_shares_commits_and_keeps_every_order() {
    let fixture = Fixture::new().await;
    for n in 1..=SESSIONS {
        fixture.store.commit(create(session_id(n))).await.unwrap();
    }
    let before = fixture.store.counts();
    let mut tasks = JoinSet::new();
    for n in 1..=SESSIONS {
        // Two that write to each session.
        for task in [n * 2, n * 2 + 1] {
            tasks.spawn(write_all(fixture.store.clone(), session_id(n), task));
        }
    }
    while let Some(ends) = within(tasks.join_next()).await {
        assert!(ends.unwrap().is_sorted(), "the numbers of one who writes never go back");
    }
    let after = fixture.store.counts();
    let (commits, writes) = (after.commits - before.commits, after.writes - before.writes);
    assert_eq!(u128::from(writes), SESSIONS * 2 * u128::from(WRITES));
    assert!(commits * 5 < writes, "{commits} commits for {writes} writes");
    for n in 1..=SESSIONS {
        let frames = fixture.stored(session_id(n));
        assert_dense(&frames, 0);
        let mut streams: HashMap<String, u64> = HashMap::new();
        for frame in &frames {
            if let Some(domain::event::Event::CopilotDelta(delta)) = frame.event() {
                let reached = streams.entry(delta.tool_call_id).or_default();
                assert_eq!(delta.offset, *reached);
                *reached += delta.content.len() as u64;
            }
        }
        assert!(streams.len() == 2 && streams.values().all(|end| *end == WRITES), "{streams:?}");
        assert_eq!(fixture.store.session(session_id(n)).await.unwrap().unwrap().last_seq, frames.len() as u64);
    }
}

/// Follows a session and finds in the file, through a connection of its own, whatever the feed has shown.
async fn follow(store: Store, file: Connection, session: SessionId, pieces: u64) {
    let mut feed = store.feed(session);
    let (mut cursor, mut seen) = (0, 0);
    while seen < pieces {
        let Batch::Frames { frames } = within(feed.after(cursor, 64)).await.unwrap() else { panic!("expected frames") };
        let stored = stored_after(&file, session, i64::try_from(cursor).unwrap());
        assert!(stored.len() >= frames.len(), "shown after {cursor}, but not stored");
        assert_eq!(stored[..frames.len()], frames);
        cursor = frames.last().unwrap().seq;
        for frame in &frames {
            if let Some(domain::event::Event::CopilotDelta(delta)) = frame.event() {
                seen += delta.content.len() as u64;
            }
        }
        let snapshot = store.snapshot(session, 1).await.unwrap().unwrap();
        assert!(snapshot.seq <= end_in(&file, session));
    }
}

fn end_in(file: &Connection, session: SessionId) -> u64 {
    let sql = "SELECT COALESCE(MAX(seq), 0) FROM events WHERE session_id = ?1";
    let end: i64 = file.prepare_cached(sql).unwrap().query_row([session.to_string()], |row| row.get(0)).unwrap();
    u64::try_from(end).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_shown_before_it_is_stored() {
    // Alone, two, and a crowd: in place and by the thread.
    for sessions in [1, 2, 12] {
        let fixture = Fixture::new().await;
        let mut tasks = JoinSet::new();
        for n in 1..=sessions {
            let id = session_id(n);
            fixture.store.commit(create(id)).await.unwrap();
            tasks.spawn(follow(fixture.store.clone(), fixture.file(), id, WRITES));
            let (store, file) = (fixture.store.clone(), fixture.file());
            tasks.spawn(async move {
                for at in 0..WRITES {
                    let answer = store.commit(write(id, n, at)).await.unwrap();
                    assert!(end_in(&file, id) >= answer.last_seq, "answered, but not stored");
                }
            });
        }
        while let Some(done) = within(tasks.join_next()).await {
            done.unwrap();
        }
    }
}
