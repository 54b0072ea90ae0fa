//! The answers to permissions that were remembered.

use domain::ids::{RuleId, SessionId};
use domain::rule::{Rule, Scope};
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

use super::column::{self, Columns, json, time};
use super::{Read, Written};

const TABLE: &str = "rules";

/// A remembered answer, and where it holds.
#[derive(Clone, PartialEq, Debug)]
pub struct RuleRow {
    /// The session in which it was given; on writing, that of the write counts. None for a rule of the whole work directory.
    pub session: Option<SessionId>,
    pub work_dir: String,
    pub rule: Rule,
}

pub(super) async fn save(conn: &mut SqliteConnection, session: String, row: &RuleRow) -> Written {
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

pub(super) async fn remove(conn: &mut SqliteConnection, id: RuleId) -> Written {
    sqlx::query("DELETE FROM rules WHERE id = $1").bind(id.to_string()).execute(conn).await?;
    Ok(())
}

/// Of all sessions and work directories, oldest first. One that cannot be read holds for nothing, so it is left out: people are
/// asked instead.
pub(crate) async fn all(conn: &mut SqliteConnection) -> Read<Vec<RuleRow>> {
    let rows = sqlx::query("SELECT * FROM rules ORDER BY created_at, id").fetch_all(conn).await?;
    Ok(column::readable(TABLE, &rows, rule).into_iter().flatten().collect())
}

fn rule(row: &SqliteRow) -> Read<Option<RuleRow>> {
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
