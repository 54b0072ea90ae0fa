//! Tool calls: reading a report of one, and the table that lays later reports over earlier ones.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use domain::agent::{Location, ToolCall, ToolContent};
use serde::Deserialize;
use serde_json::Value;

/// So many calls are remembered; beyond it the oldest closed ones are forgotten.
const MAX_REMEMBERED: usize = 512;

/// One report: what it mentions of the call, and terminal output that continues what came before.
pub(super) struct Report {
    pub call: ToolCall,
    /// The tool's own name, for a call without a title.
    name: Option<String>,
    terminal_output: Option<String>,
    /// It is the first report of its call, not a change of it.
    pub is_whole: bool,
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
    let terminal_output = meta("/terminal_output_delta/data").and_then(Value::as_str).map(str::to_owned);
    let call = ToolCall {
        id: wire.tool_call_id,
        title: wire.title,
        kind: wire.kind,
        status: wire.status,
        content: wire.content.map(|items| items.into_iter().map(content).collect()),
        locations: wire.locations,
        input: wire.raw_input,
        output: wire.raw_output,
        exit_code,
        parent,
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
        Some("diff") => {
            text("/path").zip(text("/newText")).map(|(path, new_text)| ToolContent::Diff { path, old_text: text("/oldText"), new_text })
        }
        Some("terminal") => text("/terminalId").map(|terminal_id| ToolContent::Terminal { terminal_id }),
        _ => None,
    };
    known.unwrap_or(ToolContent::Other { raw: item })
}

/// The current state of the tool calls of every agent session of a connection.
#[derive(Default)]
pub(super) struct Calls {
    calls: HashMap<(Arc<str>, String), ToolCall>,
    /// In order of first appearance.
    order: VecDeque<(Arc<str>, String)>,
}

impl Calls {
    pub fn get(&self, agent_session: &Arc<str>, id: &str) -> Option<&ToolCall> {
        self.calls.get(&(agent_session.clone(), id.to_owned()))
    }

    pub fn forget(&mut self, agent_session: &Arc<str>, id: &str) {
        let key = (agent_session.clone(), id.to_owned());
        self.calls.remove(&key);
        self.order.retain(|known| *known != key);
    }

    /// Lays a report over what is known of the call and returns the whole.
    pub fn lay(&mut self, agent_session: &Arc<str>, report: Report) -> ToolCall {
        let key = (agent_session.clone(), report.call.id.clone());
        if !self.calls.contains_key(&key) {
            self.forget_old();
            self.order.push_back(key.clone());
        }
        let call = self.calls.entry(key).or_insert_with(|| ToolCall { id: report.call.id.clone(), ..ToolCall::default() });
        call.merge(report.call);
        if call.title.is_none() {
            call.title = report.name;
        }
        if let Some(output) = report.terminal_output {
            append(call.content.get_or_insert_default(), &output);
        }
        call.clone()
    }

    fn forget_old(&mut self) {
        if self.order.len() < MAX_REMEMBERED {
            return;
        }
        let closed = self.order.iter().position(|key| !self.calls.get(key).is_some_and(ToolCall::is_open));
        if let Some(key) = self.order.remove(closed.unwrap_or(0)) {
            self.calls.remove(&key);
        }
    }
}

fn append(content: &mut Vec<ToolContent>, output: &str) {
    match content.last_mut() {
        Some(ToolContent::Text { text }) => text.push_str(output),
        _ => content.push(ToolContent::Text { text: output.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn lay(calls: &mut Calls, json: &str) -> ToolCall {
        calls.lay(&"s".into(), read(json).unwrap())
    }

    #[test]
    fn later_reports_are_laid_over_earlier_ones() {
        let mut calls = Calls::default();
        lay(&mut calls, r#"{"toolCallId":"c","title":"T","kind":"execute","status":"pending","rawInput":{"command":"ls"}}"#);
        let call = lay(
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
            let call = lay(&mut calls, &format!(r#"{{"toolCallId":"{}","rawOutput":{output}}}"#, output.len()));
            assert_eq!(call.exit_code, Some(3), "{output}");
        }
    }

    #[test]
    fn terminal_output_in_pieces_is_put_together() {
        let mut calls = Calls::default();
        lay(&mut calls, r#"{"toolCallId":"c","content":[{"type":"terminal","terminalId":"t"}]}"#);
        lay(&mut calls, r#"{"toolCallId":"c","_meta":{"terminal_output_delta":{"data":"a"}}}"#);
        let call = lay(&mut calls, r#"{"toolCallId":"c","_meta":{"terminal_output_delta":{"data":"b"},"terminal_exit":{"exit_code":1}}}"#);
        assert_eq!(call.exit_code, Some(1));
        assert_eq!(call.content.unwrap()[1], ToolContent::Text { text: "ab".into() });
    }

    #[test]
    fn the_table_forgets_closed_calls_first() {
        let mut calls = Calls::default();
        lay(&mut calls, r#"{"toolCallId":"open","status":"pending"}"#);
        for number in 0..2 * MAX_REMEMBERED {
            lay(&mut calls, &format!(r#"{{"toolCallId":"{number}","status":"completed"}}"#));
        }
        assert_eq!(calls.calls.len(), MAX_REMEMBERED);
        assert!(calls.get(&"s".into(), "open").is_some());
    }
}
