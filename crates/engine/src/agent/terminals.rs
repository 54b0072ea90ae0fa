//! Terminals: commands that run for an agent. They live in this server and die with it; a later one knows nothing of them.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use agents::{Directory, Terminal, TerminalExit, TerminalSpec};
use domain::agent::{
    Demand, Exited, PermissionAsk, Problem, Reply, Shown, StartTerminal, ToolCall, ToolContent, Update, is_system_shell, shell_script,
};
use domain::host::{Input, Prepared};
use domain::ids::{PermissionId, RunnerId};
use domain::text::{clip_start, shell_word};
use serde_json::json;

use super::Work;
use super::link::Running;
use super::work::{ask as plain_ask, refused};
use crate::actor::{Actor, Ended};
use crate::sandbox::Run;

/// How many one agent may have at a time.
const MOST: usize = 32;
/// How much of the output is shown to people, and how often while it grows.
const SHOWN_BYTES: usize = 16 * 1024;
const SHOW_AGAIN: Duration = Duration::from_secs(1);
/// How long a command that is killed may take to be gone.
const DYING: Duration = Duration::from_secs(10);

impl Actor {
    /// The directories in which the agent's commands are found.
    pub(super) fn search_path(&self, agent: &str) -> String {
        let (settings, path) = (&self.shared.settings, |(name, value): (String, String)| (name == "PATH").then_some(value));
        let own = settings.agent(agent).ok().and_then(|agent| agent.environment(settings.environment.iter().cloned()).ok());
        own.unwrap_or_default().into_iter().find_map(path).unwrap_or_default()
    }

    pub(super) fn start_terminal(
        &mut self,
        agent: String,
        runner: RunnerId,
        id: PermissionId,
        start: StartTerminal,
        shown: Option<Box<Shown>>,
    ) -> Work {
        let Some(Shown::Command { cwd: shown_cwd, shell }) = shown.map(|shown| *shown) else {
            return done(agent, id, Reply::refused(Problem::NotAllowed, "this is not what was shown: ask again"));
        };
        if self.links.terminals(runner).is_none_or(|terminals| terminals.len() >= MOST) {
            let message = format!("{MOST} terminals are open already: release some");
            return done(agent, id, Reply::refused(Problem::NotAllowed, message));
        }
        let settings = &self.shared.settings;
        let known = settings.agent(&agent).ok();
        let own = known.and_then(|agent| agent.environment(settings.environment.iter().cloned()).ok()).unwrap_or_default();
        let (exe, work_dir) = (settings.exe.clone(), self.row.work_dir.clone());
        let (command, args) = program(&start);
        // The shell that was found when it was shown, whatever the name leads to by now.
        let command = shell.unwrap_or(command);
        let run = Run { work_dir: Some(work_dir.as_ref()), env: &own, shown: Vec::new() };
        // By the agent's own environment: the one that it asks for could name directories that are not its own. One that is not
        // configured any more may have been in a sandbox.
        let sandbox = match known.map(|agent| settings.confine(agent, run)) {
            Some(Ok(sandbox)) => sandbox,
            Some(Err(refusal)) => return done(agent, id, Reply::refused(Problem::NotAllowed, refusal.to_string())),
            None => return done(agent, id, Reply::refused(Problem::NotAllowed, "this agent is not configured any more")),
        };
        let mut env = own;
        env.extend(start.env.iter().cloned());
        Work::task(async move {
            let outcome = match open_shown(work_dir.as_ref(), &start, &shown_cwd) {
                Ok(cwd) => {
                    let limit_bytes = start.output_byte_limit;
                    let spec = TerminalSpec { exe, command, args, env, cwd, sandbox, limit_bytes, runner: runner.0 };
                    Terminal::start(spec).await.map_err(|error| format!("cannot run {}: {error}", start.command))
                }
                Err(message) => Err(message),
            };
            Ended::TerminalStarted { agent, id, outcome }
        })
    }

    pub(crate) fn terminal_started(&mut self, agent: String, id: PermissionId, outcome: Result<Terminal, String>) {
        let host = self.machine.hosts().find(|host| host.agent() == agent);
        let Some((runner, debt)) = host.and_then(|host| Some((host.runner()?, host.debt(id)?))) else { return };
        let Demand::StartTerminal(start) = &debt.demand else { return };
        let (command, call_id) = (line(start), debt.call_id.clone().unwrap_or_default());
        let reply = match outcome {
            Ok(terminal) => {
                let terminal_id = format!("terminal-{id}");
                let Some(terminals) = self.links.terminals(runner) else { return };
                terminals.insert(terminal_id.clone(), Running { terminal, command, call_id, more: None });
                self.terminal_changed(runner, &terminal_id);
                Reply::TerminalStarted { terminal_id }
            }
            Err(message) => Reply::refused(Problem::Internal, message),
        };
        self.tell_host(agent, Input::Done { id, reply, update: None });
    }

    /// Shows what there is of it now.
    pub(crate) fn terminal_changed(&mut self, runner: RunnerId, terminal_id: &str) {
        let Some(agent) = self.links.agent(runner).map(str::to_owned) else { return };
        let Some(running) = self.links.terminals(runner).and_then(|terminals| terminals.get_mut(terminal_id)) else { return };
        // Before it is looked at, so that nothing comes in between.
        running.more = Some(Box::pin(running.terminal.changed()));
        let input = running.changed(terminal_id);
        self.tell_host(agent, input);
    }

    /// A flood is shown now and then, an end at once.
    pub(super) fn watch_terminal(&mut self, runner: RunnerId, terminal_id: String) -> Work {
        let Some(running) = self.links.terminals(runner).and_then(|terminals| terminals.get_mut(&terminal_id)) else {
            return Work::Nothing;
        };
        let (Some(more), ended) = (running.more.take(), running.terminal.ended()) else { return Work::Nothing };
        Work::task(async move {
            more.await;
            let _ = tokio::time::timeout(SHOW_AGAIN, ended).await;
            Ended::TerminalChanged { runner, terminal_id }
        })
    }

    pub(super) fn terminal_output(&mut self, agent: String, runner: RunnerId, id: PermissionId, terminal_id: &str) -> Work {
        let Some(running) = self.running(runner, terminal_id) else { return no_terminal(agent, id, terminal_id) };
        let (output, truncated) = running.terminal.output();
        let exit = running.terminal.exit().map(|exit| exited(&exit));
        done(agent, id, Reply::Output { output, truncated, exit })
    }

    pub(super) fn wait_for_terminal(&mut self, agent: String, runner: RunnerId, id: PermissionId, terminal_id: &str) -> Work {
        let Some(running) = self.running(runner, terminal_id) else { return no_terminal(agent, id, terminal_id) };
        let ended = running.terminal.ended();
        Work::host(agent, async move { Input::Done { id, reply: Reply::Exited(exited(&ended.await)), update: None } })
    }

    pub(super) fn kill_terminal(&mut self, agent: String, runner: RunnerId, id: PermissionId, terminal_id: &str) -> Work {
        let Some(running) = self.running(runner, terminal_id) else { return no_terminal(agent, id, terminal_id) };
        running.terminal.kill();
        done(agent, id, Reply::Done)
    }

    /// Ends it; who waits for it hears of that first, and what it printed stays where it is shown.
    pub(super) fn release_terminal(&mut self, agent: String, runner: RunnerId, id: PermissionId, terminal_id: String) -> Work {
        let Some(running) = self.running(runner, &terminal_id) else { return no_terminal(agent, id, &terminal_id) };
        running.terminal.kill();
        let ended = running.terminal.ended();
        Work::task(async move {
            if tokio::time::timeout(DYING, ended).await.is_err() {
                tracing::warn!(terminal_id, "a command that was killed is still there");
            }
            Ended::TerminalReleased { runner, id, terminal_id }
        })
    }

    pub(crate) fn terminal_released(&mut self, runner: RunnerId, id: PermissionId, terminal_id: &str) {
        let Some(agent) = self.links.agent(runner).map(str::to_owned) else { return };
        let removed = self.links.terminals(runner).and_then(|terminals| terminals.remove(terminal_id));
        if let Some(running) = removed {
            self.tell_host(agent.clone(), running.changed(terminal_id));
        }
        self.tell_host(agent, Input::Done { id, reply: Reply::Done, update: None });
    }

    fn running(&mut self, runner: RunnerId, terminal_id: &str) -> Option<&Running> {
        self.links.terminals(runner)?.get(terminal_id)
    }
}

fn done(agent: String, id: PermissionId, reply: Reply) -> Work {
    Work::Input(agent, Box::new(Input::Done { id, reply, update: None }))
}

fn no_terminal(agent: String, id: PermissionId, terminal_id: &str) -> Work {
    let message = format!("there is no terminal {terminal_id}: it was released, or ended with the server that ran it");
    done(agent, id, Reply::refused(Problem::NotFound, message))
}

impl Running {
    fn changed(&self, terminal_id: &str) -> Input {
        Input::TerminalChanged {
            call_id: self.call_id.clone(),
            terminal_id: terminal_id.to_owned(),
            update: Box::new(self.update(terminal_id)),
            running: self.terminal.exit().is_none(),
        }
    }

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
            input: Some(json!({ "command": self.command }).into()),
            exit_code: exit.and_then(|exit| exit.code).map(i64::from),
            ..ToolCall::default()
        })
    }
}

/// The directory that was shown, by its handle: from here on its name does not matter.
fn open_shown(work_dir: &Path, start: &StartTerminal, shown: &str) -> Result<Directory, String> {
    let opened = tools::directory(work_dir, start.cwd.as_deref()).map_err(|error| error.message().to_owned())?;
    if opened.path.to_str() != Some(shown) {
        return Err("the directory is another one than the one that was shown".to_owned());
    }
    Directory::opened(opened.path, opened.handle).map_err(|error| format!("the directory cannot be looked at: {error}"))
}

/// What a person would be asked. `path` is where the agent's commands are found.
pub(super) fn prepare(work_dir: &Path, start: &StartTerminal, path: &str) -> Result<Prepared, Reply> {
    let cwd = tools::directory(work_dir, start.cwd.as_deref()).map_err(refused)?;
    let Some(cwd) = cwd.path.to_str().map(str::to_owned) else {
        return Err(Reply::refused(Problem::Invalid, "the directory has a name that cannot be shown"));
    };
    let ask = PermissionAsk {
        command: Some(line(start)),
        run: Some(Box::new(domain::agent::Run::of(start))),
        cwd: Some(cwd.clone()),
        shown: Some(Box::new(Shown::Command { shell: shell(start, path, work_dir), cwd: cwd.clone() })),
        ..plain_ask(format!("Run {}", start.command), "execute", Some(json!({ "cwd": cwd })))
    };
    Ok(Prepared { ask, before: None })
}

/// Where the command is nothing but a shell with a script: the shell, if it is one of the system's, by its path or by its name alone. A
/// file of the project may be called like one and run something else.
fn shell(start: &StartTerminal, path: &str, work_dir: &Path) -> Option<String> {
    shell_script(start)?;
    let root = work_dir.canonicalize().ok()?;
    let is_outside = |found: &Path| found.canonicalize().is_ok_and(|real| !real.starts_with(&root)) && !found.starts_with(&root);
    if start.command.contains('/') {
        return Some(start.command.clone()).filter(|shell| is_system_shell(shell) && is_outside(Path::new(shell)));
    }
    let found = std::env::split_paths(path).map(|directory| directory.join(&start.command)).find(|found| is_executable(found))?;
    // A directory that is named relatively is another one wherever somebody stands.
    let is_certain = found.is_absolute() && !found.starts_with(work_dir) && is_outside(&found);
    found.to_str().filter(|_| is_certain).map(str::to_owned)
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

/// Some agents write a whole command line into the name of the program; a shell takes it apart.
fn program(start: &StartTerminal) -> (String, Vec<String>) {
    if start.args.is_empty() && start.command.contains(char::is_whitespace) {
        return ("/bin/sh".to_owned(), vec!["-c".to_owned(), start.command.clone()]);
    }
    (start.command.clone(), start.args.clone())
}

/// The command as a shell would have to be told it, with the environment that it is given: that may change what it does.
fn line(start: &StartTerminal) -> String {
    let set = |(name, value): &(String, String)| format!("export {}={}; ", shell_word(name), shell_word(value));
    let environment: String = start.env.iter().map(set).collect();
    let command = match &start.args[..] {
        [] => start.command.clone(),
        args => std::iter::once(&start.command).chain(args).map(|word| shell_word(word)).collect::<Vec<_>>().join(" "),
    };
    environment + &command
}

fn exited(exit: &TerminalExit) -> Exited {
    Exited { code: exit.code, signal: exit.signal.map(signal_name) }
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
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn start(command: &str, args: &[&str]) -> StartTerminal {
        StartTerminal {
            command: command.to_owned(),
            args: args.iter().map(|word| (*word).to_owned()).collect(),
            ..StartTerminal::default()
        }
    }

    #[test]
    fn a_shell_is_one_of_the_systems_and_never_a_file_of_the_project() {
        let home = tempfile::tempdir().unwrap();
        let work = home.path().canonicalize().unwrap();
        std::fs::create_dir(work.join("bin")).unwrap();
        for name in ["sh", "bin/bash"] {
            std::fs::copy("/bin/sh", work.join(name)).unwrap();
        }
        std::os::unix::fs::symlink("/bin/sh", work.join("bin/zsh")).unwrap();
        let path = format!("{0}/bin:bin:.:/usr/bin:/bin", work.display());
        let inside = work.join("sh").display().to_string();
        let dotted = format!("/bin/..{}", work.join("sh").display());
        for (command, args, found) in [
            ("/bin/sh", &["-c", "ls"][..], Some("/bin/sh")),
            ("sh", &["-c", "ls"], Some("/usr/bin/sh")),
            ("/bin/sh", &["-x", "ls"], None),
            ("/bin/sh", &["-c", "ls", "more"], None),
            ("/bin/ls", &["-c", "ls"], None),
            (&inside, &["-c", "ls"], None),
            (&dotted, &["-c", "ls"], None),
            ("./sh", &["-c", "ls"], None),
            ("bin/bash", &["-c", "ls"], None),
            // The first that is found by its name is a file of the project, or a link there.
            ("bash", &["-c", "ls"], None),
            ("zsh", &["-c", "ls"], None),
        ] {
            assert_eq!(shell(&start(command, args), &path, &work).as_deref(), found, "{command} {args:?}");
        }
    }

    #[test]
    fn a_person_sees_the_command_as_a_shell_would_take_it() {
        assert_eq!(line(&start("git", &["commit", "-m", "it's done", ""])), r"git commit -m 'it'\''s done' ''");
        assert_eq!(line(&start("ls -l | wc", &[])), "ls -l | wc");
        let env = vec![("A".to_owned(), "b c".to_owned())];
        assert_eq!(line(&StartTerminal { env, ..start("ls", &["-l"]) }), "export A='b c'; ls -l");
        assert_eq!(program(&start("ls -l | wc", &[])).0, "/bin/sh");
        assert_eq!(program(&start("ls", &["-l"])), ("ls".to_owned(), vec!["-l".to_owned()]));
    }
}
