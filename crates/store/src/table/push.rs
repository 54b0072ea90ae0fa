//! Where the devices that asked for notifications are reached.

use domain::ids::DeviceId;
use jiff::Timestamp;
use rusqlite::{Connection, Row, params};

use super::column::{self, Columns, time};
use super::{Read, Written, statement};

const TABLE: &str = "push";

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PushRow {
    pub device: DeviceId,
    /// An address of the browser's push service: whoever has it can reach the device.
    pub endpoint: String,
    pub p256dh: String,
    pub auth: String,
    pub created_at: Timestamp,
}

/// Inserts or replaces. A browser that was another device before is told once.
pub(super) fn save(conn: &Connection, push: &PushRow) -> Written {
    statement::execute(
        conn,
        "DELETE FROM push WHERE device_id = ?1 OR endpoint = ?2",
        params![push.device.to_string(), push.endpoint.as_str()],
    )?;
    // A device that was revoked meanwhile has none.
    statement::execute(
        conn,
        "INSERT INTO push (device_id, endpoint, p256dh, auth, created_at) \
         SELECT id, ?2, ?3, ?4, ?5 FROM devices WHERE id = ?1",
        params![push.device.to_string(), push.endpoint.as_str(), push.p256dh.as_str(), push.auth.as_str(), time(push.created_at)],
    )?;
    Ok(())
}

pub(super) fn remove(conn: &Connection, device: DeviceId) -> Written {
    statement::execute(conn, "DELETE FROM push WHERE device_id = ?1", params![device.to_string()])?;
    Ok(())
}

pub(super) fn drop_endpoint(conn: &Connection, endpoint: &str) -> Written {
    statement::execute(conn, "DELETE FROM push WHERE endpoint = ?1", params![endpoint])?;
    Ok(())
}

pub(crate) fn all(conn: &Connection) -> Read<Vec<PushRow>> {
    column::readable(TABLE, conn, "SELECT * FROM push ORDER BY created_at, device_id", [], push)
}

fn push(row: &Row<'_>) -> Read<PushRow> {
    Ok(PushRow {
        device: row.parsed("device_id")?,
        endpoint: row.text("endpoint")?,
        p256dh: row.text("p256dh")?,
        auth: row.text("auth")?,
        created_at: row.parsed("created_at")?,
    })
}
