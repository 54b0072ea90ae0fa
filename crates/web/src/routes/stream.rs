//! The event stream.

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use domain::event::Event;
use domain::ids::SessionId;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::{ApiResult, ErrorBody, invalid};
use crate::id::Id;
use crate::{App, sse};

/// How many sessions one stream may be of.
const SESSIONS_MAX: usize = 64;

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct StreamQuery {
    /// The last event that the client has, where it cannot send `Last-Event-ID`.
    after: Option<String>,
}

/// Server-sent events: a snapshot, or exactly what follows the given event, then everything as it happens.
#[utoipa::path(get, operation_id = "stream", path = "/api/sessions/{id}/stream", params(("id" = SessionId, Path), StreamQuery),
    responses((status = 200, description = "the events, one JSON object each", body = Event, content_type = "text/event-stream"),
              (status = 404, body = ErrorBody)))]
pub(crate) async fn stream(
    State(app): State<App>,
    Id(session): Id<SessionId>,
    headers: HeaderMap,
    query: Result<Query<StreamQuery>, QueryRejection>,
) -> ApiResult<Response> {
    let Query(query) = query?;
    let header =
        headers.get("last-event-id").map(|value| value.to_str().map_err(|_| invalid("`Last-Event-ID` is not a number"))).transpose()?;
    // A browser repeats the address with its old `after` when it reconnects; the header is newer.
    let cursor = header.filter(|text| !text.is_empty()).map(str::to_owned).or(query.after).map(|text| parse(&text)).transpose()?;
    sse::open(&app, session, cursor).await
}

fn parse(text: &str) -> ApiResult<u64> {
    text.trim().parse().map_err(|_| invalid(format!("`{text}` is not the id of an event")))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ManyQuery {
    /// The sessions, with commas between them; each may have `:` and the last event that the client has of it. At most 64.
    s: Option<String>,
}

/// The events of several sessions and of the list in one response. Each event of a session has a line `session: <id>` and is otherwise
/// what the session's own stream sends; `gone` says that there is no such session. `sessions` holds a row of the list that has changed,
/// `sessions-gone` the id of one that was deleted. What happened to the list before is not told: read it once this has answered.
#[utoipa::path(get, operation_id = "stream_many", path = "/api/stream", params(ManyQuery),
    responses((status = 200, description = "the events, one JSON object each", body = Event, content_type = "text/event-stream"),
              (status = 400, body = ErrorBody)))]
pub(crate) async fn many(State(app): State<App>, query: Result<Query<ManyQuery>, QueryRejection>) -> ApiResult<Response> {
    let Query(query) = query?;
    Ok(sse::open_many(&app, wanted(query.s.as_deref().unwrap_or_default())?))
}

fn wanted(text: &str) -> ApiResult<Vec<sse::Wanted>> {
    let mut wanted: Vec<sse::Wanted> = Vec::new();
    for one in text.split(',').map(str::trim).filter(|one| !one.is_empty()) {
        let (id, after) = one.split_once(':').map_or((one, None), |(id, after)| (id, Some(after)));
        let session = id.parse().map_err(|_| invalid("`s` names something that is not the id of a session"))?;
        if wanted.iter().any(|known| known.session == session) {
            return Err(invalid(format!("`s` names session {session} twice")));
        }
        if wanted.len() == SESSIONS_MAX {
            return Err(invalid(format!("`s` names more than {SESSIONS_MAX} sessions")));
        }
        wanted.push(sse::Wanted { session, after: after.map(parse).transpose()? });
    }
    Ok(wanted)
}
