//! Who did what, from which device. Bounded: the oldest entries make room.

use domain::ids::{DeviceId, SessionId};
use jiff::Timestamp;
use rusqlite::{Connection, Row, params};

use super::column::{self, Columns, number, time};
use super::{Read, Written, statement};

const TABLE: &str = "audit";
const MOST: u64 = 10_000;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AuditRow {
    /// The store's to give; ignored on writing.
    pub id: u64,
    pub at: Timestamp,
    /// None for a program with the token, and for strangers.
    pub device_id: Option<DeviceId>,
    /// What the device was called then.
    pub device: String,
    pub address: Option<String>,
    pub action: String,
    pub detail: Option<String>,
    /// Whose words the detail holds: it goes with the session. Not read back.
    pub session: Option<SessionId>,
}

pub(super) fn add(conn: &Connection, entry: &AuditRow) -> Written {
    let sql = "INSERT INTO audit (at, device_id, device, address, action, detail) VALUES (?1, ?2, ?3, ?4, ?5, ?6) RETURNING id";
    let detail = entry.detail.as_deref().filter(|_| entry.session.is_none());
    let device_id = entry.device_id.map(|id| id.to_string());
    let given = params![time(entry.at), device_id, entry.device, entry.address, entry.action, detail];
    let id: i64 = statement::only(conn, sql, given, |row| row.get("id"))?;
    if let (Some(session), Some(detail)) = (entry.session, &entry.detail) {
        // The session may be gone by now.
        statement::execute(
            conn,
            "INSERT INTO audit_details (audit_id, session_id, detail) SELECT ?1, id, ?3 FROM sessions WHERE id = ?2",
            params![id, session.to_string(), detail.as_str()],
        )?;
    }
    let oldest = id - number(MOST);
    statement::execute(conn, "DELETE FROM audit WHERE id <= ?1", params![oldest])?;
    Ok(())
}

/// Newest first.
pub(crate) fn page(conn: &Connection, before: Option<u64>, limit: u32) -> Read<Vec<AuditRow>> {
    let sql = "SELECT a.id, a.at, a.device_id, a.device, a.address, a.action, COALESCE(a.detail, d.detail) AS detail \
               FROM audit a LEFT JOIN audit_details d ON d.audit_id = a.id WHERE a.id < ?1 ORDER BY a.id DESC LIMIT ?2";
    column::readable(TABLE, conn, sql, params![before.map_or(i64::MAX, number), i64::from(limit)], entry)
}

fn entry(row: &Row<'_>) -> Read<AuditRow> {
    Ok(AuditRow {
        id: row.number("id")?,
        at: row.parsed("at")?,
        device_id: row.maybe_parsed("device_id")?,
        device: row.text("device")?,
        address: row.maybe("address")?,
        action: row.text("action")?,
        detail: row.maybe("detail")?,
        session: None,
    })
}
