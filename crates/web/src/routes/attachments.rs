//! What is sent along with messages: how it comes in, and how it is shown again.

use axum::body::Body;
use axum::extract::State;
use axum::http::header::{self, HeaderValue};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::attachment::AttachmentKind;
use domain::ids::{AttachmentId, SessionId};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::App;
use crate::error::{ApiError, ApiResult, ErrorBody, not_found};
use crate::id::Id;

const FILE_TYPE: &str = "application/octet-stream";
/// Nothing that was uploaded may run, load or frame anything, whatever it turns out to be.
const CSP: &str = "default-src 'none'; sandbox; frame-ancestors 'none'";

#[derive(Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum NewAttachment {
    /// A PNG, JPEG, GIF or WebP image.
    Image {
        name: String,
        mime_type: String,
        /// In base64.
        data: String,
    },
    /// A file, as text or in base64.
    File { name: String, mime_type: Option<String>, text: Option<String>, data: Option<String> },
    /// A file or directory inside the session's work directory.
    Path { path: String },
}

impl NewAttachment {
    pub(crate) fn decode(self) -> ApiResult<engine::NewAttachment> {
        Ok(match self {
            NewAttachment::Image { name, mime_type, data } => {
                let data = bytes(&name, &data)?;
                engine::NewAttachment::Image { name, mime_type, data }
            }
            NewAttachment::File { name, mime_type, text, data } => {
                let (default, data) = match (text, data) {
                    (Some(text), None) => ("text/plain", text.into_bytes()),
                    (None, Some(data)) => (FILE_TYPE, bytes(&name, &data)?),
                    _ => return Err(unreadable(format!("the file `{name}` needs either `text` or `data`"))),
                };
                engine::NewAttachment::File { name, mime_type: mime_type.unwrap_or_else(|| default.to_owned()), data }
            }
            NewAttachment::Path { path } => engine::NewAttachment::Path { path },
        })
    }
}

fn bytes(name: &str, base64: &str) -> ApiResult<Vec<u8>> {
    STANDARD.decode(base64).map_err(|error| unreadable(format!("the data of `{name}` is not base64: {error}")))
}

fn unreadable(message: String) -> ApiError {
    ApiError::new(axum::http::StatusCode::UNPROCESSABLE_ENTITY, "invalid", message)
}

/// The bytes of an attachment: an image to be shown, anything else to be saved.
#[utoipa::path(get, operation_id = "attachments_read", path = "/api/sessions/{id}/attachments/{attachment_id}",
    params(("id" = SessionId, Path), ("attachment_id" = AttachmentId, Path)),
    responses((status = 200, content_type = "application/octet-stream"), (status = 404, body = ErrorBody)))]
pub(crate) async fn read(State(app): State<App>, Id(session): Id<SessionId>, Id(attachment): Id<AttachmentId>) -> ApiResult<Response> {
    let row = app.engine.store().attachment(session, attachment).await?;
    let row = row.filter(|row| row.about.kind != AttachmentKind::Path).ok_or_else(|| not_found("attachment"))?;
    // An image has been looked at when it came in; what else calls itself something is not believed.
    let shown = row.about.kind == AttachmentKind::Image;
    let kind = if shown { row.about.mime_type.as_str() } else { FILE_TYPE };
    let disposition = if shown { "inline".to_owned() } else { format!("attachment; filename*=UTF-8''{}", encoded(&row.about.name)) };
    let mut response = Body::from(row.data.to_vec()).into_response();
    let headers = response.headers_mut();
    for (name, value) in [(header::CONTENT_TYPE, kind), (header::CONTENT_DISPOSITION, &disposition)] {
        headers.insert(name, HeaderValue::from_str(value).unwrap_or(HeaderValue::from_static(FILE_TYPE)));
    }
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(CSP));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, max-age=31536000, immutable"));
    Ok(response)
}

/// An image of the project. What is on the disk changes, so nobody keeps it.
pub(super) fn picture_response(picture: engine::Picture) -> Response {
    let mut response = Body::from(picture.bytes).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(picture.mime_type));
    headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_static("inline"));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(CSP));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    response
}

/// A file name in a header: bytes that mean something there are written as numbers.
fn encoded(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    name.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}
