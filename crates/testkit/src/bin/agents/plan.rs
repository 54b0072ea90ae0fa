//! What the models say. A prompt names its part of the plan by a word; the answer depends on that word and on whether the tool has
//! answered, and on nothing that went before, because agents ask their models more often than they are asked themselves.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use serde_json::json;
use testkit::model_server::{Gate, Reply, Request, ToolCall};

use crate::known::Known;

/// Beyond ASCII, more than one line, markup, and a piece that ends inside of a word.
pub(crate) const PIECES: [&str; 5] = ["First, `a < b`:\n\n", "1. über", "morgen — 日本 🙂\n", "2. **bold** &amp; \"quoted\"\n", "End."];
pub(crate) const HELD: [&str; 3] = ["one ", "two ", "three."];
pub(crate) const WRITTEN: &str = "line one\nline two\n";

/// What a prompt asks for; the word behind it tells one from another.
pub(crate) const SAY: &str = "vox-say-";
pub(crate) const HOLD: &str = "vox-hold-";
pub(crate) const RUN: &str = "vox-run-";
pub(crate) const SLEEP: &str = "vox-sleep-";
pub(crate) const WRITE: &str = "vox-write-";
pub(crate) const FAULT: &str = "vox-fault-";
/// A command that tries to change something outside the work directory.
pub(crate) const LEAVE: &str = "vox-leave-";

pub(crate) struct Plan {
    pub agent: &'static Known,
    pub work_dir: PathBuf,
    /// What is none of the agent's business.
    pub outside: PathBuf,
    gates: Mutex<HashMap<String, Gate>>,
}

impl Plan {
    pub(crate) fn new(agent: &'static Known, work_dir: PathBuf, outside: PathBuf) -> Plan {
        Plan { agent, work_dir, outside, gates: Mutex::default() }
    }

    /// The gate that holds the answer to the prompt with this word.
    pub(crate) fn gate(&self, word: &str) -> Gate {
        self.gates.lock().unwrap_or_else(PoisonError::into_inner).entry(word.to_owned()).or_default().clone()
    }

    pub(crate) fn answer(&self, request: &Request) -> Reply {
        if request.model() == "main" {
            return main_ai(request);
        }
        let said = request.last_user();
        // Without tools it is no turn: a title, a summary, a look whether the endpoint is there. Some offer tools also for a title.
        if request.tool_names().is_empty() || said.contains("short title") {
            return Reply::text(r#"{"title": "A title"}"#);
        }
        let Some((kind, word)) = directive(&said) else { return Reply::text("Nothing was asked.") };
        let after_tool = request.has_tool_result();
        match kind {
            HOLD => Reply::chunks(HELD).gate(&self.gate(&word)),
            RUN | SLEEP | WRITE | LEAVE if after_tool => Reply::text("The tool has answered."),
            RUN => self.call((self.agent.run)(&format!("echo ran >> {word}.txt"))),
            SLEEP => self.call((self.agent.run)(&format!("echo $$ > {word}.pid; sleep 300; echo woke >> {word}.txt"))),
            WRITE => self.call((self.agent.write)(&self.work_dir.join(format!("{word}.txt")), WRITTEN)),
            LEAVE => {
                let kept = self.outside.display();
                self.call((self.agent.run)(&format!("echo out > {kept}/left; chmod 777 {kept}; echo ran >> {word}.txt")))
            }
            FAULT => Reply::status(400),
            _ => Reply::chunks(PIECES),
        }
    }

    fn call(&self, call: ToolCall) -> Reply {
        Reply::new().and_call(call)
    }
}

/// The last directive of a text: a recap of the conversation holds earlier ones.
fn directive(text: &str) -> Option<(&'static str, String)> {
    let kinds = [SAY, HOLD, RUN, SLEEP, WRITE, FAULT, LEAVE];
    let (at, kind) = kinds.into_iter().filter_map(|kind| Some((text.rfind(kind)?, kind))).max()?;
    let word = text[at + kind.len()..].chars().take_while(char::is_ascii_alphanumeric).collect();
    Some((kind, word))
}

/// Hands one task to each of two named sessions.
fn main_ai(request: &Request) -> Reply {
    if request.has_tool_result() {
        return Reply::text("Both are done.");
    }
    let names = ["left", "right"];
    Reply::tool_calls(
        names.map(|name| ToolCall::new("copilot_agent", json!({ "session_name": name, "prompt": format!("please {HOLD}{name}") }))),
    )
}
