//! Sessions: list, create, read, change, delete.

use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::{Extension, Json};
use domain::event::SessionChange;
use domain::ids::SessionId;
use domain::policy::Policy;
use engine::Wanted;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use store::{SessionCursor, SessionRow};
use utoipa::{IntoParams, ToSchema};

use crate::App;
use crate::access::audit::Detail;
use crate::error::{ApiResult, ErrorBody, invalid};
use crate::id::Id;

const PAGE: u32 = 50;
const PAGE_MAX: u32 = 200;
const TITLE_MAX: usize = 200;
const AGENT_SESSION_MAX: usize = 500;

#[derive(Serialize, ToSchema)]
pub(crate) struct SessionView {
    pub id: SessionId,
    pub title: String,
    pub work_dir: String,
    pub model: String,
    pub agent: String,
    /// What was chosen for this session; `null` leaves it to the server's setting.
    pub permission_policy: Option<Policy>,
    #[schema(value_type = String, format = "date-time")]
    pub created_at: Timestamp,
    #[schema(value_type = String, format = "date-time")]
    pub updated_at: Timestamp,
    pub running: bool,
    pub queue_len: u32,
    /// Permissions and confirmations that wait for a person.
    pub waiting: u32,
}

impl From<SessionRow> for SessionView {
    fn from(row: SessionRow) -> SessionView {
        SessionView {
            id: row.id,
            title: row.title,
            work_dir: row.work_dir,
            model: row.model,
            agent: row.agent,
            permission_policy: row.permission_policy,
            created_at: row.created_at,
            updated_at: row.updated_at,
            running: row.running,
            queue_len: row.queue_len,
            waiting: row.waiting,
        }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct SessionList {
    pub sessions: Vec<SessionView>,
    /// Give it back as `before` to get the next page; missing on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    before: Option<String>,
    limit: Option<u32>,
}

#[utoipa::path(get, operation_id = "sessions_list", path = "/api/sessions", params(ListQuery), responses((status = 200, body = SessionList), (status = 400, body = ErrorBody)))]
pub(crate) async fn list(State(app): State<App>, query: Result<Query<ListQuery>, QueryRejection>) -> ApiResult<Json<SessionList>> {
    let Query(query) = query?;
    let limit = query.limit.unwrap_or(PAGE).clamp(1, PAGE_MAX);
    let before = query.before.as_deref().map(parse_cursor).transpose()?;
    let rows = app.engine.store().sessions(before, limit).await?;
    let full = rows.len() as u32 == limit;
    let next = rows.last().filter(|_| full).map(|row| format_cursor(row.cursor()));
    Ok(Json(SessionList { sessions: rows.into_iter().map(SessionView::from).collect(), next }))
}

pub(crate) fn format_cursor(cursor: SessionCursor) -> String {
    format!("{}_{}", cursor.updated_at, cursor.id)
}

pub(crate) fn parse_cursor(text: &str) -> ApiResult<SessionCursor> {
    let parsed = text.split_once('_').and_then(|(time, id)| Some(SessionCursor { updated_at: time.parse().ok()?, id: id.parse().ok()? }));
    parsed.ok_or_else(|| invalid("`before` is not a cursor of this list"))
}

#[derive(Deserialize, ToSchema, Default)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewSession {
    pub title: Option<String>,
    /// A directory below the server's work directory.
    pub work_dir: Option<String>,
    pub model: Option<String>,
    pub agent: Option<String>,
    pub permission_policy: Option<Policy>,
    /// A session that the agent keeps by itself, from `POST /api/agents/{id}/sessions`: it goes on here in its own work directory, what
    /// was said before becomes the first messages, and the model is `relay` unless named.
    pub agent_session_id: Option<String>,
}

#[utoipa::path(post, operation_id = "sessions_create", path = "/api/sessions", request_body = NewSession,
    responses((status = 201, body = SessionView), (status = 404, body = ErrorBody), (status = 409, body = ErrorBody), (status = 422, body = ErrorBody), (status = 503, body = ErrorBody)))]
pub(crate) async fn create(State(app): State<App>, body: Result<Json<NewSession>, JsonRejection>) -> ApiResult<impl IntoResponse> {
    let Json(new) = body?;
    check_title(new.title.as_deref())?;
    if new.agent_session_id.as_ref().is_some_and(|id| id.len() > AGENT_SESSION_MAX) {
        return Err(invalid(format!("`agent_session_id` is longer than {AGENT_SESSION_MAX} bytes")));
    }
    let wanted = Wanted {
        id: None,
        title: new.title,
        work_dir: new.work_dir.map(Into::into),
        model: new.model,
        agent: new.agent,
        permission_policy: new.permission_policy,
        agent_session: new.agent_session_id,
    };
    let view = SessionView::from(app.engine.create(wanted).await?);
    // Not its title: this entry stays when the session is deleted.
    let detail = format!("session {}", view.id);
    Ok((StatusCode::CREATED, Extension(Detail(detail)), Json(view)))
}

#[utoipa::path(get, operation_id = "sessions_read", path = "/api/sessions/{id}", params(("id" = SessionId, Path)),
    responses((status = 200, body = SessionView), (status = 404, body = ErrorBody)))]
pub(crate) async fn read(State(app): State<App>, Id(session): Id<SessionId>) -> ApiResult<Json<SessionView>> {
    Ok(Json(app.engine.row(session).await?.into()))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SessionPatch {
    pub title: Option<String>,
    pub model: Option<String>,
    pub agent: Option<String>,
    pub permission_policy: Option<Policy>,
}

#[utoipa::path(patch, operation_id = "sessions_change", path = "/api/sessions/{id}", params(("id" = SessionId, Path)), request_body = SessionPatch,
    responses((status = 200, body = SessionView), (status = 404, body = ErrorBody), (status = 422, body = ErrorBody)))]
pub(crate) async fn change(
    State(app): State<App>,
    Id(session): Id<SessionId>,
    body: Result<Json<SessionPatch>, JsonRejection>,
) -> ApiResult<impl IntoResponse> {
    let Json(patch) = body?;
    check_title(patch.title.as_deref())?;
    let change = SessionChange { title: patch.title, model: patch.model, agent: patch.agent, permission_policy: patch.permission_policy };
    let detail = Detail(told(&change));
    Ok((Extension(detail), Json(SessionView::from(app.engine.change(session, change).await?))))
}

#[utoipa::path(delete, operation_id = "sessions_delete", path = "/api/sessions/{id}", params(("id" = SessionId, Path)),
    responses((status = 204), (status = 404, body = ErrorBody)))]
pub(crate) async fn delete(State(app): State<App>, Id(session): Id<SessionId>) -> ApiResult<StatusCode> {
    app.engine.delete(session).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// What was changed, for the audit log.
fn told(change: &SessionChange) -> String {
    let fields = serde_json::to_value(change).unwrap_or_default();
    let given = fields.as_object().into_iter().flatten().filter_map(|(name, value)| Some(format!("{name} {}", value.as_str()?)));
    given.collect::<Vec<_>>().join(", ")
}

pub(crate) fn check_title(title: Option<&str>) -> ApiResult<()> {
    match title {
        Some(title) if title.len() > TITLE_MAX => Err(invalid(format!("the title is longer than {TITLE_MAX} bytes"))),
        _ => Ok(()),
    }
}
