//! The conversation: what the person says, what the main AI and the agent's own model answer, and what the demo agent is told.
//!
//! A message is a name and a kind of work, such as `step-2 blocking`. Whatever the work, the agent appends the name to `log.txt`
//! exactly once, so that the file tells how often each prompt was carried out, and in which order.

use std::time::Duration;

use serde_json::json;

use super::case::Agent;
use crate::model_server::{Gate, Reply, Request, Script, ToolCall};

/// The agent session that the main AI delegates to.
pub(super) const SESSION: &str = "work";
/// What the main AI says before it delegates, where it says anything.
pub(super) const THINKING: [&str; 6] = ["Let ", "me ", "think ", "about ", "this ", "first. "];
const WORDS: usize = 120;
/// How far an agent has come when it counts as being in the middle of its stream.
pub(super) const MIDDLE: usize = 25;

/// Holds the two models back, or slows them down.
#[derive(Clone, Default)]
pub(super) struct Pacing {
    pub main: Option<Gate>,
    pub coder: Option<Gate>,
    pub pause: Option<Duration>,
}

impl Pacing {
    pub(super) fn gated() -> Pacing {
        Pacing { main: Some(Gate::new()), coder: Some(Gate::new()), pause: None }
    }

    pub(super) fn paced(pause: Duration) -> Pacing {
        Pacing { pause: Some(pause), ..Pacing::default() }
    }

    pub(super) fn open(&self) {
        for gate in self.main.iter().chain(&self.coder) {
            gate.open();
        }
    }
}

/// What both models answer in a run with `agent`.
pub(super) fn model_script(agent: Agent, pacing: &Pacing) -> Script {
    let pacing = pacing.clone();
    Script::rules(move |request| if request.model() == "main" { main_ai(agent, &pacing, request) } else { coder(agent, &pacing, request) })
}

fn main_ai(agent: Agent, pacing: &Pacing, request: &Request) -> Reply {
    let asked = request.last_user();
    let (name, work) = asked.split_once(' ').unwrap_or((&asked, "plain"));
    let slow = |reply: Reply| pacing.pause.map_or(reply.clone(), |pause| reply.chunk_delay(pause));
    if request.has_tool_result() {
        return slow(Reply::chunks(["All ", "done ", "with ", name, "."]));
    }
    let call = ToolCall::new("copilot_agent", json!({ "prompt": prompt(agent, name, work), "session_name": SESSION }));
    if work != "thinking" {
        return slow(Reply::chunks(if pacing.pause.is_some() { &THINKING[..] } else { &[] }.iter().copied()).and_call(call));
    }
    let reply = Reply::chunks(THINKING).and_call(call);
    pacing.main.as_ref().map_or(reply.clone(), |gate| reply.gate(gate))
}

/// What the agent is asked. An agent's own model reads its own words again; the demo agent understands plain instructions.
pub(super) fn prompt(agent: Agent, name: &str, work: &str) -> String {
    match agent {
        Agent::Copilot | Agent::Codex => format!("task {name} {work} end"),
        Agent::Demo => {
            let more = match work {
                "streaming" => format!("\ncount to {WORDS}"),
                "recalling" => "\nwhat was my first message?".to_owned(),
                _ => String::new(),
            };
            format!("say Working on {name}.\nrun `{}`{more}", command(name, work))
        }
    }
}

fn command(name: &str, work: &str) -> String {
    match work {
        "blocking" => format!("echo {name} >> log.txt; until [ -e go-{name} ]; do sleep 0.02; done; echo {name}-end >> log.txt"),
        _ => format!("echo {name} >> log.txt"),
    }
}

/// All that an agent with a model says of a task of the plain or blocking kind.
pub(super) fn task_text(name: &str) -> String {
    format!("Working on {name}. Finished {name}.")
}

/// The agent's own shell, in the form that it offers its model.
fn shell(agent: Agent, command: String) -> ToolCall {
    match agent {
        // Outside of its own sandbox, for which it has to ask.
        Agent::Codex => {
            let mut arguments = json!({ "cmd": command, "login": false, "yield_time_ms": 30_000, "justification": "May I note it?" });
            arguments["sandbox_permissions"] = json!("require_escalated");
            ToolCall::new("exec_command", arguments)
        }
        _ => {
            let arguments = json!({ "command": command, "description": "Write it down", "mode": "sync", "initial_wait": 120 });
            ToolCall::new("bash", arguments)
        }
    }
}

/// The number of a command that Codex has stopped waiting for, which it does after thirty seconds.
fn left_running(request: &Request) -> Option<u64> {
    let last = request.tool_results().pop()?;
    let (_, rest) = last.split_once("running with session ID ")?;
    rest.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}

/// The agent's model: it says a word, has the command run, and says another.
fn coder(agent: Agent, pacing: &Pacing, request: &Request) -> Reply {
    let asked = request.last_user();
    let task = asked.rsplit_once("task ").and_then(|(_, rest)| rest.split_once(" end")).and_then(|(task, _)| task.split_once(' '));
    let Some((name, work)) = task else { return Reply::text("Nothing to do.") };
    let slow = |reply: Reply| pacing.pause.map_or(reply.clone(), |pause| reply.chunk_delay(pause));
    if let Some(running) = left_running(request) {
        let wait = json!({ "session_id": running, "yield_time_ms": 120_000 });
        return Reply::new().and_call(ToolCall::new("write_stdin", wait));
    }
    if !request.has_tool_result() {
        return slow(Reply::chunks(["Working ", "on ", name, ". "]).and_call(shell(agent, command(name, work))));
    }
    match work {
        "streaming" => {
            let words: Vec<String> = (1..=WORDS).map(|number| format!("{number} ")).collect();
            let reply = Reply::chunks(words.iter().map(String::as_str));
            slow(pacing.coder.as_ref().map_or(reply.clone(), |gate| reply.gate(gate)))
        }
        "recalling" => {
            let knows = request.messages().iter().any(|message| message["content"].to_string().contains("task step-1 "));
            Reply::text(if knows { "I remember step-1." } else { "I remember nothing." })
        }
        _ => slow(Reply::chunks(["Finished ", name, "."])),
    }
}
