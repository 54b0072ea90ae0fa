//! A database's file, changed past the store: what somebody else could have done to it.

use std::path::Path;

use rusqlite::Connection;

/// Runs statements on it.
pub fn execute(path: &Path, sql: &str) {
    let conn = Connection::open(path).expect("the file can be opened");
    conn.execute_batch(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    conn.close().map_err(|(_, error)| error).expect("the file can be closed");
}

/// The first column of the first row.
pub fn number(path: &Path, sql: &str) -> i64 {
    let conn = Connection::open(path).expect("the file can be opened");
    conn.query_row(sql, [], |row| row.get(0)).unwrap_or_else(|error| panic!("{sql}: {error}"))
}
