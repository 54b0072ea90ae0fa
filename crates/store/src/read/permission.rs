//! Reading what agents asked, what they were answered, and which answers were remembered.

use domain::event::PermissionRequest;
use domain::ids::SessionId;
use domain::rule::{Rule, Scope};
use sqlx::SqliteConnection;

use super::Result;
use crate::column::Columns;
use crate::row::{PermissionRow, RuleRow};

/// Those that wait for an answer.
pub(crate) async fn open(conn: &mut SqliteConnection, session: SessionId) -> Result<Vec<PermissionRow>> {
    let rows = sqlx::query("SELECT * FROM permissions WHERE session_id = $1 AND resolved_by IS NULL ORDER BY opened_seq, id")
        .bind(session.to_string())
        .fetch_all(conn)
        .await?;
    rows.iter()
        .map(|row| Ok(PermissionRow { request: row.json("request")?, rpc_id: row.text("rpc_id")?, runner_id: row.text("runner_id")? }))
        .collect()
}

/// The answers that were given to a runner's agent: its request id and the option, none for "cancelled".
pub(crate) async fn answers(conn: &mut SqliteConnection, session: SessionId, runner: &str) -> Result<Vec<(String, Option<String>)>> {
    let rows = sqlx::query(
        "SELECT rpc_id, option_id FROM permissions WHERE session_id = $1 AND runner_id = $2 AND resolved_by IS NOT NULL ORDER BY opened_seq, id",
    )
    .bind(session.to_string())
    .bind(runner)
    .fetch_all(conn)
    .await?;
    rows.iter().map(|row| Ok((row.text("rpc_id")?, row.maybe("option_id")?))).collect()
}

/// Everything that a runner's agent asked, answered or not.
pub(crate) async fn asked(conn: &mut SqliteConnection, session: SessionId, runner: &str) -> Result<Vec<PermissionRequest>> {
    let rows = sqlx::query("SELECT request FROM permissions WHERE session_id = $1 AND runner_id = $2 ORDER BY opened_seq, id")
        .bind(session.to_string())
        .bind(runner)
        .fetch_all(conn)
        .await?;
    rows.iter().map(|row| row.json("request")).collect()
}

/// Of all sessions and work directories, oldest first.
pub(crate) async fn rules(conn: &mut SqliteConnection) -> Result<Vec<RuleRow>> {
    let rows = sqlx::query("SELECT * FROM rules ORDER BY created_at, id").fetch_all(conn).await?;
    rows.iter()
        .map(|row| {
            let session: Option<SessionId> = row.maybe_parsed("session_id")?;
            let rule = Rule {
                id: row.parsed("id")?,
                scope: if session.is_some() { Scope::Session } else { Scope::Project },
                allow: row.number("allow")? > 0,
                subject: row.json("subject")?,
                created_at: row.parsed("created_at")?,
            };
            Ok(RuleRow { session, work_dir: row.text("work_dir")?, rule })
        })
        .collect()
}
