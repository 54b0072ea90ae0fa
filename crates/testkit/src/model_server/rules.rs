//! The script as a file: rules in order, the first that fits a request answers it.
//!
//! ```json
//! [
//!   {"when": {"model": "main", "has_tool_result": true}, "reply": {"text": "all done"}},
//!   {"when": {"last_user_contains": "flaky"}, "times": 1, "reply": {"status": 429, "headers": {"retry-after": "1"}}},
//!   {"when": {"model": "main"}, "reply": {"tool_calls": [{"name": "copilot_agent", "arguments": {"prompt": "go"}}]}},
//!   {"reply": {"chunks": ["a", "b"], "chunk_delay_ms": 50}}
//! ]
//! ```

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::Context;
use serde::Deserialize;
use serde_json::Value;

use super::reply::{Reply, ToolCall};
use super::request::Request;
use super::script::unscripted;

/// The rules of one script file, with how often each has answered.
#[derive(Debug)]
pub struct Rules(Vec<(Rule, AtomicUsize)>);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    #[serde(default)]
    when: When,
    /// After so many answers the rule is spent and the later ones get their turn.
    times: Option<usize>,
    reply: Answer,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct When {
    model: Option<String>,
    last_user_contains: Option<String>,
    /// Whether a tool has answered since the last message from the user.
    has_tool_result: Option<bool>,
    tool_result_contains: Option<String>,
    /// How many tools have answered since the last message from the user.
    tool_results: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Answer {
    text: Option<String>,
    chunks: Vec<String>,
    thought: Option<String>,
    tool_calls: Vec<Call>,
    argument_pieces: Option<usize>,
    chunk_delay_ms: Option<u64>,
    finish: Option<String>,
    status: Option<u16>,
    headers: BTreeMap<String, String>,
    /// A string is sent as plain text, any other value as JSON.
    body: Option<Value>,
    cut: bool,
    end_early: bool,
    stall: bool,
    hang_up: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    id: Option<String>,
    name: String,
    /// A string is sent as it is, so it may be malformed.
    #[serde(default)]
    arguments: Value,
}

impl Rules {
    pub fn from_json(text: &str) -> anyhow::Result<Rules> {
        let rules: Vec<Rule> = serde_json::from_str(text).context("the script is not a list of rules")?;
        let counted = rules.into_iter().map(|rule| (rule, AtomicUsize::new(0)));
        Ok(Rules(counted.collect()))
    }

    pub fn from_file(path: &Path) -> anyhow::Result<Rules> {
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        Rules::from_json(&text).with_context(|| format!("in {}", path.display()))
    }

    pub(super) fn answer(&self, request: &Request) -> Reply {
        for (rule, used) in &self.0 {
            if !rule.when.fits(request) {
                continue;
            }
            let before = used.fetch_add(1, Ordering::Relaxed);
            if rule.times.is_none_or(|times| before < times) {
                return rule.reply.build();
            }
        }
        unscripted(request)
    }
}

impl When {
    fn fits(&self, request: &Request) -> bool {
        let results = request.tool_results();
        let holds = |wanted: &Option<String>, found: &dyn Fn(&str) -> bool| wanted.as_ref().is_none_or(|wanted| found(wanted));
        holds(&self.model, &|model| request.model() == model)
            && holds(&self.last_user_contains, &|part| request.last_user().contains(part))
            && holds(&self.tool_result_contains, &|part| results.iter().any(|result| result.contains(part)))
            && self.has_tool_result.is_none_or(|wanted| wanted != results.is_empty())
            && self.tool_results.is_none_or(|wanted| wanted == results.len())
    }
}

impl Answer {
    fn build(&self) -> Reply {
        let mut reply = match self.status {
            Some(status) => Reply::status(status),
            None if self.hang_up => Reply::hang_up(),
            None => Reply::new(),
        };
        if let Some(thought) = &self.thought {
            reply = reply.and_thought(thought);
        }
        for text in self.text.iter().chain(&self.chunks) {
            reply = reply.and_text(text);
        }
        for call in &self.tool_calls {
            reply = reply.and_call(call.build());
        }
        for (name, value) in &self.headers {
            reply = reply.header(name, value);
        }
        reply = match &self.body {
            Some(Value::String(body)) => reply.body("text/plain", body),
            Some(body) => reply.body("application/json", &body.to_string()),
            None => reply,
        };
        if let Some(reason) = &self.finish {
            reply = reply.finish(reason);
        }
        if let Some(delay_ms) = self.chunk_delay_ms {
            reply = reply.chunk_delay(Duration::from_millis(delay_ms));
        }
        reply = reply.argument_pieces(self.argument_pieces.unwrap_or(1));
        match (self.cut, self.end_early, self.stall) {
            (true, _, _) => reply.cut(),
            (_, true, _) => reply.end_early(),
            (_, _, true) => reply.stall(),
            _ => reply,
        }
    }
}

impl Call {
    fn build(&self) -> ToolCall {
        let arguments = match &self.arguments {
            Value::Null => Value::String("{}".to_owned()),
            value => value.clone(),
        };
        let call = ToolCall::new(&self.name, arguments);
        match &self.id {
            Some(id) => call.with_id(id),
            None => call,
        }
    }
}
