//! The files of a session's work directory: found while somebody types, and looked at.

use axum::Json;
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{Query, State};
use axum::response::Response;
use domain::ids::SessionId;
use engine::FileView;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::attachments::picture_response;
use crate::App;
use crate::error::{ApiResult, ErrorBody, invalid};
use crate::id::Id;

const MOST: usize = 20;
const QUERY_MAX: usize = 200;
const PATH_MAX: usize = 4096;
/// So many paths are looked up at once.
const PATHS_MAX: usize = 200;

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

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PathQuery {
    /// Relative to the work directory, or absolute and inside it.
    path: String,
}

/// A file to be read by a person.
#[utoipa::path(get, operation_id = "files_view", path = "/api/sessions/{id}/files/view", params(("id" = SessionId, Path), PathQuery),
    responses((status = 200, body = FileView), (status = 400, body = ErrorBody), (status = 404, body = ErrorBody), (status = 422, body = ErrorBody)))]
pub(crate) async fn view(
    State(app): State<App>,
    Id(session): Id<SessionId>,
    query: Result<Query<PathQuery>, QueryRejection>,
) -> ApiResult<Json<FileView>> {
    let Query(PathQuery { path }) = query?;
    Ok(Json(app.engine.view_file(session, checked(path)?).await?))
}

/// An image of the work directory.
#[utoipa::path(get, operation_id = "files_picture", path = "/api/sessions/{id}/files/picture", params(("id" = SessionId, Path), PathQuery),
    responses((status = 200, content_type = "application/octet-stream"), (status = 404, body = ErrorBody), (status = 422, body = ErrorBody)))]
pub(crate) async fn picture(
    State(app): State<App>,
    Id(session): Id<SessionId>,
    query: Result<Query<PathQuery>, QueryRejection>,
) -> ApiResult<Response> {
    let Query(PathQuery { path }) = query?;
    Ok(picture_response(app.engine.view_picture(session, checked(path)?).await?))
}

#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Paths {
    pub paths: Vec<String>,
}

/// Which of these paths are files that can be looked at.
#[utoipa::path(post, operation_id = "files_viewable", path = "/api/sessions/{id}/files/viewable", params(("id" = SessionId, Path)),
    request_body = Paths, responses((status = 200, body = Paths), (status = 400, body = ErrorBody), (status = 404, body = ErrorBody)))]
pub(crate) async fn viewable(
    State(app): State<App>,
    Id(session): Id<SessionId>,
    body: Result<Json<Paths>, JsonRejection>,
) -> ApiResult<Json<Paths>> {
    let Json(Paths { paths }) = body?;
    if paths.len() > PATHS_MAX {
        return Err(invalid(format!("`paths` has more than {PATHS_MAX} entries")));
    }
    let paths = paths.into_iter().map(checked).collect::<ApiResult<_>>()?;
    Ok(Json(Paths { paths: app.engine.viewable(session, paths).await? }))
}

fn checked(path: String) -> ApiResult<String> {
    if path.is_empty() || path.len() > PATH_MAX { Err(invalid("`path` names no file")) } else { Ok(path) }
}
