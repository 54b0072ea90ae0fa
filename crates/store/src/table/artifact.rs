//! Changes to review, with their diffs and what people noted on them.

use domain::event::ReviewArtifact;
use domain::ids::{ArtifactId, SessionId};
use jiff::Timestamp;
use serde_json::{Value, json};
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

use super::column::{self, Columns, time};
use super::{Read, Written};

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

pub(super) async fn save(conn: &mut SqliteConnection, session: String, artifact: &ArtifactRow) -> Written {
    sqlx::query(
        "INSERT INTO artifacts (id, session_id, created_at, summary, files, review) VALUES ($1, $2, $3, $4, $5, $6) \
         ON CONFLICT (id) DO UPDATE SET summary = excluded.summary, files = excluded.files, review = excluded.review",
    )
    .bind(artifact.id().to_string())
    .bind(session)
    .bind(time(artifact.created_at))
    .bind(column::json(&artifact.summary))
    .bind(column::json(&artifact.files))
    .bind(column::json(&artifact.review))
    .execute(conn)
    .await?;
    Ok(())
}

pub(crate) async fn summaries(conn: &mut SqliteConnection, session: SessionId) -> Read<Vec<ReviewArtifact>> {
    let rows = sqlx::query("SELECT id, summary FROM artifacts WHERE session_id = $1 ORDER BY created_at, id")
        .bind(session.to_string())
        .fetch_all(conn)
        .await?;
    Ok(column::readable(TABLE, &rows, summary))
}

pub(crate) async fn one(conn: &mut SqliteConnection, id: ArtifactId) -> Read<Option<ArtifactRow>> {
    let row = sqlx::query("SELECT * FROM artifacts WHERE id = $1").bind(id.to_string()).fetch_optional(conn).await?;
    row.map(|row| {
        let json = |column: &str, otherwise: Value| row.json(TABLE, &id.to_string(), column).ok().flatten().unwrap_or(otherwise);
        Ok(ArtifactRow {
            session: row.parsed("session_id")?,
            summary: summary(&row)?,
            files: json("files", json!([])),
            review: json("review", json!({})),
            created_at: row.parsed("created_at")?,
        })
    })
    .transpose()
}

fn summary(row: &SqliteRow) -> Read<ReviewArtifact> {
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
