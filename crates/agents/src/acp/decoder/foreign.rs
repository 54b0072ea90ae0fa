//! Notifications of agents that do not speak the protocol, by their meaning in the table of aliases.

use std::sync::Arc;

use domain::agent::{ToolCall, ToolContent, Update};
use serde::Deserialize;
use serde_json::Value;

use super::Decoder;
use crate::acp::alias::Meaning;
use crate::acp::response::END_TURN;
use crate::acp::tool_call::Report;
use crate::acp::update::Piece;
use crate::fault::RpcError;
use crate::jsonrpc::ErrorObject;
use crate::signal::{PromptEnd, Signals};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    session_id: String,
    delta: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    tool_id: Option<String>,
    name: Option<String>,
    input: Option<Value>,
    output: Option<Value>,
    error: Option<Value>,
    status: Option<String>,
    detail: Option<String>,
}

impl Decoder {
    /// Whether the notification could be understood.
    pub(super) fn foreign(&mut self, meaning: Meaning, json: &str, signals: &mut Signals) -> bool {
        let Ok(params) = serde_json::from_str::<Params>(json) else { return false };
        let session = self.session(&params.session_id);
        let piece = match meaning {
            Meaning::Text if params.kind.as_deref() == Some("reasoning") => thought(params),
            Meaning::Text => params.delta.map(Piece::Text),
            Meaning::Thought => thought(params),
            Meaning::ToolStart => started(params),
            Meaning::ToolResult => finished(params),
            Meaning::TurnStatus => return self.turn_status(&session, params, signals),
            Meaning::Error => params.error.map(|error| Piece::Update(Update::notice("error", words(&error)))),
        };
        let understood = piece.is_some();
        if let Some(piece) = piece {
            self.piece(&session, piece, signals);
        }
        understood
    }

    fn turn_status(&mut self, session: &Arc<str>, params: Params, signals: &mut Signals) -> bool {
        let Some(call) = self.prompts.get(session).cloned() else { return false };
        let result = match params.status.as_deref() {
            Some("completed") => Ok(PromptEnd { stop_reason: END_TURN.to_owned() }),
            Some("error") => {
                let message = params.detail.unwrap_or_else(|| "the agent reports an error".to_owned());
                Err(RpcError::from(ErrorObject { code: 0, message, data: params.error }))
            }
            Some("processing") => return true,
            _ => return false,
        };
        self.end(&call, result, None, signals);
        true
    }
}

fn thought(params: Params) -> Option<Piece> {
    params.delta.map(|text| Piece::Update(Update::Thought { text }))
}

fn started(params: Params) -> Option<Piece> {
    report(ToolCall {
        id: params.tool_id?,
        title: params.name,
        status: Some("in_progress".to_owned()),
        input: params.input,
        ..ToolCall::default()
    })
}

fn finished(params: Params) -> Option<Piece> {
    let status = if params.error.is_some() { "failed" } else { "completed" };
    let output = params.error.or(params.output);
    report(ToolCall {
        id: params.tool_id?,
        title: params.name,
        status: Some(status.to_owned()),
        content: output.as_ref().map(|output| vec![ToolContent::Text { text: words(output) }]),
        output,
        ..ToolCall::default()
    })
}

fn report(call: ToolCall) -> Option<Piece> {
    Some(Piece::ToolCall(Report::from(call)))
}

fn words(value: &Value) -> String {
    match value.get("message").unwrap_or(value) {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
