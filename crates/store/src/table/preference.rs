//! What a person chose for the whole server.

use std::collections::BTreeMap;

use rusqlite::{Connection, params};

use super::column::Columns;
use super::{Read, Written, statement};

/// Inserts or replaces.
pub(super) fn save(conn: &Connection, key: &str, value: &str) -> Written {
    statement::execute(
        conn,
        "INSERT INTO preferences (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        params![key, value],
    )?;
    Ok(())
}

pub(super) fn remove(conn: &Connection, key: &str) -> Written {
    statement::execute(conn, "DELETE FROM preferences WHERE key = ?1", params![key])?;
    Ok(())
}

pub(crate) fn all(conn: &Connection) -> Read<BTreeMap<String, String>> {
    let all = statement::all(conn, "SELECT key, value FROM preferences", [], |row| Ok((row.text("key")?, row.text("value")?)))?;
    Ok(all.into_iter().collect())
}

pub(crate) fn of(conn: &Connection, key: &str) -> Read<Option<String>> {
    statement::one(conn, "SELECT value FROM preferences WHERE key = ?1", params![key], |row| row.text("value"))
}
