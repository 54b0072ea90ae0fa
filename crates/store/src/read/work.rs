//! Reading what is under way: turns, the queue, confirmations, agent sessions, runners, artifacts.

use std::collections::HashMap;

use domain::event::{QueueItem, ReviewArtifact, ToolCall, Turn};
use domain::ids::{ArtifactId, SessionId};
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

use super::Result;
use crate::column::Columns;
use crate::row::{AgentSessionRow, ArtifactRow, RequestRow, RunnerRow, TurnRow};

pub(crate) async fn running_turn(conn: &mut SqliteConnection, session: SessionId) -> Result<Option<TurnRow>> {
    let row = sqlx::query("SELECT * FROM turns WHERE session_id = $1 AND state = 'running' ORDER BY started_seq DESC LIMIT 1")
        .bind(session.to_string())
        .fetch_optional(conn)
        .await?;
    row.map(|row| turn(&row)).transpose()
}

/// The first event that a running turn needs.
pub(crate) async fn first_running(conn: &mut SqliteConnection, session: SessionId) -> Result<Option<u64>> {
    let row = sqlx::query("SELECT started_seq FROM turns WHERE session_id = $1 AND state = 'running' ORDER BY started_seq LIMIT 1")
        .bind(session.to_string())
        .fetch_optional(conn)
        .await?;
    row.map(|row| row.number("started_seq")).transpose()
}

pub(crate) async fn running_turns(conn: &mut SqliteConnection) -> Result<Vec<(SessionId, TurnRow)>> {
    let rows = sqlx::query("SELECT * FROM turns WHERE state = 'running' ORDER BY session_id, started_seq").fetch_all(conn).await?;
    rows.iter().map(|row| Ok((row.parsed("session_id")?, turn(row)?))).collect()
}

/// The sessions in which messages wait, whether or not a turn runs.
pub(crate) async fn queued_sessions(conn: &mut SqliteConnection) -> Result<Vec<SessionId>> {
    let rows = sqlx::query("SELECT DISTINCT session_id FROM queue").fetch_all(conn).await?;
    rows.iter().map(|row| row.parsed("session_id")).collect()
}

pub(crate) async fn queue(conn: &mut SqliteConnection, session: SessionId) -> Result<Vec<QueueItem>> {
    let rows = sqlx::query("SELECT * FROM queue WHERE session_id = $1 ORDER BY position").bind(session.to_string()).fetch_all(conn).await?;
    rows.iter()
        .map(|row| {
            Ok(QueueItem {
                message_id: row.parsed("message_id")?,
                turn_id: row.parsed("turn_id")?,
                content: row.text("content")?,
                created_at: row.parsed("created_at")?,
                client_id: row.maybe("client_id")?,
                // Messages that waited before there were attachments have a null.
                attachments: row.json::<Option<_>>("attachments")?.unwrap_or_default(),
            })
        })
        .collect()
}

/// What a runner's agent asked of its client and has not been told an answer to.
pub(crate) async fn requests(conn: &mut SqliteConnection, session: SessionId, runner: &str) -> Result<Vec<RequestRow>> {
    let rows = sqlx::query("SELECT * FROM requests WHERE session_id = $1 AND runner_id = $2 ORDER BY id")
        .bind(session.to_string())
        .bind(runner)
        .fetch_all(conn)
        .await?;
    rows.iter()
        .map(|row| {
            Ok(RequestRow {
                id: row.parsed("id")?,
                runner_id: row.text("runner_id")?,
                rpc_id: row.text("rpc_id")?,
                call_id: row.maybe("call_id")?,
                request: row.json("request")?,
                begun: row.number("begun")? != 0,
                answer: row.maybe_json("answer")?,
            })
        })
        .collect()
}

/// How turns ended that did not complete.
pub(crate) async fn ended_turns(conn: &mut SqliteConnection, session: SessionId) -> Result<Vec<Turn>> {
    let rows = sqlx::query("SELECT * FROM turns WHERE session_id = $1 AND state NOT IN ('running', 'completed') ORDER BY started_seq")
        .bind(session.to_string())
        .fetch_all(conn)
        .await?;
    rows.iter().map(|row| Ok(Turn { turn_id: row.parsed("id")?, state: row.word("state")?, reason: row.maybe("reason")? })).collect()
}

pub(crate) async fn confirms(conn: &mut SqliteConnection, session: SessionId) -> Result<Vec<ToolCall>> {
    let rows = sqlx::query("SELECT call FROM confirms WHERE session_id = $1 ORDER BY opened_seq, tool_call_id")
        .bind(session.to_string())
        .fetch_all(conn)
        .await?;
    rows.iter().map(|row| row.json("call")).collect()
}

pub(crate) async fn agent_sessions(conn: &mut SqliteConnection, session: SessionId) -> Result<Vec<AgentSessionRow>> {
    let rows = sqlx::query("SELECT * FROM acp_sessions WHERE session_id = $1 ORDER BY created_at, name")
        .bind(session.to_string())
        .fetch_all(conn)
        .await?;
    rows.iter()
        .map(|row| {
            Ok(AgentSessionRow {
                id: row.parsed("id")?,
                name: row.text("name")?,
                acp_session_id: row.text("acp_session_id")?,
                agent: row.text("agent")?,
                cwd: row.text("cwd")?,
                created_at: row.parsed("created_at")?,
                prompted_at: row.maybe_parsed("prompted_at")?,
                mode: row.maybe("mode")?,
                options: row.maybe_json("options")?,
                usage: row.maybe_json("usage")?,
                commands: row.maybe_json("commands")?,
                title: row.maybe("title")?,
                wanted: row.maybe_json("wanted")?,
                restored: row.maybe("restored")?,
                runner_id: row.maybe("runner_id")?,
            })
        })
        .collect()
}

pub(crate) async fn agent_session_owners(conn: &mut SqliteConnection, agent: &str) -> Result<HashMap<String, SessionId>> {
    let rows = sqlx::query("SELECT acp_session_id, session_id FROM acp_sessions WHERE agent = $1").bind(agent).fetch_all(conn).await?;
    rows.iter().map(|row| Ok((row.text("acp_session_id")?, row.parsed("session_id")?))).collect()
}

pub(crate) async fn artifacts(conn: &mut SqliteConnection, session: SessionId) -> Result<Vec<ReviewArtifact>> {
    let rows = sqlx::query("SELECT summary FROM artifacts WHERE session_id = $1 ORDER BY created_at, id")
        .bind(session.to_string())
        .fetch_all(conn)
        .await?;
    rows.iter().map(|row| row.json("summary")).collect()
}

pub(crate) async fn artifact(conn: &mut SqliteConnection, id: ArtifactId) -> Result<Option<ArtifactRow>> {
    let row = sqlx::query("SELECT * FROM artifacts WHERE id = $1").bind(id.to_string()).fetch_optional(conn).await?;
    row.map(|row| {
        Ok(ArtifactRow {
            session: row.parsed("session_id")?,
            summary: row.json("summary")?,
            files: row.json("files")?,
            review: row.json("review")?,
            created_at: row.parsed("created_at")?,
        })
    })
    .transpose()
}

pub(crate) async fn runners(conn: &mut SqliteConnection) -> Result<Vec<RunnerRow>> {
    sqlx::query("SELECT * FROM runners ORDER BY id").fetch_all(conn).await?.iter().map(runner).collect()
}

pub(crate) async fn session_runners(conn: &mut SqliteConnection, session: SessionId) -> Result<Vec<RunnerRow>> {
    let rows = sqlx::query("SELECT * FROM runners WHERE session_id = $1 ORDER BY id").bind(session.to_string()).fetch_all(conn).await?;
    rows.iter().map(runner).collect()
}

fn runner(row: &SqliteRow) -> Result<RunnerRow> {
    Ok(RunnerRow {
        id: row.text("id")?,
        session: row.parsed("session_id")?,
        agent: row.text("agent")?,
        dir: row.text("dir")?,
        cursor: row.number("cursor")?,
        capabilities: row.maybe_json("capabilities")?,
    })
}

fn turn(row: &SqliteRow) -> Result<TurnRow> {
    Ok(TurnRow {
        id: row.parsed("id")?,
        state: row.word("state")?,
        reason: row.maybe("reason")?,
        user_message_id: row.maybe_parsed("user_message_id")?,
        started_seq: row.number("started_seq")?,
        started_at: row.parsed("started_at")?,
        ended_at: row.maybe_parsed("ended_at")?,
        evidence: row.maybe_json("evidence")?,
    })
}
