//! The answers to permissions that were remembered.

use domain::ids::{RuleId, SessionId};
use domain::rule::{Rule, Scope};
use rusqlite::{Connection, Row, params};

use super::column::{self, Columns, json, time};
use super::{Read, Written, statement};

const TABLE: &str = "rules";

/// A remembered answer, and where it holds.
#[derive(Clone, PartialEq, Debug)]
pub struct RuleRow {
    /// The session in which it was given; on writing, that of the write counts. None for a rule of the whole work directory.
    pub session: Option<SessionId>,
    pub work_dir: String,
    pub rule: Rule,
}

pub(super) fn save(conn: &Connection, session: &str, row: &RuleRow) -> Written {
    statement::execute(
        conn,
        "INSERT INTO rules (id, session_id, work_dir, allow, subject, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![
            row.rule.id.to_string(),
            (row.rule.scope == Scope::Session).then_some(session),
            row.work_dir.as_str(),
            i64::from(row.rule.allow),
            json(&row.rule.subject),
            time(row.rule.created_at)
        ],
    )?;
    Ok(())
}

pub(super) fn remove(conn: &Connection, id: RuleId) -> Written {
    statement::execute(conn, "DELETE FROM rules WHERE id = ?1", params![id.to_string()])?;
    Ok(())
}

/// Of all sessions and work directories, oldest first. One that cannot be read holds for nothing, so it is left out: people are
/// asked instead.
pub(crate) fn all(conn: &Connection) -> Read<Vec<RuleRow>> {
    let read = column::readable(TABLE, conn, "SELECT * FROM rules ORDER BY created_at, id", [], rule)?;
    Ok(read.into_iter().flatten().collect())
}

fn rule(row: &Row<'_>) -> Read<Option<RuleRow>> {
    let session: Option<SessionId> = row.maybe_parsed("session_id")?;
    let Some(subject) = row.json(TABLE, &row.text("id")?, "subject").ok().flatten() else { return Ok(None) };
    let rule = Rule {
        id: row.parsed("id")?,
        scope: if session.is_some() { Scope::Session } else { Scope::Project },
        allow: row.flag("allow")?,
        subject,
        created_at: row.parsed("created_at")?,
    };
    Ok(Some(RuleRow { session, work_dir: row.text("work_dir")?, rule }))
}
