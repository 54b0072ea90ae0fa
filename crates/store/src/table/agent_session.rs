//! The named sessions that agents keep for ours.

use std::collections::HashMap;

use domain::host::AgentSession;
use domain::ids::SessionId;
use rusqlite::{Connection, Row, params};

use super::column::{Columns, json, time};
use super::{Read, Written, statement};

const TABLE: &str = "acp_sessions";

pub(super) fn save(conn: &Connection, session: &str, agent: &AgentSession) -> Written {
    statement::execute(
        conn,
        "INSERT INTO acp_sessions (id, session_id, name, acp_session_id, agent, cwd, created_at, prompted_at, mode, options, usage, \
         restored, runner_id, commands, title, wanted, allow_all) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17) \
         ON CONFLICT (session_id, name) DO UPDATE SET acp_session_id = excluded.acp_session_id, agent = excluded.agent, \
         cwd = excluded.cwd, created_at = excluded.created_at, prompted_at = excluded.prompted_at, mode = excluded.mode, \
         options = excluded.options, usage = excluded.usage, restored = excluded.restored, \
         runner_id = excluded.runner_id, commands = excluded.commands, title = excluded.title, wanted = excluded.wanted, \
         allow_all = excluded.allow_all",
        params![
            agent.id.to_string(),
            session,
            agent.name.as_str(),
            agent.agent_session,
            agent.agent.as_str(),
            agent.cwd.as_str(),
            time(agent.created_at),
            agent.prompted_at.map(time),
            agent.mode.as_deref(),
            agent.options.as_ref().map(json),
            agent.usage.as_ref().map(json),
            agent.restored.as_deref(),
            agent.runner_id.map(|runner| runner.to_string()),
            agent.commands.as_ref().map(json),
            agent.title.as_deref(),
            agent.wanted.as_ref().map(json),
            i64::from(agent.allow_all)
        ],
    )?;
    Ok(())
}

pub(super) fn remove(conn: &Connection, session: &str, name: &str) -> Written {
    statement::execute(conn, "DELETE FROM acp_sessions WHERE session_id = ?1 AND name = ?2", params![session, name])?;
    Ok(())
}

pub(crate) fn all(conn: &Connection, session: SessionId) -> Read<Vec<AgentSession>> {
    statement::all(
        conn,
        "SELECT * FROM acp_sessions WHERE session_id = ?1 ORDER BY created_at, name",
        params![session.to_string()],
        agent_session,
    )
}

/// Which of the agent's sessions belong to which of ours.
pub(crate) fn owners(conn: &Connection, agent: &str) -> Read<HashMap<String, SessionId>> {
    let sql = "SELECT acp_session_id, session_id FROM acp_sessions WHERE agent = ?1";
    let owners = statement::all(conn, sql, params![agent], |row| Ok((row.text("acp_session_id")?, row.parsed("session_id")?)))?;
    Ok(owners.into_iter().collect())
}

/// What the agent said of itself and cannot be read is left out: it says it again.
fn agent_session(row: &Row<'_>) -> Read<AgentSession> {
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
