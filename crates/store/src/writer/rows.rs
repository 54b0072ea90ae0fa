//! Applying one change of the tables inside a transaction.

mod requests;

use domain::event::{Message, QueueItem, SessionChange};
use domain::ids::{MessageId, SessionId, TurnId};
use domain::rule::Scope;
use jiff::Timestamp;
use sqlx::{Row as _, SqliteConnection};

use crate::column::{json, number, time, word};
use crate::error::StoreError;
use crate::read;
use crate::row::{AgentSessionRow, ArtifactRow, AttachmentRow, NewSession, PermissionRow, Row, RuleRow, RunnerRow, TurnRow};

type Result<T> = std::result::Result<T, StoreError>;

/// Where and when a row is written.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub session: SessionId,
    /// The number that the first event of the write will have.
    pub first_seq: u64,
    pub now: Timestamp,
}

impl Row {
    /// The row keeps the number of the write's first event, so that event must not be joined to an earlier one.
    pub(super) fn keeps_place(&self) -> bool {
        matches!(self, Row::Turn(_) | Row::OpenPermission(_) | Row::OpenConfirm(_))
    }

    /// The row changes what the log is, not only what is in it: its write has a transaction of its own.
    pub(super) fn is_exclusive(&self) -> bool {
        matches!(self, Row::DeleteSession | Row::Horizon(_))
    }
}

pub(super) async fn apply(conn: &mut SqliteConnection, place: Place, row: &Row) -> Result<()> {
    let session = place.session.to_string();
    match row {
        Row::CreateSession(new) => create_session(conn, session, new).await,
        Row::UpdateSession(change) => update_session(conn, session, change, place.now).await,
        Row::DeleteSession => delete(conn, "DELETE FROM sessions WHERE id = $1", session, None).await,
        Row::Message(message) => save_message(conn, session, message).await,
        Row::Turn(turn) => save_turn(conn, session, turn, place.first_seq).await,
        Row::Enqueue(queued) => enqueue(conn, session, queued).await,
        Row::EditQueued { message_id, content } => edit_queued(conn, session, *message_id, content).await,
        Row::Dequeue { message_id } => {
            delete(conn, "DELETE FROM queue WHERE session_id = $1 AND message_id = $2", session, Some(message_id.to_string())).await
        }
        Row::Attachment(attachment) => save_attachment(conn, session, attachment).await,
        Row::RemoveAttachments { message_id } => {
            delete(conn, "DELETE FROM attachments WHERE session_id = $1 AND message_id = $2", session, Some(message_id.to_string())).await
        }
        Row::AgentSession(agent) => save_agent_session(conn, session, agent).await,
        Row::RemoveAgentSession { name } => {
            delete(conn, "DELETE FROM acp_sessions WHERE session_id = $1 AND name = $2", session, Some(name.clone())).await
        }
        Row::OpenPermission(permission) => open_permission(conn, session, permission, place.first_seq).await,
        Row::ResolvePermission { request_id, option_id, by } => {
            sqlx::query(
                "UPDATE permissions SET resolved_by = $3, option_id = $4 WHERE session_id = $1 AND id = $2 AND resolved_by IS NULL",
            )
            .bind(session)
            .bind(request_id.to_string())
            .bind(by.as_str())
            .bind(option_id.as_deref())
            .execute(conn)
            .await?;
            Ok(())
        }
        Row::OpenRequest(_) | Row::BeginRequest { .. } | Row::AnswerRequest { .. } | Row::CloseRequest { .. } => {
            requests::apply(conn, session, row).await
        }
        Row::Rule(rule) => save_rule(conn, session, rule).await,
        Row::RemoveRule { id } => {
            sqlx::query("DELETE FROM rules WHERE id = $1").bind(id.to_string()).execute(conn).await?;
            Ok(())
        }
        Row::OpenConfirm(call) => {
            sqlx::query(
                "INSERT INTO confirms (session_id, tool_call_id, call, opened_seq) VALUES ($1, $2, $3, $4) \
                 ON CONFLICT (session_id, tool_call_id) DO UPDATE SET call = excluded.call, opened_seq = excluded.opened_seq",
            )
            .bind(session)
            .bind(call.id.as_str())
            .bind(json(call))
            .bind(number(place.first_seq))
            .execute(conn)
            .await?;
            Ok(())
        }
        Row::ResolveConfirm { tool_call_id } => {
            delete(conn, "DELETE FROM confirms WHERE session_id = $1 AND tool_call_id = $2", session, Some(tool_call_id.clone())).await
        }
        Row::Artifact(artifact) => save_artifact(conn, session, artifact).await,
        Row::Runner(runner) => save_runner(conn, session, runner).await,
        Row::RunnerCursor { id, cursor } => move_cursor(conn, session, id, *cursor).await,
        Row::RunnerCapabilities { id, capabilities } => {
            sqlx::query("UPDATE runners SET capabilities = $3 WHERE session_id = $1 AND id = $2")
                .bind(session)
                .bind(id.as_str())
                .bind(capabilities.as_ref().map(json))
                .execute(conn)
                .await?;
            Ok(())
        }
        Row::RemoveRunner { id } => {
            let requests = "DELETE FROM requests WHERE session_id = $1 AND runner_id = $2";
            delete(conn, requests, session.clone(), Some(id.clone())).await?;
            delete(conn, "DELETE FROM runners WHERE session_id = $1 AND id = $2", session, Some(id.clone())).await
        }
        Row::Horizon(seq) => advance_horizon(conn, place, *seq).await,
    }
}

async fn delete(conn: &mut SqliteConnection, sql: &'static str, session: String, key: Option<String>) -> Result<()> {
    let query = sqlx::query(sql).bind(session);
    let query = if let Some(key) = key { query.bind(key) } else { query };
    query.execute(conn).await?;
    Ok(())
}

async fn create_session(conn: &mut SqliteConnection, session: String, new: &NewSession) -> Result<()> {
    let created = sqlx::query(
        "INSERT INTO sessions (id, title, work_dir, model, agent, permission_policy, created_at, updated_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $7) ON CONFLICT (id) DO NOTHING",
    )
    .bind(session)
    .bind(new.title.as_str())
    .bind(new.work_dir.as_str())
    .bind(new.model.as_str())
    .bind(new.agent.as_str())
    .bind(new.permission_policy.map(|policy| policy.as_str()))
    .bind(time(new.created_at))
    .execute(conn)
    .await?;
    if created.rows_affected() == 0 { Err(StoreError::Conflict { what: "the session" }) } else { Ok(()) }
}

async fn update_session(conn: &mut SqliteConnection, session: String, change: &SessionChange, now: Timestamp) -> Result<()> {
    sqlx::query(
        "UPDATE sessions SET title = COALESCE($2, title), model = COALESCE($3, model), agent = COALESCE($4, agent), \
         permission_policy = COALESCE($5, permission_policy), updated_at = $6 WHERE id = $1",
    )
    .bind(session)
    .bind(change.title.as_deref())
    .bind(change.model.as_deref())
    .bind(change.agent.as_deref())
    .bind(change.permission_policy.map(|policy| policy.as_str()))
    .bind(time(now))
    .execute(conn)
    .await?;
    Ok(())
}

async fn save_message(conn: &mut SqliteConnection, session: String, message: &Message) -> Result<()> {
    if let (Some(client_id), Some(turn_id)) = (&message.client_id, message.turn_id) {
        keep_receipt(conn, &session, client_id, message.id, turn_id, false).await?;
    }
    sqlx::query(
        "INSERT INTO messages (session_id, id, position, role, content, display, created_at, turn_id, client_id, tool_calls, \
         tool_call_id, is_error, artifact_id, delegation, attachments) \
         VALUES ($1, $2, (SELECT COALESCE(MAX(position), 0) + 1 FROM messages WHERE session_id = $1), \
         $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) \
         ON CONFLICT (session_id, id) DO UPDATE SET role = excluded.role, content = excluded.content, display = excluded.display, \
         created_at = excluded.created_at, turn_id = excluded.turn_id, client_id = excluded.client_id, \
         tool_calls = excluded.tool_calls, tool_call_id = excluded.tool_call_id, is_error = excluded.is_error, \
         artifact_id = excluded.artifact_id, delegation = excluded.delegation, \
         attachments = excluded.attachments",
    )
    .bind(session)
    .bind(message.id.to_string())
    .bind(word(&message.role))
    .bind(message.content.as_str())
    .bind(message.display.as_deref())
    .bind(time(message.created_at))
    .bind(message.turn_id.map(|id| id.to_string()))
    .bind(message.client_id.as_deref())
    .bind(json(&message.tool_calls))
    .bind(message.tool_call_id.as_deref())
    .bind(i64::from(message.is_error))
    .bind(message.artifact_id.map(|id| id.to_string()))
    .bind(message.delegation.as_ref().map(json))
    .bind(json(&message.attachments))
    .execute(conn)
    .await?;
    Ok(())
}

/// The first answer to a client-made id stands: the message may later start, change or be withdrawn.
async fn keep_receipt(
    conn: &mut SqliteConnection,
    session: &str,
    client_id: &str,
    message: MessageId,
    turn: TurnId,
    queued: bool,
) -> Result<()> {
    let kept = sqlx::query(
        "INSERT INTO receipts (session_id, client_id, message_id, turn_id, queued) VALUES ($1, $2, $3, $4, $5) \
         ON CONFLICT (session_id, client_id) DO UPDATE SET queued = receipts.queued RETURNING message_id",
    )
    .bind(session)
    .bind(client_id)
    .bind(message.to_string())
    .bind(turn.to_string())
    .bind(i64::from(queued))
    .fetch_one(conn)
    .await?;
    let kept: String = kept.try_get("message_id")?;
    if kept == message.to_string() { Ok(()) } else { Err(StoreError::Conflict { what: "a message with the same client_id" }) }
}

async fn save_turn(conn: &mut SqliteConnection, session: String, turn: &TurnRow, first_seq: u64) -> Result<()> {
    sqlx::query(
        "INSERT INTO turns (session_id, id, state, reason, user_message_id, started_seq, started_at, ended_at, evidence) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) \
         ON CONFLICT (session_id, id) DO UPDATE SET state = excluded.state, reason = excluded.reason, \
         user_message_id = COALESCE(excluded.user_message_id, turns.user_message_id), ended_at = excluded.ended_at, \
         evidence = excluded.evidence",
    )
    .bind(session)
    .bind(turn.id.to_string())
    .bind(word(&turn.state))
    .bind(turn.reason.as_deref())
    .bind(turn.user_message_id.map(|id| id.to_string()))
    .bind(number(first_seq))
    .bind(time(turn.started_at))
    .bind(turn.ended_at.map(time))
    .bind(turn.evidence.as_ref().map(json))
    .execute(conn)
    .await?;
    Ok(())
}

async fn enqueue(conn: &mut SqliteConnection, session: String, item: &QueueItem) -> Result<()> {
    if let Some(client_id) = &item.client_id {
        keep_receipt(conn, &session, client_id, item.message_id, item.turn_id, true).await?;
    }
    sqlx::query(
        "INSERT INTO queue (session_id, message_id, position, turn_id, client_id, content, attachments, created_at) \
         VALUES ($1, $2, (SELECT COALESCE(MAX(position), 0) + 1 FROM queue WHERE session_id = $1), $3, $4, $5, $6, $7)",
    )
    .bind(session)
    .bind(item.message_id.to_string())
    .bind(item.turn_id.to_string())
    .bind(item.client_id.as_deref())
    .bind(item.content.as_str())
    .bind(json(&item.attachments))
    .bind(time(item.created_at))
    .execute(conn)
    .await?;
    Ok(())
}

async fn edit_queued(conn: &mut SqliteConnection, session: String, message_id: MessageId, content: &str) -> Result<()> {
    let edited = sqlx::query("UPDATE queue SET content = $3 WHERE session_id = $1 AND message_id = $2")
        .bind(session)
        .bind(message_id.to_string())
        .bind(content)
        .execute(conn)
        .await?;
    if edited.rows_affected() == 0 { Err(StoreError::Gone { what: "the queued message" }) } else { Ok(()) }
}

async fn save_attachment(conn: &mut SqliteConnection, session: String, attachment: &AttachmentRow) -> Result<()> {
    sqlx::query(
        "INSERT INTO attachments (session_id, id, position, message_id, about, data) \
         VALUES ($1, $2, (SELECT COALESCE(MAX(position), 0) + 1 FROM attachments WHERE session_id = $1), $3, $4, $5)",
    )
    .bind(session)
    .bind(attachment.about.id.to_string())
    .bind(attachment.message_id.to_string())
    .bind(json(&attachment.about))
    .bind(&attachment.data[..])
    .execute(conn)
    .await?;
    Ok(())
}

async fn save_agent_session(conn: &mut SqliteConnection, session: String, agent: &AgentSessionRow) -> Result<()> {
    sqlx::query(
        "INSERT INTO acp_sessions (id, session_id, name, acp_session_id, agent, cwd, created_at, prompted_at, mode, options, usage, \
         restored, runner_id, commands, title, wanted) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) \
         ON CONFLICT (session_id, name) DO UPDATE SET acp_session_id = excluded.acp_session_id, agent = excluded.agent, \
         cwd = excluded.cwd, created_at = excluded.created_at, prompted_at = excluded.prompted_at, mode = excluded.mode, \
         options = excluded.options, usage = excluded.usage, restored = excluded.restored, \
         runner_id = excluded.runner_id, commands = excluded.commands, title = excluded.title, wanted = excluded.wanted",
    )
    .bind(agent.id.to_string())
    .bind(session)
    .bind(agent.name.as_str())
    .bind(agent.acp_session_id.as_str())
    .bind(agent.agent.as_str())
    .bind(agent.cwd.as_str())
    .bind(time(agent.created_at))
    .bind(agent.prompted_at.map(time))
    .bind(agent.mode.as_deref())
    .bind(agent.options.as_ref().map(json))
    .bind(agent.usage.as_ref().map(json))
    .bind(agent.restored.as_deref())
    .bind(agent.runner_id.as_deref())
    .bind(agent.commands.as_ref().map(json))
    .bind(agent.title.as_deref())
    .bind(agent.wanted.as_ref().map(json))
    .execute(conn)
    .await?;
    Ok(())
}

async fn open_permission(conn: &mut SqliteConnection, session: String, permission: &PermissionRow, first_seq: u64) -> Result<()> {
    sqlx::query(
        "INSERT INTO permissions (session_id, id, request, rpc_id, runner_id, opened_seq) VALUES ($1, $2, $3, $4, $5, $6) \
         ON CONFLICT (session_id, id) DO NOTHING",
    )
    .bind(session)
    .bind(permission.request.request_id.to_string())
    .bind(json(&permission.request))
    .bind(permission.rpc_id.as_str())
    .bind(permission.runner_id.as_str())
    .bind(number(first_seq))
    .execute(conn)
    .await?;
    Ok(())
}

async fn save_rule(conn: &mut SqliteConnection, session: String, row: &RuleRow) -> Result<()> {
    sqlx::query("INSERT INTO rules (id, session_id, work_dir, allow, subject, created_at) VALUES ($1, $2, $3, $4, $5, $6)")
        .bind(row.rule.id.to_string())
        .bind((row.rule.scope == Scope::Session).then_some(session))
        .bind(row.work_dir.as_str())
        .bind(i64::from(row.rule.allow))
        .bind(json(&row.rule.subject))
        .bind(time(row.rule.created_at))
        .execute(conn)
        .await?;
    Ok(())
}

async fn save_artifact(conn: &mut SqliteConnection, session: String, artifact: &ArtifactRow) -> Result<()> {
    sqlx::query(
        "INSERT INTO artifacts (id, session_id, created_at, summary, files, review) VALUES ($1, $2, $3, $4, $5, $6) \
         ON CONFLICT (id) DO UPDATE SET summary = excluded.summary, files = excluded.files, review = excluded.review",
    )
    .bind(artifact.id().to_string())
    .bind(session)
    .bind(time(artifact.created_at))
    .bind(json(&artifact.summary))
    .bind(json(&artifact.files))
    .bind(json(&artifact.review))
    .execute(conn)
    .await?;
    Ok(())
}

async fn save_runner(conn: &mut SqliteConnection, session: String, runner: &RunnerRow) -> Result<()> {
    sqlx::query(
        "INSERT INTO runners (id, session_id, agent, dir, cursor, capabilities) VALUES ($1, $2, $3, $4, $5, $6) \
         ON CONFLICT (id) DO UPDATE SET agent = excluded.agent, dir = excluded.dir, cursor = excluded.cursor, \
         capabilities = excluded.capabilities",
    )
    .bind(runner.id.as_str())
    .bind(session)
    .bind(runner.agent.as_str())
    .bind(runner.dir.as_str())
    .bind(number(runner.cursor))
    .bind(runner.capabilities.as_ref().map(json))
    .execute(conn)
    .await?;
    Ok(())
}

async fn move_cursor(conn: &mut SqliteConnection, session: String, id: &str, cursor: u64) -> Result<()> {
    let moved = sqlx::query("UPDATE runners SET cursor = $3 WHERE session_id = $1 AND id = $2")
        .bind(session)
        .bind(id)
        .bind(number(cursor))
        .execute(conn)
        .await?;
    if moved.rows_affected() == 0 { Err(StoreError::Gone { what: "the runner" }) } else { Ok(()) }
}

/// A running turn is rebuilt from its events, so they stay.
async fn advance_horizon(conn: &mut SqliteConnection, place: Place, seq: u64) -> Result<()> {
    let Some((last, horizon)) = read::log::bounds(conn, place.session).await? else { return Ok(()) };
    let kept_from = read::work::first_running(conn, place.session).await?.unwrap_or(last + 1);
    let horizon = seq.min(last).min(kept_from.saturating_sub(1)).max(horizon);
    let session = place.session.to_string();
    sqlx::query("UPDATE sessions SET horizon = $2 WHERE id = $1").bind(session.as_str()).bind(number(horizon)).execute(&mut *conn).await?;
    sqlx::query("DELETE FROM events WHERE session_id = $1 AND seq <= $2").bind(session).bind(number(horizon)).execute(conn).await?;
    Ok(())
}
