//! The links and codes by which one becomes a device, once.

use domain::device::DeviceKind;
use jiff::Timestamp;
use rusqlite::{Connection, Row, params};
use uuid::Uuid;

use super::column::{self, Columns, time, word};
use super::{Read, Written, statement};

const TABLE: &str = "links";

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinkRow {
    pub id: Uuid,
    /// Of what stands in the link.
    pub secret_hash: String,
    /// Of the code that can be typed instead.
    pub code_hash: String,
    pub kind: DeviceKind,
    /// The name of the device that it makes, where one was given.
    pub name: Option<String>,
    pub expires_at: Timestamp,
    /// Kept for a while, so that people are told why it does not work again.
    pub used: bool,
}

pub(super) fn save(conn: &Connection, link: &LinkRow) -> Written {
    statement::execute(
        conn,
        "INSERT INTO links (id, secret_hash, code_hash, kind, name, expires_at, used) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) \
         ON CONFLICT (id) DO UPDATE SET used = excluded.used",
        params![
            link.id.to_string(),
            link.secret_hash.as_str(),
            link.code_hash.as_str(),
            word(&link.kind),
            link.name.as_deref(),
            time(link.expires_at),
            i64::from(link.used)
        ],
    )?;
    Ok(())
}

pub(super) fn remove(conn: &Connection, id: Uuid) -> Written {
    statement::execute(conn, "DELETE FROM links WHERE id = ?1", params![id.to_string()])?;
    Ok(())
}

/// The oldest first.
pub(crate) fn all(conn: &Connection) -> Read<Vec<LinkRow>> {
    column::readable(TABLE, conn, "SELECT * FROM links ORDER BY expires_at, id", [], link)
}

fn link(row: &Row<'_>) -> Read<LinkRow> {
    Ok(LinkRow {
        id: row.parsed("id")?,
        secret_hash: row.text("secret_hash")?,
        code_hash: row.text("code_hash")?,
        kind: row.word("kind")?,
        name: row.maybe("name")?,
        expires_at: row.parsed("expires_at")?,
        used: row.flag("used")?,
    })
}
