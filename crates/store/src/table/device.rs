//! The browsers and programs that are let in.

use domain::device::DeviceKind;
use domain::ids::DeviceId;
use jiff::Timestamp;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

use super::column::{self, Columns, time, word};
use super::{Read, Written};

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

pub(super) async fn add(conn: &mut SqliteConnection, device: &DeviceRow) -> Written {
    sqlx::query(
        "INSERT INTO devices (id, secret_hash, key_hash, name, kind, address, created_at, last_used_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
    )
    .bind(device.id.to_string())
    .bind(device.secret_hash.as_str())
    .bind(device.key_hash.as_deref())
    .bind(device.name.as_str())
    .bind(word(&device.kind))
    .bind(device.address.as_str())
    .bind(time(device.created_at))
    .bind(time(device.last_used_at))
    .execute(conn)
    .await?;
    Ok(())
}

pub(super) async fn rename(conn: &mut SqliteConnection, id: DeviceId, name: &str) -> Written {
    sqlx::query("UPDATE devices SET name = $2 WHERE id = $1").bind(id.to_string()).bind(name).execute(conn).await?;
    Ok(())
}

pub(super) async fn bind(conn: &mut SqliteConnection, id: DeviceId, key_hash: &str) -> Written {
    sqlx::query("UPDATE devices SET key_hash = $2 WHERE id = $1").bind(id.to_string()).bind(key_hash).execute(conn).await?;
    Ok(())
}

pub(super) async fn used(conn: &mut SqliteConnection, id: DeviceId, at: Timestamp, address: &str) -> Written {
    sqlx::query("UPDATE devices SET last_used_at = $2, address = $3 WHERE id = $1")
        .bind(id.to_string())
        .bind(time(at))
        .bind(address)
        .execute(conn)
        .await?;
    Ok(())
}

/// Removing it twice changes nothing.
pub(super) async fn remove(conn: &mut SqliteConnection, id: DeviceId) -> Written {
    sqlx::query("DELETE FROM devices WHERE id = $1").bind(id.to_string()).execute(conn).await?;
    Ok(())
}

/// One that cannot be read is let in no more.
pub(crate) async fn all(conn: &mut SqliteConnection) -> Read<Vec<DeviceRow>> {
    let rows = sqlx::query("SELECT * FROM devices ORDER BY created_at, id").fetch_all(conn).await?;
    Ok(column::readable(TABLE, &rows, device))
}

fn device(row: &SqliteRow) -> Read<DeviceRow> {
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
