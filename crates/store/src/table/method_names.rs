//! What an agent, in one version, calls the methods of the protocol that it names differently.

use rusqlite::{Connection, Row, params};
use serde_json::Value;

use super::column::{Columns, json};
use super::{Read, Written, statement};

const TABLE: &str = "method_names";

/// Inserts or replaces.
pub(super) fn save(conn: &Connection, agent: &str, version: &str, names: &Value) -> Written {
    statement::execute(
        conn,
        "INSERT INTO method_names (agent, version, names) VALUES (?1, ?2, ?3) \
         ON CONFLICT (agent, version) DO UPDATE SET names = excluded.names",
        params![agent, version, json(names)],
    )?;
    Ok(())
}

/// Names that cannot be read are as good as none: they are found out again.
pub(crate) fn of(conn: &Connection, agent: &str, version: &str) -> Read<Option<Value>> {
    let sql = "SELECT names FROM method_names WHERE agent = ?1 AND version = ?2";
    let read = |row: &Row<'_>| Ok(row.json(TABLE, &format!("{agent} {version}"), "names").ok().flatten());
    Ok(statement::one(conn, sql, params![agent, version], read)?.flatten())
}
