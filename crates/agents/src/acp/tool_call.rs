//! Tool calls: reading a report of one, and the table that merges later reports into earlier ones.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use domain::agent::{Location, ToolCall, ToolContent, Update};
use domain::json::RawJson;
use domain::text::utf16_len;
use serde::Deserialize;
use serde_json::Value;

use crate::bounds;

/// So many calls of a session are remembered; beyond it the oldest closed ones are forgotten.
const MAX_REMEMBERED: usize = 512;
const MAX_SESSIONS: usize = 256;
/// So much is remembered of all calls together. One that is forgotten is reported as its next report says it.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// One report: what it mentions of the call, and terminal output that continues what came before.
pub(crate) struct Report {
    pub call: ToolCall,
    /// The tool's own name, for a call without a title.
    name: Option<String>,
    terminal_output: Option<String>,
    /// It is the first report of its call, not a change of it.
    pub is_whole: bool,
}

impl Report {
    /// More of what a call prints.
    pub(crate) fn printed(id: &str, output: &str) -> Self {
        let call = ToolCall { id: id.to_owned(), ..ToolCall::default() };
        Self { terminal_output: Some(output.to_owned()), ..Self::from(call) }
    }

    /// Whether it mentions anything but output.
    fn says_more(&self) -> bool {
        let mentioned = ToolCall { id: String::new(), stream_length: 0, ..self.call.clone() };
        mentioned != ToolCall::default()
    }
}

impl From<ToolCall> for Report {
    fn from(call: ToolCall) -> Self {
        Self { call, name: None, terminal_output: None, is_whole: false }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wire {
    tool_call_id: String,
    title: Option<String>,
    name: Option<String>,
    kind: Option<String>,
    status: Option<String>,
    content: Option<Vec<Value>>,
    locations: Option<Vec<Location>>,
    raw_input: Option<Value>,
    raw_output: Option<Value>,
    #[serde(rename = "_meta")]
    meta: Option<Value>,
}

pub(super) fn read(json: &str) -> serde_json::Result<Report> {
    serde_json::from_str(json).map(report)
}

pub(super) fn read_value(value: Value) -> serde_json::Result<Report> {
    serde_json::from_value(value).map(report)
}

fn report(wire: Wire) -> Report {
    let meta = |pointer: &str| wire.meta.as_ref()?.pointer(pointer);
    let exit_code = wire.raw_output.as_ref().and_then(exit_code).or_else(|| meta("/terminal_exit/exit_code")?.as_i64());
    let parent = meta("/github.com~1copilot/agentId").and_then(Value::as_str).map(str::to_owned);
    let streamed = ["/terminal_output_delta/data", "/terminal_output/data"].into_iter().find_map(|place| meta(place)?.as_str());
    let terminal_output = streamed.map(str::to_owned);
    let call = ToolCall {
        id: wire.tool_call_id,
        title: wire.title,
        kind: wire.kind,
        status: wire.status,
        content: wire.content.map(|items| items.into_iter().map(content).collect()),
        locations: wire.locations,
        input: wire.raw_input.map(RawJson::from),
        output: wire.raw_output.map(RawJson::from),
        exit_code,
        parent,
        ..ToolCall::default()
    };
    Report { call, name: wire.name, terminal_output, is_whole: false }
}

/// How a command ended. A call whose command failed is "completed" all the same, so this is the only word about it; agents put it in
/// different places.
fn exit_code(output: &Value) -> Option<i64> {
    let parts = output.get("contents").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let of_part = parts.iter().rev().find_map(|part| part.get("exitCode")?.as_i64());
    of_part.or_else(|| ["/exitCode", "/exit_code", "/metadata/exit"].iter().find_map(|place| output.pointer(place)?.as_i64()))
}

fn content(item: Value) -> ToolContent {
    let text = |pointer: &str| item.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    let known = match item["type"].as_str() {
        Some("content") if item["content"]["type"] == "text" => text("/content/text").map(|text| ToolContent::Text { text }),
        Some("diff") => text("/path").zip(text("/newText")).map(|(path, new_text)| ToolContent::Diff {
            path,
            old_text: text("/oldText"),
            new_text,
            hunks: None,
        }),
        Some("terminal") => text("/terminalId").map(|terminal_id| ToolContent::Terminal { terminal_id }),
        _ => None,
    };
    known.unwrap_or(ToolContent::Other { raw: item.into() })
}

/// The current state of the tool calls of every agent session of a connection.
#[derive(Default)]
pub(crate) struct Calls {
    sessions: HashMap<Arc<str>, Session>,
    /// What all of them hold, about.
    bytes: usize,
}

#[derive(Default)]
struct Session {
    calls: HashMap<String, Known>,
    /// In order of first appearance.
    order: VecDeque<String>,
}

#[derive(Default)]
struct Known {
    call: ToolCall,
    /// How much output was streamed, in UTF-16 code units.
    streamed: u64,
    /// As it is counted in the table.
    bytes: usize,
}

/// What a report comes to.
pub(crate) struct Merged {
    /// The whole call; `None` where the report held nothing but output of a known call.
    pub call: Option<ToolCall>,
    /// More of its output.
    pub output: Option<Update>,
}

impl Calls {
    pub(crate) fn get(&self, agent_session: &Arc<str>, id: &str) -> Option<&ToolCall> {
        Some(&self.sessions.get(agent_session)?.calls.get(&*bounds::bounded_id(id))?.call)
    }

    /// The call of the session that was begun last and has not ended.
    pub(super) fn last_open(&self, agent_session: &Arc<str>) -> Option<String> {
        let session = self.sessions.get(agent_session)?;
        session.order.iter().rev().find(|id| session.calls.get(*id).is_some_and(|known| known.call.is_open())).cloned()
    }

    pub(super) fn forget(&mut self, agent_session: &Arc<str>, id: &str) {
        let Some(session) = self.sessions.get_mut(agent_session) else { return };
        if let Some((id, known)) = session.calls.remove_entry(&*bounds::bounded_id(id)) {
            session.order.retain(|known| *known != id);
            self.bytes -= known.bytes;
        }
    }

    /// Merges a report into what is known of the call.
    pub(crate) fn merge(&mut self, agent_session: &Arc<str>, mut report: Report) -> Merged {
        report.call = bounds::tool_call(report.call);
        self.make_room(agent_session, &report.call);
        let session = self.sessions.entry(agent_session.clone()).or_default();
        let id = report.call.id.clone();
        let is_new = !session.calls.contains_key(&id);
        if is_new {
            session.order.push_back(id.clone());
        }
        let known = session.calls.entry(id.clone()).or_default();
        let says_more = is_new || report.terminal_output.is_none() || report.says_more();
        known.streamed = known.streamed.max(report.call.stream_length);
        known.call.id.clone_from(&id);
        known.call.merge(report.call);
        if known.call.title.is_none() {
            known.call.title = report.name.map(|name| bounds::text(name, bounds::TITLE_BYTES));
        }
        let bytes = known.call.bytes();
        self.bytes = self.bytes - known.bytes + bytes;
        known.bytes = bytes;
        let output = report.terminal_output.filter(|output| !output.is_empty()).map(|content| {
            let offset = known.streamed;
            known.streamed += utf16_len(&content);
            Update::ToolOutput { id, offset, content }
        });
        Merged { call: says_more.then(|| known.call.clone()), output }
    }

    /// Forgets the oldest where there is too much, closed ones first.
    fn make_room(&mut self, agent_session: &Arc<str>, report: &ToolCall) {
        if self.sessions.len() >= MAX_SESSIONS && !self.sessions.contains_key(agent_session) {
            let idle = self.sessions.iter().find(|(_, session)| session.calls.values().all(|known| !known.call.is_open()));
            if let Some(forgotten) = idle.or_else(|| self.sessions.iter().next()).map(|(session, _)| session.clone()) {
                let freed = self.sessions.remove(&forgotten).map_or(0, |session| session.calls.values().map(|known| known.bytes).sum());
                self.bytes -= freed;
            }
        }
        let bytes = report.bytes();
        while self.bytes + bytes > MAX_BYTES && self.forget_oldest(None, (agent_session, &report.id)) {}
        let full = |session: &Session| session.calls.len() >= MAX_REMEMBERED && !session.calls.contains_key(&report.id);
        if self.sessions.get(agent_session).is_some_and(full) {
            self.forget_oldest(Some(agent_session), (agent_session, &report.id));
        }
    }

    /// Whether there was one to forget.
    fn forget_oldest(&mut self, within: Option<&Arc<str>>, spared: (&Arc<str>, &str)) -> bool {
        let candidates = |open: bool| {
            let sessions = self.sessions.iter().filter(|(name, _)| within.is_none_or(|within| within == *name));
            sessions.filter_map(move |(name, session)| {
                let oldest = session.order.iter().find(|id| (name, id.as_str()) != spared && session.calls[*id].call.is_open() == open)?;
                Some((name.clone(), oldest.clone(), session.calls[oldest].bytes))
            })
        };
        let largest = |open| candidates(open).max_by_key(|(_, _, bytes)| *bytes);
        let Some((session, id, _)) = largest(false).or_else(|| largest(true)) else { return false };
        self.forget(&session, &id);
        true
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn merge(calls: &mut Calls, json: &str) -> Merged {
        calls.merge(&"s".into(), read(json).unwrap())
    }

    fn call(calls: &mut Calls, json: &str) -> ToolCall {
        merge(calls, json).call.unwrap()
    }

    #[test]
    fn later_reports_are_merged_into_earlier_ones() {
        let mut calls = Calls::default();
        call(&mut calls, r#"{"toolCallId":"c","title":"T","kind":"execute","status":"pending","rawInput":{"command":"ls"}}"#);
        let call = call(
            &mut calls,
            r#"{"toolCallId":"c","status":"completed","content":[{"type":"content","content":{"type":"text","text":"x"}},{"type":"new"}],
               "rawOutput":{"contents":[{"type":"shell_exit","exitCode":3}]},"_meta":{"github.com/copilot":{"agentId":"sub"}}}"#,
        );
        assert_eq!(call.title.as_deref(), Some("T"));
        assert_eq!((call.exit_code, call.parent.as_deref(), call.is_open()), (Some(3), Some("sub"), false));
        assert!(matches!(&call.content.unwrap()[..], [ToolContent::Text { .. }, ToolContent::Other { .. }]));
    }

    #[test]
    fn an_exit_code_is_found_wherever_agents_put_it() {
        let mut calls = Calls::default();
        for output in [r#"{"exitCode":3}"#, r#"{"exit_code":3}"#, r#"{"metadata":{"exit":3}}"#] {
            let call = call(&mut calls, &format!(r#"{{"toolCallId":"{}","rawOutput":{output}}}"#, output.len()));
            assert_eq!(call.exit_code, Some(3), "{output}");
        }
    }

    #[test]
    fn output_in_pieces_is_a_stream_beside_the_call() {
        let mut calls = Calls::default();
        let output = |offset, content: &str| Some(Update::ToolOutput { id: "c".into(), offset, content: content.into() });
        merge(&mut calls, r#"{"toolCallId":"c","content":[{"type":"terminal","terminalId":"t"}]}"#);
        let first = merge(&mut calls, r#"{"toolCallId":"c","_meta":{"terminal_output_delta":{"data":"ä𝄞"}}}"#);
        assert_eq!((first.call, first.output), (None, output(0, "ä𝄞")));
        let last = merge(&mut calls, r#"{"toolCallId":"c","_meta":{"terminal_output":{"data":"b"},"terminal_exit":{"exit_code":1}}}"#);
        assert_eq!((last.call.as_ref().unwrap().exit_code, last.output), (Some(1), output(3, "b")));
        assert_eq!(last.call.unwrap().content.unwrap(), [ToolContent::Terminal { terminal_id: "t".into() }]);
        let unknown = merge(&mut calls, r#"{"toolCallId":"d","_meta":{"terminal_output_delta":{"data":"x"}}}"#);
        assert!(unknown.call.is_some() && unknown.output.is_some());
    }

    #[test]
    fn a_stream_goes_on_where_the_stored_call_left_it() {
        let mut calls = Calls::default();
        let stored = ToolCall { id: "c".into(), stream_length: 7, ..ToolCall::default() };
        calls.merge(&"s".into(), Report::from(stored));
        let more = merge(&mut calls, r#"{"toolCallId":"c","_meta":{"terminal_output_delta":{"data":"x"}}}"#);
        assert!(matches!(more.output, Some(Update::ToolOutput { offset: 7, .. })));
    }

    #[test]
    fn the_table_forgets_closed_calls_first() {
        let mut calls = Calls::default();
        merge(&mut calls, r#"{"toolCallId":"open","status":"pending"}"#);
        for number in 0..2 * MAX_REMEMBERED {
            merge(&mut calls, &format!(r#"{{"toolCallId":"{number}","status":"completed"}}"#));
        }
        assert_eq!(calls.sessions[&Arc::from("s")].calls.len(), MAX_REMEMBERED);
        assert!(calls.get(&"s".into(), "open").is_some());
    }

    #[test]
    fn the_table_is_bounded_in_sessions_and_in_bytes() {
        let mut calls = Calls::default();
        let large = "x".repeat(200 * 1024);
        for number in 0..2 * MAX_SESSIONS {
            let text = if number < 200 { large.as_str() } else { "" };
            let json = format!(r#"{{"toolCallId":"c","status":"pending","rawInput":"{text}"}}"#);
            calls.merge(&number.to_string().into(), read(&json).unwrap());
            assert!(calls.bytes <= MAX_BYTES && calls.sessions.len() <= MAX_SESSIONS);
        }
    }
}
