//! How the server does, for whoever watches it from outside.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use crate::App;

const KIND: &str = "text/plain; version=0.0.4; charset=utf-8";

/// What is in memory, and a few lines of the system's: it may be asked for often.
#[utoipa::path(
    get,
    operation_id = "metrics",
    path = "/metrics",
    responses((status = 200, description = "The server's numbers in the text format of Prometheus.", body = String, content_type = "text/plain"))
)]
pub(crate) async fn read(State(app): State<App>) -> Response {
    ([(header::CONTENT_TYPE, KIND)], app.engine.pulse()).into_response()
}
