//! Review artifacts: what changed, file by file.

use axum::Json;
use axum::extract::State;
use domain::event::ReviewFile;
use domain::ids::ArtifactId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

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
    let summary = row.summary;
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
    }))
}

fn view(stored: Stored) -> ArtifactFile {
    ArtifactFile {
        diff_html: render::diff(&stored.diff),
        file: stored.file,
        old_path: stored.old_path,
        binary: stored.binary,
        diff: stored.diff,
    }
}
