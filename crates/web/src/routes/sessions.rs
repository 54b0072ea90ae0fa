//! Sessions: list, create, read, change, delete.

use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use domain::event::{Ending, SessionChange, TurnState};
use domain::ids::SessionId;
use domain::policy::Policy;
use engine::Wanted;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use store::{ChangeCounts, Marks, SessionCursor, SessionFilter, SessionRow};
use utoipa::{IntoParams, ToSchema};

use crate::App;
use crate::access::audit::{Detail, Untold};
use crate::error::{ApiResult, ErrorBody, invalid};
use crate::id::Id;

const PAGE: u32 = 50;
const PAGE_MAX: u32 = 200;
const TITLE_MAX: usize = 200;
const AGENT_SESSION_MAX: usize = 500;
/// Of what is looked for, in bytes.
const QUERY_MAX: usize = 800;

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
    pub pinned: bool,
    pub archived: bool,
    /// Nobody is to be notified of it.
    pub muted: bool,
    /// How the last turn ended; `null` before the first one has.
    pub outcome: Option<TurnState>,
    /// The same in the word that people read; where they talk to an agent, it is the agent's end.
    pub ending: Option<Ending>,
    /// The last turn ended after anybody last looked.
    pub unseen: bool,
    #[schema(value_type = Option<String>, format = "date-time")]
    pub running_since: Option<Timestamp>,
    /// How long of the running turn a person was waited for, without the wait that goes on.
    pub waited_ms: u64,
    #[schema(value_type = Option<String>, format = "date-time")]
    pub waiting_since: Option<Timestamp>,
    /// What has waited longest for a person, in one line.
    pub question: Option<String>,
    /// That is about a protected file: under `auto` it waits all the same.
    pub question_protected: bool,
    /// What the last turn changed; `null` where that is not known.
    pub changes: Option<ChangesView>,
    /// How many remembered answers hold here.
    pub rules: u32,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ChangesView {
    pub files: u64,
    pub additions: u64,
    pub deletions: u64,
}

impl From<ChangeCounts> for ChangesView {
    fn from(counts: ChangeCounts) -> ChangesView {
        ChangesView { files: counts.files, additions: counts.additions, deletions: counts.deletions }
    }
}

impl SessionView {
    pub(crate) fn new(app: &App, row: SessionRow) -> SessionView {
        SessionView {
            rules: app.engine.rule_count(&row),
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
            pinned: row.pinned,
            archived: row.archived,
            muted: row.muted,
            outcome: row.outcome,
            ending: row.ending,
            unseen: row.unseen,
            running_since: row.running_since,
            waited_ms: row.waited_ms,
            waiting_since: row.waiting_since,
            question: row.question,
            question_protected: row.question_protected,
            changes: row.changes.map(Into::into),
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
    /// In the title, in whatever case.
    query: Option<String>,
    /// Those that were archived, else the others and whatever runs or waits for a person.
    archived: Option<bool>,
}

#[utoipa::path(get, operation_id = "sessions_list", path = "/api/sessions", params(ListQuery), responses((status = 200, body = SessionList), (status = 400, body = ErrorBody)))]
pub(crate) async fn list(State(app): State<App>, query: Result<Query<ListQuery>, QueryRejection>) -> ApiResult<Json<SessionList>> {
    let Query(query) = query?;
    let limit = query.limit.unwrap_or(PAGE).clamp(1, PAGE_MAX);
    let before = query.before.as_deref().map(parse_cursor).transpose()?;
    let sought = query.query.as_deref().map(str::trim).filter(|sought| !sought.is_empty());
    if sought.is_some_and(|sought| sought.len() > QUERY_MAX) {
        return Err(invalid(format!("`query` is longer than {QUERY_MAX} bytes")));
    }
    let filter = SessionFilter { query: sought, archived: Some(query.archived.unwrap_or(false)) };
    let rows = app.engine.store().find_sessions(filter, before, limit).await?;
    let full = rows.len() as u32 == limit;
    let next = rows.last().filter(|_| full).map(|row| format_cursor(row.cursor()));
    Ok(Json(SessionList { sessions: rows.into_iter().map(|row| SessionView::new(&app, row)).collect(), next }))
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
    /// A UUID (version 4 or 7) that the client has made: asked for twice, it is made once.
    pub id: Option<SessionId>,
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
    responses((status = 201, body = SessionView), (status = 200, description = "there is one with this id already", body = SessionView), (status = 400, body = ErrorBody), (status = 404, body = ErrorBody), (status = 409, body = ErrorBody), (status = 422, body = ErrorBody), (status = 503, body = ErrorBody)))]
pub(crate) async fn create(State(app): State<App>, body: Result<Json<NewSession>, JsonRejection>) -> ApiResult<impl IntoResponse> {
    let Json(new) = body?;
    check_title(new.title.as_deref())?;
    if new.agent_session_id.as_ref().is_some_and(|id| id.len() > AGENT_SESSION_MAX) {
        return Err(invalid(format!("`agent_session_id` is longer than {AGENT_SESSION_MAX} bytes")));
    }
    if new.id.is_some_and(|SessionId(id)| !matches!(id.get_version_num(), 4 | 7)) {
        return Err(invalid("`id` is not a UUID of version 4 or 7"));
    }
    let wanted = Wanted {
        id: new.id,
        title: new.title,
        work_dir: new.work_dir.map(Into::into),
        model: new.model,
        agent: new.agent,
        permission_policy: new.permission_policy,
        agent_session: new.agent_session_id,
    };
    let (status, untold, row) = match app.engine.made_before(&wanted).await? {
        Some(found) => (StatusCode::OK, Some(Extension(Untold)), found),
        None => (StatusCode::CREATED, None, app.engine.create(wanted).await?),
    };
    // Not its title: this entry stays when the session is deleted.
    let detail = format!("session {}", row.id);
    Ok((status, untold, Extension(Detail(detail)), Json(SessionView::new(&app, row))))
}

#[utoipa::path(get, operation_id = "sessions_read", path = "/api/sessions/{id}", params(("id" = SessionId, Path)),
    responses((status = 200, body = SessionView), (status = 404, body = ErrorBody)))]
pub(crate) async fn read(State(app): State<App>, Id(session): Id<SessionId>) -> ApiResult<Json<SessionView>> {
    let row = app.engine.row(session).await?;
    Ok(Json(SessionView::new(&app, row)))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SessionPatch {
    pub title: Option<String>,
    pub model: Option<String>,
    pub agent: Option<String>,
    /// `null` leaves it to the server's setting again.
    #[serde(default, deserialize_with = "domain::event::given")]
    #[schema(value_type = Option<Policy>)]
    pub permission_policy: Option<Option<Policy>>,
    pub pinned: Option<bool>,
    pub archived: Option<bool>,
    pub muted: Option<bool>,
    /// Somebody looks at it: what has ended so far is seen.
    pub seen: Option<bool>,
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
    if patch.seen == Some(false) {
        return Err(invalid("`seen` can only be set: what was seen cannot be unseen"));
    }
    let change = SessionChange {
        title: patch.title,
        model: patch.model,
        agent: patch.agent,
        permission_policy: patch.permission_policy,
        ..SessionChange::default()
    };
    let marks = Marks { pinned: patch.pinned, archived: patch.archived, muted: patch.muted, seen: patch.seen.is_some() };
    let detail = told(&change, marks);
    let (changes, marked) = (change != SessionChange::default(), marks != Marks::default());
    let row = match (changes, marked) {
        (true, true) => {
            app.engine.change(session, change).await?;
            app.engine.mark(session, marks).await?
        }
        (false, true) => app.engine.mark(session, marks).await?,
        (_, false) => app.engine.change(session, change).await?,
    };
    // Looking at a session is nothing that anybody would want to look up.
    let untold = (!changes && marks == Marks { seen: true, ..Marks::default() }).then_some(Extension(Untold));
    Ok((untold, Extension(Detail(detail)), Json(SessionView::new(&app, row))))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct DeleteQuery {
    /// Also what the session's agents keep of it by themselves, where they can delete it. This starts them for as long as it takes.
    #[serde(default)]
    agent_records: bool,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Deleted {
    /// What agents still keep of the session, although it was to be deleted.
    pub kept_records: Vec<KeptRecord>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct KeptRecord {
    /// The agent's name, as people see it.
    pub agent: String,
    pub reason: String,
}

#[utoipa::path(delete, operation_id = "sessions_delete", path = "/api/sessions/{id}", params(("id" = SessionId, Path), DeleteQuery),
    responses((status = 200, body = Deleted, description = "It is deleted, and an agent still keeps something of it."), (status = 204),
        (status = 400, body = ErrorBody), (status = 404, body = ErrorBody)))]
pub(crate) async fn delete(
    State(app): State<App>,
    Id(session): Id<SessionId>,
    query: Result<Query<DeleteQuery>, QueryRejection>,
) -> ApiResult<Response> {
    let Query(query) = query?;
    let kept = app.engine.delete(session, query.agent_records).await?;
    if kept.is_empty() {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let kept_records = kept.into_iter().map(|kept| KeptRecord { agent: kept.agent, reason: kept.reason }).collect();
    Ok(Json(Deleted { kept_records }).into_response())
}

/// What was changed, for the audit log.
fn told(change: &SessionChange, marks: Marks) -> String {
    let fields = serde_json::to_value(change).unwrap_or_default();
    let mut given: Vec<_> =
        fields.as_object().into_iter().flatten().map(|(name, value)| format!("{name} {}", value.as_str().unwrap_or("default"))).collect();
    let mark = |set: Option<bool>, yes: &str, no: &str| set.map(|set| if set { yes.to_owned() } else { no.to_owned() });
    given.extend(mark(marks.pinned, "pinned", "unpinned"));
    given.extend(mark(marks.archived, "archived", "brought back"));
    given.extend(mark(marks.muted, "muted", "unmuted"));
    given.join(", ")
}

pub(crate) fn check_title(title: Option<&str>) -> ApiResult<()> {
    match title {
        Some(title) if title.len() > TITLE_MAX => Err(invalid(format!("the title is longer than {TITLE_MAX} bytes"))),
        _ => Ok(()),
    }
}
