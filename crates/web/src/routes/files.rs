//! The files of a session's work directory, found while somebody types.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use domain::ids::SessionId;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::App;
use crate::error::{ApiResult, ErrorBody, invalid};
use crate::id::Id;

const MOST: usize = 20;
const QUERY_MAX: usize = 200;

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct FileQuery {
    /// A part of the path.
    #[serde(default)]
    query: String,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Files {
    /// Relative to the work directory, the best first; directories end in a slash.
    pub paths: Vec<String>,
}

#[utoipa::path(get, operation_id = "files_search", path = "/api/sessions/{id}/files", params(("id" = SessionId, Path), FileQuery),
    responses((status = 200, body = Files), (status = 400, body = ErrorBody), (status = 404, body = ErrorBody)))]
pub(crate) async fn search(
    State(app): State<App>,
    Id(session): Id<SessionId>,
    query: Result<Query<FileQuery>, QueryRejection>,
) -> ApiResult<Json<Files>> {
    let Query(query) = query?;
    if query.query.len() > QUERY_MAX {
        return Err(invalid(format!("`query` is longer than {QUERY_MAX} bytes")));
    }
    let paths = app.engine.search_files(session, &query.query, MOST).await?;
    Ok(Json(Files { paths }))
}
