//! What a person does to a running turn: stop it, confirm a tool, answer a permission.

use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::{Extension, Json};
use domain::ids::{PermissionId, SessionId};
use domain::rule::Scope;
use engine::AnsweredBy;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::App;
use crate::access::audit::Detail;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::id::Id;

#[derive(Deserialize, ToSchema, Default)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cancel {
    /// Stop only this call.
    pub tool_call_id: Option<String>,
}

#[utoipa::path(post, operation_id = "cancel", path = "/api/sessions/{id}/cancel", params(("id" = SessionId, Path)), request_body = Option<Cancel>,
    responses((status = 202), (status = 404, body = ErrorBody), (status = 409, body = ErrorBody)))]
pub(crate) async fn cancel(State(app): State<App>, Id(session): Id<SessionId>, body: axum::body::Bytes) -> ApiResult<StatusCode> {
    // The body may be left out altogether, with or without a content type.
    let cancel = if body.is_empty() { Cancel::default() } else { parse(&body)? };
    app.engine.cancel(session, cancel.tool_call_id).await?;
    Ok(StatusCode::ACCEPTED)
}

fn parse(body: &[u8]) -> ApiResult<Cancel> {
    serde_json::from_slice(body)
        .map_err(|error| ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", format!("the body is wrong: {error}")))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Confirm {
    pub tool_call_id: String,
    pub approved: bool,
}

#[utoipa::path(post, operation_id = "confirm", path = "/api/sessions/{id}/confirm", params(("id" = SessionId, Path)), request_body = Confirm,
    responses((status = 202), (status = 404, body = ErrorBody), (status = 409, body = ErrorBody)))]
pub(crate) async fn confirm(
    State(app): State<App>,
    Id(session): Id<SessionId>,
    body: Result<Json<Confirm>, JsonRejection>,
) -> ApiResult<impl IntoResponse> {
    let Json(confirm) = body?;
    let said = if confirm.approved { "allowed" } else { "rejected" };
    let detail = Detail(format!("{said} tool call {}", confirm.tool_call_id));
    app.engine.confirm(session, confirm.tool_call_id, confirm.approved).await?;
    Ok((StatusCode::ACCEPTED, Extension(detail)))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Answer {
    /// One of the request's options. What it means is in the option's `kind`, which `label` says in words.
    pub option_id: String,
    /// Of a form that is sent: its fields.
    pub content: Option<serde_json::Value>,
    /// How far an answer for always reaches; this session where nothing is said.
    pub remember: Option<Scope>,
    /// The id of one of the request's `scopes`: what is remembered, instead of `remember`.
    pub scope: Option<String>,
    /// Of a refusal: what the agent is told, as its next prompt.
    pub reason: Option<String>,
}

#[utoipa::path(post, operation_id = "permission", path = "/api/sessions/{id}/permissions/{request_id}",
    params(("id" = SessionId, Path), ("request_id" = PermissionId, Path)), request_body = Answer,
    responses((status = 202), (status = 404, body = ErrorBody), (status = 409, body = ErrorBody), (status = 422, body = ErrorBody)))]
pub(crate) async fn permission(
    State(app): State<App>,
    Id(session): Id<SessionId>,
    Id(request_id): Id<PermissionId>,
    body: Result<Json<Answer>, JsonRejection>,
) -> ApiResult<impl IntoResponse> {
    let Json(answer) = body?;
    let detail = answered(&app, session, request_id, &answer.option_id).await;
    let Answer { option_id, content, remember, scope, reason } = answer;
    let answer = engine::Answer { option_id, content, remember, scope, reason, by: AnsweredBy::Person };
    app.engine.answer(session, request_id, answer).await?;
    Ok((StatusCode::ACCEPTED, Extension(detail)))
}

/// Takes back a denial that the agent was not told yet: the question waits again.
#[utoipa::path(delete, operation_id = "permission_undo", path = "/api/sessions/{id}/permissions/{request_id}/held",
    params(("id" = SessionId, Path), ("request_id" = PermissionId, Path)),
    responses((status = 204), (status = 404, body = ErrorBody), (status = 409, description = "nothing is held (any more)", body = ErrorBody)))]
pub(crate) async fn take_back(
    State(app): State<App>,
    Id(session): Id<SessionId>,
    Id(request_id): Id<PermissionId>,
) -> ApiResult<impl IntoResponse> {
    app.engine.take_back(session, request_id).await?;
    let waiting = app.engine.store().permissions(session).await.unwrap_or_default();
    let asked = waiting.into_iter().find(|row| row.request.request_id == request_id).map(|row| row.request.ask.title);
    Ok((StatusCode::NO_CONTENT, Extension(Detail(asked.unwrap_or_default()))))
}

/// What was asked and what was answered, for the audit log: read before, since what is answered no longer waits.
async fn answered(app: &App, session: SessionId, request_id: PermissionId, option_id: &str) -> Detail {
    let waiting = app.engine.store().permissions(session).await.unwrap_or_default();
    let asked = waiting.into_iter().map(|row| row.request).find(|request| request.request_id == request_id);
    let Some(asked) = asked else { return Detail(option_id.to_owned()) };
    let option = asked.ask.options.iter().find(|option| option.option_id == option_id);
    Detail(format!("{}: {}", option.map_or_else(|| option_id.to_owned(), |option| asked.ask.label(option)), asked.ask.title))
}
