//! Live reading: a cursor over the sequence. There is no list of subscribers and nothing that can lag; a reader that was away for
//! long reads from the database, one that keeps up from memory, and both get the same bytes.

use std::sync::Arc;

use domain::ids::SessionId;
use tokio::sync::watch;

use crate::error::{FeedError, StoreError};
use crate::frame::Frame;
use crate::reading::Reading;
use crate::table::event;
use crate::tail::{BATCH_BYTES, Glance, Tail};

/// Reads one session's log as it grows.
pub struct Feed {
    session: SessionId,
    tail: Arc<Tail>,
    bell: watch::Receiver<()>,
    reading: Reading,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Batch {
    /// What follows the cursor: at least one event, the first numbered `cursor + 1`, without a gap.
    Frames { frames: Vec<Frame> },
    /// What follows the cursor is no longer kept, or the cursor is not of this log: take a snapshot.
    Reset,
    /// The session was deleted, or never was.
    Deleted,
}

impl Feed {
    pub(crate) fn new(session: SessionId, tail: Arc<Tail>, reading: Reading) -> Feed {
        let bell = tail.subscribe();
        Feed { session, tail, bell, reading }
    }

    /// Waits until there is something after the cursor. Dropping the future loses nothing.
    pub async fn after(&mut self, cursor: u64, limit: usize) -> Result<Batch, FeedError> {
        loop {
            if let Some(batch) = self.now(cursor, limit).await? {
                return Ok(batch);
            }
            self.rung().await;
        }
    }

    /// What is after the cursor, `None` where it is at the end of the log.
    pub async fn now(&mut self, cursor: u64, limit: usize) -> Result<Option<Batch>, FeedError> {
        // Marked as heard before looking: what is published from here on rings again.
        self.bell.mark_unchanged();
        match self.tail.glance(cursor, limit.max(1)) {
            Glance::Frames(frames) => Ok(Some(Batch::Frames { frames })),
            Glance::Deleted => Ok(Some(Batch::Deleted)),
            Glance::Closed => Err(FeedError::Closed),
            Glance::UpToDate => Ok(None),
            Glance::Elsewhere => Ok(self.read(cursor, limit.max(1)).await?),
        }
    }

    /// Something has happened since the last look.
    pub fn has_rung(&self) -> bool {
        self.bell.has_changed().unwrap_or(true)
    }

    /// Waits until then. Dropping the future loses nothing.
    pub async fn rung(&mut self) {
        // The bell lives as long as the tail, which is held here.
        let _ = self.bell.changed().await;
        self.bell.mark_changed();
    }

    /// From the database; `None` where the cursor is at the end of the log.
    async fn read(&self, cursor: u64, limit: usize) -> Result<Option<Batch>, StoreError> {
        let session = self.session;
        let (last, batch) = self
            .reading
            .snapshot(move |conn| {
                let Some((last, horizon)) = event::bounds(conn, session)? else { return Ok((0, Some(Batch::Deleted))) };
                if cursor < horizon || cursor > last {
                    return Ok((last, Some(Batch::Reset)));
                }
                if cursor == last {
                    return Ok((last, None));
                }
                let frames = event::frames(conn, session, cursor, limit, BATCH_BYTES)?;
                Ok((last, Some(Batch::Frames { frames })))
            })
            .await?;
        if batch.is_none() {
            self.tail.learn(last);
        }
        Ok(batch)
    }
}
