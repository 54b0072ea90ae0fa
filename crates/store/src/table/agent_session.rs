//! The named sessions that agents keep for ours.

use std::collections::HashMap;

use domain::host::AgentSession;
use domain::ids::SessionId;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

use super::column::{Columns, json, time};
use super::{Read, Written};

const TABLE: &str = "acp_sessions";

pub(super) async fn save(conn: &mut SqliteConnection, session: String, agent: &AgentSession) -> Written {
    sqlx::query(
        "INSERT INTO acp_sessions (id, session_id, name, acp_session_id, agent, cwd, created_at, prompted_at, mode, options, usage, \
         restored, runner_id, commands, title, wanted, allow_all) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) \
         ON CONFLICT (session_id, name) DO UPDATE SET acp_session_id = excluded.acp_session_id, agent = excluded.agent, \
         cwd = excluded.cwd, created_at = excluded.created_at, prompted_at = excluded.prompted_at, mode = excluded.mode, \
         options = excluded.options, usage = excluded.usage, restored = excluded.restored, \
         runner_id = excluded.runner_id, commands = excluded.commands, title = excluded.title, wanted = excluded.wanted, \
         allow_all = excluded.allow_all",
    )
    .bind(agent.id.to_string())
    .bind(session)
    .bind(agent.name.as_str())
    .bind(agent.agent_session.as_str())
    .bind(agent.agent.as_str())
    .bind(agent.cwd.as_str())
    .bind(time(agent.created_at))
    .bind(agent.prompted_at.map(time))
    .bind(agent.mode.as_deref())
    .bind(agent.options.as_ref().map(json))
    .bind(agent.usage.as_ref().map(json))
    .bind(agent.restored.as_deref())
    .bind(agent.runner_id.map(|runner| runner.to_string()))
    .bind(agent.commands.as_ref().map(json))
    .bind(agent.title.as_deref())
    .bind(agent.wanted.as_ref().map(json))
    .bind(i64::from(agent.allow_all))
    .execute(conn)
    .await?;
    Ok(())
}

pub(super) async fn remove(conn: &mut SqliteConnection, session: String, name: &str) -> Written {
    sqlx::query("DELETE FROM acp_sessions WHERE session_id = $1 AND name = $2").bind(session).bind(name).execute(conn).await?;
    Ok(())
}

pub(crate) async fn all(conn: &mut SqliteConnection, session: SessionId) -> Read<Vec<AgentSession>> {
    let rows = sqlx::query("SELECT * FROM acp_sessions WHERE session_id = $1 ORDER BY created_at, name")
        .bind(session.to_string())
        .fetch_all(conn)
        .await?;
    rows.iter().map(agent_session).collect()
}

/// Which of the agent's sessions belong to which of ours.
pub(crate) async fn owners(conn: &mut SqliteConnection, agent: &str) -> Read<HashMap<String, SessionId>> {
    let rows = sqlx::query("SELECT acp_session_id, session_id FROM acp_sessions WHERE agent = $1").bind(agent).fetch_all(conn).await?;
    rows.iter().map(|row| Ok((row.text("acp_session_id")?, row.parsed("session_id")?))).collect()
}

/// What the agent said of itself and cannot be read is left out: it says it again.
fn agent_session(row: &SqliteRow) -> Read<AgentSession> {
    let key = row.text("id")?;
    let json = |column: &str| row.json(TABLE, &key, column).ok().flatten();
    Ok(AgentSession {
        id: row.parsed("id")?,
        name: row.text("name")?,
        agent_session: row.text("acp_session_id")?,
        agent: row.text("agent")?,
        cwd: row.text("cwd")?,
        created_at: row.parsed("created_at")?,
        prompted_at: row.maybe_parsed("prompted_at")?,
        mode: row.maybe("mode")?,
        options: json("options"),
        usage: json("usage"),
        commands: json("commands"),
        title: row.maybe("title")?,
        wanted: json("wanted"),
        restored: row.maybe("restored")?,
        runner_id: row.maybe_parsed("runner_id")?,
        allow_all: row.flag("allow_all")?,
    })
}
