//! What can go wrong, by what the caller can do about it. The database's own errors are sources, never variants.

use std::path::PathBuf;

use domain::ids::SessionId;
use rusqlite::ffi;

type Source = Box<dyn std::error::Error + Send + Sync>;

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("the database {} is in use by another voxpilot server", path.display())]
    InUse { path: PathBuf },
    #[error("the database has schema version {found}, this version of voxpilot knows {known}: use the newer voxpilot that wrote it")]
    Newer { found: u32, known: u32 },
    #[error("{} is not a voxpilot database", path.display())]
    Foreign { path: PathBuf },
    #[error("the database {} is damaged: restore a backup or move it away", path.display())]
    Damaged { path: PathBuf, source: Source },
    /// It is not damaged, but holds what we never write.
    #[error("{} was changed by something other than voxpilot: it has {what}; restore another backup", path.display())]
    Altered { path: PathBuf, what: String },
    #[error("{} exists already: give another name", path.display())]
    Exists { path: PathBuf },
    #[error("the disk is full, so the database {} cannot be opened: free some space", path.display())]
    Full { path: PathBuf },
    #[error("the database {} cannot be opened", path.display())]
    Io { path: PathBuf, source: Source },
}

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("no session {0}")]
    NoSession(SessionId),
    /// Something of that name is there already.
    #[error("{what} exists already")]
    Conflict { what: &'static str },
    /// What was to be changed is no longer there.
    #[error("{what} is gone")]
    Gone { what: &'static str },
    #[error("the disk is full")]
    Full,
    #[error("the store is closed")]
    Closed,
    #[error("the database failed")]
    Failed(#[source] Source),
}

/// Why a live reader has to stop.
#[derive(Debug, thiserror::Error)]
pub enum FeedError {
    #[error("the store is closed")]
    Closed,
    /// It was away for too many changes of the list: the list has to be read again.
    #[error("changes of the list of sessions were missed")]
    Behind,
    #[error("the log cannot be read")]
    Failed(#[source] StoreError),
}

/// The primary result code.
fn code(error: &rusqlite::Error) -> Option<i32> {
    Some(error.sqlite_error()?.extended_code & 0xff)
}

/// No room for what was written, or for the memory that connections share, which is a file too.
fn is_full(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error().map(|error| error.extended_code);
    code.is_some_and(|code| code & 0xff == ffi::SQLITE_FULL || code == ffi::SQLITE_IOERR_SHMSIZE)
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error().map(|error| error.extended_code) {
            Some(code) if code & 0xff == ffi::SQLITE_FULL => StoreError::Full,
            Some(ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY | ffi::SQLITE_CONSTRAINT_ROWID) => {
                StoreError::Conflict { what: "a row with the same key" }
            }
            _ => StoreError::Failed(Box::new(error)),
        }
    }
}

impl From<StoreError> for FeedError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Closed => FeedError::Closed,
            other => FeedError::Failed(other),
        }
    }
}

impl OpenError {
    /// The same of another file, of which that one is a copy.
    pub(crate) fn of(self, other: &std::path::Path) -> Self {
        let path = other.to_owned();
        match self {
            OpenError::InUse { .. } => OpenError::InUse { path },
            OpenError::Foreign { .. } => OpenError::Foreign { path },
            OpenError::Damaged { source, .. } => OpenError::Damaged { path, source },
            OpenError::Exists { .. } => OpenError::Exists { path },
            OpenError::Altered { what, .. } => OpenError::Altered { path, what },
            OpenError::Full { .. } => OpenError::Full { path },
            OpenError::Io { source, .. } => OpenError::Io { path, source },
            OpenError::Newer { .. } => self,
        }
    }

    pub(crate) fn io(path: &std::path::Path, source: impl Into<Source>) -> Self {
        OpenError::Io { path: path.to_owned(), source: source.into() }
    }

    pub(crate) fn database(path: &std::path::Path, error: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match code(&error) {
            Some(ffi::SQLITE_NOTADB) => OpenError::Foreign { path },
            Some(ffi::SQLITE_CORRUPT) => OpenError::Damaged { path, source: Box::new(error) },
            _ if is_full(&error) => OpenError::Full { path },
            _ => OpenError::Io { path, source: Box::new(error) },
        }
    }
}
