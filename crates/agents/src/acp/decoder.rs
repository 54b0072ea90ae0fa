//! Turns journal lines, in both directions, into signals. The state it needs it takes from those lines, so reading the
//! same journal again gives the same signals. It performs nothing: what has to be answered is handed back.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use domain::agent::{ToolCall, Update};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::client_request::Answer as ClientAnswer;
use super::response::{self, PromptAnswer};
use super::tool_call::{Calls, Report};
use super::update::{self, Piece};
use super::{alias, client_request, id, permission, spoken};
use crate::jsonrpc::{self, ErrorObject, INVALID_PARAMS, METHOD_NOT_FOUND, Malformed, Message, RpcId};
use crate::signal::{Part, RpcError, Signal, Signals, TurnEnd, cut};

mod foreign;

const BAD_LINE_BYTES: usize = 4096;
/// So many ended prompts are remembered, to know a second answer to one of them.
const ENDED_REMEMBERED: usize = 256;

#[derive(Default)]
pub struct Decoder {
    calls: Calls,
    /// The requests that load a session, by id, oldest first.
    loads: Vec<(String, Arc<str>)>,
    /// The call whose prompt runs in an agent session.
    prompts: HashMap<Arc<str>, String>,
    ended: VecDeque<String>,
    /// Most lines are about the session of the line before.
    last_session: Option<Arc<str>>,
    notices_in_text: bool,
}

/// What some lines came to.
#[derive(Default)]
pub struct Decoded {
    pub(crate) signals: Signals,
    /// Answers to requests of ours, by id.
    pub(crate) answers: Vec<(String, Answer)>,
    /// Requests of the agent's that nobody here implements; each is owed an error.
    pub(crate) refusals: Vec<Refusal>,
    /// Prompts that the agent refused only because it has no method of that name.
    pub(crate) unknown_prompts: Vec<(String, ErrorObject)>,
}

/// `Ok(None)` is an answer that holds neither a result nor an error.
pub(crate) type Answer = Result<Option<Box<RawValue>>, ErrorObject>;

pub(crate) struct Refusal {
    pub id: RpcId,
    pub code: i64,
    pub message: String,
}

impl Decoded {
    pub fn take_signals(&mut self) -> Vec<Signal> {
        self.signals.take()
    }
}

impl Decoder {
    /// For a server that reads on in the middle of a journal: what it stored of the part before.
    pub fn knowing(calls: Vec<(String, ToolCall)>, loads: Vec<(String, String)>, prompts: Vec<(String, String)>) -> Self {
        let mut decoder = Self::default();
        for (session, call) in calls {
            decoder.calls.lay(&session.into(), Report::from(call));
        }
        decoder.loads = loads.into_iter().map(|(name, session)| (id::load(&name), session.into())).collect();
        decoder.prompts = prompts.into_iter().map(|(session, call)| (session.into(), call)).collect();
        decoder
    }

    /// For an agent that says its notices among its message text.
    pub fn with_notices_in_text(mut self, yes: bool) -> Self {
        self.notices_in_text = yes;
        self
    }

    /// A line of ours: remembers what the agent's answers will mean.
    pub fn to_agent(&mut self, line: &[u8]) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Params {
            session_id: String,
        }
        let text = jsonrpc::text(line);
        let Ok(Message::Request { id: RpcId::String(request), params: Some(params), .. }) = jsonrpc::message(&text) else {
            return;
        };
        let call = id::prompted_call(&request);
        if call.is_none() && !id::is_load(&request) {
            return;
        }
        let Ok(Params { session_id }) = serde_json::from_str(params.get()) else { return };
        let session = self.session(&session_id);
        match call {
            Some(call) => _ = self.prompts.insert(session, call.to_owned()),
            None => self.loads.push((request, session)),
        }
    }

    /// A line of the agent's.
    pub fn from_agent(&mut self, line: &[u8], out: &mut Decoded) {
        let text = jsonrpc::text(line);
        if text.is_empty() {
            return;
        }
        if let Some((session, chunk)) = update::plain_chunk(&text) {
            let session = self.session(&session);
            return self.text(&session, &chunk, &mut out.signals);
        }
        jsonrpc::messages(&text, |message| match message {
            Ok(Message::Notification { method, params }) => self.notification(&method, params, &mut out.signals),
            Ok(Message::Request { id, method, params }) => self.request(id, &method, params, out),
            Ok(Message::Response { id, outcome }) => self.response(id, outcome, out),
            Err(Malformed) => {
                let text = cut(&text, BAD_LINE_BYTES).to_owned();
                out.signals.push(Signal::BadLine { text, oversized_bytes: None });
            }
        });
    }

    fn notification(&mut self, method: &str, params: Option<&RawValue>, signals: &mut Signals) {
        #[derive(Deserialize)]
        struct Params<'a> {
            #[serde(rename = "sessionId")]
            session: String,
            #[serde(borrow)]
            update: &'a RawValue,
        }
        let json = params.map_or("null", RawValue::get);
        match method {
            "session/update" => match serde_json::from_str::<Params<'_>>(json) {
                Ok(Params { session, update }) => {
                    let session = self.session(&session);
                    self.piece(&session, update::read(update.get()), signals);
                }
                Err(_) => self.unknown(method, json, signals),
            },
            "$/cancel_request" => match update::value(json).get("requestId").map(RpcId::deserialize) {
                Some(Ok(rpc_id)) => signals.push(Signal::Withdrawn { rpc_id }),
                _ => self.unknown(method, json, signals),
            },
            _ => match alias::meaning(method) {
                Some(meaning) if self.foreign(meaning, json, signals) => {}
                _ => self.unknown(method, json, signals),
            },
        }
    }

    /// Kept whole, with its session where it names one.
    fn unknown(&mut self, method: &str, json: &str, signals: &mut Signals) {
        let raw = update::value(json);
        match raw.get("sessionId").and_then(|session| session.as_str()) {
            Some(session) => {
                let session = self.session(session);
                self.update(&session, Update::Unknown { kind: method.to_owned(), raw }, signals);
            }
            None => signals.push(Signal::Other { method: method.to_owned(), params: raw }),
        }
    }

    fn request(&mut self, id: RpcId, method: &str, params: Option<&RawValue>, out: &mut Decoded) {
        let json = params.map_or("null", RawValue::get);
        if method != "session/request_permission" {
            return self.client_request(id, method, json, out);
        }
        let Some(request) = permission::read(json) else {
            let message = "Invalid params: sessionId is required".to_owned();
            out.refusals.push(Refusal { id, code: INVALID_PARAMS, message });
            return;
        };
        let agent_session = self.session(&request.agent_session);
        let call = request.report.as_ref().map(|report| report.call.clone());
        let known = call.as_ref().and_then(|call| self.calls.get(&agent_session, &call.id));
        let first_seen = known.is_none();
        let ask = request.ask(json, known);
        // Some agents report a call for the first time by asking for it.
        if let Some(call) = call.filter(|_| first_seen) {
            self.piece(&agent_session, Piece::ToolCall(Report::from(call)), &mut out.signals);
        }
        out.signals.push(Signal::Permission { agent_session, rpc_id: id, ask });
    }

    fn client_request(&mut self, id: RpcId, method: &str, json: &str, out: &mut Decoded) {
        match client_request::read(method, json) {
            Ok((session, request)) => {
                let agent_session = self.session(&session);
                out.signals.push(Signal::Request { agent_session, rpc_id: id, request });
            }
            Err(ClientAnswer::Error { code, message }) => out.refusals.push(Refusal { id, code, message }),
            Err(ClientAnswer::Result(_)) => {}
        }
    }

    fn response(&mut self, id: RpcId, outcome: Option<Result<&RawValue, ErrorObject>>, out: &mut Decoded) {
        let RpcId::String(request) = id else {
            return tracing::debug!(%id, "ignored an answer to an id that is not ours");
        };
        if let Some(call) = id::prompted_call(&request) {
            return self.prompt_answer(call, outcome, out);
        }
        if let Some(at) = self.loads.iter().position(|(load, _)| *load == request) {
            self.loads.remove(at);
        }
        let answer = outcome.transpose().map(|result| result.map(ToOwned::to_owned));
        out.answers.push((request, answer));
    }

    fn prompt_answer(&mut self, call: &str, outcome: Option<Result<&RawValue, ErrorObject>>, out: &mut Decoded) {
        let malformed = || Err(RpcError::Malformed { method: "session/prompt".to_owned() });
        let result = match outcome {
            Some(Ok(result)) => match response::prompt(result) {
                PromptAnswer::Ended(end) => Ok(end),
                PromptAnswer::Accepted => return,
                PromptAnswer::Unreadable => malformed(),
            },
            Some(Err(error)) if error.code == METHOD_NOT_FOUND => {
                return out.unknown_prompts.push((call.to_owned(), error));
            }
            Some(Err(error)) => Err(rejected(error)),
            None => malformed(),
        };
        self.end(call, result, &mut out.signals);
    }

    /// A turn ends once, however often the agent says so.
    pub(crate) fn end(&mut self, call: &str, result: Result<TurnEnd, RpcError>, signals: &mut Signals) {
        if self.ended.iter().any(|ended| ended == call) {
            return tracing::debug!(call, "ignored a second answer to a prompt");
        }
        if self.ended.len() == ENDED_REMEMBERED {
            self.ended.pop_front();
        }
        self.ended.push_back(call.to_owned());
        self.prompts.retain(|_, running| running != call);
        signals.push(Signal::TurnEnd { call_id: call.to_owned(), result });
    }

    fn piece(&mut self, session: &Arc<str>, piece: Piece, signals: &mut Signals) {
        match piece {
            Piece::Text(text) => self.text(session, &text, signals),
            Piece::ToolCall(report) => {
                // Told anew, a call of an earlier life starts over.
                if report.is_whole && self.is_loading(session) {
                    self.calls.forget(session, &report.call.id);
                }
                let call = self.calls.lay(session, report);
                self.update(session, Update::ToolCall(call), signals);
            }
            Piece::Update(Update::Thought { text }) if text.is_empty() => {}
            Piece::Update(update) => self.update(session, update, signals),
        }
    }

    fn text(&self, session: &Arc<str>, text: &str, signals: &mut Signals) {
        if let Some(notice) = self.notices_in_text.then(|| spoken::notice(text)).flatten() {
            return self.update(session, notice, signals);
        }
        if self.is_loading(session) {
            signals.replayed_text(session, text);
        } else {
            signals.text(session, text);
        }
    }

    fn update(&self, session: &Arc<str>, update: Update, signals: &mut Signals) {
        if self.is_loading(session) {
            signals.push(Signal::Replay { agent_session: session.clone(), part: Part::Update(Box::new(update)) });
        } else {
            signals.update(session, update);
        }
    }

    fn is_loading(&self, session: &Arc<str>) -> bool {
        self.loads.iter().any(|(_, loading)| loading == session)
    }

    fn session(&mut self, id: &str) -> Arc<str> {
        match &self.last_session {
            Some(last) if **last == *id => last.clone(),
            _ => self.last_session.insert(id.into()).clone(),
        }
    }
}

pub(crate) fn rejected(error: ErrorObject) -> RpcError {
    RpcError::Rejected { code: error.code, message: error.message, data: error.data }
}

#[cfg(test)]
mod tests;
