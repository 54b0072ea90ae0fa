//! Messages: older ones, one of them, and sending a new one.

use std::time::Duration;

use axum::Json;
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{Query, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use domain::event::{Message, ReviewArtifact};
use domain::ids::{MessageId, SessionId, TurnId};
use futures::StreamExt;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::attachments::NewAttachment;
use crate::App;
use crate::error::{ApiError, ApiResult, ErrorBody, invalid, not_found};
use crate::html;
use crate::id::Id;

const PAGE: u32 = 50;
const PAGE_MAX: u32 = 200;
const CLIENT_ID_MAX: usize = 200;
const CONTENT_MAX: usize = 2 * 1024 * 1024;
/// The text, and the attachments in base64, with room for their names.
pub(crate) const BODY_MAX: usize = CONTENT_MAX + engine::MESSAGE_MAX / 3 * 4 + 1024 * 1024;

/// How long a client that sends too much may go on.
const DRAIN: Duration = Duration::from_secs(10);

pub(crate) async fn refuse_too_large(request: Request, next: Next) -> Response {
    match within(request, BODY_MAX, "the message is too large: with its attachments it").await {
        Ok(request) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

/// Refuses a body that says beforehand that it is too large. It is read to its end all the same: a client that is refused while it still
/// sends sees a broken connection instead of the reason.
pub(crate) async fn within(request: Request, max: usize, what: &str) -> ApiResult<Request> {
    let length = request.headers().get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if length.is_none_or(|length| length <= max) {
        return Ok(request);
    }
    let body = request.into_body().into_data_stream();
    let _ended = tokio::time::timeout(DRAIN, body.for_each(|_| std::future::ready(()))).await;
    Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", format!("{what} may have {max} bytes")))
}

#[derive(Serialize, ToSchema)]
pub(crate) struct MessagePage {
    /// Oldest first.
    pub messages: Vec<Message>,
    /// There are older ones.
    pub more: bool,
    /// The changes to review that these messages name.
    pub artifacts: Vec<ReviewArtifact>,
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PageQuery {
    before: Option<String>,
    limit: Option<u32>,
}

#[utoipa::path(get, operation_id = "messages_list", path = "/api/sessions/{id}/messages", params(("id" = SessionId, Path), PageQuery),
    responses((status = 200, body = MessagePage), (status = 404, body = ErrorBody)))]
pub(crate) async fn list(
    State(app): State<App>,
    Id(session): Id<SessionId>,
    query: Result<Query<PageQuery>, QueryRejection>,
) -> ApiResult<Json<MessagePage>> {
    let Query(query) = query?;
    app.engine.row(session).await?;
    let before = query.before.map(|text| text.parse().map_err(|_| invalid("`before` is not the id of a message"))).transpose()?;
    let mut page = app.engine.store().messages(session, before, query.limit.unwrap_or(PAGE).clamp(1, PAGE_MAX)).await?;
    for message in &mut page.messages {
        app.html.fill(message).await;
    }
    let named: Vec<_> = page.messages.iter().filter_map(|message| message.artifact_id).collect();
    let artifacts = if named.is_empty() { Vec::new() } else { app.engine.store().artifact_summaries(session, named).await? };
    Ok(Json(MessagePage { messages: page.messages, more: page.more, artifacts }))
}

/// One message, with the HTML of its text so far: also while the model is still writing it.
#[utoipa::path(get, operation_id = "messages_read", path = "/api/sessions/{id}/messages/{message_id}", params(("id" = SessionId, Path), ("message_id" = MessageId, Path)),
    responses((status = 200, body = Message), (status = 404, body = ErrorBody)))]
pub(crate) async fn read(State(app): State<App>, Id(session): Id<SessionId>, Id(message_id): Id<MessageId>) -> ApiResult<Json<Message>> {
    if let Some(mut message) = app.engine.unfinished(session, message_id).await? {
        message.html = Some(html::markdown(message.content.clone()).await);
        return Ok(Json(message));
    }
    // Looked for last: whoever finishes a message stores it, and from then on it is not unfinished any more.
    let mut message = app.engine.store().message(session, message_id).await?.ok_or_else(|| not_found("message"))?;
    app.html.fill(&mut message).await;
    Ok(Json(message))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewMessage {
    pub content: String,
    /// Made by the client: the same one again gives the same answer and sends nothing twice.
    pub client_id: Option<String>,
    /// Sent along; what is too much is refused by name.
    #[serde(default)]
    pub attachments: Vec<NewAttachment>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Posted {
    pub message_id: MessageId,
    pub turn_id: TurnId,
    pub queued: bool,
}

#[utoipa::path(post, operation_id = "messages_post", path = "/api/sessions/{id}/messages", params(("id" = SessionId, Path)), request_body = NewMessage,
    responses((status = 202, body = Posted), (status = 404, body = ErrorBody), (status = 413, body = ErrorBody), (status = 422, body = ErrorBody)))]
pub(crate) async fn post(
    State(app): State<App>,
    Id(session): Id<SessionId>,
    body: Result<Json<NewMessage>, JsonRejection>,
) -> ApiResult<(StatusCode, Json<Posted>)> {
    let Json(message) = body?;
    if message.content.len() > CONTENT_MAX {
        let text = format!("the message is too large: its text may have {CONTENT_MAX} bytes; attach the rest as a file");
        return Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", text));
    }
    check_client_id(message.client_id.as_deref())?;
    let attachments = message.attachments.into_iter().map(NewAttachment::decode).collect::<ApiResult<_>>()?;
    let posted = app.engine.post(session, message.content, message.client_id, attachments).await?;
    Ok((StatusCode::ACCEPTED, Json(Posted { message_id: posted.message_id, turn_id: posted.turn_id, queued: posted.queued })))
}

pub(crate) fn check_client_id(id: Option<&str>) -> ApiResult<()> {
    match id {
        Some(id) if id.is_empty() || id.len() > CLIENT_ID_MAX => Err(invalid(format!("`client_id` must have 1 to {CLIENT_ID_MAX} bytes"))),
        _ => Ok(()),
    }
}
