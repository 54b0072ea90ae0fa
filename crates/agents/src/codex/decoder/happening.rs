//! The notifications: what happens in a thread.

use std::sync::Arc;

use domain::agent::{PlanEntry, Retry, ToolCall, Update};
use serde::Deserialize;
use serde_json::Value;

use super::history::thought;
use super::{Decoder, MAX_ITEMS, MAX_SAID_BYTES, TURN_ID_BYTES};
use crate::acp::decoder::Decoded;
use crate::acp::tool_call::Report;
use crate::acp::update;
use crate::bounds::bounded_id;
use crate::codex::settings::Mode;
use crate::codex::{failure, item};
use crate::signal::{Signal, Signals};

/// Known, and of no use to anybody here: how the program is doing, and what is told in another way too.
const UNUSED: &[&str] = &[
    "account/rateLimits/updated",
    "account/updated",
    "app/list/updated",
    "deprecationNotice",
    "hook/completed",
    "hook/started",
    "item/commandExecution/terminalInteraction",
    "model/safetyBuffering/updated",
    "rawResponse/completed",
    "rawResponseItem/completed",
    "remoteControl/status/changed",
    "skills/changed",
    "thread/archived",
    "thread/closed",
    "thread/compacted",
    "thread/deleted",
    "thread/goal/cleared",
    "thread/queue/changed",
    "thread/readState/changed",
    "thread/status/changed",
    "thread/unarchived",
    "turn/diff/updated",
    "turn/moderationMetadata",
];

/// A piece of an item, the kind of line that comes by the thousand.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Delta {
    thread_id: String,
    item_id: String,
    #[serde(alias = "message")]
    delta: String,
}

impl Decoder {
    pub(super) fn notification(&mut self, method: &str, json: &str, out: &mut Decoded) {
        if method.starts_with("item/")
            && let Ok(piece) = serde_json::from_str::<Delta>(json)
            && self.delta(method, &piece, &mut out.signals)
        {
            return;
        }
        if UNUSED.contains(&method) {
            return;
        }
        let params = update::value(json);
        let thread = params["threadId"].as_str().unwrap_or_default().to_owned();
        match method {
            "thread/started" => return self.thread_started(&params["thread"]),
            "serverRequest/resolved" => return self.resolved(&params, &mut out.signals),
            _ if thread.is_empty() => return out.signals.push(Signal::Other { method: method.to_owned(), params }),
            _ => {}
        }
        let (session, is_own) = self.place_of(&thread);
        match method {
            "turn/started" if is_own => {
                if let Some(turn) = params["turn"]["id"].as_str().filter(|id| id.len() <= TURN_ID_BYTES) {
                    self.began(&session, turn.to_owned(), out);
                }
            }
            "turn/completed" if is_own => self.turn_completed(&session, &params["turn"], out),
            "item/started" | "item/completed" => {
                let child = Some(&*thread).filter(|_| !is_own);
                self.item(&session, child, method == "item/completed", &params["item"], &mut out.signals);
            }
            _ if is_own => self.happened(&session, method, params, &mut out.signals),
            // Of a part of the work that another thread does, only what it calls is told.
            _ => {}
        }
    }

    /// Whether it was a piece of something that is told in pieces.
    fn delta(&mut self, method: &str, piece: &Delta, signals: &mut Signals) -> bool {
        let (session, is_own) = self.place_of(&piece.thread_id);
        match method {
            "item/agentMessage/delta" | "item/plan/delta" if is_own => self.said(&session, &piece.item_id, &piece.delta, signals),
            "item/reasoning/summaryTextDelta" | "item/reasoning/textDelta" if is_own => {
                self.thought(&session, &piece.item_id, &piece.delta, signals);
            }
            "item/commandExecution/outputDelta" | "item/fileChange/outputDelta" => {
                self.report(&session, Report::printed(&piece.item_id, &piece.delta), signals);
            }
            "item/mcpToolCall/progress" => self.report(&session, Report::printed(&piece.item_id, &format!("{}\n", piece.delta)), signals),
            "item/agentMessage/delta" | "item/plan/delta" | "item/reasoning/summaryTextDelta" | "item/reasoning/textDelta" => {}
            _ => return false,
        }
        true
    }

    fn happened(&mut self, session: &Arc<str>, method: &str, params: Value, signals: &mut Signals) {
        let update = match method {
            "item/reasoning/summaryPartAdded" => {
                if params["summaryIndex"].as_u64() > Some(0) {
                    self.thought(session, params["itemId"].as_str().unwrap_or_default(), "\n\n", signals);
                }
                return;
            }
            "item/fileChange/patchUpdated" => {
                let id = params["itemId"].as_str().unwrap_or_default().to_owned();
                return self.report(session, Report::from(ToolCall { id, ..item::file_change(&params["changes"]) }), signals);
            }
            "error" => return self.error(session, &params, signals),
            "turn/plan/updated" => plan(&params["plan"]),
            "thread/tokenUsage/updated" => usage(&params["tokenUsage"]),
            "thread/name/updated" => Some(Update::Title { title: params["threadName"].as_str().map(str::to_owned) }),
            "thread/settings/updated" => {
                let settings = &params["threadSettings"];
                let mode = Mode::of(&settings["approvalPolicy"], &settings["sandboxPolicy"]);
                mode.map(|mode| Update::Mode { mode_id: mode.as_str().to_owned() })
            }
            "warning" | "guardianWarning" => params["message"].as_str().map(|text| Update::notice("warning", text)),
            "model/rerouted" => rerouted(&params),
            "mcpServer/startupStatus/updated" => match params["status"].as_str() {
                Some("failed") => params["error"].as_str().map(|text| Update::notice("warning", text)),
                _ => return,
            },
            _ => None,
        };
        let update = update.unwrap_or_else(|| Update::Unknown { kind: method.to_owned(), raw: params.into() });
        signals.update(session, update);
    }

    /// The model failed. Where it is asked again, its answer comes once more from the beginning; where not, the turn's end says why.
    fn error(&mut self, session: &Arc<str>, params: &Value, signals: &mut Signals) {
        let error = &params["error"];
        let (_, thread) = self.thread(session);
        if params["willRetry"] == true {
            let (level, text) = ("warning".to_owned(), failure::words(error));
            signals.update(session, Update::Notice { level, text, in_text: false, retry: Some(Retry::default()) });
        } else {
            thread.error = Some(failure::bounded(error));
        }
    }

    /// An item that begins or is complete. `child` is the thread that it is of, where that is not the session itself.
    fn item(&mut self, session: &Arc<str>, child: Option<&str>, complete: bool, item: &Value, signals: &mut Signals) {
        let id = item["id"].as_str().unwrap_or_default();
        let kind = item["type"].as_str().unwrap_or_default();
        if kind == "userMessage" {
            return;
        }
        self.thread(session).1.worked = true;
        match (kind, child) {
            ("agentMessage" | "plan", None) => {
                if complete {
                    self.rest(session, id, item["text"].as_str().unwrap_or_default(), signals);
                }
            }
            ("reasoning", None) => {
                if complete && !self.thread(session).1.said.contains_key(&*bounded_id(id)) {
                    self.thought(session, id, &thought(item), signals);
                }
            }
            ("contextCompaction", None) => {
                let status = if complete { "completed" } else { "in_progress" };
                let (id, status) = (id.to_owned(), Some(status.to_owned()));
                signals.update(session, Update::Compaction { id, status, summary: None, appends: false, error: None });
            }
            ("agentMessage" | "plan" | "reasoning" | "contextCompaction", Some(_)) => {}
            _ => match item::call(item) {
                Some(mut call) => {
                    call.parent = child.map(str::to_owned);
                    self.call(session, call, item, signals);
                }
                None => signals.update(session, Update::Unknown { kind: format!("item/{kind}"), raw: item.into() }),
            },
        }
    }

    /// A command that streamed its output is not told it once more.
    fn call(&mut self, session: &Arc<str>, mut call: ToolCall, item: &Value, signals: &mut Signals) {
        let (_, thread) = self.thread(session);
        thread.complete = None;
        if !thread.said.contains_key(&*bounded_id(&call.id)) {
            call.content = call.content.or_else(|| Some(vec![item::printed(item)?]));
        }
        self.report(session, Report::from(call), signals);
    }

    fn report(&mut self, session: &Arc<str>, report: Report, signals: &mut Signals) {
        let id = report.call.id.clone();
        let merged = self.calls.merge(session, report);
        if let Some(call) = merged.call {
            signals.update(session, Update::ToolCall(call));
        }
        if let Some(output) = merged.output {
            self.note(session, &id, None);
            signals.update(session, output);
        }
    }

    /// More of a message. What follows a message that is complete is another one.
    fn said(&mut self, session: &Arc<str>, id: &str, text: &str, signals: &mut Signals) {
        let (_, thread) = self.thread(session);
        thread.worked = true;
        if thread.complete.take().is_some_and(|before| before != *bounded_id(id)) && !text.is_empty() {
            signals.text(session, "\n\n");
        }
        self.note(session, id, Some(text));
        signals.text(session, text);
    }

    /// What of a complete message was not told yet. One that does not begin with what was told cannot be mended.
    fn rest(&mut self, session: &Arc<str>, id: &str, whole: &str, signals: &mut Signals) {
        let rest = match self.thread(session).1.said.get(&*bounded_id(id)) {
            Some(Some(said)) => whole.strip_prefix(said.as_str()).unwrap_or_default(),
            Some(None) => "",
            None => whole,
        };
        if !rest.is_empty() {
            self.said(session, id, rest, signals);
        }
        let (_, thread) = self.thread(session);
        thread.complete = Some(bounded_id(id).into_owned());
        if let Some(said) = thread.said.get_mut(&*bounded_id(id)) {
            thread.said_bytes -= said.take().map_or(0, |said| said.len());
        }
    }

    fn thought(&mut self, session: &Arc<str>, id: &str, text: &str, signals: &mut Signals) {
        if text.is_empty() {
            return;
        }
        self.note(session, id, None);
        self.thread(session).1.worked = true;
        signals.update(session, Update::Thought { text: text.to_owned() });
    }

    /// Remembers that an item is told in pieces, and what was said in a message. All messages of a turn have one bound together.
    fn note(&mut self, session: &Arc<str>, id: &str, text: Option<&str>) {
        let (_, thread) = self.thread(session);
        let id = bounded_id(id);
        let kept = text.filter(|text| thread.said_bytes + text.len() <= MAX_SAID_BYTES);
        if thread.said.len() >= MAX_ITEMS && !thread.said.contains_key(&*id) {
            return;
        }
        let before = thread.said.entry(id.into_owned()).or_insert_with(|| kept.map(|_| String::new()));
        match (before, kept) {
            (Some(said), Some(more)) => {
                said.push_str(more);
                thread.said_bytes += more.len();
            }
            (before, _) => thread.said_bytes -= before.take().map_or(0, |said| said.len()),
        }
    }

    /// A thread that the program started by itself works for the one that it was started from.
    fn thread_started(&mut self, thread: &Value) {
        let (Some(id), Some(parent)) = (thread["id"].as_str(), thread["parentThreadId"].as_str()) else { return };
        let (parent, _) = self.thread(parent);
        if *parent != *id {
            self.thread(id).1.parent = Some(parent);
        }
    }
}

fn plan(steps: &Value) -> Option<Update> {
    let entry = |step: &Value| {
        let status = match step["status"].as_str()? {
            "inProgress" => "in_progress",
            status => status,
        };
        Some(PlanEntry { content: step["step"].as_str()?.to_owned(), priority: "medium".to_owned(), status: status.to_owned() })
    };
    Some(Update::Plan { entries: steps.as_array()?.iter().filter_map(entry).collect() })
}

/// The context is as full as the last request made it; the tokens are counted over the whole thread.
fn usage(usage: &Value) -> Option<Update> {
    let (total, last) = (&usage["total"], &usage["last"]);
    Some(Update::Usage {
        used: Some(last["totalTokens"].as_u64()?),
        size: usage["modelContextWindow"].as_u64(),
        cost: None,
        input_tokens: total["inputTokens"].as_u64(),
        output_tokens: total["outputTokens"].as_u64(),
        total_tokens: total["totalTokens"].as_u64(),
        thought_tokens: total["reasoningOutputTokens"].as_u64(),
        cached_read_tokens: total["cachedInputTokens"].as_u64(),
        cached_write_tokens: total["cacheWriteInputTokens"].as_u64(),
    })
}

fn rerouted(params: &Value) -> Option<Update> {
    let (from, to) = (params["fromModel"].as_str()?, params["toModel"].as_str()?);
    Some(Update::notice("info", format!("the model {to} answers instead of {from}")))
}
