//! The connections that read: a few, made when they are first needed, each lent to one read at a time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;
use tokio::sync::Semaphore;

use crate::blocking;
use crate::connect::Access;
use crate::counts::Tally;
use crate::error::StoreError;
use crate::statement::{self, Read};

const READERS: u32 = 4;

#[derive(Clone)]
pub(crate) struct Reading {
    shelf: Arc<Shelf>,
}

struct Shelf {
    access: Access,
    room: Arc<Semaphore>,
    /// Those that nobody uses now.
    free: Mutex<Vec<Connection>>,
    closed: AtomicBool,
    tally: Arc<Tally>,
}

impl Shelf {
    fn free(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reading {
    pub(crate) fn new(access: Access, tally: Arc<Tally>) -> Reading {
        let room = Arc::new(Semaphore::new(READERS as usize));
        Reading { shelf: Arc::new(Shelf { access, room, free: Mutex::default(), closed: AtomicBool::new(false), tally }) }
    }

    /// Runs the whole read on one connection.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Read<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let shelf = Arc::clone(&self.shelf);
        let place = Arc::clone(&shelf.room).acquire_owned().await.map_err(|_| StoreError::Closed)?;
        if shelf.closed.load(Ordering::Acquire) {
            return Err(StoreError::Closed);
        }
        blocking::run(move || {
            let kept = shelf.free().pop();
            let conn = kept.map_or_else(|| shelf.access.reader(), Ok)?;
            let done = read(&conn);
            shelf.tally.spent(statement::spent());
            shelf.tally.read_once();
            // One that is left in the middle of something is not lent again.
            if conn.is_autocommit() {
                shelf.free().push(conn);
            }
            drop(place);
            Ok(done?)
        })
        .await
    }

    /// Likewise, with everything of one moment.
    pub(crate) async fn snapshot<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Read<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.read(|conn| statement::snapshot(conn, read)).await
    }

    /// Waits for the reads that have begun, and lets go of the file.
    pub(crate) async fn close(&self) {
        self.shelf.closed.store(true, Ordering::Release);
        if self.shelf.room.acquire_many(READERS).await.is_ok() {
            self.shelf.room.close();
        }
        self.shelf.free().clear();
    }
}
