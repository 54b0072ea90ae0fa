//! What waits behind the running turn: read, edit, move, withdraw.

use axum::Json;
use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::http::StatusCode;
use domain::event::Queue;
use domain::ids::{MessageId, SessionId};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::App;
use crate::error::{ApiResult, ErrorBody};
use crate::id::Id;

#[utoipa::path(get, operation_id = "queue_list", path = "/api/sessions/{id}/queue", params(("id" = SessionId, Path)),
    responses((status = 200, body = Queue), (status = 404, body = ErrorBody)))]
pub(crate) async fn list(State(app): State<App>, Id(session): Id<SessionId>) -> ApiResult<Json<Queue>> {
    app.engine.row(session).await?;
    Ok(Json(app.engine.store().queue(session).await?))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Edit {
    pub content: Option<String>,
    /// Its place among those that wait, 0 being the next; behind the last where there are fewer.
    pub position: Option<u32>,
}

#[utoipa::path(patch, operation_id = "queue_edit", path = "/api/sessions/{id}/queue/{message_id}", params(("id" = SessionId, Path), ("message_id" = MessageId, Path)),
    request_body = Edit, responses((status = 204), (status = 404, body = ErrorBody), (status = 422, body = ErrorBody)))]
pub(crate) async fn edit(
    State(app): State<App>,
    Id(session): Id<SessionId>,
    Id(message_id): Id<MessageId>,
    body: Result<Json<Edit>, JsonRejection>,
) -> ApiResult<StatusCode> {
    let Json(edit) = body?;
    let position = edit.position.map(|position| position as usize);
    app.engine.edit_queued(session, message_id, edit.content, position).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// It is the next, and what runs is stopped for it.
#[utoipa::path(post, operation_id = "queue_now", path = "/api/sessions/{id}/queue/{message_id}/now", params(("id" = SessionId, Path), ("message_id" = MessageId, Path)),
    responses((status = 202), (status = 404, body = ErrorBody)))]
pub(crate) async fn now(State(app): State<App>, Id(session): Id<SessionId>, Id(message_id): Id<MessageId>) -> ApiResult<StatusCode> {
    app.engine.run_queued(session, message_id).await?;
    Ok(StatusCode::ACCEPTED)
}

/// After a stop what is queued is held: the next message of it begins as soon as nothing runs, and the others follow.
#[utoipa::path(post, operation_id = "queue_send_next", path = "/api/sessions/{id}/queue/send-next", params(("id" = SessionId, Path)),
    responses((status = 202), (status = 404, body = ErrorBody), (status = 409, body = ErrorBody)))]
pub(crate) async fn send_next(State(app): State<App>, Id(session): Id<SessionId>) -> ApiResult<StatusCode> {
    app.engine.send_next(session).await?;
    Ok(StatusCode::ACCEPTED)
}

#[utoipa::path(delete, operation_id = "queue_withdraw", path = "/api/sessions/{id}/queue/{message_id}", params(("id" = SessionId, Path), ("message_id" = MessageId, Path)),
    responses((status = 204), (status = 404, body = ErrorBody)))]
pub(crate) async fn withdraw(State(app): State<App>, Id(session): Id<SessionId>, Id(message_id): Id<MessageId>) -> ApiResult<StatusCode> {
    app.engine.withdraw(session, message_id).await?;
    Ok(StatusCode::NO_CONTENT)
}
