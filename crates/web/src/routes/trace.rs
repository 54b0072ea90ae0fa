//! The raw traffic between us and the agents of a session: a page of it, one line whole, or all of it as a capture.

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use domain::ids::SessionId;
use domain::trace::{Direction, Kind};
use engine::{Capture, Entry, Filter, Payload, TraceCursor, TracedRunner};
use futures::Stream;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::App;
use crate::error::{ApiResult, ErrorBody, invalid};
use crate::id::Id;

const PAGE: usize = 100;
const PAGE_MAX: usize = 500;
/// A longer payload is cut in a page: `GET …/trace/{runner}/{seq}` gives the whole.
const PAYLOAD_MAX: usize = 8 * 1024;
const PREVIEW: usize = 2 * 1024;

#[derive(Serialize, ToSchema)]
pub(crate) struct TraceEntry {
    /// The process of the agent, by its runner's id.
    #[schema(value_type = String, format = "uuid")]
    pub runner: Uuid,
    /// Counts the lines of that process.
    pub seq: u64,
    #[schema(value_type = String, format = "date-time")]
    pub at: Timestamp,
    pub direction: Direction,
    pub kind: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<Value>,
    /// The line with its secrets masked: JSON, or a text where it is none or was cut.
    #[schema(value_type = Value)]
    pub payload: Box<RawValue>,
    pub cut: bool,
    /// The length of the line in bytes.
    pub size: u64,
}

/// A process of the agent, and what is kept of its traffic.
#[derive(Serialize, ToSchema)]
pub(crate) struct TraceRunner {
    #[schema(value_type = String, format = "uuid")]
    pub runner: Uuid,
    pub running: bool,
    /// Above 1 where the beginning is no longer kept, missing where nothing is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_seq: Option<u64>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct TraceList {
    /// Newest first.
    pub entries: Vec<TraceEntry>,
    /// Give it back as `before` to go on; missing where nothing older is kept. A page that is not full may have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Newest first.
    pub runners: Vec<TraceRunner>,
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct TraceQuery {
    before: Option<String>,
    limit: Option<usize>,
    #[param(inline)]
    direction: Option<Direction>,
    /// A part of the method, or of the id of an answer.
    method: Option<String>,
    /// A part of the line as it is shown.
    text: Option<String>,
    /// Only lines of that time, in ms since 1970, both inclusive.
    from_ms: Option<u64>,
    until_ms: Option<u64>,
}

#[utoipa::path(get, operation_id = "trace_list", path = "/api/sessions/{id}/trace", params(("id" = SessionId, Path), TraceQuery),
    responses((status = 200, body = TraceList), (status = 400, body = ErrorBody), (status = 404, body = ErrorBody)))]
pub(crate) async fn list(
    State(app): State<App>,
    Id(session): Id<SessionId>,
    query: Result<Query<TraceQuery>, QueryRejection>,
) -> ApiResult<Json<TraceList>> {
    let Query(query) = query?;
    let before = query.before.as_deref().map(parse_cursor).transpose()?;
    let limit = query.limit.unwrap_or(PAGE).clamp(1, PAGE_MAX);
    let given = |text: Option<String>| text.filter(|text| !text.is_empty());
    let TraceQuery { direction, from_ms, until_ms, .. } = query;
    let filter = Filter { direction, method: given(query.method), text: given(query.text), from_ms, until_ms };
    let page = app.engine.trace(session, before, limit, filter, app.access.secret()).await?;
    Ok(Json(TraceList {
        entries: page.entries.into_iter().map(|(runner, entry)| view(runner, entry, Some(PAYLOAD_MAX))).collect(),
        next: page.next.map(|place| format!("{}_{}", place.runner, place.seq)),
        runners: page.runners.into_iter().map(TraceRunner::from).collect(),
    }))
}

#[utoipa::path(get, operation_id = "trace_entry", path = "/api/sessions/{id}/trace/{runner}/{seq}",
    params(("id" = SessionId, Path), ("runner" = String, Path), ("seq" = u64, Path)),
    responses((status = 200, body = TraceEntry), (status = 404, body = ErrorBody)))]
pub(crate) async fn entry(
    State(app): State<App>,
    Id(session): Id<SessionId>,
    Id(runner): Id<Uuid>,
    Id(seq): Id<u64>,
) -> ApiResult<Json<TraceEntry>> {
    let place = TraceCursor { runner, seq };
    let entry = app.engine.trace_entry(session, place, app.access.secret()).await?;
    Ok(Json(view(place.runner, entry, None)))
}

/// Everything that is kept, oldest first, one JSON object a line: `t` in seconds, `dir` `>` to the agent, `<` from it, `#` a remark,
/// and `msg`. The faulty agent of the tests plays such a file back.
#[utoipa::path(get, operation_id = "trace_capture", path = "/api/sessions/{id}/trace/capture", params(("id" = SessionId, Path)),
    responses((status = 200, description = "one JSON object a line", body = String, content_type = "application/x-ndjson"),
              (status = 404, body = ErrorBody)))]
pub(crate) async fn capture(State(app): State<App>, Id(session): Id<SessionId>) -> ApiResult<Response> {
    let capture = app.engine.trace_capture(session, app.access.secret()).await?;
    let name = format!("attachment; filename=\"voxpilot-{session}.ndjson\"");
    let headers = [(header::CONTENT_TYPE, "application/x-ndjson".to_owned()), (header::CONTENT_DISPOSITION, name)];
    Ok((headers, Body::from_stream(pieces(capture))).into_response())
}

fn pieces(capture: Capture) -> impl Stream<Item = std::io::Result<Bytes>> {
    futures::stream::try_unfold(capture, |mut capture| async move {
        let piece = capture.next().await.map_err(std::io::Error::other)?;
        Ok(piece.map(|piece| (Bytes::from(piece), capture)))
    })
}

fn view(runner: Uuid, entry: Entry, payload_max: Option<usize>) -> TraceEntry {
    let text = entry.payload.text();
    let cut = payload_max.is_some_and(|most| text.len() > most);
    let payload = match &entry.payload {
        _ if cut => text_value(&text[..text.floor_char_boundary(PREVIEW)]),
        Payload::Json(raw) => raw.clone(),
        Payload::Text(text) => text_value(text),
    };
    TraceEntry {
        runner,
        seq: entry.seq,
        at: i64::try_from(entry.time_ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok()).unwrap_or_default(),
        direction: entry.direction,
        kind: entry.kind,
        method: entry.method,
        id: entry.id.and_then(|id| serde_json::to_value(id).ok()),
        payload,
        cut,
        size: entry.bytes,
    }
}

fn text_value(text: &str) -> Box<RawValue> {
    to_raw_value(text).expect("a text can always be written as JSON")
}

fn parse_cursor(text: &str) -> ApiResult<TraceCursor> {
    let parsed = text.split_once('_').and_then(|(runner, seq)| Some(TraceCursor { runner: runner.parse().ok()?, seq: seq.parse().ok()? }));
    parsed.ok_or_else(|| invalid("`before` is not a cursor of this list"))
}

impl From<TracedRunner> for TraceRunner {
    fn from(runner: TracedRunner) -> TraceRunner {
        TraceRunner { runner: runner.id, running: runner.running, first_seq: runner.first_seq }
    }
}
