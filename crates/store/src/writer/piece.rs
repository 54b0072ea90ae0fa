//! The commonest write by far, one piece of an agent's text and the runner's cursor behind it, in a single trip to the database.
//!
//! Every statement is a trip to the database's own thread and back. On a busy machine that is what a chunk waits for, so the whole
//! transaction is sent at once. It does nothing that the general way does not do.

use domain::event::Event;
use domain::ids::SessionId;
use jiff::Timestamp;
use sqlx::SqliteConnection;

use super::Job;
use super::batch::{Batch, Change};
use crate::frame::{Assembly, Draft};
use crate::row::{Committed, Row};
use crate::table::column::{number, time};

/// Where there is no such runner the cursor is not moved, and then nothing else is done either.
const WRITE: &str = "BEGIN IMMEDIATE; \
    UPDATE runners SET cursor = $3 WHERE session_id = $1 AND id = $2; \
    INSERT INTO events (session_id, seq, kind, data) SELECT session_id, $4, $5, $6 FROM runners WHERE session_id = $1 AND id = $2; \
    UPDATE sessions SET last_seq = $4, updated_at = $7 \
    WHERE id = $1 AND EXISTS (SELECT 1 FROM runners WHERE session_id = $1 AND id = $2) RETURNING last_seq; \
    COMMIT";

pub(super) struct Piece<'a> {
    session: SessionId,
    runner: &'a str,
    cursor: u64,
    draft: Draft,
}

impl<'a> Piece<'a> {
    /// `None` where the job is anything else.
    pub(super) fn of(job: &'a Job) -> Option<Piece<'a>> {
        let write = &job.write;
        let [rows @ .., Row::RunnerCursor { id, cursor }] = write.rows.as_slice() else { return None };
        let same_runner = |row: &Row| matches!(row, Row::RunnerCursor { id: other, .. } if other == id);
        if !rows.iter().all(same_runner) || !write.events.iter().all(|event| matches!(event, Event::CopilotDelta(_))) {
            return None;
        }
        let mut assembly = Assembly::default();
        for event in &write.events {
            assembly.push(event);
        }
        let [draft] = <[Draft; 1]>::try_from(assembly.finish()).ok()?;
        Some(Piece { session: write.session, runner: id, cursor: *cursor, draft })
    }

    /// Writes it behind `base`. After an error the connection may be in the middle of a transaction; `None` where nothing was done.
    pub(super) async fn store(self, conn: &mut SqliteConnection, base: u64) -> Result<Option<Batch>, sqlx::Error> {
        let (session, seq) = (self.session, base + 1);
        let done = sqlx::query(WRITE)
            .bind(session.to_string())
            .bind(self.runner.to_owned())
            .bind(number(self.cursor))
            .bind(number(seq))
            .bind(self.draft.kind)
            .bind(self.draft.text.clone())
            .bind(time(Timestamp::now()))
            .fetch_all(conn)
            .await?;
        if done.is_empty() {
            return Ok(None);
        }
        let frames = vec![self.draft.number(session, seq)];
        let change = Change { session, frames, last: seq, horizon: None, deleted: false, listed: false };
        Ok(Some(Batch { changes: vec![change], answers: vec![Ok(Committed { last_seq: seq })] }))
    }
}

#[cfg(test)]
mod tests {
    use domain::event::CopilotDelta;
    use sqlx::sqlite::SqliteConnectOptions;
    use sqlx::{ConnectOptions, Executor};
    use uuid::Uuid;

    use crate::table::event;
    use crate::{NewSession, Row, RunnerRow, Store, StoreError, Write};

    use super::*;

    const SESSION: SessionId = SessionId(Uuid::from_u128(1));

    fn piece(runner: &str, cursor: u64, offset: u64) -> Write {
        let (tool_call_id, session_name) = ("c".to_owned(), "n".to_owned());
        let event = Event::CopilotDelta(CopilotDelta { tool_call_id, session_name, offset, content: "text".to_owned() });
        Write { session: SESSION, events: vec![event], rows: vec![Row::RunnerCursor { id: runner.to_owned(), cursor }] }
    }

    async fn store(dir: &tempfile::TempDir) -> Store {
        let store = Store::open(&dir.path().join("log.db"), false).await.unwrap();
        let new = NewSession {
            title: "t".into(),
            work_dir: "/w".into(),
            model: "relay".into(),
            agent: "demo".into(),
            permission_policy: None,
            created_at: Timestamp::now(),
        };
        let runner = RunnerRow {
            id: "r".into(),
            session: SESSION,
            agent: "demo".into(),
            dir: "/d".into(),
            cursor: 0,
            capabilities: None,
            ending: false,
        };
        let rows = vec![Row::CreateSession(new), Row::Runner(runner)];
        store.commit(Write { session: SESSION, events: vec![], rows }).await.unwrap();
        store
    }

    async fn stored(store: &Store) -> Vec<u64> {
        let frames = event::frames(&mut store.reader().await.unwrap(), SESSION, 0, 10, usize::MAX).await.unwrap();
        frames.iter().map(|frame| frame.seq).collect()
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
        assert_eq!(stored(&store).await, [1, 2, 3]);
        store.close().await;
    }

    #[tokio::test]
    async fn a_piece_from_an_unknown_runner_is_refused_whole() {
        let dir = tempfile::tempdir().unwrap();
        let store = store(&dir).await;
        store.commit(piece("r", 1, 0)).await.unwrap();
        assert!(matches!(store.commit(piece("other", 2, 4)).await, Err(StoreError::Gone { .. })));
        assert_eq!(stored(&store).await, [1]);
        assert_eq!(store.commit(piece("r", 2, 4)).await.unwrap().last_seq, 2);
        store.close().await;
    }

    #[tokio::test]
    async fn a_piece_that_fails_halfway_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let store = store(&dir).await;
        store.commit(piece("r", 1, 0)).await.unwrap();
        let mut intruder = SqliteConnectOptions::new().filename(dir.path().join("log.db")).connect().await.unwrap();
        let row = sqlx::query("INSERT INTO events (session_id, seq, kind, data) VALUES ($1, 2, 'x', '{}')").bind(SESSION.to_string());
        intruder.execute(row).await.unwrap();
        assert!(matches!(store.commit(piece("r", 2, 4)).await, Err(StoreError::Conflict { .. })));
        assert_eq!(store.session_runners(SESSION).await.unwrap()[0].cursor, 1);
        intruder.execute("DELETE FROM events WHERE seq = 2").await.unwrap();
        assert_eq!(store.commit(piece("r", 2, 4)).await.unwrap().last_seq, 2);
        store.close().await;
    }
}
