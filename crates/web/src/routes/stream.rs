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
