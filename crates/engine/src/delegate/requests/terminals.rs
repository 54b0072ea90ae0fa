//! Terminals: commands that run for an agent. They live in this server and die with it; a later one knows nothing of them.

use std::path::Path;
use std::time::Duration;

use agents::acp::client_request::{NOT_FOUND, REFUSED, Variable};
use agents::{Answer, ClientRequest, CreateTerminal, Terminal, TerminalExit, TerminalSpec};
use domain::agent::{PermissionAsk, ToolCall, ToolContent, Update};
use domain::ids::PermissionId;
use domain::text::clip_start;
use domain::turn::Input;
use serde_json::{Value, json};

use super::work::ask as plain_ask;
use super::{AgentTask, RequestTask, Stage};
use crate::actor::{Actor, TaskEnd};

/// How many one session may have at a time.
const MOST: usize = 32;
/// How much of the output is shown to people, and how often while it grows.
const SHOWN_BYTES: usize = 16 * 1024;
const SHOW_AGAIN: Duration = Duration::from_secs(1);
/// How long a command that is killed may take to be gone.
const DYING: Duration = Duration::from_secs(10);

/// A terminal and what people know it by.
pub(crate) struct Running {
    terminal: Terminal,
    command: String,
    call_id: String,
}

impl Actor {
    pub(super) fn start_terminal(&mut self, id: PermissionId, create: CreateTerminal) {
        if self.host.terminals.len() >= MOST {
            let message = format!("{MOST} terminals are open already: release some");
            return self.answer_request(id, Answer::error(REFUSED, message));
        }
        let settings = &self.shared.settings;
        let env = settings.agent(&self.row.agent).ok().and_then(|agent| agent.environment(settings.environment.iter().cloned()).ok());
        let Some(runner) = self.host.runner() else { return };
        let (exe, work_dir) = (settings.exe.clone(), self.row.work_dir.clone());
        let mut env = env.unwrap_or_default();
        env.extend(create.env.iter().flatten().map(|variable| (variable.name.clone(), variable.value.clone())));
        self.tasks.spawn(async move {
            let (command, args) = program(&create);
            let outcome = match tools::directory(work_dir.as_ref(), create.cwd.as_deref()) {
                Ok(cwd) => {
                    let spec = TerminalSpec { exe, command, args, env, cwd, limit_bytes: create.output_byte_limit, runner };
                    Terminal::start(spec).await.map_err(|error| format!("cannot run {}: {error}", create.command))
                }
                Err(error) => Err(error.message().to_owned()),
            };
            TaskEnd::Agent(AgentTask::Request(RequestTask::TerminalStarted { id, outcome }))
        });
    }

    pub(super) fn terminal_started(&mut self, id: PermissionId, outcome: Result<Terminal, String>) {
        let Some(asked) = self.asked(id) else { return };
        let ClientRequest::CreateTerminal(create) = &asked.request else { return };
        let (command, call_id) = (line(create), asked.call_id.clone().unwrap_or_default());
        match outcome {
            Ok(terminal) => {
                let terminal_id = format!("terminal-{id}");
                self.host.terminals.insert(terminal_id.clone(), Running { terminal, command, call_id });
                self.answer_request(id, Answer::Result(json!({ "terminalId": terminal_id })));
                self.terminal_shown(&terminal_id);
            }
            Err(message) => self.answer_request(id, Answer::error(-32603, message)),
        }
    }

    /// Shows what there is of it now, and again when there is more.
    pub(super) fn terminal_shown(&mut self, terminal_id: &str) {
        let Some(running) = self.host.terminals.get(terminal_id) else { return };
        let (call_id, update) = (running.call_id.clone(), running.update(terminal_id));
        if running.terminal.exit().is_none() {
            let (terminal_id, changed) = (terminal_id.to_owned(), running.terminal.changed());
            let ended = running.terminal.ended();
            self.tasks.spawn(async move {
                changed.await;
                // A flood is shown now and then, an end at once.
                let _ = tokio::time::timeout(SHOW_AGAIN, ended).await;
                TaskEnd::Agent(AgentTask::Request(RequestTask::TerminalShown { terminal_id }))
            });
        }
        self.step(Input::AgentUpdate { call_id, update });
    }

    pub(super) fn terminal_output(&mut self, id: PermissionId, terminal_id: &str) {
        let Some(running) = self.host.terminals.get(terminal_id) else { return self.no_terminal(id, terminal_id) };
        let (output, truncated) = running.terminal.output();
        let mut result = json!({ "output": output, "truncated": truncated });
        if let Some(exit) = running.terminal.exit() {
            result["exitStatus"] = exit_status(&exit);
        }
        self.answer_request(id, Answer::Result(result));
    }

    pub(super) fn wait_for_terminal(&mut self, id: PermissionId, terminal_id: &str) {
        let Some(running) = self.host.terminals.get(terminal_id) else { return self.no_terminal(id, terminal_id) };
        let ended = running.terminal.ended();
        let handle = self.tasks.spawn(async move {
            let answer = Answer::Result(exit_status(&ended.await));
            TaskEnd::Agent(AgentTask::Request(RequestTask::Done { id, answer, update: None }))
        });
        if let Some(asked) = self.asked(id) {
            asked.stage = Stage::Acting(Some(handle));
        }
    }

    pub(super) fn kill_terminal(&mut self, id: PermissionId, terminal_id: &str) {
        let Some(running) = self.host.terminals.get(terminal_id) else { return self.no_terminal(id, terminal_id) };
        running.terminal.kill();
        self.answer_request(id, Answer::Result(json!({})));
    }

    /// Ends it; who waits for it hears of that first, and what it printed stays where it is shown.
    pub(super) fn release_terminal(&mut self, id: PermissionId, terminal_id: String) {
        let Some(running) = self.host.terminals.get(&terminal_id) else { return self.no_terminal(id, &terminal_id) };
        running.terminal.kill();
        let ended = running.terminal.ended();
        self.tasks.spawn(async move {
            if tokio::time::timeout(DYING, ended).await.is_err() {
                tracing::warn!(terminal_id, "a command that was killed is still there");
            }
            TaskEnd::Agent(AgentTask::Request(RequestTask::TerminalReleased { id, terminal_id }))
        });
    }

    pub(super) fn terminal_released(&mut self, id: PermissionId, terminal_id: &str) {
        if let Some(running) = self.host.terminals.remove(terminal_id) {
            let (call_id, update) = (running.call_id.clone(), running.update(terminal_id));
            self.step(Input::AgentUpdate { call_id, update });
        }
        self.answer_request(id, Answer::Result(json!({})));
    }

    /// The person stopped the call: what it runs here stops with it. The agent is told, and releases it.
    pub(crate) fn kill_terminals_of(&mut self, call_id: &str) {
        for running in self.host.terminals.values().filter(|running| running.call_id == call_id) {
            running.terminal.kill();
        }
    }

    fn no_terminal(&mut self, id: PermissionId, terminal_id: &str) {
        let message = format!("there is no terminal {terminal_id}: it was released, or ended with the server that ran it");
        self.answer_request(id, Answer::error(NOT_FOUND, message));
    }
}

impl Running {
    fn update(&self, terminal_id: &str) -> Update {
        let (output, truncated) = self.terminal.output();
        let shown = clip_start(&output, SHOWN_BYTES);
        let cut = if truncated || shown.len() < output.len() { "…" } else { "" };
        let exit = self.terminal.exit();
        let status = match &exit {
            None => "in_progress",
            Some(TerminalExit { code: Some(0), .. }) => "completed",
            Some(_) => "failed",
        };
        let mut content = Vec::new();
        if !shown.is_empty() {
            content.push(ToolContent::Text { text: format!("{cut}{shown}") });
        }
        Update::ToolCall(ToolCall {
            id: terminal_id.to_owned(),
            title: Some(self.command.clone()),
            kind: Some("execute".to_owned()),
            status: Some(status.to_owned()),
            content: Some(content),
            input: Some(json!({ "command": self.command })),
            exit_code: exit.and_then(|exit| exit.code).map(i64::from),
            ..ToolCall::default()
        })
    }
}

pub(super) fn ask(create: &CreateTerminal, cwd: &Path) -> PermissionAsk {
    plain_ask(format!("Run {}", create.command), "execute", Some(line(create)), Some(json!({ "cwd": cwd })))
}

/// Some agents write a whole command line into the name of the program; a shell takes it apart.
fn program(create: &CreateTerminal) -> (String, Vec<String>) {
    let args = create.args.clone().unwrap_or_default();
    if args.is_empty() && create.command.contains(char::is_whitespace) {
        return ("/bin/sh".to_owned(), vec!["-c".to_owned(), create.command.clone()]);
    }
    (create.command.clone(), args)
}

/// The command as a shell would have to be told it, with the environment that it is given: that may change what it does.
fn line(create: &CreateTerminal) -> String {
    let set = |variable: &Variable| format!("export {}={}; ", quoted(&variable.name), quoted(&variable.value));
    let environment: String = create.env.iter().flatten().map(set).collect();
    let command = match create.args.as_deref().unwrap_or_default() {
        [] => create.command.clone(),
        args => std::iter::once(&create.command).chain(args).map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
    };
    environment + &command
}

fn quoted(word: &str) -> String {
    let plain = |character: char| character.is_ascii_alphanumeric() || "-_./=:,@%+".contains(character);
    if !word.is_empty() && word.chars().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

fn exit_status(exit: &TerminalExit) -> Value {
    json!({ "exitCode": exit.code, "signal": exit.signal.map(signal_name) })
}

fn signal_name(signal: i32) -> String {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        6 => "SIGABRT",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        other => return format!("signal {other}"),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn create(command: &str, args: &[&str]) -> CreateTerminal {
        let args = Some(args.iter().map(|word| (*word).to_owned()).collect());
        CreateTerminal { command: command.to_owned(), args, env: None, cwd: None, output_byte_limit: None }
    }

    #[test]
    fn a_person_sees_the_command_as_a_shell_would_take_it() {
        assert_eq!(line(&create("git", &["commit", "-m", "it's done", ""])), r"git commit -m 'it'\''s done' ''");
        assert_eq!(line(&create("ls -l | wc", &[])), "ls -l | wc");
        let env = Some(vec![Variable { name: "A".to_owned(), value: "b c".to_owned() }]);
        assert_eq!(line(&CreateTerminal { env, ..create("ls", &["-l"]) }), "export A='b c'; ls -l");
        assert_eq!(program(&create("ls -l | wc", &[])).0, "/bin/sh");
        assert_eq!(program(&create("ls", &["-l"])), ("ls".to_owned(), vec!["-l".to_owned()]));
    }
}
