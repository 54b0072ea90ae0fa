//! Review artifacts: what changed, file by file.

use axum::Json;
use axum::extract::State;
use domain::event::ReviewFile;
use domain::ids::{ArtifactId, SessionId};
use domain::text::digest;
use render::hunks::{DiffHunk, of_patch};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::review::{self, Review};
use crate::App;
use crate::error::{ApiResult, ErrorBody, not_found};
use crate::id::Id;

#[derive(Serialize, ToSchema)]
pub(crate) struct ArtifactView {
    pub artifact_id: ArtifactId,
    pub title: String,
    pub status: String,
    pub total_files: u32,
    pub total_additions: u32,
    pub total_deletions: u32,
    pub files: Vec<ArtifactFile>,
    pub session_id: SessionId,
    /// What was noted on it and not sent yet.
    #[serde(flatten)]
    pub review: Review,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ArtifactFile {
    #[serde(flatten)]
    pub file: ReviewFile,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_path: Option<String>,
    pub binary: bool,
    /// The unified diff.
    pub diff: String,
    /// The diff as safe HTML.
    pub diff_html: String,
    pub hunks: Vec<DiffHunk>,
    /// Of the diff, for the mark that it was looked at.
    pub digest: String,
}

/// A file as the tool stored it.
#[derive(Deserialize)]
struct Stored {
    #[serde(flatten)]
    file: ReviewFile,
    old_path: Option<String>,
    binary: bool,
    diff: String,
}

#[utoipa::path(get, operation_id = "artifacts_read", path = "/api/artifacts/{id}", params(("id" = ArtifactId, Path)),
    responses((status = 200, body = ArtifactView), (status = 404, body = ErrorBody)))]
pub(crate) async fn read(State(app): State<App>, Id(id): Id<ArtifactId>) -> ApiResult<Json<ArtifactView>> {
    let row = app.engine.store().artifact(id).await?.ok_or_else(|| not_found("artifact"))?;
    let stored: Vec<Stored> = serde_json::from_value(row.files).unwrap_or_default();
    let (summary, session_id) = (row.summary, row.session);
    let review = review::of(&app, (session_id, id.to_string())).await?;
    // Rendering a large diff takes its time, which belongs on a thread of its own.
    let files = tokio::task::spawn_blocking(move || stored.into_iter().map(view).collect()).await.unwrap_or_default();
    Ok(Json(ArtifactView {
        artifact_id: summary.artifact_id,
        title: summary.title,
        status: summary.status,
        total_files: summary.total_files,
        total_additions: summary.total_additions,
        total_deletions: summary.total_deletions,
        files,
        session_id,
        review,
    }))
}

fn view(stored: Stored) -> ArtifactFile {
    ArtifactFile {
        diff_html: render::diff(&stored.diff),
        hunks: of_patch(&stored.diff),
        digest: digest(&stored.diff),
        file: stored.file,
        old_path: stored.old_path,
        binary: stored.binary,
        diff: stored.diff,
    }
}
