//! Refuses a message that would cost many times its text once it is read: every value of it is a tree's leaf in memory.

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;

use crate::App;
use crate::error::{ApiError, ApiResult};

/// More than any tool takes.
const VALUES_MAX: usize = 10_000;
/// The text behind such a key would be read as JSON of its own.
const PARSED_KEY: &[u8] = b"$serde_json::private::RawValue";

/// The body is read here: the library takes one that breaks off for a fault of the server.
pub(super) async fn only(request: Request, app: &App) -> ApiResult<Request> {
    let (parts, body) = request.into_parts();
    let text = Bytes::from_request(Request::from_parts(parts.clone(), body), app).await?;
    if !is_simple(&text) {
        let message = format!("a message may have {VALUES_MAX} values, and plain names for them");
        return Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message));
    }
    Ok(Request::from_parts(parts, Body::from(text)))
}

fn is_simple(json: &[u8]) -> bool {
    let (mut at, mut values) = (0, 0);
    while let Some(byte) = json.get(at) {
        match byte {
            b'"' => {
                let from = at + 1;
                at = end_of_text(json, from);
                let follows = json.get(at + 1..).unwrap_or_default().iter().find(|byte| !byte.is_ascii_whitespace());
                let text = json.get(from..at).unwrap_or_default();
                if follows == Some(&b':') && (text == PARSED_KEY || text.contains(&b'\\')) {
                    return false;
                }
            }
            b',' | b'{' | b'[' => values += 1,
            _ => {}
        }
        at += 1;
    }
    values <= VALUES_MAX
}

/// Where the quotation mark is that ends it.
fn end_of_text(json: &[u8], mut at: usize) -> usize {
    while let Some(byte) = json.get(at) {
        match byte {
            b'"' => break,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_messages_of_few_values_are_read() {
        let prose = format!(r#"{{"a":"{}\"{{[,"}}"#, "so, it, goes [on] ".repeat(50_000));
        for fine in [r#"{"method":"tools/call","params":{"arguments":{"a": ["x\\ny"]}}}"#, &prose, "", "{", "\"", "\"\\"] {
            assert!(is_simple(fine.as_bytes()), "{fine:.60}");
        }
        let numbers = format!("[{}1]", "1,".repeat(20_000));
        let hidden = |key: &str| format!(r#"{{"a":{{"{key}" : "{numbers}"}}}}"#);
        let many =
            [numbers.clone(), "{".repeat(20_000), hidden("$serde_json::private::RawValue"), hidden(r"\u0024serde_json::private::RawValue")];
        for refused in many {
            assert!(!is_simple(refused.as_bytes()), "{refused:.60}");
        }
    }
}
