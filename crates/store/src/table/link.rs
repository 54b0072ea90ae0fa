//! The links and codes by which one becomes a device, once.

use domain::device::DeviceKind;
use jiff::Timestamp;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;
use uuid::Uuid;

use super::column::{self, Columns, time, word};
use super::{Read, Written};

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

pub(super) async fn save(conn: &mut SqliteConnection, link: &LinkRow) -> Written {
    sqlx::query(
        "INSERT INTO links (id, secret_hash, code_hash, kind, name, expires_at, used) VALUES ($1, $2, $3, $4, $5, $6, $7) \
         ON CONFLICT (id) DO UPDATE SET used = excluded.used",
    )
    .bind(link.id.to_string())
    .bind(link.secret_hash.as_str())
    .bind(link.code_hash.as_str())
    .bind(word(&link.kind))
    .bind(link.name.as_deref())
    .bind(time(link.expires_at))
    .bind(i64::from(link.used))
    .execute(conn)
    .await?;
    Ok(())
}

pub(super) async fn remove(conn: &mut SqliteConnection, id: Uuid) -> Written {
    sqlx::query("DELETE FROM links WHERE id = $1").bind(id.to_string()).execute(conn).await?;
    Ok(())
}

/// The oldest first.
pub(crate) async fn all(conn: &mut SqliteConnection) -> Read<Vec<LinkRow>> {
    let rows = sqlx::query("SELECT * FROM links ORDER BY expires_at, id").fetch_all(conn).await?;
    Ok(column::readable(TABLE, &rows, link))
}

fn link(row: &SqliteRow) -> Read<LinkRow> {
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
