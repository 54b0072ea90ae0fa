//! What a write and a read cost, and what that does not grow with.

use domain::event::{Event, Message, Role, Turn, TurnState};
use domain::ids::{MessageId, SessionId, TurnId};
use serde_json::json;
use store::{ArtifactRow, Counts, Row, Store, TurnRow, Write};
use uuid::Uuid;

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
    assert_eq!(fixture.store.history(id, 0).await.unwrap().messages, []);
    let after = fixture.store.counts();
    assert_eq!((after.commits - before.commits, after.writes - before.writes, after.events - before.events), (2, 1, 2));
    assert!(after.rows_written >= before.rows_written + 3, "two events and the time of the session");
    assert_eq!(after.commit_times.iter().sum::<u64>(), after.commits);
    assert!(after.commit_us >= after.commit_us_most && after.commit_us_most > 0);
    assert_eq!((after.waiting, after.commits_in_place), (0, 0));
}

/// A turn with everything that a turn can leave: messages, a delegation, a notice, an artifact, an end that is no completion.
fn turn(n: u128) -> Write {
    let turn_id = TurnId(Uuid::from_u128(n));
    let of_turn = |at: u128, role| Message { turn_id: Some(turn_id), ..message(n * 10 + at, role, "some words") };
    let delegation = json!({ "session_name": "main", "stop_reason": "end_turn", "summary": "done" });
    let delegation = serde_json::from_value(delegation).unwrap();
    let result = Message { tool_call_id: Some(format!("call {n}")), delegation, ..of_turn(2, Role::Tool) };
    let ended = TurnRow {
        id: turn_id,
        state: TurnState::Failed,
        reason: None,
        user_message_id: None,
        started_seq: 0,
        started_at: at(0),
        ended_at: Some(at(i64::try_from(n).unwrap())),
    };
    let artifact = json!({ "artifact_id": Uuid::from_u128(n), "title": "t", "status": "open", "total_files": 0, "total_additions": 0,
                           "total_deletions": 0, "files": [] });
    let artifact = ArtifactRow {
        session: session_id(1),
        summary: serde_json::from_value(artifact).unwrap(),
        files: json!([]),
        review: json!({}),
        created_at: at(i64::try_from(n * 10 + 2).unwrap()),
    };
    let rows = vec![
        Row::Turn(ended),
        Row::Message(of_turn(1, Role::User)),
        Row::Message(result),
        Row::Artifact(artifact),
        Row::Message(of_turn(3, Role::Assistant)),
    ];
    let began = Event::Turn(Turn::new(turn_id, TurnState::Running, None));
    Write { session: session_id(1), events: vec![began, notice("said")], rows }
}

/// Everything that is read of a conversation for a prompt, for a session that is woken, and for a client that comes.
async fn cost_of_reading(store: &Store, turns: u128) -> [(&'static str, u64, u64); 6] {
    let id = session_id(1);
    let mut costs = [("", 0, 0); 6];
    for (at, cost) in costs.iter_mut().enumerate() {
        let before = store.counts();
        cost.0 = match at {
            0 => {
                assert_eq!(store.history(id, 300).await.unwrap().messages.len(), 30);
                "the model's history"
            }
            1 => {
                assert_eq!(store.results(id, "main", 1).await.unwrap()[0].tool_call_id, Some(format!("call {turns}")));
                "the last result"
            }
            2 => {
                assert_eq!(store.known_calls(id, vec!["call 7".into(), "new".into()]).await.unwrap().len(), 1);
                "known calls"
            }
            3 => {
                assert_eq!(store.turn_messages(id, TurnId(Uuid::from_u128(turns))).await.unwrap().len(), 3);
                "the messages of a turn"
            }
            4 => {
                let snapshot = store.snapshot(id, 30).await.unwrap().unwrap();
                assert_eq!((snapshot.messages.len(), snapshot.artifacts.len(), snapshot.ended_turns.len()), (30, 10, 10));
                assert_eq!(snapshot.notices.len(), 10);
                "a snapshot"
            }
            _ => {
                let before = MessageId(Uuid::from_u128(turns * 10 - 99));
                assert_eq!(store.messages(id, Some(before), 30).await.unwrap().messages.len(), 30);
                "a page of older messages"
            }
        };
        let now = store.counts();
        (cost.1, cost.2) = (now.rows_read - before.rows_read, now.steps - before.steps);
    }
    costs
}

#[tokio::test]
async fn nothing_that_is_read_of_a_conversation_grows_with_it() {
    let fixture = Fixture::new().await;
    let store = &fixture.store;
    with_sessions(&fixture, 1..=1).await;
    for n in 1..=40 {
        store.commit(turn(n)).await.unwrap();
    }
    let short = cost_of_reading(store, 40).await;
    fixture.commit_all((41..=1000).map(turn)).await.into_iter().for_each(|committed| assert!(committed.is_ok()));
    let long = cost_of_reading(store, 1000).await;
    for ((what, rows_before, steps_before), (_, rows, steps)) in short.into_iter().zip(long) {
        assert_eq!(rows, rows_before, "rows of {what}");
        assert!(steps <= steps_before + 50, "steps of {what}: {steps_before}, then {steps}");
    }
}
