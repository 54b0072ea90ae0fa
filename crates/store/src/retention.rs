//! How long things are kept: events, what was deleted, and copies of the database.

use std::time::Duration;

use domain::ids::SessionId;
use jiff::Timestamp;
use rusqlite::Connection;

use crate::row::{Row, Write};
use crate::table::{event, message, session};
use crate::writer::{Command, EVENTS_MOST};
use crate::{Result, Store, blocking, copies, statement};

impl Store {
    /// Drops the events of turns that were over before that time, and of whole sessions that have been quiet since; messages stay, and so
    /// does what a snapshot shows. A session in use is held up for moments only. Says how many sessions it concerned.
    pub async fn compact(&self, older_than: Timestamp) -> Result<u64> {
        let sessions = self.read(session::with_events).await?;
        let mut compacted = 0;
        for session in sessions {
            if self.read(move |conn| event::droppable(conn, session, older_than, EVENTS_MOST)).await?.is_none() {
                continue;
            }
            compacted += 1;
            while self.inner.writer.ask(|done| Command::Compact { session, older_than, done }).await? {}
        }
        Ok(compacted)
    }

    /// Removes the session with everything it has, also from copies that were made before a migration. Its text is overwritten in the file
    /// and gone from the write-ahead log as soon as nobody reads there any more.
    pub async fn delete(&self, session: SessionId) -> Result<()> {
        // First, so that a crash in between leaves something that can be deleted again.
        let path = self.inner.path.clone();
        blocking::run(move || copies::erase(&path, session)).await;
        self.commit(Write { session, events: Vec::new(), rows: vec![Row::DeleteSession] }).await?;
        Ok(())
    }

    /// How many bytes the messages of a session hold.
    pub async fn message_bytes(&self, session: SessionId) -> Result<u64> {
        self.read(move |conn| message::bytes(conn, session)).await
    }

    /// How many bytes of the file were let go of and wait to be used again.
    pub async fn unused_bytes(&self) -> Result<u64> {
        let number = |conn: &Connection, sql| statement::only(conn, sql, [], |row| row.get::<_, i64>(0));
        let (pages, bytes) = self.read(move |conn| Ok((number(conn, "PRAGMA freelist_count")?, number(conn, "PRAGMA page_size")?))).await?;
        Ok(u64::try_from(pages.saturating_mul(bytes)).unwrap_or(0))
    }

    /// Empties the write-ahead log as soon as nobody reads there, and drops copies of the database that are older than that; of
    /// those that were made before migrations only the latest is kept.
    pub async fn tidy(&self, copies_kept: Duration) {
        // A store that is closing does it by itself.
        let _ = self.inner.writer.hand_over(Command::Erase).await;
        let path = self.inner.path.clone();
        blocking::run(move || copies::drop_older(&path, copies_kept)).await;
    }
}
