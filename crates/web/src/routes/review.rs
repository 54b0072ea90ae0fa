//! What people note on changes: marks, comments, and sending them. The same for a session's changes and for an artifact.

use axum::Json;
use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::http::StatusCode;
use domain::ids::{ArtifactId, CommentId, SessionId};
use domain::review::{Comment, Side, Verdict, Viewed};
use engine::{CHANGES, Submission};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::messages::{Posted, check_client_id};
use crate::App;
use crate::error::{ApiResult, ErrorBody, not_found};
use crate::id::Id;

#[derive(Serialize, ToSchema)]
pub(crate) struct Review {
    /// Those that were not sent yet, oldest first.
    pub comments: Vec<Comment>,
    /// Those that were sent and are not resolved, oldest first. Deleting one resolves it.
    pub sent: Vec<Comment>,
    pub viewed: Vec<Viewed>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetViewed {
    pub path: String,
    /// Of the change that was looked at.
    pub digest: String,
    pub viewed: bool,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewComment {
    pub path: String,
    pub side: Side,
    pub from_line: Option<u32>,
    pub to_line: Option<u32>,
    /// The lines as they stand there.
    #[serde(default)]
    pub quote: String,
    pub text: String,
    pub since: Option<String>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CommentPatch {
    pub text: String,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Submit {
    pub verdict: Verdict,
    #[serde(default)]
    pub summary: String,
    /// The name of an agent session; the main AI where nothing is said.
    pub to: Option<String>,
    /// Made by the client: the same one again gives the same answer and sends nothing twice.
    pub client_id: String,
}

/// Whose review it is: the session, and what in it.
type Scope = (SessionId, String);

fn changes(session: SessionId) -> Scope {
    (session, CHANGES.to_owned())
}

async fn artifact(app: &App, id: ArtifactId) -> ApiResult<Scope> {
    let row = app.engine.store().artifact(id).await?.ok_or_else(|| not_found("artifact"))?;
    Ok((row.session, id.to_string()))
}

pub(super) async fn of(app: &App, (session, scope): Scope) -> ApiResult<Review> {
    let store = app.engine.store();
    let (sent, comments) = store.comments(session, &scope).await?.into_iter().partition(|comment| comment.sent_at.is_some());
    Ok(Review { comments, sent, viewed: store.viewed(session, &scope).await? })
}

async fn set_viewed(app: &App, (session, scope): Scope, body: Result<Json<SetViewed>, JsonRejection>) -> ApiResult<StatusCode> {
    let Json(SetViewed { path, digest, viewed }) = body?;
    app.engine.set_viewed(session, &scope, path, digest, viewed).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn add(app: &App, (session, scope): Scope, body: Result<Json<NewComment>, JsonRejection>) -> ApiResult<(StatusCode, Json<Comment>)> {
    let Json(NewComment { path, side, from_line, to_line, quote, text, since }) = body?;
    let new = engine::NewComment { path, side, from_line, to_line, quote, text, since };
    Ok((StatusCode::CREATED, Json(app.engine.add_comment(session, &scope, new).await?)))
}

async fn edit(
    app: &App,
    (session, scope): Scope,
    id: CommentId,
    body: Result<Json<CommentPatch>, JsonRejection>,
) -> ApiResult<Json<Comment>> {
    let Json(CommentPatch { text }) = body?;
    Ok(Json(app.engine.edit_comment(session, &scope, id, text).await?))
}

async fn send(app: &App, (session, scope): Scope, body: Result<Json<Submit>, JsonRejection>) -> ApiResult<(StatusCode, Json<Posted>)> {
    let Json(Submit { verdict, summary, to, client_id }) = body?;
    check_client_id(Some(&client_id))?;
    let posted = app.engine.submit_review(session, &scope, Submission { verdict, summary, to, client_id }).await?;
    Ok((StatusCode::ACCEPTED, Json(Posted { message_id: posted.message_id, turn_id: posted.turn_id, queued: posted.queued })))
}

#[utoipa::path(get, operation_id = "review_read", path = "/api/sessions/{id}/review", params(("id" = SessionId, Path)),
    responses((status = 200, body = Review), (status = 404, body = ErrorBody)))]
pub(crate) async fn read(State(app): State<App>, Id(session): Id<SessionId>) -> ApiResult<Json<Review>> {
    app.engine.row(session).await?;
    Ok(Json(of(&app, changes(session)).await?))
}

#[utoipa::path(put, operation_id = "review_viewed", path = "/api/sessions/{id}/review/viewed", params(("id" = SessionId, Path)),
    request_body = SetViewed, responses((status = 204), (status = 404, body = ErrorBody), (status = 422, body = ErrorBody)))]
pub(crate) async fn viewed(
    State(app): State<App>,
    Id(session): Id<SessionId>,
    body: Result<Json<SetViewed>, JsonRejection>,
) -> ApiResult<StatusCode> {
    set_viewed(&app, changes(session), body).await
}

#[utoipa::path(post, operation_id = "review_comment", path = "/api/sessions/{id}/review/comments", params(("id" = SessionId, Path)),
    request_body = NewComment, responses((status = 201, body = Comment), (status = 404, body = ErrorBody), (status = 422, body = ErrorBody)))]
pub(crate) async fn comment(
    State(app): State<App>,
    Id(session): Id<SessionId>,
    body: Result<Json<NewComment>, JsonRejection>,
) -> ApiResult<(StatusCode, Json<Comment>)> {
    add(&app, changes(session), body).await
}

#[utoipa::path(patch, operation_id = "review_comment_edit", path = "/api/sessions/{id}/review/comments/{comment_id}",
    params(("id" = SessionId, Path), ("comment_id" = CommentId, Path)), request_body = CommentPatch,
    responses((status = 200, body = Comment), (status = 404, body = ErrorBody), (status = 422, body = ErrorBody)))]
pub(crate) async fn comment_edit(
    State(app): State<App>,
    Id(session): Id<SessionId>,
    Id(id): Id<CommentId>,
    body: Result<Json<CommentPatch>, JsonRejection>,
) -> ApiResult<Json<Comment>> {
    edit(&app, changes(session), id, body).await
}

#[utoipa::path(delete, operation_id = "review_comment_remove", path = "/api/sessions/{id}/review/comments/{comment_id}",
    params(("id" = SessionId, Path), ("comment_id" = CommentId, Path)), responses((status = 204), (status = 404, body = ErrorBody)))]
pub(crate) async fn comment_remove(State(app): State<App>, Id(session): Id<SessionId>, Id(id): Id<CommentId>) -> ApiResult<StatusCode> {
    app.engine.remove_comment(session, CHANGES, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[utoipa::path(post, operation_id = "review_submit", path = "/api/sessions/{id}/review/submit", params(("id" = SessionId, Path)),
    request_body = Submit, responses((status = 202, body = Posted), (status = 404, body = ErrorBody), (status = 422, body = ErrorBody)))]
pub(crate) async fn submit(
    State(app): State<App>,
    Id(session): Id<SessionId>,
    body: Result<Json<Submit>, JsonRejection>,
) -> ApiResult<(StatusCode, Json<Posted>)> {
    send(&app, changes(session), body).await
}

#[utoipa::path(put, operation_id = "artifacts_viewed", path = "/api/artifacts/{id}/viewed", params(("id" = ArtifactId, Path)),
    request_body = SetViewed, responses((status = 204), (status = 404, body = ErrorBody), (status = 422, body = ErrorBody)))]
pub(crate) async fn artifact_viewed(
    State(app): State<App>,
    Id(id): Id<ArtifactId>,
    body: Result<Json<SetViewed>, JsonRejection>,
) -> ApiResult<StatusCode> {
    set_viewed(&app, artifact(&app, id).await?, body).await
}

#[utoipa::path(post, operation_id = "artifacts_comment", path = "/api/artifacts/{id}/comments", params(("id" = ArtifactId, Path)),
    request_body = NewComment, responses((status = 201, body = Comment), (status = 404, body = ErrorBody), (status = 422, body = ErrorBody)))]
pub(crate) async fn artifact_comment(
    State(app): State<App>,
    Id(id): Id<ArtifactId>,
    body: Result<Json<NewComment>, JsonRejection>,
) -> ApiResult<(StatusCode, Json<Comment>)> {
    add(&app, artifact(&app, id).await?, body).await
}

#[utoipa::path(patch, operation_id = "artifacts_comment_edit", path = "/api/artifacts/{id}/comments/{comment_id}",
    params(("id" = ArtifactId, Path), ("comment_id" = CommentId, Path)), request_body = CommentPatch,
    responses((status = 200, body = Comment), (status = 404, body = ErrorBody), (status = 422, body = ErrorBody)))]
pub(crate) async fn artifact_comment_edit(
    State(app): State<App>,
    Id(id): Id<ArtifactId>,
    Id(comment): Id<CommentId>,
    body: Result<Json<CommentPatch>, JsonRejection>,
) -> ApiResult<Json<Comment>> {
    edit(&app, artifact(&app, id).await?, comment, body).await
}

#[utoipa::path(delete, operation_id = "artifacts_comment_remove", path = "/api/artifacts/{id}/comments/{comment_id}",
    params(("id" = ArtifactId, Path), ("comment_id" = CommentId, Path)), responses((status = 204), (status = 404, body = ErrorBody)))]
pub(crate) async fn artifact_comment_remove(
    State(app): State<App>,
    Id(id): Id<ArtifactId>,
    Id(comment): Id<CommentId>,
) -> ApiResult<StatusCode> {
    let (session, scope) = artifact(&app, id).await?;
    app.engine.remove_comment(session, &scope, comment).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[utoipa::path(post, operation_id = "artifacts_submit", path = "/api/artifacts/{id}/submit", params(("id" = ArtifactId, Path)),
    request_body = Submit, responses((status = 202, body = Posted), (status = 404, body = ErrorBody), (status = 422, body = ErrorBody)))]
pub(crate) async fn artifact_submit(
    State(app): State<App>,
    Id(id): Id<ArtifactId>,
    body: Result<Json<Submit>, JsonRejection>,
) -> ApiResult<(StatusCode, Json<Posted>)> {
    send(&app, artifact(&app, id).await?, body).await
}
