//! Where the devices that asked for notifications are reached.

use domain::ids::DeviceId;
use jiff::Timestamp;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

use super::column::{self, Columns, time};
use super::{Read, Written};

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
pub(super) async fn save(conn: &mut SqliteConnection, push: &PushRow) -> Written {
    sqlx::query("DELETE FROM push WHERE device_id = $1 OR endpoint = $2")
        .bind(push.device.to_string())
        .bind(push.endpoint.as_str())
        .execute(&mut *conn)
        .await?;
    // A device that was revoked meanwhile has none.
    sqlx::query(
        "INSERT INTO push (device_id, endpoint, p256dh, auth, created_at) \
         SELECT id, $2, $3, $4, $5 FROM devices WHERE id = $1",
    )
    .bind(push.device.to_string())
    .bind(push.endpoint.as_str())
    .bind(push.p256dh.as_str())
    .bind(push.auth.as_str())
    .bind(time(push.created_at))
    .execute(conn)
    .await?;
    Ok(())
}

pub(super) async fn remove(conn: &mut SqliteConnection, device: DeviceId) -> Written {
    sqlx::query("DELETE FROM push WHERE device_id = $1").bind(device.to_string()).execute(conn).await?;
    Ok(())
}

pub(super) async fn drop_endpoint(conn: &mut SqliteConnection, endpoint: &str) -> Written {
    sqlx::query("DELETE FROM push WHERE endpoint = $1").bind(endpoint).execute(conn).await?;
    Ok(())
}

pub(crate) async fn all(conn: &mut SqliteConnection) -> Read<Vec<PushRow>> {
    let rows = sqlx::query("SELECT * FROM push ORDER BY created_at, device_id").fetch_all(conn).await?;
    Ok(column::readable(TABLE, &rows, push))
}

fn push(row: &SqliteRow) -> Read<PushRow> {
    Ok(PushRow {
        device: row.parsed("device_id")?,
        endpoint: row.text("endpoint")?,
        p256dh: row.text("p256dh")?,
        auth: row.text("auth")?,
        created_at: row.parsed("created_at")?,
    })
}
