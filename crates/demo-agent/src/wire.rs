//! JSON-RPC lines: reading one, and the errors this agent answers with. Knows no session and no ACP method.

use serde_json::{Value, json};

/// A JSON-RPC error answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RpcError {
    pub code: i64,
    pub message: String,
    pub data: Option<Value>,
}

impl RpcError {
    pub(crate) fn parse(message: impl Into<String>) -> Self {
        Self::plain(-32700, message)
    }

    pub(crate) fn invalid_request(message: impl Into<String>) -> Self {
        Self::plain(-32600, message)
    }

    pub(crate) fn method_not_found(method: &str) -> Self {
        Self { code: -32601, message: format!("method not found: {method}"), data: Some(json!({ "method": method })) }
    }

    pub(crate) fn invalid_params(message: impl Into<String>) -> Self {
        Self::plain(-32602, message)
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::plain(-32603, message)
    }

    pub(crate) fn unknown_session(id: &str) -> Self {
        Self { code: -32002, message: format!("session {id} not found"), data: Some(json!({ "sessionId": id })) }
    }

    fn plain(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    pub(crate) fn to_json(&self) -> Value {
        let mut error = json!({ "code": self.code, "message": self.message });
        if let Some(data) = &self.data {
            error["data"] = data.clone();
        }
        error
    }
}

/// One message from the client.
#[derive(Debug, PartialEq)]
pub(crate) enum Incoming {
    Request {
        id: Value,
        method: String,
        params: Value,
    },
    Notification {
        method: String,
        params: Value,
    },
    /// The answer to a request of ours; `result` is `None` when it was an error.
    Response {
        id: Value,
        result: Option<Value>,
    },
}

/// A line that is no message.
#[derive(Debug, PartialEq)]
pub(crate) struct BadLine {
    /// Whom to answer: null where the line has no id.
    pub id: Value,
    pub error: RpcError,
}

impl BadLine {
    fn new(id: Option<Value>, error: RpcError) -> Box<Self> {
        Box::new(Self { id: id.unwrap_or_default(), error })
    }
}

/// Reads one line.
pub(crate) fn read(line: &[u8]) -> Result<Incoming, Box<BadLine>> {
    let mut message: Value =
        serde_json::from_slice(line).map_err(|error| BadLine::new(None, RpcError::parse(format!("not JSON: {error}"))))?;
    let Some(object) = message.as_object_mut() else {
        return Err(BadLine::new(None, RpcError::invalid_request("a message is one object")));
    };
    let id = object.remove("id");
    if object.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(BadLine::new(id, RpcError::invalid_request("every message carries \"jsonrpc\": \"2.0\"")));
    }
    let params = object.remove("params").unwrap_or(Value::Null);
    match (object.remove("method"), id) {
        (Some(Value::String(method)), Some(id)) => Ok(Incoming::Request { id, method, params }),
        (Some(Value::String(method)), None) => Ok(Incoming::Notification { method, params }),
        (None, Some(id)) => Ok(Incoming::Response { id, result: object.remove("result") }),
        (_, id) => Err(BadLine::new(id, RpcError::invalid_request("neither a request, a notification nor a response"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_kinds_of_message_are_told_apart() {
        assert_eq!(
            read(br#"{"jsonrpc":"2.0","id":"a","method":"m","params":{"x":1}}"#),
            Ok(Incoming::Request { id: json!("a"), method: "m".into(), params: json!({"x": 1}) })
        );
        assert_eq!(read(br#"{"jsonrpc":"2.0","method":"m"}"#), Ok(Incoming::Notification { method: "m".into(), params: Value::Null }));
        assert_eq!(
            read(br#"{"jsonrpc":"2.0","id":0,"error":{"code":1,"message":"no"}}"#),
            Ok(Incoming::Response { id: json!(0), result: None })
        );
    }

    #[test]
    fn a_bad_line_says_which_kind_of_bad_and_whom_to_answer() {
        let code = |line: &[u8]| read(line).map_err(|bad| (bad.id, bad.error.code));
        assert_eq!(code(b"\xff\xfe"), Err((Value::Null, -32700)));
        assert_eq!(code(b"[]"), Err((Value::Null, -32600)));
        assert_eq!(code(br#"{"id":7,"method":"m"}"#), Err((json!(7), -32600)));
        assert_eq!(code(br#"{"jsonrpc":"2.0","id":7,"method":8}"#), Err((json!(7), -32600)));
    }
}
