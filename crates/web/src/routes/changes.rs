//! What changed in a session's work directory: looked at, taken back, committed.

use axum::Json;
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use domain::ids::{SessionId, TurnId};
use engine::{Changes, ChangesScope, FileChange, FileLines, ProjectView, Side, Since};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::attachments::picture_response;
use crate::App;
use crate::error::{ApiResult, ErrorBody, invalid};
use crate::id::Id;

const PATH_MAX: usize = 4096;
const PATHS_MAX: usize = 3000;

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ChangesQuery {
    since: Since,
    /// With `since=turn`: which one, the last where none is named.
    turn: Option<TurnId>,
    /// The files without their lines.
    #[serde(default)]
    summary: bool,
}

#[utoipa::path(get, operation_id = "changes_read", path = "/api/sessions/{id}/changes", params(("id" = SessionId, Path), ChangesQuery),
    responses((status = 200, body = Changes), (status = 400, body = ErrorBody), (status = 404, body = ErrorBody), (status = 503, body = ErrorBody)))]
pub(crate) async fn read(
    State(app): State<App>,
    Id(session): Id<SessionId>,
    query: Result<Query<ChangesQuery>, QueryRejection>,
) -> ApiResult<Json<Changes>> {
    let Query(query) = query?;
    let scope = ChangesScope { since: query.since, turn: query.turn };
    Ok(Json(app.engine.changes(session, scope, query.summary).await?))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct FileQuery {
    since: Since,
    turn: Option<TurnId>,
    path: String,
}

/// One file with all its lines, where the list left them out.
#[utoipa::path(get, operation_id = "changes_file", path = "/api/sessions/{id}/changes/file", params(("id" = SessionId, Path), FileQuery),
    responses((status = 200, body = FileChange), (status = 400, body = ErrorBody), (status = 404, body = ErrorBody), (status = 503, body = ErrorBody)))]
pub(crate) async fn file(
    State(app): State<App>,
    Id(session): Id<SessionId>,
    query: Result<Query<FileQuery>, QueryRejection>,
) -> ApiResult<Json<FileChange>> {
    let Query(query) = query?;
    let scope = ChangesScope { since: query.since, turn: query.turn };
    Ok(Json(app.engine.changed_file(session, scope, checked(&query.path)?).await?))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct LinesQuery {
    since: Since,
    turn: Option<TurnId>,
    path: String,
    side: Side,
    /// The first and the last line, counted from 1.
    from: u32,
    to: u32,
}

/// Lines around a change.
#[utoipa::path(get, operation_id = "changes_lines", path = "/api/sessions/{id}/changes/lines", params(("id" = SessionId, Path), LinesQuery),
    responses((status = 200, body = FileLines), (status = 400, body = ErrorBody), (status = 404, body = ErrorBody), (status = 503, body = ErrorBody)))]
pub(crate) async fn lines(
    State(app): State<App>,
    Id(session): Id<SessionId>,
    query: Result<Query<LinesQuery>, QueryRejection>,
) -> ApiResult<Json<FileLines>> {
    let Query(query) = query?;
    let scope = ChangesScope { since: query.since, turn: query.turn };
    Ok(Json(app.engine.changed_lines(session, scope, checked(&query.path)?, query.side, (query.from, query.to)).await?))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PictureQuery {
    since: Since,
    turn: Option<TurnId>,
    path: String,
    side: Side,
}

/// One side of a changed image.
#[utoipa::path(get, operation_id = "changes_picture", path = "/api/sessions/{id}/changes/picture", params(("id" = SessionId, Path), PictureQuery),
    responses((status = 200, content_type = "application/octet-stream"), (status = 400, body = ErrorBody), (status = 404, body = ErrorBody), (status = 503, body = ErrorBody)))]
pub(crate) async fn picture(
    State(app): State<App>,
    Id(session): Id<SessionId>,
    query: Result<Query<PictureQuery>, QueryRejection>,
) -> ApiResult<Response> {
    let Query(query) = query?;
    let scope = ChangesScope { since: query.since, turn: query.turn };
    Ok(picture_response(app.engine.changed_picture(session, scope, checked(&query.path)?, query.side).await?))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Revert {
    pub since: Since,
    #[serde(default)]
    pub turn: Option<TurnId>,
    pub path: String,
    /// The number of the hunk, from 0; the whole file where none is given.
    #[serde(default)]
    pub hunk: Option<u32>,
    /// The digest of the file as it was shown, or the version of the changes.
    pub version: String,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Reverted {
    pub undo: Uuid,
}

#[utoipa::path(post, operation_id = "changes_revert", path = "/api/sessions/{id}/changes/revert", params(("id" = SessionId, Path)), request_body = Revert,
    responses((status = 200, body = Reverted), (status = 404, body = ErrorBody), (status = 409, body = ErrorBody), (status = 422, body = ErrorBody)))]
pub(crate) async fn revert(
    State(app): State<App>,
    Id(session): Id<SessionId>,
    body: Result<Json<Revert>, JsonRejection>,
) -> ApiResult<Json<Reverted>> {
    let Json(wanted) = body?;
    let scope = ChangesScope { since: wanted.since, turn: wanted.turn };
    let hunk = wanted.hunk.map(|hunk| hunk as usize);
    let undo = app.engine.revert_change(session, scope, checked(&wanted.path)?, hunk, &wanted.version).await?;
    Ok(Json(Reverted { undo }))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UndoRevert {
    pub undo: Uuid,
}

#[utoipa::path(post, operation_id = "changes_undo", path = "/api/sessions/{id}/changes/undo", params(("id" = SessionId, Path)), request_body = UndoRevert,
    responses((status = 204), (status = 404, body = ErrorBody), (status = 409, body = ErrorBody)))]
pub(crate) async fn undo(
    State(app): State<App>,
    Id(session): Id<SessionId>,
    body: Result<Json<UndoRevert>, JsonRejection>,
) -> ApiResult<StatusCode> {
    let Json(wanted) = body?;
    app.engine.undo_revert(session, wanted.undo).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewCommit {
    pub message: String,
    /// Only these of the changed files; what the session's agents changed where none are given.
    #[serde(default)]
    pub paths: Option<Vec<String>>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Committed {
    pub commit: String,
    pub branch: String,
    /// Changed files that are too large to be in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

#[utoipa::path(post, operation_id = "changes_commit", path = "/api/sessions/{id}/changes/commit", params(("id" = SessionId, Path)), request_body = NewCommit,
    responses((status = 200, body = Committed), (status = 404, body = ErrorBody), (status = 409, body = ErrorBody)))]
pub(crate) async fn commit(
    State(app): State<App>,
    Id(session): Id<SessionId>,
    body: Result<Json<NewCommit>, JsonRejection>,
) -> ApiResult<Json<Committed>> {
    let Json(wanted) = body?;
    check_paths(wanted.paths.as_deref())?;
    let commit = app.engine.commit_changes(session, &wanted.message, wanted.paths.as_deref()).await?;
    Ok(Json(Committed { commit: commit.commit, branch: commit.branch, left_out: commit.left_out }))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewDraft {
    /// The files that are to be committed; what the session's agents changed where none are given.
    #[serde(default)]
    pub paths: Option<Vec<String>>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Draft {
    pub message: String,
}

/// The message of a commit, written by the session's model.
#[utoipa::path(post, operation_id = "changes_draft", path = "/api/sessions/{id}/changes/draft", params(("id" = SessionId, Path)), request_body = NewDraft,
    responses((status = 200, body = Draft), (status = 404, body = ErrorBody), (status = 409, body = ErrorBody), (status = 503, body = ErrorBody)))]
pub(crate) async fn draft(
    State(app): State<App>,
    Id(session): Id<SessionId>,
    body: Result<Json<NewDraft>, JsonRejection>,
) -> ApiResult<Json<Draft>> {
    let Json(wanted) = body?;
    check_paths(wanted.paths.as_deref())?;
    Ok(Json(Draft { message: app.engine.draft_commit(session, wanted.paths.as_deref()).await? }))
}

fn check_paths(paths: Option<&[String]>) -> ApiResult<()> {
    match paths {
        Some(paths) if paths.len() > PATHS_MAX => {
            Err(invalid(format!("`paths` has more than {PATHS_MAX} entries: commit in parts, or with git itself")))
        }
        _ => Ok(()),
    }
}

/// The server's own work directory.
#[utoipa::path(get, operation_id = "project_read", path = "/api/project", responses((status = 200, body = ProjectView)))]
pub(crate) async fn project(State(app): State<App>) -> ApiResult<Json<ProjectView>> {
    Ok(Json(app.engine.project().await?))
}

fn checked(path: &str) -> ApiResult<&str> {
    if path.is_empty() || path.len() > PATH_MAX { Err(invalid("`path` names no file")) } else { Ok(path) }
}
