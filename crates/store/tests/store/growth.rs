//! What a write and a read cost, and what that does not grow with.

use domain::ids::SessionId;
use store::{Counts, Row, Store, Write};

use crate::fixture::*;

fn piece(n: u128, offset: u64) -> Write {
    let rows = vec![Row::RunnerCursor { id: format!("r{n}"), cursor: offset + 1 }];
    Write { session: session_id(n), events: vec![output("c", offset, "x")], rows }
}

async fn with_sessions(fixture: &Fixture, numbers: std::ops::RangeInclusive<u128>) {
    let made = numbers.map(|n| {
        let mut write = create(session_id(n));
        write.rows.push(Row::Runner(runner(session_id(n), &format!("r{n}"))));
        write
    });
    for made in fixture.commit_all(made).await {
        made.unwrap();
    }
}

fn spent(store: &Store, before: Counts) -> (u64, u64) {
    let now = store.counts();
    (now.statements - before.statements, now.steps - before.steps)
}

#[tokio::test]
async fn a_group_of_many_sessions_is_a_handful_of_statements() {
    let fixture = Fixture::new().await;
    with_sessions(&fixture, 0..=50).await;
    let warm = fixture.commit_all((0..=50).map(|n| piece(n, 0))).await;
    warm.into_iter().for_each(|committed| assert_eq!(committed.unwrap().last_seq, 1));
    // As long as somebody else has the file, the first write is stuck and the others gather behind it.
    let other = fixture.file();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let before = fixture.store.counts();
    let group = (0..=50).map(|n| if n == 0 { events(session_id(0), vec![notice("first")]) } else { piece(n, 1) });
    let (committed, ()) = tokio::join!(fixture.commit_all(group), async { other.execute_batch("COMMIT").unwrap() });
    committed.into_iter().for_each(|committed| assert_eq!(committed.unwrap().last_seq, 2));
    let after = fixture.store.counts();
    assert_eq!((after.writes - before.writes, after.events - before.events), (51, 51));
    let commits = after.commits - before.commits;
    assert!(commits <= 3, "{commits} commits");
    let (statements, _) = spent(&fixture.store, before);
    assert!(statements <= 20, "{statements} statements");
    for runner in fixture.store.runners().await.unwrap() {
        assert_eq!(runner.cursor, if runner.id == "r0" { 1 } else { 2 }, "{}", runner.id);
    }
}

async fn cost_of_a_piece(store: &Store, session: u128, offset: u64) -> (u64, u64) {
    let before = store.counts();
    store.commit(piece(session, offset)).await.unwrap();
    spent(store, before)
}

async fn cost_of_a_look(store: &Store, session: SessionId, last: u64) -> (u64, u64) {
    let before = store.counts();
    assert_eq!(store.session(session).await.unwrap().unwrap().last_seq, last);
    assert_eq!(store.snapshot(session, 10).await.unwrap().unwrap().seq, last);
    spent(store, before)
}

#[tokio::test]
async fn a_piece_and_a_look_cost_the_same_however_much_there_is() {
    let fixture = Fixture::new().await;
    let store = &fixture.store;
    with_sessions(&fixture, 1..=1).await;
    for offset in 0..10 {
        store.commit(piece(1, offset)).await.unwrap();
    }
    let (piece_before, look_before) = (cost_of_a_piece(store, 1, 10).await, cost_of_a_look(store, session_id(1), 11).await);

    // Two streams in turn, so that no two pieces are joined.
    let long = (0..5000).map(|n| output(if n % 2 == 0 { "a" } else { "b" }, n / 2, "x")).collect();
    store.commit(events(session_id(1), long)).await.unwrap();
    with_sessions(&fixture, 2..=300).await;
    let (piece_after, look_after) = (cost_of_a_piece(store, 1, 11).await, cost_of_a_look(store, session_id(1), 5012).await);
    assert_eq!(piece_after.0, piece_before.0, "statements of a piece");
    assert!(piece_before.0 <= 2, "{} statements", piece_before.0);
    assert!(piece_after.1 <= piece_before.1 + 10, "steps of a piece: {piece_before:?}, {piece_after:?}");
    assert_eq!(look_after.0, look_before.0, "statements of a look");
    assert!(look_after.1 <= look_before.1 + 20, "steps of a look: {look_before:?}, {look_after:?}");
}

#[tokio::test]
async fn what_was_done_is_counted() {
    let (fixture, id) = Fixture::with_session().await;
    let before = fixture.store.counts();
    fixture.store.commit(events(id, vec![notice("a"), notice("b")])).await.unwrap();
    fixture.store.save(vec![]).await.unwrap();
    assert_eq!(fixture.store.history(id).await.unwrap(), []);
    let after = fixture.store.counts();
    assert_eq!((after.commits - before.commits, after.writes - before.writes, after.events - before.events), (2, 1, 2));
    assert!(after.rows_written >= before.rows_written + 3, "two events and the time of the session");
    assert_eq!(after.commit_times.iter().sum::<u64>(), after.commits);
    assert!(after.commit_us >= after.commit_us_most && after.commit_us_most > 0);
    assert_eq!((after.waiting, after.commits_in_place), (0, 0));
}
