//! Turns journal lines, in both directions, into signals. The state it needs it takes from those lines, so reading the
//! same journal again gives the same signals. It performs nothing: what has to be answered is handed back.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use domain::agent::{Demand, Failure, Place, ToolCall, Update};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::notice::{Ending, Held};
use super::response::{self, PromptAnswer};
use super::shape::Bounded;
use super::tool_call::{Calls, Report};
use super::update::{self, Piece};
use super::usage::{Accounts, Tokens};
use super::{alias, chunk, demand, id, notice, permission, shape};
use crate::bounds::bounded_id;
use crate::catalogue::Quirks;
use crate::fault::RpcError;
use crate::jsonrpc::{self, ErrorObject, METHOD_NOT_FOUND, Malformed, Message, RpcId};
use crate::signal::{PromptEnd, Signal, Signals, cut};

pub(crate) mod excess;
mod foreign;
mod turns;

use excess::Excess;
pub(crate) use foreign::failed;
pub(crate) use turns::TurnIds;
use turns::Turns;

const BAD_LINE_BYTES: usize = 4096;
/// How long a fault of a model may be, as the agent tells it.
const FAULT_BYTES: usize = 64 * 1024;
/// So many sessions may have a chunk of which it is not known yet what it is.
const MAX_HELD: usize = 64;
const UNEXPLAINED: &str = "its model failed, and it does not say why";
/// So many loads may be unanswered; agents that never answer one leave it here.
const MAX_LOADS: usize = 256;
/// So many ended prompts are remembered, to know a second answer to one of them.
const ENDED_REMEMBERED: usize = 256;

#[derive(Default)]
pub struct Decoder {
    calls: Calls,
    /// The requests that load a session, by id, oldest first.
    loads: Vec<(String, Arc<str>)>,
    /// The call whose prompt runs in an agent session.
    prompts: HashMap<Arc<str>, String>,
    turns: Turns,
    ended: VecDeque<String>,
    /// Most lines are about the session of the line before.
    last_session: Option<Arc<str>>,
    form: chunk::Form,
    accounts: Accounts,
    quirks: Quirks,
    /// Chunks of which the next line of their session tells what they are, one a session.
    held: Vec<Held>,
    /// The sessions whose model has failed, each with what was said since.
    failing: Vec<(Arc<str>, String)>,
    excess: Excess,
}

/// What some lines came to.
#[derive(Default)]
pub struct Decoded {
    pub(crate) signals: Signals,
    /// Answers to requests of ours, by id.
    pub(crate) answers: Vec<(String, Answer)>,
    /// Prompts that the agent refused only because it has no method of that name.
    pub(crate) unknown_prompts: Vec<(String, ErrorObject)>,
    /// The turns that were begun, by agent session, and those that are over (`None`), in dialects that name them.
    pub(crate) turns: Vec<(Arc<str>, Option<String>)>,
}

/// `Ok(None)` is an answer that holds neither a result nor an error.
pub(crate) type Answer = Result<Option<Box<RawValue>>, ErrorObject>;

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
            decoder.calls.merge(&session.into(), Report::from(call));
        }
        decoder.loads = loads.into_iter().map(|(name, session)| (id::load(&name), session.into())).collect();
        decoder.prompts = prompts.into_iter().map(|(session, call)| (session.into(), call)).collect();
        decoder
    }

    pub fn with_quirks(mut self, quirks: Quirks) -> Self {
        self.quirks = quirks;
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
        let Ok(Message::Request { id: RpcId::String(request), method, params: Some(params) }) = jsonrpc::message(&text) else {
            return;
        };
        let call = id::prompted_call(&request);
        if call.is_none() && !id::is_load(&request) {
            return;
        }
        let Ok(Params { session_id }) = serde_json::from_str(params.get()) else { return };
        let session = self.session(&session_id);
        match call {
            Some(call) => {
                if method != "session/prompt" {
                    self.turns.note_foreign(call);
                }
                // A call has one prompt at a time; two sessions with one call would be told apart by chance.
                self.prompts.retain(|_, running| running != call);
                self.prompts.insert(session, call.to_owned());
            }
            None => {
                if self.loads.len() == MAX_LOADS {
                    self.loads.remove(0);
                }
                self.loads.push((request, session));
            }
        }
    }

    /// A line of the agent's, and its number in the journal.
    pub fn from_agent(&mut self, seq: u64, line: &[u8], out: &mut Decoded) {
        if let Some((session, text)) = self.form.text(line) {
            let session = Arc::clone(session);
            return self.text(&session, text, &mut out.signals);
        }
        let text = jsonrpc::text(line);
        if text.is_empty() {
            return;
        }
        if let Some(chunk) = chunk::read(&text) {
            let session = self.session(&chunk.session);
            self.form.learn(&text, &chunk, &session);
            return self.text(&session, &chunk.text, &mut out.signals);
        }
        let Some(Bounded { text, is_cut }) = shape::bounded(&text) else {
            return out.signals.bad_line(cut(&text, BAD_LINE_BYTES), None);
        };
        self.excess.is_cut = is_cut;
        let mut place = Place { seq, index: 0 };
        jsonrpc::messages(&text, |message| {
            match message {
                Ok(Message::Notification { method, params }) => self.notification(&method, params, &mut out.signals),
                Ok(Message::Request { id, method, params }) => self.request(place, &id, &method, params, out),
                Ok(Message::Response { id, outcome }) => self.response(id, outcome, out),
                Err(Malformed) => out.signals.bad_line(cut(&text, BAD_LINE_BYTES), None),
            }
            place.index += 1;
        });
        if is_cut {
            self.tell_excess(&mut out.signals);
        }
    }

    /// Whether something was read that is not among the signals yet. Until it is, whoever remembers how far the journal was read must
    /// not count the lines since.
    pub(crate) fn is_holding(&self) -> bool {
        !self.held.is_empty() || self.failing.iter().any(|(_, said)| !said.is_empty())
    }

    /// Gives out what is held: nothing tells any more that it is not plain text.
    pub(crate) fn release(&mut self, signals: &mut Signals) {
        for held in std::mem::take(&mut self.held) {
            signals.text(&held.session, &held.text);
        }
        for (session, said) in self.failing.iter_mut().filter(|(_, said)| !said.is_empty()) {
            signals.update(session, notice::fault(&std::mem::take(said)));
        }
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
                Some(Ok(id)) => signals.push(Signal::Withdrawn { rpc_id: id.to_json() }),
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
                self.update(&session, Update::Unknown { kind: method.to_owned(), raw: raw.into() }, signals);
            }
            None => signals.push(Signal::Other { method: method.to_owned(), params: raw }),
        }
    }

    fn request(&mut self, place: Place, id: &RpcId, method: &str, params: Option<&RawValue>, out: &mut Decoded) {
        let json = params.map_or("null", RawValue::get);
        let (session, demand) = match method {
            _ if self.excess.is_cut || json.len() > demand::most_bytes(method) => demand::oversized(json),
            "session/request_permission" => match permission::read(json) {
                Some(request) => return self.permission(place, id, request, json, out),
                None => {
                    let (problem, message) = demand::invalid("sessionId is required");
                    (String::new(), Demand::Unknown { problem, message })
                }
            },
            _ => demand::read(method, json),
        };
        let agent_session = self.session(&session);
        self.goes_on(&agent_session, &mut out.signals);
        out.signals.push(Signal::Demand { agent_session, place, rpc_id: id.to_json(), demand });
    }

    fn permission(&mut self, place: Place, id: &RpcId, request: permission::Request, json: &str, out: &mut Decoded) {
        let agent_session = self.session(&request.agent_session);
        let call = request.report.as_ref().map(|report| report.call.clone());
        let known = call.as_ref().and_then(|call| self.calls.get(&agent_session, &call.id));
        // Some agents report a call for the first time by asking for it, others say only then what it does.
        let news = call.filter(|call| known.is_none_or(|known| known.says_nothing() && !call.says_nothing()));
        let news = news.map(|call| ToolCall { status: call.status.filter(|_| known.is_none()), ..call });
        if request.relies_on_cut(known) {
            let (_, demand) = demand::oversized(json);
            return out.signals.push(Signal::Demand { agent_session, place, rpc_id: id.to_json(), demand });
        }
        let ask = request.ask(json, known);
        if let Some(call) = news {
            self.piece(&agent_session, Piece::ToolCall(Report::from(call)), &mut out.signals);
        }
        self.goes_on(&agent_session, &mut out.signals);
        out.signals.push(Signal::Demand { agent_session, place, rpc_id: id.to_json(), demand: Demand::Permission(ask) });
    }

    fn response(&mut self, id: RpcId, outcome: Option<Result<&RawValue, ErrorObject>>, out: &mut Decoded) {
        let RpcId::String(request) = id else {
            return tracing::debug!(id = id.to_json(), "ignored an answer to an id that is not ours");
        };
        if let Some(call) = id::prompted_call(&request) {
            return self.prompt_answer(call, outcome, out);
        }
        if let Some(at) = self.loads.iter().position(|(load, _)| *load == request) {
            self.loads.remove(at);
        }
        let answer = outcome.transpose().map(|result| result.map(ToOwned::to_owned));
        let answer = if self.excess.is_cut && id::is_list(&request) { Err(excess::too_long()) } else { answer };
        out.answers.push((request, answer));
    }

    fn prompt_answer(&mut self, call: &str, outcome: Option<Result<&RawValue, ErrorObject>>, out: &mut Decoded) {
        let malformed = || Err(RpcError::Malformed { method: "session/prompt".to_owned() });
        let (result, tokens) = match outcome {
            Some(Ok(result)) => match response::prompt(result) {
                PromptAnswer::Ended(end, tokens) => (Ok(end), tokens),
                PromptAnswer::Accepted(turn) => return self.turns.accept(call, turn),
                PromptAnswer::Failed(error) => (Err(error), None),
                PromptAnswer::Unreadable => (malformed(), None),
            },
            Some(Err(error)) if error.code == METHOD_NOT_FOUND => {
                return out.unknown_prompts.push((call.to_owned(), error));
            }
            Some(Err(error)) => (Err(error.into()), None),
            None => (malformed(), None),
        };
        self.end(call, result, tokens, &mut out.signals);
    }

    /// A prompt ends once, however often the agent says so.
    pub(crate) fn end(&mut self, call: &str, result: Result<PromptEnd, RpcError>, tokens: Option<Tokens>, signals: &mut Signals) {
        if self.ended.iter().any(|ended| ended == call) {
            return tracing::debug!(call, "ignored a second answer to a prompt");
        }
        if self.ended.len() == ENDED_REMEMBERED {
            self.ended.pop_front();
        }
        self.ended.push_back(call.to_owned());
        let session = self.prompts.iter().find(|(_, running)| *running == call).map(|(session, _)| session.clone());
        if let Some(session) = session {
            self.prompts.remove(&session);
            let completed = result.as_ref().is_ok_and(|end| end.stop_reason == response::END_TURN);
            self.last_chunk(&session, completed, tokens.as_ref(), signals);
            self.last_fault(&session, completed, signals);
            if let Some(tokens) = tokens {
                let update = self.accounts.with_tokens(&session, tokens);
                self.update(&session, update, signals);
            }
        }
        signals.push(Signal::PromptEnded { call_id: call.to_owned(), result: result.map_err(Failure::from) });
    }

    /// What an agent said after its model had failed is why, and it did not finish whatever it says.
    fn last_fault(&mut self, session: &Arc<str>, completed: bool, signals: &mut Signals) {
        let Some(at) = self.failing.iter().position(|(failing, _)| failing == session) else { return };
        let (_, said) = self.failing.remove(at);
        match said.trim() {
            "" if completed => signals.update(session, notice::fault(UNEXPLAINED)),
            "" => {}
            said => signals.update(session, notice::fault(said)),
        }
    }

    /// The prompt has ended, and what is held of its session was its last chunk.
    fn last_chunk(&mut self, session: &Arc<str>, completed: bool, tokens: Option<&Tokens>, signals: &mut Signals) {
        let account = self.accounts.get(session);
        let (before, uncounted) = account.map_or((None, false), |account| (account.tokens.as_ref(), account.uncounted));
        let without_answer = Ending { completed, tokens, before, uncounted }.without_answer();
        match self.held.iter().position(|held| held.session == *session) {
            Some(at) => {
                let held = self.held.remove(at);
                if without_answer || (completed && held.grows) || notice::is_own(&held.notice, self.quirks.own_errors) {
                    signals.update(session, if held.grows { notice::fault(&held.text) } else { held.notice });
                } else {
                    signals.text(session, &held.text);
                }
            }
            None if completed && tokens.is_none() && self.quirks.notices_in_text => self.accounts.session(session).uncounted = true,
            None => {}
        }
    }

    fn piece(&mut self, session: &Arc<str>, piece: Piece, signals: &mut Signals) {
        match piece {
            Piece::Text(text) => self.text(session, &text, signals),
            Piece::ToolCall(report) => {
                // Reported anew, a call of an earlier life starts over.
                if report.is_whole && self.is_loading(session) {
                    self.calls.forget(session, &report.call.id);
                }
                let merged = self.calls.merge(session, report);
                if let Some(call) = merged.call {
                    self.update(session, Update::ToolCall(call), signals);
                }
                if let Some(output) = merged.output {
                    self.update(session, output, signals);
                }
            }
            Piece::Update(Update::Thought { text }) if text.is_empty() => {}
            Piece::Update(Update::Usage { used, size, cost, .. }) => {
                let update = self.accounts.with_context(session, used, size, cost);
                self.update(session, update, signals);
            }
            Piece::Update(update) => self.update(session, update, signals),
            Piece::Failing(failing) => self.note_failing(session, failing, signals),
            Piece::Nothing => {}
        }
    }

    fn note_failing(&mut self, session: &Arc<str>, failing: bool, signals: &mut Signals) {
        let at = self.failing.iter().position(|(known, _)| known == session);
        match at {
            // It goes on, so what it said meanwhile was no reason to end.
            Some(at) if !failing => {
                let (_, said) = self.failing.remove(at);
                signals.text(session, &said);
            }
            None if failing && self.prompts.contains_key(session) => self.failing.push((session.clone(), String::new())),
            _ => {}
        }
    }

    fn text(&mut self, session: &Arc<str>, text: &str, signals: &mut Signals) {
        if self.follows_fault(session, text) {
            return;
        }
        self.goes_on(session, signals);
        let loading = self.is_loading(session);
        let may_hold = !loading && text.len() <= FAULT_BYTES && self.held.len() < MAX_HELD;
        if may_hold && self.quirks.faults_in_text.iter().any(|fault| text.starts_with(fault)) {
            let (session, text, notice) = (session.clone(), text.to_owned(), notice::fault(text));
            return self.held.push(Held { session, text, notice, grows: true });
        }
        if let Some(notice) = (self.quirks.notices_in_text && text.len() <= FAULT_BYTES).then(|| notice::read(text)).flatten() {
            match notice::is_error(&notice) {
                false => return self.update(session, notice, signals),
                true if may_hold => return self.held.push(Held { session: session.clone(), text: text.to_owned(), notice, grows: false }),
                // Nothing in a history tells who said it.
                true if notice::is_own(&notice, self.quirks.own_errors) => return self.update(session, notice, signals),
                true => {}
            }
        }
        if loading {
            signals.replayed_text(session, text);
        } else {
            signals.text(session, text);
        }
    }

    /// Whether the text belongs to what an agent says of its model's fault. It is kept whole up to a bound.
    fn follows_fault(&mut self, session: &Arc<str>, text: &str) -> bool {
        let failing = self.failing.iter_mut().find(|(failing, _)| failing == session).map(|(_, said)| said);
        let held = self.held.iter_mut().find(|held| held.grows && held.session == *session).map(|held| &mut held.text);
        match failing.or(held).filter(|said| said.len() + text.len() <= FAULT_BYTES) {
            Some(said) => said.push_str(text),
            None => return false,
        }
        true
    }

    fn update(&mut self, session: &Arc<str>, update: Update, signals: &mut Signals) {
        // What was used is told also where nothing more comes.
        let may_be_last = matches!(update, Update::Usage { .. }) && self.held.iter().any(|held| held.grows && held.session == *session);
        if !may_be_last {
            self.goes_on(session, signals);
        }
        if self.is_loading(session) {
            signals.replayed(session, update);
        } else {
            signals.update(session, update);
        }
    }

    /// More comes of the session, so what is held of it was not its end, but the model's words.
    fn goes_on(&mut self, session: &Arc<str>, signals: &mut Signals) {
        if self.held.is_empty() {
            return;
        }
        if let Some(at) = self.held.iter().position(|held| held.session == *session) {
            let held = self.held.remove(at);
            signals.text(session, &held.text);
        }
    }

    fn is_loading(&self, session: &Arc<str>) -> bool {
        self.loads.iter().any(|(_, loading)| loading == session)
    }

    fn session(&mut self, id: &str) -> Arc<str> {
        match &self.last_session {
            Some(last) if **last == *id => last.clone(),
            _ => self.last_session.insert(bounded_id(id).into()).clone(),
        }
    }
}

#[cfg(test)]
mod aliases;
#[cfg(test)]
mod excess_tests;
#[cfg(test)]
mod notices;
#[cfg(test)]
mod tests;
