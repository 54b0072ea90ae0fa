//! Who did what, from which device. Bounded: the oldest entries make room.

use domain::ids::{DeviceId, SessionId};
use jiff::Timestamp;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

use super::column::{self, Columns, number, time};
use super::{Read, Written};

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

pub(super) async fn add(conn: &mut SqliteConnection, entry: &AuditRow) -> Written {
    let added = sqlx::query("INSERT INTO audit (at, device_id, device, address, action, detail) VALUES ($1, $2, $3, $4, $5, $6)")
        .bind(time(entry.at))
        .bind(entry.device_id.map(|id| id.to_string()))
        .bind(entry.device.as_str())
        .bind(entry.address.as_deref())
        .bind(entry.action.as_str())
        .bind(entry.detail.as_deref().filter(|_| entry.session.is_none()))
        .execute(&mut *conn)
        .await?;
    let id = added.last_insert_rowid();
    if let (Some(session), Some(detail)) = (entry.session, &entry.detail) {
        // The session may be gone by now.
        sqlx::query("INSERT INTO audit_details (audit_id, session_id, detail) SELECT $1, id, $3 FROM sessions WHERE id = $2")
            .bind(id)
            .bind(session.to_string())
            .bind(detail.as_str())
            .execute(&mut *conn)
            .await?;
    }
    let oldest = id - number(MOST);
    sqlx::query("DELETE FROM audit WHERE id <= $1").bind(oldest).execute(conn).await?;
    Ok(())
}

/// Newest first.
pub(crate) async fn page(conn: &mut SqliteConnection, before: Option<u64>, limit: u32) -> Read<Vec<AuditRow>> {
    let sql = "SELECT a.id, a.at, a.device_id, a.device, a.address, a.action, COALESCE(a.detail, d.detail) AS detail \
               FROM audit a LEFT JOIN audit_details d ON d.audit_id = a.id WHERE a.id < $1 ORDER BY a.id DESC LIMIT $2";
    let rows = sqlx::query(sql).bind(before.map_or(i64::MAX, number)).bind(i64::from(limit)).fetch_all(conn).await?;
    Ok(column::readable(TABLE, &rows, entry))
}

fn entry(row: &SqliteRow) -> Read<AuditRow> {
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
