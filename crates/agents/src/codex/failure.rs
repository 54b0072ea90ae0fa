//! Why a turn failed, and what the errors of this dialect mean: it has one code for all of them.

use domain::text::clip;
use serde_json::{Value, json};

use crate::bounds::is_longer;
use crate::fault::{self, NOT_FOUND};
use crate::jsonrpc::{ErrorObject, METHOD_NOT_FOUND};

const INVALID_REQUEST: i64 = -32600;
const WORDS_BYTES: usize = 8 * 1024;

/// The error with the code that JSON-RPC and ACP have for what its words say.
pub(super) fn rejected(mut error: ErrorObject) -> ErrorObject {
    if error.code != INVALID_REQUEST {
        return error;
    }
    let says = |words: &str| error.message.contains(words);
    if says("no rollout found") || says("thread not found") {
        error.code = NOT_FOUND;
    } else if says("unknown variant") && says("`initialize`") {
        error.code = METHOD_NOT_FOUND;
        // What it would have known is the longer part of it.
        error.message.truncate(error.message.find(", expected one of").unwrap_or(error.message.len()));
    }
    error
}

/// What the end of the turn needs of an error, short enough to be kept until then.
pub(super) fn bounded(error: &Value) -> Value {
    let text = |key: &str| error[key].as_str().map(|text| clip(text, WORDS_BYTES));
    let kind = Some(&error["codexErrorInfo"]).filter(|kind| !is_longer(kind, WORDS_BYTES));
    json!({ "message": text("message"), "additionalDetails": text("additionalDetails"), "codexErrorInfo": kind })
}

/// Whether the turn failed for want of a login: only where the provider's own is not accepted and nothing was done yet. What a key of the
/// person's own is refused for (401) no login would mend, and a turn that has worked must not be sent again.
pub(super) fn wants_login(error: &Value, worked: bool) -> bool {
    error["codexErrorInfo"] == "unauthorized" && !worked
}

/// What it says, with its kind and the HTTP status where there is one.
pub(super) fn words(error: &Value) -> String {
    let mut words = error["message"].as_str().map_or_else(|| "the turn failed without a reason".to_owned(), fault::plain);
    if let Some(details) = error["additionalDetails"].as_str().filter(|details| !words.contains(details)) {
        words = format!("{words}: {details}");
    }
    match kind(&error["codexErrorInfo"]) {
        Some(kind) => format!("{words} ({kind})"),
        None => words,
    }
}

fn kind(info: &Value) -> Option<String> {
    match info {
        Value::String(kind) if kind != "other" => Some(kind.clone()),
        Value::Object(kinds) => {
            let (kind, detail) = kinds.iter().next()?;
            Some(match detail["httpStatusCode"].as_u64() {
                Some(status) => format!("{kind}, HTTP {status}"),
                None => kind.clone(),
            })
        }
        _ => None,
    }
}
