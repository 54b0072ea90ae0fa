//! What an agent, in one version, calls the methods of the protocol that it names differently.

use serde_json::Value;
use sqlx::SqliteConnection;

use super::column::{Columns, json};
use super::{Read, Written};

const TABLE: &str = "method_names";

/// Inserts or replaces.
pub(super) async fn save(conn: &mut SqliteConnection, agent: &str, version: &str, names: &Value) -> Written {
    sqlx::query(
        "INSERT INTO method_names (agent, version, names) VALUES ($1, $2, $3) \
         ON CONFLICT (agent, version) DO UPDATE SET names = excluded.names",
    )
    .bind(agent)
    .bind(version)
    .bind(json(names))
    .execute(conn)
    .await?;
    Ok(())
}

/// Names that cannot be read are as good as none: they are found out again.
pub(crate) async fn of(conn: &mut SqliteConnection, agent: &str, version: &str) -> Read<Option<Value>> {
    let row = sqlx::query("SELECT names FROM method_names WHERE agent = $1 AND version = $2")
        .bind(agent)
        .bind(version)
        .fetch_optional(conn)
        .await?;
    Ok(row.and_then(|row| row.json(TABLE, &format!("{agent} {version}"), "names").ok().flatten()))
}
