//! Looking for words in everything that was said.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use domain::event::Role;
use domain::ids::{MessageId, SessionId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::App;
use crate::error::{ApiResult, ErrorBody, invalid};

const MOST: u32 = 50;
/// In characters.
const QUERY_MIN: usize = 2;
const QUERY_MAX: usize = 200;

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SearchQuery {
    /// In whatever case; 2 to 200 characters.
    query: String,
    /// At most 50.
    limit: Option<u32>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct SearchHit {
    pub session_id: SessionId,
    /// Of the session.
    pub title: String,
    /// `null` where it is the title that was found, and so is `role`.
    pub message_id: Option<MessageId>,
    pub role: Option<Role>,
    /// Of the call whose result the message is: people see what it holds there.
    pub tool_call_id: Option<String>,
    /// What is around it, as plain text in one line.
    pub excerpt: String,
    #[schema(value_type = String, format = "date-time")]
    pub at: Timestamp,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct SearchResult {
    /// Of the sessions that were active last first, and of each its latest messages first.
    pub hits: Vec<SearchHit>,
    /// There may be others.
    pub more: bool,
}

#[utoipa::path(get, operation_id = "search", path = "/api/search", params(SearchQuery),
    responses((status = 200, body = SearchResult), (status = 400, body = ErrorBody)))]
pub(crate) async fn search(State(app): State<App>, query: Result<Query<SearchQuery>, QueryRejection>) -> ApiResult<Json<SearchResult>> {
    let Query(query) = query?;
    let sought = query.query.trim();
    if !(QUERY_MIN..=QUERY_MAX).contains(&sought.chars().count()) {
        return Err(invalid(format!("`query` has to have {QUERY_MIN} to {QUERY_MAX} characters")));
    }
    let limit = query.limit.unwrap_or(MOST).clamp(1, MOST);
    let found = app.engine.store().search(sought, limit as usize).await?;
    let hit = |hit: store::Hit| {
        let (message_id, role) = hit.message.unzip();
        SearchHit { session_id: hit.session, title: hit.title, message_id, role, tool_call_id: hit.call, excerpt: hit.excerpt, at: hit.at }
    };
    Ok(Json(SearchResult { hits: found.hits.into_iter().map(hit).collect(), more: found.more }))
}
