//! What agents asked, what they were answered, and whether the answer has reached their runner.

use domain::agent::PermissionAsk;
use domain::decision::{Decision, Reach, Verdict};
use domain::event::PermissionRequest;
use domain::ids::{PermissionId, SessionId};
use domain::text::clip;
use jiff::Timestamp;
use rusqlite::{Connection, Row, params};

use super::column::{Columns, json, number};
use super::{Read, Written, statement};

const TABLE: &str = "permissions";
/// What was asked is kept whole after its answer up to so many characters, and else so much of each word of it.
const LONG: i64 = 16 * 1024;
const SHORT: usize = 4 * 1024;

#[derive(Clone, PartialEq, Debug)]
pub struct PermissionRow {
    pub request: PermissionRequest,
    /// The id of the agent's own request, by which it is answered.
    pub rpc_id: String,
    pub runner_id: String,
}

/// An answer that the runner has not taken yet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AnswerRow {
    pub request_id: PermissionId,
    /// The id of the agent's own request.
    pub rpc_id: String,
    /// None for "cancelled".
    pub option_id: Option<String>,
    /// Missing in rows of earlier versions.
    pub verdict: Option<Verdict>,
    pub reach: Option<Reach>,
}

impl AnswerRow {
    /// What was decided about `ask`.
    pub fn decision(&self, ask: &PermissionAsk) -> Decision {
        Decision::restored(ask, self.verdict, self.reach, self.option_id.clone())
    }
}

pub(super) fn open(conn: &Connection, session: &str, permission: &PermissionRow, first_seq: u64) -> Written {
    statement::execute(
        conn,
        "INSERT INTO permissions (session_id, id, request, rpc_id, runner_id, opened_seq) VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
         ON CONFLICT (session_id, id) DO NOTHING",
        params![
            session,
            permission.request.request_id.to_string(),
            json(&permission.request),
            permission.rpc_id.as_str(),
            permission.runner_id.as_str(),
            number(first_seq)
        ],
    )?;
    Ok(())
}

/// Only the first answer counts.
pub(super) fn resolve(conn: &Connection, session: &str, id: PermissionId, decision: &Decision, by: &str) -> Written {
    statement::execute(
        conn,
        "UPDATE permissions SET resolved_by = ?3, option_id = ?4, verdict = ?5, reach = ?6 \
         WHERE session_id = ?1 AND id = ?2 AND resolved_by IS NULL",
        params![session, id.to_string(), by, decision.option_id(), decision.verdict().as_str(), decision.reach().as_str()],
    )?;
    Ok(())
}

/// Nobody shows it any more, so what was shown need not be kept: only by what its tool call is recognised.
pub(super) fn deliver(conn: &Connection, session: &str, id: PermissionId) -> Written {
    let sql = "UPDATE permissions SET delivered = 1 WHERE session_id = ?1 AND id = ?2";
    statement::execute(conn, sql, params![session, id.to_string()])?;
    let long = "SELECT id, request FROM permissions WHERE session_id = ?1 AND id = ?2 AND length(request) > ?3";
    let Some(mut told) = statement::one(conn, long, params![session, id.to_string(), LONG], request)? else { return Ok(()) };
    told.ask = PermissionAsk {
        title: clip(&told.ask.title, SHORT).to_owned(),
        kind: told.ask.kind,
        command: told.ask.command.filter(|command| command.len() <= SHORT),
        agent_call: told.ask.agent_call,
        ..PermissionAsk::default()
    };
    let sql = "UPDATE permissions SET request = ?3 WHERE session_id = ?1 AND id = ?2";
    statement::execute(conn, sql, params![session, id.to_string(), json(&told)])?;
    Ok(())
}

/// Those that wait for an answer.
pub(crate) fn waiting(conn: &Connection, session: SessionId) -> Read<Vec<PermissionRow>> {
    statement::all(
        conn,
        "SELECT * FROM permissions WHERE session_id = ?1 AND resolved_by IS NULL ORDER BY opened_seq, id",
        params![session.to_string()],
        |row| Ok(PermissionRow { request: request(row)?, rpc_id: row.text("rpc_id")?, runner_id: row.text("runner_id")? }),
    )
}

/// The answers that a runner has still to take.
pub(crate) fn answers(conn: &Connection, session: SessionId, runner: &str) -> Read<Vec<AnswerRow>> {
    statement::all(
        conn,
        "SELECT id, rpc_id, option_id, verdict, reach FROM permissions \
         WHERE session_id = ?1 AND runner_id = ?2 AND resolved_by IS NOT NULL AND delivered = 0 ORDER BY opened_seq, id",
        params![session.to_string(), runner],
        |row| {
            let word = |column: &str| row.maybe(column);
            Ok(AnswerRow {
                request_id: row.parsed("id")?,
                rpc_id: row.text("rpc_id")?,
                option_id: row.maybe("option_id")?,
                verdict: word("verdict")?.and_then(|word| Verdict::parse(&word)),
                reach: word("reach")?.and_then(|word| Reach::parse(&word)),
            })
        },
    )
}

/// Everything that a runner's agent asked, answered or not.
pub(crate) fn asked(conn: &Connection, session: SessionId, runner: &str) -> Read<Vec<PermissionRequest>> {
    statement::all(
        conn,
        "SELECT id, request FROM permissions WHERE session_id = ?1 AND runner_id = ?2 ORDER BY opened_seq, id",
        params![session.to_string(), runner],
        request,
    )
}

/// A question that cannot be read offers nothing to choose, so it is refused like any that is malformed.
fn request(row: &Row<'_>) -> Read<PermissionRequest> {
    let request_id = row.parsed("id")?;
    let stand_in = || PermissionRequest {
        request_id,
        tool_call_id: String::new(),
        session_name: String::new(),
        agent: String::new(),
        scopes: Vec::new(),
        warnings: Vec::new(),
        hunks: Vec::new(),
        asked_at: Timestamp::UNIX_EPOCH,
        ask: PermissionAsk { title: "This request cannot be read".into(), ..PermissionAsk::default() },
    };
    Ok(row.json(TABLE, &row.text("id")?, "request").ok().flatten().unwrap_or_else(stand_in))
}
