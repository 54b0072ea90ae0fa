//! The browsers and programs that are let in.

use domain::device::DeviceKind;
use domain::ids::DeviceId;
use jiff::Timestamp;
use rusqlite::{Connection, Row, params};

use super::column::{self, Columns, time, word};
use super::{Read, Written, statement};

const TABLE: &str = "devices";

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeviceRow {
    pub id: DeviceId,
    /// Of what it sends with every request.
    pub secret_hash: String,
    /// Of the key of the page that it is bound to.
    pub key_hash: Option<String>,
    pub name: String,
    pub kind: DeviceKind,
    /// Where it was last seen.
    pub address: String,
    pub created_at: Timestamp,
    pub last_used_at: Timestamp,
}

pub(super) fn add(conn: &Connection, device: &DeviceRow) -> Written {
    statement::execute(
        conn,
        "INSERT INTO devices (id, secret_hash, key_hash, name, kind, address, created_at, last_used_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        params![
            device.id.to_string(),
            device.secret_hash.as_str(),
            device.key_hash.as_deref(),
            device.name.as_str(),
            word(&device.kind),
            device.address.as_str(),
            time(device.created_at),
            time(device.last_used_at)
        ],
    )?;
    Ok(())
}

pub(super) fn rename(conn: &Connection, id: DeviceId, name: &str) -> Written {
    statement::execute(conn, "UPDATE devices SET name = ?2 WHERE id = ?1", params![id.to_string(), name])?;
    Ok(())
}

pub(super) fn used(conn: &Connection, id: DeviceId, at: Timestamp, address: &str) -> Written {
    statement::execute(
        conn,
        "UPDATE devices SET last_used_at = ?2, address = ?3 WHERE id = ?1",
        params![id.to_string(), time(at), address],
    )?;
    Ok(())
}

/// Removing it twice changes nothing.
pub(super) fn remove(conn: &Connection, id: DeviceId) -> Written {
    statement::execute(conn, "DELETE FROM devices WHERE id = ?1", params![id.to_string()])?;
    Ok(())
}

/// One that cannot be read is let in no more.
pub(crate) fn all(conn: &Connection) -> Read<Vec<DeviceRow>> {
    column::readable(TABLE, conn, "SELECT * FROM devices ORDER BY created_at, id", [], device)
}

fn device(row: &Row<'_>) -> Read<DeviceRow> {
    Ok(DeviceRow {
        id: row.parsed("id")?,
        secret_hash: row.text("secret_hash")?,
        key_hash: row.maybe("key_hash")?,
        name: row.text("name")?,
        kind: row.word("kind")?,
        address: row.text("address")?,
        created_at: row.parsed("created_at")?,
        last_used_at: row.parsed("last_used_at")?,
    })
}
