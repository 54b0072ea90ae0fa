//! What agents ask of their client: opened, begun, answered, closed.

use sqlx::SqliteConnection;

use super::{Result, delete, json};
use crate::row::{RequestRow, Row};

pub(super) async fn apply(conn: &mut SqliteConnection, session: String, row: &Row) -> Result<()> {
    match row {
        Row::OpenRequest(request) => open(conn, session, request).await,
        Row::BeginRequest { id } => {
            let sql = "UPDATE requests SET begun = 1 WHERE session_id = $1 AND id = $2";
            sqlx::query(sql).bind(session).bind(id.to_string()).execute(conn).await?;
            Ok(())
        }
        Row::AnswerRequest { id, answer } => {
            let sql = "UPDATE requests SET answer = $3 WHERE session_id = $1 AND id = $2";
            sqlx::query(sql).bind(session).bind(id.to_string()).bind(json(answer)).execute(conn).await?;
            Ok(())
        }
        Row::CloseRequest { id } => {
            delete(conn, "DELETE FROM requests WHERE session_id = $1 AND id = $2", session, Some(id.to_string())).await
        }
        _ => Ok(()),
    }
}

async fn open(conn: &mut SqliteConnection, session: String, request: &RequestRow) -> Result<()> {
    sqlx::query(
        "INSERT INTO requests (session_id, id, runner_id, rpc_id, call_id, request) VALUES ($1, $2, $3, $4, $5, $6) \
         ON CONFLICT (session_id, id) DO NOTHING",
    )
    .bind(session)
    .bind(request.id.to_string())
    .bind(request.runner_id.as_str())
    .bind(request.rpc_id.as_str())
    .bind(request.call_id.as_deref())
    .bind(json(&request.request))
    .execute(conn)
    .await?;
    Ok(())
}
