//! The one error of the HTTP side: a status, a code for programs, a sentence for people, and a source that only the log sees.
//!
//! A sentence never says where something lies on the server: of a path only the last part is left.

use std::borrow::Cow;

use axum::Json;
use axum::extract::State;
use axum::extract::rejection::{BytesRejection, JsonRejection, QueryRejection};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use engine::Refusal;
use serde::Serialize;
use store::StoreError;
use utoipa::ToSchema;

use crate::App;

type Source = Box<dyn std::error::Error + Send + Sync>;

#[derive(Debug)]
pub(crate) struct ApiError {
    status: StatusCode,
    code: &'static str,
    message: String,
    source: Option<Source>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ErrorBody {
    pub error: ErrorDetail,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ErrorDetail {
    pub code: String,
    pub message: String,
}

pub(crate) type ApiResult<T> = Result<T, ApiError>;

pub(crate) fn not_found(what: &str) -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, "not_found", format!("{what} not found"))
}

pub(crate) fn invalid(message: impl Into<String>) -> ApiError {
    ApiError::new(StatusCode::BAD_REQUEST, "invalid", message)
}

impl ApiError {
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> ApiError {
        ApiError { status, code, message: message.into(), source: None }
    }

    pub(crate) fn internal(source: impl Into<Source>) -> ApiError {
        let message = "internal error: see the server's log";
        ApiError { source: Some(source.into()), ..ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message) }
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> ApiError {
        match refusal {
            Refusal::NotFound(what) => not_found(what),
            Refusal::Conflict(message) => ApiError::new(StatusCode::CONFLICT, "conflict", message),
            Refusal::Changed(message) => ApiError::new(StatusCode::CONFLICT, "changed", message),
            Refusal::NoProvider(message) => ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "no_provider", message),
            Refusal::NoModel(message) => ApiError::new(StatusCode::CONFLICT, "no_model", message),
            Refusal::Invalid(message) => ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", message),
            Refusal::TooLarge(message) => ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message),
            Refusal::NoRoom(message) => ApiError::new(StatusCode::INSUFFICIENT_STORAGE, "quota", message),
            Refusal::Unavailable(message) => ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", message),
            Refusal::Store(error) => error.into(),
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> ApiError {
        match error {
            StoreError::NoSession(_) => not_found("session"),
            StoreError::Full => {
                let message = "the disk is full, so nothing was stored: free some space and try again";
                ApiError { source: Some(error.into()), ..ApiError::new(StatusCode::INSUFFICIENT_STORAGE, "disk_full", message) }
            }
            StoreError::Closed => ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", "the server is stopping"),
            other => ApiError::internal(other),
        }
    }
}

impl From<JsonRejection> for ApiError {
    fn from(rejection: JsonRejection) -> ApiError {
        let status = rejection.status();
        let code = if status == StatusCode::PAYLOAD_TOO_LARGE { "too_large" } else { "invalid" };
        ApiError::new(status, code, rejection.body_text())
    }
}

impl From<BytesRejection> for ApiError {
    fn from(rejection: BytesRejection) -> ApiError {
        let status = rejection.status();
        let code = if status == StatusCode::PAYLOAD_TOO_LARGE { "too_large" } else { "invalid" };
        ApiError::new(status, code, rejection.body_text())
    }
}

impl From<QueryRejection> for ApiError {
    fn from(rejection: QueryRejection) -> ApiError {
        invalid(rejection.body_text())
    }
}

/// Gives the errors that the framework makes by itself (no such method, a body too large) the form that all others have.
pub(crate) fn shaped(response: Response) -> Response {
    let status = response.status();
    let is_json = response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
    if is_json || !(status.is_client_error() || status.is_server_error()) {
        return response;
    }
    let (code, message) = match status {
        StatusCode::NOT_FOUND => ("not_found", "there is no such call"),
        StatusCode::METHOD_NOT_ALLOWED => ("method_not_allowed", "this call does not know that method"),
        StatusCode::PAYLOAD_TOO_LARGE => ("too_large", "the body is too large"),
        _ => ("invalid", "invalid request"),
    };
    let mut error = ApiError::new(status, code, message).into_response();
    if let Some(allowed) = response.headers().get(header::ALLOW) {
        error.headers_mut().insert(header::ALLOW, allowed.clone());
    }
    error
}

impl ApiError {
    /// The sentence for people. What only the log may see is told there.
    pub(crate) fn told(&self) -> Cow<'_, str> {
        if let Some(source) = &self.source {
            tracing::error!(code = self.code, error = %source, "a request failed");
        }
        let message = without_places(&self.message);
        if let Cow::Owned(_) = message {
            tracing::info!(code = self.code, error = %self.message, "a request was refused; the answer does not name the path");
        }
        message
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let message = self.told().into_owned();
        let body = ErrorBody { error: ErrorDetail { code: self.code.to_owned(), message } };
        let mut response = (self.status, Json(body)).into_response();
        response.extensions_mut().insert(Code(self.code));
        response
    }
}

/// Goes along with a refusal, for whoever counts them.
#[derive(Clone, Copy)]
struct Code(&'static str);

/// Counts an answer, and what went wrong where it is our own fault.
pub(crate) async fn count(State(app): State<App>, response: Response) -> Response {
    let status = response.status();
    app.engine.metrics().answered(status.as_u16());
    if status.is_server_error() {
        app.engine.metrics().errors.count(response.extensions().get().map_or("http", |Code(code)| code));
    }
    response
}

/// Of every absolute path only its last part. The texts come from everywhere (programs, agents, the system), so this is the one place
/// where all of them pass.
fn without_places(text: &str) -> Cow<'_, str> {
    let mut shown = String::new();
    let mut rest = text;
    let mut before = ' ';
    while let Some(at) = rest.find('/') {
        let (plain, path) = rest.split_at(at);
        before = plain.chars().next_back().unwrap_or(before);
        // `and/or`, `https://…` and `src/main.rs` are no absolute paths.
        let begins = before.is_whitespace() || "'\"`(“‘=:,".contains(before) && !path.starts_with("//");
        let end = path.find(|c: char| c.is_whitespace() || "'\"`)”’:,;".contains(c)).unwrap_or(path.len());
        let (path, later) = path.split_at(end);
        shown.push_str(plain);
        let last = path.trim_end_matches(['/', '.']).rsplit('/').next().unwrap_or_default();
        let is_place = begins && !last.is_empty() && path[1..].contains('/') && !path.starts_with("/api/");
        if is_place {
            shown.push_str(last);
            shown.push_str(if path.ends_with('.') { "." } else { "" });
        } else {
            shown.push_str(path);
        }
        before = path.chars().next_back().unwrap_or(before);
        rest = later;
    }
    shown.push_str(rest);
    if shown == text { Cow::Borrowed(text) } else { Cow::Owned(shown) }
}

#[cfg(test)]
mod tests {
    use super::without_places;

    #[test]
    fn of_a_path_only_the_last_part_is_shown() {
        for (text, shown) in [
            ("the work directory /srv/people/ada/work does not exist", "the work directory work does not exist"),
            ("there is no program `/usr/local/bin/copilot`: install it", "there is no program `copilot`: install it"),
            (
                "token file /home/ada/.token can be read: run chmod 600 /home/ada/.token",
                "token file .token can be read: run chmod 600 .token",
            ),
            ("reading '/a/b c/d' failed: /x/y.", "reading 'b c/d' failed: y."),
            ("cwd=/a/b,dir:/c/d", "cwd=b,dir:d"),
            ("/a/b", "b"),
        ] {
            assert_eq!(without_places(text), shown);
        }
    }

    #[test]
    fn what_is_no_path_of_the_server_stays() {
        for text in [
            "and/or, src/main.rs, application/json, https://host/a/b and http://[::1]:80/x/y",
            "use POST /api/sessions/x instead, or type /help",
            "`/`, / and // are nothing",
            "“ä/ö” and /ä",
        ] {
            assert_eq!(without_places(text), text);
        }
    }
}
