//! The write-ahead log: how long it has become, and how it is brought into the file.

use std::cell::Cell;
use std::time::Duration;

use rusqlite::Connection;

use crate::connect::BUSY;
use crate::statement::Read;

/// It is cut back to this after a flood, and emptied at the latest when it is longer.
pub(crate) const BYTES_MOST: u32 = 64 * 1024 * 1024;
/// A page and what the log says of it.
const FRAME_BYTES: u64 = 4096 + 24;
/// After so many more frames some of them are brought into the file.
const CHECKPOINT_FRAMES: u64 = 1000;

thread_local! {
    /// The database calls a plain function on the thread that commits, so this is where it leaves its word.
    static FRAMES: Cell<Option<u64>> = const { Cell::new(None) };
}

/// From now on every commit of the connection says how long the log is, and the connection no longer shortens it by itself.
pub(crate) fn watch(conn: &Connection) {
    conn.wal_hook(Some(|_, frames| {
        FRAMES.set(u64::try_from(frames).ok());
        Ok(())
    }));
}

/// How many frames the log had after the last commit of this thread; nothing where it wrote none.
pub(crate) fn frames() -> Option<u64> {
    FRAMES.take()
}

/// How the log grows.
#[derive(Default)]
pub(crate) struct Growth {
    frames: u64,
    /// How many there were when it was last seen to.
    seen_to: u64,
}

impl Growth {
    /// Says whether it is time to bring some of it into the file.
    pub(crate) fn grown(&mut self, frames: u64) -> bool {
        if frames < self.frames {
            // It began anew.
            self.seen_to = 0;
        }
        self.frames = frames;
        let due = frames >= self.seen_to + CHECKPOINT_FRAMES;
        if due {
            self.seen_to = frames;
        }
        due
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.frames * FRAME_BYTES
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.frames == 0
    }

    pub(crate) fn emptied(&mut self) {
        *self = Growth::default();
    }
}

/// Brings into the file what can be brought there without holding up anybody. Says whether that was all.
pub(crate) fn checkpoint(conn: &Connection) -> Read<bool> {
    let (busy, frames, brought): (i64, i64, i64) =
        conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    Ok(busy == 0 && frames == brought)
}

/// How the log is emptied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Emptying {
    /// What comes next is written over what was there.
    Over,
    /// Nothing of it stays on the disk.
    Away,
}

/// Brings the log into the file and empties it. Says whether that was done; somebody who reads may be in the way.
pub(crate) fn empty(conn: &Connection, how: Emptying, patience: Duration) -> Read<bool> {
    let sql = match how {
        Emptying::Over => "PRAGMA wal_checkpoint(RESTART)",
        Emptying::Away => "PRAGMA wal_checkpoint(TRUNCATE)",
    };
    conn.busy_timeout(patience)?;
    let busy: Read<i64> = conn.query_row(sql, [], |row| row.get(0));
    conn.busy_timeout(BUSY)?;
    Ok(busy? == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_is_seen_to_each_time_it_has_grown_enough() {
        let mut growth = Growth::default();
        let due: Vec<bool> = [999, 1000, 1001, 1999, 2000, 2001, 5].map(|frames| growth.grown(frames)).into();
        assert_eq!(due, [false, true, false, false, true, false, false]);
        assert!(growth.grown(1000), "it began anew and has grown again");
        assert_eq!(growth.bytes(), 4_120_000);
        growth.emptied();
        assert!(growth.is_empty());
    }
}
