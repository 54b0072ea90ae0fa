//! How the database's file is connected to, by what the connection is for.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::statement::{self, Read};
use crate::wal;

/// How long a connection waits for another one.
pub(crate) const BUSY: Duration = Duration::from_secs(10);
/// Memory for pages, in KiB: the file's pages are in the system's own cache anyway.
const READER_CACHE_KIB: i64 = 512;
const WRITER_CACHE_KIB: i64 = 4096;

/// To read and write a file that is there already.
pub(crate) fn plain(path: &Path) -> Read<Connection> {
    with(path, OpenFlags::SQLITE_OPEN_READ_WRITE)
}

pub(crate) fn read_only(path: &Path) -> Read<Connection> {
    with(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
}

/// A file that nobody writes: reading it needs no room beside it.
pub(crate) fn immutable(path: &Path) -> Read<Connection> {
    with(Path::new(&immutable_address(path)), OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI)
}

/// The same as an address that SQLite reads: nothing that lies beside the file counts.
pub(crate) fn immutable_address(path: &Path) -> String {
    let mut name = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => name.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => name.push(char::from(*byte)),
            byte => name.push_str(&format!("%{byte:02X}")),
        }
    }
    name.push_str("?mode=ro&immutable=1");
    name
}

fn with(path: &Path, flags: OpenFlags) -> Read<Connection> {
    let conn = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    conn.busy_timeout(BUSY)?;
    conn.pragma_update(None, "foreign_keys", true)?;
    conn.set_prepared_statement_cache_capacity(statement::KEPT);
    Ok(conn)
}

/// What is deleted is overwritten, not only forgotten.
pub(crate) fn overwriting(conn: &Connection) -> Read<()> {
    conn.pragma_update(None, "secure_delete", true)
}

/// The file of a store, and how its connections are made.
#[derive(Clone)]
pub(crate) struct Access {
    pub path: PathBuf,
    /// Every commit survives a power loss, not only a kill.
    pub disk: bool,
    /// The write-ahead log is emptied at the latest when it is longer.
    pub log_bytes_most: u32,
    /// The file may have no more pages than that.
    pub pages_most: Option<u32>,
}

impl Access {
    pub(crate) fn reader(&self) -> Read<Connection> {
        let conn = read_only(&self.path)?;
        conn.pragma_update(None, "cache_size", -READER_CACHE_KIB)?;
        Ok(conn)
    }

    /// It brings nothing of the write-ahead log into the file by itself.
    pub(crate) fn writer(&self) -> Read<Connection> {
        let conn = self.owner()?;
        wal::watch(&conn);
        Ok(conn)
    }

    /// As long as nobody else minds the write-ahead log.
    pub(crate) fn owner(&self) -> Read<Connection> {
        let conn = plain(&self.path)?;
        // In a file that holds nothing yet there is nothing to lose, so the first start does not wait for the disk.
        if conn.pragma_query_value(None, "page_count", |row| row.get::<_, i64>(0))? == 0 {
            conn.pragma_update(None, "synchronous", "OFF")?;
        }
        conn.pragma_update(None, "journal_mode", "WAL")?;
        conn.pragma_update(None, "synchronous", if self.disk { "FULL" } else { "NORMAL" })?;
        overwriting(&conn)?;
        conn.pragma_update(None, "journal_size_limit", self.log_bytes_most)?;
        conn.pragma_update(None, "cache_size", -WRITER_CACHE_KIB)?;
        // A statement of many rows notes what it changes, to take it back by itself; in a file that would cost more than the change.
        conn.pragma_update(None, "temp_store", "MEMORY")?;
        if let Some(pages) = self.pages_most {
            conn.pragma_update(None, "max_page_count", pages)?;
        }
        Ok(conn)
    }

    pub(crate) fn checkpointer(&self) -> Read<Connection> {
        let conn = plain(&self.path)?;
        conn.pragma_update(None, "wal_autocheckpoint", 0)?;
        Ok(conn)
    }
}
