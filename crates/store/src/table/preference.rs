//! What a person chose for the whole server.

use std::collections::BTreeMap;

use sqlx::SqliteConnection;

use super::column::Columns;
use super::{Read, Written};

/// Inserts or replaces.
pub(super) async fn save(conn: &mut SqliteConnection, key: &str, value: &str) -> Written {
    sqlx::query("INSERT INTO preferences (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value")
        .bind(key)
        .bind(value)
        .execute(conn)
        .await?;
    Ok(())
}

pub(super) async fn remove(conn: &mut SqliteConnection, key: &str) -> Written {
    sqlx::query("DELETE FROM preferences WHERE key = $1").bind(key).execute(conn).await?;
    Ok(())
}

pub(crate) async fn all(conn: &mut SqliteConnection) -> Read<BTreeMap<String, String>> {
    let rows = sqlx::query("SELECT key, value FROM preferences").fetch_all(conn).await?;
    rows.iter().map(|row| Ok((row.text("key")?, row.text("value")?))).collect()
}

pub(crate) async fn of(conn: &mut SqliteConnection, key: &str) -> Read<Option<String>> {
    let row = sqlx::query("SELECT value FROM preferences WHERE key = $1").bind(key).fetch_optional(conn).await?;
    row.map(|row| row.text("value")).transpose()
}
