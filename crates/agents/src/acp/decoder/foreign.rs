//! Notifications of agents that do not speak the protocol, by their meaning in the table of aliases.

use std::sync::Arc;

use domain::agent::{ToolCall, ToolContent, Update};
use serde::Deserialize;
use serde_json::Value;

use super::Decoder;
use super::turns::{TurnId, TurnIds};
use crate::acp::alias::Meaning;
use crate::acp::response::END_TURN;
use crate::acp::tool_call::Report;
use crate::acp::update::Piece;
use crate::bounds::bounded_id;
use crate::fault::RpcError;
use crate::jsonrpc::ErrorObject;
use crate::signal::{PromptEnd, Signals};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    session_id: Option<String>,
    turn_id: Option<Value>,
    request_id: Option<Value>,
    message_id: Option<Value>,
    delta: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    tool_id: Option<String>,
    name: Option<String>,
    input: Option<Value>,
    output: Option<Value>,
    error: Option<Value>,
    status: Option<String>,
    detail: Option<Value>,
}

impl Params {
    fn turn(&self) -> TurnIds {
        let ids = [("turnId", &self.turn_id), ("requestId", &self.request_id), ("messageId", &self.message_id)];
        TurnIds::of(ids.into_iter().filter_map(|(kind, value)| Some((kind, value.as_ref()?))))
    }
}

impl TurnIds {
    /// Texts and numbers; anything else is no id.
    pub(crate) fn of<'a>(values: impl Iterator<Item = (&'static str, &'a Value)>) -> TurnIds {
        let text = |value: &Value| match value {
            Value::String(id) => Some(bounded_id(id).into_owned()),
            Value::Number(id) => Some(id.to_string()),
            _ => None,
        };
        TurnIds(values.filter_map(|(kind, value)| Some(TurnId { kind, value: text(value)? })).collect())
    }
}

impl Decoder {
    /// Whether the notification could be understood.
    pub(super) fn foreign(&mut self, meaning: Meaning, json: &str, signals: &mut Signals) -> bool {
        let Ok(params) = serde_json::from_str::<Params>(json) else { return false };
        let Some(session) = self.foreign_session(&params) else { return false };
        let piece = match meaning {
            Meaning::Text if params.kind.as_deref() == Some("reasoning") => thought(params),
            Meaning::Text if params.kind.as_deref() == Some("tool") => self.printed(&session, params),
            Meaning::Text => params.delta.map(Piece::Text),
            Meaning::Thought => thought(params),
            Meaning::ToolStart => started(params),
            Meaning::ToolResult => finished(params),
            Meaning::TurnStatus => return self.turn_status(&session, params, signals),
            Meaning::Error => return self.error(&session, params, signals),
        };
        let understood = piece.is_some();
        if let Some(piece) = piece {
            self.piece(&session, piece, signals);
        }
        understood
    }

    /// The session that a notification is about: what it says, or where its turn runs. None where it speaks of a turn that is over: what
    /// comes late is not part of the prompt that runs now.
    fn foreign_session(&mut self, params: &Params) -> Option<Arc<str>> {
        let turn = params.turn();
        let call = self.turns.call(&turn).map(str::to_owned);
        let session = match (&params.session_id, &call) {
            (Some(session), _) => self.session(session),
            (None, Some(call)) => self.prompts.iter().find(|(_, running)| *running == call)?.0.clone(),
            (None, None) => return None,
        };
        match (call, self.prompts.get(&session)) {
            (Some(call), running) => (running == Some(&call)).then_some(session),
            (None, Some(running)) if self.turns.is_another(&turn, running) => None,
            // The first that is heard of a turn: it is the one that runs.
            (None, Some(running)) => {
                let running = running.clone();
                self.turns.bind(&turn, &running);
                Some(session)
            }
            (None, None) => Some(session),
        }
    }

    /// What a tool prints; where it is not said which, the one that was begun last.
    fn printed(&self, session: &Arc<str>, params: Params) -> Option<Piece> {
        let tool = params.tool_id.or_else(|| self.calls.last_open(session))?;
        Some(Piece::ToolCall(Report::printed(&tool, &params.delta?)))
    }

    fn turn_status(&mut self, session: &Arc<str>, params: Params, signals: &mut Signals) -> bool {
        let Some(call) = self.prompts.get(session).cloned() else { return false };
        let result = match params.status.as_deref() {
            Some("completed") => Ok(PromptEnd { stop_reason: END_TURN.to_owned() }),
            Some("error") => Err(failed(params.detail.or(params.error))),
            Some("processing") => return true,
            _ => return false,
        };
        self.end(&call, result, None, signals);
        true
    }

    /// In the other dialect it is the end of its prompt; of an agent that speaks the protocol it is a word to people.
    fn error(&mut self, session: &Arc<str>, params: Params, signals: &mut Signals) -> bool {
        let Some(error) = params.error else { return false };
        match self.prompts.get(session).filter(|call| self.turns.is_foreign(call)).cloned() {
            Some(call) => self.end(&call, Err(failed(Some(error))), None, signals),
            None => self.piece(session, Piece::Update(Update::notice("error", words(&error))), signals),
        }
        true
    }
}

/// Whatever code it has: in this dialect they have no meaning that we know.
pub(crate) fn failed(detail: Option<Value>) -> RpcError {
    let message = detail.as_ref().map_or_else(|| "the agent reports an error".to_owned(), words);
    RpcError::from(ErrorObject { code: 0, message, data: detail })
}

fn thought(params: Params) -> Option<Piece> {
    params.delta.map(|text| Piece::Update(Update::Thought { text }))
}

fn started(params: Params) -> Option<Piece> {
    report(ToolCall {
        id: params.tool_id?,
        title: params.name,
        status: Some("in_progress".to_owned()),
        input: params.input.map(Into::into),
        ..ToolCall::default()
    })
}

fn finished(params: Params) -> Option<Piece> {
    let error = params.error.filter(|error| !error.is_null());
    let status = if error.is_some() { "failed" } else { "completed" };
    let output = error.or(params.output);
    report(ToolCall {
        id: params.tool_id?,
        title: params.name,
        status: Some(status.to_owned()),
        content: output.as_ref().map(|output| vec![ToolContent::Text { text: words(output) }]),
        output: output.map(Into::into),
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
