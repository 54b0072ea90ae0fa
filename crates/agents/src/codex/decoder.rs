//! Turns journal lines, in both directions, into signals. The state it needs it takes from those lines, so reading the same journal
//! again gives the same signals. It performs nothing: what has to be answered is handed back.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use domain::agent::{Demand, Failure, Place, Problem, ToolCall, Update};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::reply::{self, Kind};
use super::{approval, failure};
use crate::acp::decoder::Decoded;
use crate::acp::decoder::excess;
use crate::acp::shape::{self, Bounded};
use crate::acp::tool_call::{Calls, Report};
use crate::acp::{id, update};
use crate::bounds::bounded_id;
use crate::fault::{LOGIN_REQUIRED, RpcError};
use crate::jsonrpc::{self, ErrorObject, Malformed, Message, RpcId};
use crate::signal::{PromptEnd, Signal, Signals, cut};

mod happening;
mod history;

const BAD_LINE_BYTES: usize = 4096;
/// So many threads, ended prompts and open requests are remembered. What is forgotten only loses what belongs to it.
const MAX_REMEMBERED: usize = 256;
/// So many items of a turn are remembered, and so much of what was said in one.
const MAX_ITEMS: usize = 4096;
const MAX_SAID_BYTES: usize = 4 * 1024 * 1024;
/// A longer question could not be read by anybody.
const MAX_REQUEST_BYTES: usize = 4 * 1024 * 1024;
const METHOD_BYTES: usize = 200;
const TURN_ID_BYTES: usize = 1024;

#[derive(Default)]
pub struct Decoder {
    calls: Calls,
    threads: HashMap<Arc<str>, Thread>,
    /// The requests for a thread's history, by id.
    histories: Vec<(String, Arc<str>)>,
    /// What open requests are kept by, by their bare ids, where that is not the id itself.
    asked: VecDeque<(String, String)>,
    ended: VecDeque<String>,
    /// Most lines are about the thread of the line before.
    last: Option<Arc<str>>,
    /// Part of the line that is being read was left out.
    is_cut: bool,
    /// The call whose people know that something was left out.
    told_excess: Option<String>,
}

/// What is known of a thread.
#[derive(Default)]
struct Thread {
    /// The call whose prompt runs in it.
    call: Option<String>,
    turn: Option<String>,
    /// The turn has done something beside taking the prompt.
    worked: bool,
    /// Why the turn fails, as far as it was told.
    error: Option<Value>,
    /// What was told of each item that is told in pieces. Of one that is complete, or too long to be kept, only that it was.
    said: HashMap<String, Option<String>>,
    /// How long all of that is.
    said_bytes: usize,
    /// The last message, where it is complete and nothing came after it.
    complete: Option<String>,
    /// The thread that started it, for one that the program started by itself.
    parent: Option<Arc<str>>,
}

impl Decoder {
    /// Adds what a server stored of the part of the journal that is no longer there. Goes after the lines that are.
    pub(crate) fn with_known(mut self, calls: Vec<(String, ToolCall)>, prompts: Vec<(String, String)>) -> Self {
        for (session, call) in calls {
            let session: Arc<str> = session.into();
            // Of one that was read, only how much it had printed may be short of the truth.
            let report = match self.calls.get(&session, &call.id) {
                Some(_) => ToolCall { id: call.id, stream_length: call.stream_length, ..ToolCall::default() },
                None => call,
            };
            self.calls.merge(&session, Report::from(report));
        }
        for (session, call) in prompts {
            self.thread(&session).1.call.get_or_insert(call);
        }
        self
    }

    /// The turns that run, by thread; those that have not begun without an id.
    pub(crate) fn turns(&self) -> impl Iterator<Item = (&Arc<str>, Option<&str>)> {
        self.threads.iter().filter(|(_, thread)| thread.call.is_some()).map(|(id, thread)| (id, thread.turn.as_deref()))
    }

    /// A line of ours: remembers what the agent's answers will mean.
    pub fn to_agent(&mut self, line: &[u8]) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Params {
            thread_id: String,
        }
        let text = jsonrpc::text(line);
        let Ok(Message::Request { id: RpcId::String(request), params: Some(params), .. }) = jsonrpc::message(&text) else {
            return;
        };
        let call = id::prompted_call(&request);
        if call.is_none() && !id::is_load(&request) {
            return;
        }
        let Ok(Params { thread_id }) = serde_json::from_str(params.get()) else { return };
        if let Some(call) = call {
            // A call has one prompt at a time; two threads with one call would be told apart by chance.
            self.threads.values_mut().filter(|thread| thread.call.as_deref() == Some(call)).for_each(|thread| thread.call = None);
        }
        let (session, thread) = self.thread(&thread_id);
        match call {
            Some(call) => *thread = Thread { call: Some(call.to_owned()), parent: thread.parent.take(), ..Thread::default() },
            None => {
                if self.histories.len() == MAX_REMEMBERED {
                    self.histories.remove(0);
                }
                self.histories.push((request, session));
            }
        }
    }

    /// A line of the agent's, and its number in the journal.
    pub fn from_agent(&mut self, seq: u64, line: &[u8], out: &mut Decoded) {
        let text = jsonrpc::text(line);
        if text.is_empty() {
            return;
        }
        let Some(Bounded { text, is_cut }) = shape::bounded(&text) else {
            return out.signals.bad_line(cut(&text, BAD_LINE_BYTES), None);
        };
        self.is_cut = is_cut;
        let mut place = Place { seq, index: 0 };
        jsonrpc::messages(&text, |message| {
            match message {
                Ok(Message::Notification { method, params }) => self.notification(&method, params.map_or("null", RawValue::get), out),
                Ok(Message::Request { id, method, params }) => {
                    self.request(place, &id, &method, params.map_or("null", RawValue::get), &mut out.signals);
                }
                Ok(Message::Response { id, outcome }) => self.response(id, outcome, out),
                Err(Malformed) => out.signals.bad_line(cut(&text, BAD_LINE_BYTES), None),
            }
            place.index += 1;
        });
        if is_cut {
            self.tell_excess(&mut out.signals);
        }
    }

    /// Part of a line was left out: people are told once for each prompt.
    fn tell_excess(&mut self, signals: &mut Signals) {
        let Some(session) = self.last.clone() else { return };
        let Some(call) = self.threads.get(&session).and_then(|thread| thread.call.clone()) else { return };
        if self.told_excess.replace(call.clone()) != Some(call) {
            signals.update(&session, Update::notice("warning", excess::NOTICE));
        }
    }

    fn request(&mut self, place: Place, id: &RpcId, method: &str, json: &str, signals: &mut Signals) {
        let is_oversized = self.is_cut || json.len() > MAX_REQUEST_BYTES;
        let params = update::value(json);
        let thread = params["threadId"].as_str().or_else(|| params["conversationId"].as_str()).unwrap_or_default();
        let (session, _) = self.place_of(thread);
        let call = params["itemId"].as_str().and_then(|item| self.calls.get(&session, item));
        let (kind, demand) = match thread {
            "" => (Kind::Approval, no_thread(method)),
            // Nobody could say what would happen.
            _ if is_oversized || call.is_some_and(|call| call.truncated && approval::relies_on(method)) => (Kind::Approval, oversized()),
            _ => approval::read(method, &params, call),
        };
        let rpc_id = reply::kept(id, kind);
        if kind != Kind::Approval {
            if self.asked.len() == MAX_REMEMBERED {
                self.asked.pop_front();
            }
            self.asked.push_back((id.to_json(), rpc_id.clone()));
        }
        signals.push(Signal::Demand { agent_session: session, place, rpc_id, demand });
    }

    /// A request is answered or no longer of interest. Which of both, whoever owes the answer knows.
    fn resolved(&mut self, params: &Value, signals: &mut Signals) {
        let Ok(id) = RpcId::deserialize(&params["requestId"]) else { return };
        let bare = id.to_json();
        let kept = self.asked.iter().position(|(asked, _)| *asked == bare).and_then(|at| self.asked.remove(at));
        signals.push(Signal::Withdrawn { rpc_id: kept.map_or(bare, |(_, kept)| kept) });
    }

    fn response(&mut self, id: RpcId, outcome: Option<Result<&RawValue, ErrorObject>>, out: &mut Decoded) {
        let RpcId::String(request) = id else {
            return tracing::debug!(id = id.to_json(), "ignored an answer to an id that is not ours");
        };
        if let Some(call) = id::prompted_call(&request) {
            return self.prompt_answer(call, outcome, out);
        }
        let history = self.histories.iter().position(|(asked, _)| *asked == request).map(|at| self.histories.remove(at).1);
        if let (Some(thread), Some(Ok(page))) = (history, &outcome) {
            history::replay(&thread, page.get(), &mut out.signals);
        }
        let answer = match outcome {
            Some(Ok(_)) if self.is_cut && id::is_list(&request) => Err(excess::too_long()),
            Some(Ok(result)) => Ok(Some(result.to_owned())),
            Some(Err(error)) => Err(failure::rejected(error)),
            None => Ok(None),
        };
        out.answers.push((request, answer));
    }

    /// That a prompt was taken is not its end.
    fn prompt_answer(&mut self, call: &str, outcome: Option<Result<&RawValue, ErrorObject>>, out: &mut Decoded) {
        let session = self.threads.iter().find(|(_, thread)| thread.call.as_deref() == Some(call)).map(|(session, _)| session.clone());
        match outcome {
            Some(Ok(result)) => {
                let turn = update::value(result.get())["turn"]["id"].as_str().filter(|id| id.len() <= TURN_ID_BYTES).map(str::to_owned);
                if let (Some(session), Some(turn)) = (session, turn) {
                    self.began(&session, turn, out);
                }
            }
            Some(Err(error)) => self.end(call, Err(failure::rejected(error).into()), out),
            None => self.end(call, Err(RpcError::Malformed { method: super::request::PROMPT.to_owned() }), out),
        }
    }

    fn began(&mut self, session: &Arc<str>, turn: String, out: &mut Decoded) {
        let (_, thread) = self.thread(session);
        if thread.call.is_some() && thread.turn.as_deref() != Some(&turn) {
            thread.turn = Some(turn.clone());
            out.turns.push((session.clone(), Some(turn)));
        }
    }

    fn turn_completed(&mut self, session: &Arc<str>, turn: &Value, out: &mut Decoded) {
        let (_, thread) = self.thread(session);
        let Some(call) = thread.call.clone() else { return };
        // One that was begun by somebody else, or that an earlier prompt left behind.
        if thread.turn.as_deref().is_some_and(|running| turn["id"].as_str() != Some(running)) {
            return;
        }
        let stopped = |stop_reason: &str| Ok(PromptEnd { stop_reason: stop_reason.to_owned() });
        let result = match turn["status"].as_str() {
            Some("completed") => stopped(crate::acp::response::END_TURN),
            Some("interrupted") => stopped("cancelled"),
            Some("failed") => {
                let error = Some(&turn["error"]).filter(|error| !error.is_null()).or(thread.error.as_ref()).unwrap_or(&Value::Null);
                let reason = failure::words(error);
                if failure::wants_login(error, thread.worked) {
                    Err(RpcError::Rejected { code: LOGIN_REQUIRED, reason })
                } else {
                    // Its model failed, and not what was asked of it: that is the last thing it says.
                    let notice = Update::Notice { level: "error".to_owned(), text: reason, in_text: true, retry: None };
                    out.signals.update(session, notice);
                    stopped(crate::acp::response::END_TURN)
                }
            }
            other => stopped(cut(other.unwrap_or("unknown"), METHOD_BYTES)),
        };
        self.end(&call, result, out);
    }

    /// A prompt ends once, however often the agent says so.
    fn end(&mut self, call: &str, result: Result<PromptEnd, RpcError>, out: &mut Decoded) {
        if self.ended.iter().any(|ended| ended == call) {
            return tracing::debug!(call, "ignored a second end of a prompt");
        }
        if self.ended.len() == MAX_REMEMBERED {
            self.ended.pop_front();
        }
        self.ended.push_back(call.to_owned());
        if let Some((session, thread)) = self.threads.iter_mut().find(|(_, thread)| thread.call.as_deref() == Some(call)) {
            *thread = Thread { parent: thread.parent.take(), ..Thread::default() };
            out.turns.push((session.clone(), None));
        }
        out.signals.push(Signal::PromptEnded { call_id: call.to_owned(), result: result.map_err(Failure::from) });
    }

    /// The thread with that id, known or not.
    fn thread(&mut self, id: &str) -> (Arc<str>, &mut Thread) {
        let session = match &self.last {
            Some(last) if **last == *id => last.clone(),
            _ => self.last.insert(bounded_id(id).into()).clone(),
        };
        if self.threads.len() >= MAX_REMEMBERED && !self.threads.contains_key(&session) {
            self.threads.retain(|_, thread| thread.call.is_some());
        }
        let thread = self.threads.entry(session.clone()).or_default();
        (session, thread)
    }

    /// The session that a thread works for, and whether it is that session itself: the program starts threads for parts of the work.
    fn place_of(&mut self, id: &str) -> (Arc<str>, bool) {
        let (mut session, mut is_own) = (self.thread(id).0, true);
        // A parent of parents is not looked for beyond what a sane tree has.
        for _ in 0..8 {
            match self.threads.get(&session).and_then(|thread| thread.parent.clone()) {
                Some(parent) => (session, is_own) = (parent, false),
                None => break,
            }
        }
        (session, is_own)
    }
}

fn no_thread(method: &str) -> Demand {
    Demand::Unknown { problem: Problem::Unsupported, message: format!("\"Method not found\": {}", cut(method, METHOD_BYTES)) }
}

fn oversized() -> Demand {
    Demand::Unknown { problem: Problem::Invalid, message: "Invalid params: the request is too large".to_owned() }
}

#[cfg(test)]
mod tests;
