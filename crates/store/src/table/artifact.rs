//! Changes to review, with their diffs and what people noted on them.

use domain::event::ReviewArtifact;
use domain::ids::{ArtifactId, SessionId};
use jiff::Timestamp;
use rusqlite::{Connection, Row, params};
use serde_json::{Value, json};

use super::column::{self, Columns, time};
use super::{Read, Written, statement};

const TABLE: &str = "artifacts";

#[derive(Clone, PartialEq, Debug)]
pub struct ArtifactRow {
    /// The session that it belongs to; on writing, that of the write counts.
    pub session: SessionId,
    pub summary: ReviewArtifact,
    /// The files with their diffs.
    pub files: Value,
    /// Viewed marks and comments.
    pub review: Value,
    pub created_at: Timestamp,
}

impl ArtifactRow {
    pub fn id(&self) -> ArtifactId {
        self.summary.artifact_id
    }
}

pub(super) fn save(conn: &Connection, session: &str, artifact: &ArtifactRow) -> Written {
    statement::execute(
        conn,
        "INSERT INTO artifacts (id, session_id, created_at, summary, files, review) VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
         ON CONFLICT (id) DO UPDATE SET summary = excluded.summary, files = excluded.files, review = excluded.review",
        params![
            artifact.id().to_string(),
            session,
            time(artifact.created_at),
            column::json(&artifact.summary),
            column::json(&artifact.files),
            column::json(&artifact.review)
        ],
    )?;
    Ok(())
}

/// Those that were made since then, oldest first.
pub(crate) fn since(conn: &Connection, session: SessionId, since: Option<Timestamp>) -> Read<Vec<ReviewArtifact>> {
    let sql = "SELECT id, summary FROM artifacts WHERE session_id = ?1 AND created_at >= ?2 ORDER BY created_at, id";
    column::readable(TABLE, conn, sql, params![session.to_string(), since.map(time).unwrap_or_default()], summary)
}

pub(crate) fn summaries(conn: &Connection, session: SessionId, ids: &[ArtifactId]) -> Read<Vec<ReviewArtifact>> {
    let sql = "SELECT id, summary FROM artifacts WHERE id = ?1 AND session_id = ?2";
    let mut found = Vec::new();
    for id in ids {
        found.extend(statement::one(conn, sql, params![id.to_string(), session.to_string()], summary)?);
    }
    Ok(found)
}

pub(crate) fn one(conn: &Connection, id: ArtifactId) -> Read<Option<ArtifactRow>> {
    statement::one(conn, "SELECT * FROM artifacts WHERE id = ?1", params![id.to_string()], |row| {
        let json = |column: &str, otherwise: Value| row.json(TABLE, &id.to_string(), column).ok().flatten().unwrap_or(otherwise);
        Ok(ArtifactRow {
            session: row.parsed("session_id")?,
            summary: summary(row)?,
            files: json("files", json!([])),
            review: json("review", json!({})),
            created_at: row.parsed("created_at")?,
        })
    })
}

fn summary(row: &Row<'_>) -> Read<ReviewArtifact> {
    let id = row.text("id")?;
    let artifact_id = row.parsed("id")?;
    let stand_in = || ReviewArtifact {
        artifact_id,
        title: "This review cannot be read".into(),
        status: "unreadable".into(),
        total_files: 0,
        total_additions: 0,
        total_deletions: 0,
        files: Vec::new(),
    };
    Ok(row.json(TABLE, &id, "summary").ok().flatten().unwrap_or_else(stand_in))
}
