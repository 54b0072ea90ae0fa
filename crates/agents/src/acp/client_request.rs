//! What an agent asks of its client beside permissions: files, terminals, forms. Read leniently, kept as data, so that a server
//! that was restarted can take up a request that an earlier one had stored.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::jsonrpc::{self, INVALID_PARAMS, METHOD_NOT_FOUND};

/// The request was given up before it was done.
pub const CANCELLED: i64 = -32800;
/// What the request names is not there.
pub const NOT_FOUND: i64 = -32002;
/// The policy or a person said no.
pub const REFUSED: i64 = -32001;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "method", content = "params")]
pub enum ClientRequest {
    #[serde(rename = "fs/read_text_file")]
    ReadTextFile {
        path: String,
        /// The first line, counted from 1.
        line: Option<u64>,
        limit: Option<u64>,
    },
    #[serde(rename = "fs/write_text_file")]
    WriteTextFile { path: String, content: String },
    #[serde(rename = "terminal/create")]
    CreateTerminal(CreateTerminal),
    #[serde(rename = "terminal/output", rename_all = "camelCase")]
    TerminalOutput { terminal_id: String },
    #[serde(rename = "terminal/wait_for_exit", rename_all = "camelCase")]
    WaitForTerminalExit { terminal_id: String },
    #[serde(rename = "terminal/kill", rename_all = "camelCase")]
    KillTerminal { terminal_id: String },
    #[serde(rename = "terminal/release", rename_all = "camelCase")]
    ReleaseTerminal { terminal_id: String },
    #[serde(rename = "elicitation/create", rename_all = "camelCase")]
    Elicit { mode: String, message: String, requested_schema: Value },
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CreateTerminal {
    pub command: String,
    #[serde(default)]
    pub args: Option<Vec<String>>,
    #[serde(default)]
    pub env: Option<Vec<Variable>>,
    #[serde(default)]
    pub cwd: Option<String>,
    #[serde(default)]
    pub output_byte_limit: Option<u64>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Variable {
    pub name: String,
    pub value: String,
}

/// The one answer that a request gets, as it stands on the wire.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    Result(Value),
    Error { code: i64, message: String },
}

impl Answer {
    pub fn error(code: i64, message: impl Into<String>) -> Answer {
        Answer::Error { code, message: message.into() }
    }

    pub fn invalid(message: impl Into<String>) -> Answer {
        Answer::error(INVALID_PARAMS, message)
    }
}

/// The agent session it comes from and what it asks; the answer to give at once where that cannot be understood.
pub(super) fn read(method: &str, json: &str) -> Result<(String, ClientRequest), Answer> {
    let known = ["fs/", "terminal/", "elicitation/create"].iter().any(|prefix| method.starts_with(prefix));
    if !known {
        return Err(Answer::error(METHOD_NOT_FOUND, format!("\"Method not found\": {method}")));
    }
    let parsed = serde_json::from_str::<Value>(json).ok().or_else(|| serde_json::from_str(&jsonrpc::mend_surrogates(json)?).ok());
    let params = parsed.ok_or_else(|| Answer::invalid("Invalid params: not JSON"))?;
    let session = params["sessionId"].as_str().unwrap_or_default().to_owned();
    let is_form = method == "elicitation/create";
    if session.is_empty() && !is_form {
        return Err(Answer::invalid("Invalid params: sessionId is required"));
    }
    if is_form && params["mode"] != "form" {
        return Err(Answer::invalid("Invalid params: only the mode \"form\" is supported"));
    }
    let request = serde_json::from_value(json!({ "method": method, "params": params })).map_err(|error| {
        let message = error.to_string();
        match message.starts_with("unknown variant") {
            true => Answer::error(METHOD_NOT_FOUND, format!("\"Method not found\": {method}")),
            false => Answer::invalid(format!("Invalid params: {message}")),
        }
    })?;
    Ok((session, request))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn every_method_is_read_and_survives_being_stored() {
        for (method, params) in [
            ("fs/read_text_file", json!({ "sessionId": "s", "path": "/w/a", "line": 2 })),
            ("fs/write_text_file", json!({ "sessionId": "s", "path": "/w/a", "content": "x", "_meta": null })),
            ("terminal/create", json!({ "sessionId": "s", "command": "ls", "args": ["-l"], "env": [{ "name": "A", "value": "b" }] })),
            ("terminal/create", json!({ "sessionId": "s", "command": "ls", "args": null, "outputByteLimit": 10 })),
            ("terminal/output", json!({ "sessionId": "s", "terminalId": "t" })),
            ("terminal/wait_for_exit", json!({ "sessionId": "s", "terminalId": "t" })),
            ("terminal/kill", json!({ "sessionId": "s", "terminalId": "t" })),
            ("terminal/release", json!({ "sessionId": "s", "terminalId": "t" })),
            ("elicitation/create", json!({ "sessionId": "s", "mode": "form", "message": "m", "requestedSchema": {} })),
        ] {
            let (session, request) = read(method, &params.to_string()).unwrap();
            assert_eq!(session, "s");
            let stored = serde_json::to_string(&request).unwrap();
            assert_eq!(serde_json::from_str::<ClientRequest>(&stored).unwrap(), request);
        }
    }

    #[test]
    fn what_is_not_understood_is_answered_at_once() {
        for (method, params, code) in [
            ("_vendor/x", "{}", METHOD_NOT_FOUND),
            ("fs/delete", r#"{"sessionId":"s"}"#, METHOD_NOT_FOUND),
            ("fs/read_text_file", r#"{"path":"/a"}"#, INVALID_PARAMS),
            ("fs/read_text_file", r#"{"sessionId":"s","path":"/a","line":-1}"#, INVALID_PARAMS),
            ("terminal/create", r#"{"sessionId":"s"}"#, INVALID_PARAMS),
            ("elicitation/create", r#"{"sessionId":"s","mode":"url","url":"https://x","message":"m"}"#, INVALID_PARAMS),
        ] {
            assert!(matches!(read(method, params), Err(Answer::Error { code: given, .. }) if given == code), "{method} {params}");
        }
    }
}
