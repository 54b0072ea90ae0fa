//! Shell commands: in a process group of their own, output streamed, bounded, and nothing left behind.

use std::io::{self, PipeReader, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use serde_json::json;

use super::tool_call::{ToolCall, text_content};
use super::{Stop, Turn};

/// Progress is shown at most this often: every update repeats all output so far.
const REPORT_EVERY: Duration = Duration::from_millis(100);
/// How long output may trail behind the end of the command.
const TRAILING: Duration = Duration::from_millis(200);
/// What is kept of the output: its start and its end.
const HEAD_BYTES: usize = 48 * 1024;
const TAIL_BYTES: usize = 16 * 1024;
const MESSAGE_LINES: usize = 20;

pub(crate) enum ShellEvent {
    Output(Vec<u8>),
    /// The shell has ended and waits to be reaped.
    Exited,
    /// Both ends of the pipe are closed.
    Closed,
    Cancelled,
}

impl Turn<'_> {
    pub(super) fn command(&mut self, command: &str) -> Result<(), Stop> {
        let mut call = ToolCall::new("execute", command.lines().next().unwrap_or_default().to_owned());
        call.raw_input = json!({ "command": command, "commands": [command] });
        self.announce(&call, "pending");
        self.permission(&call)?;
        let (shell, events) = match Shell::start(command, &self.session.cwd) {
            Ok(started) => started,
            Err(error) => {
                let problem = format!("the command could not be started: {error}");
                self.fail(&call, &problem);
                return self.say(&format!("That did not work: {problem}."));
            }
        };
        self.gate.watch_command(Some(shell.wake.clone()));
        let output = self.follow(&call, &events);
        self.gate.watch_command(None);
        let status = shell.end();
        let output = output?;
        let (how, code) = match &status {
            Ok(status) => (describe(*status), status.code()),
            Err(error) => (format!("was lost: {error}"), None),
        };
        let text = output.text();
        let verdict = if code == Some(0) { "completed" } else { "failed" };
        self.finish(
            &call,
            json!({
                "status": verdict,
                "content": [text_content(&format!("{text}<{how}>"))],
                "rawOutput": { "output": text, "exitCode": code, "truncated": output.left_out > 0 },
            }),
        );
        self.report(command, &how, &text)
    }

    /// Streams the output until the command has ended.
    fn follow(&self, call: &ToolCall, events: &Receiver<ShellEvent>) -> Result<Output, Stop> {
        let mut output = Output::default();
        let mut reported = Instant::now();
        let mut unreported = false;
        let mut closed = false;
        let mut deadline: Option<Instant> = None;
        loop {
            let until = match (unreported, deadline) {
                (_, Some(deadline)) => Some(deadline),
                (true, None) => Some(reported + REPORT_EVERY),
                (false, None) => None,
            };
            let event = match until {
                Some(until) => events.recv_timeout(until.saturating_duration_since(Instant::now())),
                None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            if self.gate.is_cancelled() {
                return Err(Stop::Cancelled);
            }
            match event {
                Ok(ShellEvent::Output(bytes)) => {
                    output.push(&bytes);
                    unreported = true;
                }
                // What the command left running may keep the pipe open for ever.
                Ok(ShellEvent::Exited) => deadline = Some(Instant::now() + TRAILING),
                Ok(ShellEvent::Closed) => closed = true,
                Ok(ShellEvent::Cancelled) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(output),
                Err(RecvTimeoutError::Timeout) if deadline.is_some() => return Ok(output),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if closed && deadline.is_some() {
                return Ok(output);
            }
            if unreported && reported.elapsed() >= REPORT_EVERY {
                self.progress(call, json!({ "content": [text_content(&output.text())] }));
                reported = Instant::now();
                unreported = false;
            }
        }
    }

    fn report(&mut self, command: &str, how: &str, text: &str) -> Result<(), Stop> {
        self.say(&format!("`{command}` {how}."))?;
        if text.trim().is_empty() {
            return Ok(());
        }
        let all: Vec<&str> = text.lines().collect();
        let from = all.len().saturating_sub(MESSAGE_LINES);
        self.quote(&format!("```\n{}\n```", all[from..].join("\n")))
    }
}

fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}

/// A running shell. Ending it takes its whole process group along.
struct Shell {
    child: Child,
    group: Pid,
    wake: SyncSender<ShellEvent>,
}

impl Shell {
    fn start(command: &str, cwd: &Path) -> io::Result<(Self, Receiver<ShellEvent>)> {
        let (reader, writer) = io::pipe()?;
        let child = Command::new("sh")
            .arg("-c")
            .arg(command)
            .current_dir(cwd)
            .stdin(Stdio::null())
            .stdout(writer.try_clone()?)
            .stderr(writer)
            .process_group(0)
            .spawn()?;
        let group = Pid::from_child(&child);
        let (wake, events) = sync_channel(64);
        let shell = Self { child, group, wake };
        // If a thread cannot be had, dropping the shell ends the command.
        let (to_turn, from_wait) = (shell.wake.clone(), shell.wake.clone());
        thread::Builder::new().name("command output".into()).spawn(move || read_output(reader, &to_turn))?;
        thread::Builder::new().name("command end".into()).spawn(move || {
            // The process is only looked at: until the turn reaps it, its id cannot become another's.
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while matches!(waitid(WaitId::Pid(group), options), Err(Errno::INTR)) {}
            let _ = from_wait.send(ShellEvent::Exited);
        })?;
        Ok((shell, events))
    }

    /// Kills what is left of the group and reaps the shell.
    fn end(mut self) -> io::Result<ExitStatus> {
        self.kill()
    }

    fn kill(&mut self) -> io::Result<ExitStatus> {
        // Fails only when nobody is left.
        let _ = kill_process_group(self.group, Signal::KILL);
        self.child.wait()
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        // After the shell has been reaped its id may be another's.
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            let _ = self.kill();
        }
    }
}

fn read_output(mut pipe: PipeReader, events: &SyncSender<ShellEvent>) {
    let mut buffer = [0; 8192];
    loop {
        let event = match pipe.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Ok(0) | Err(_) => ShellEvent::Closed,
            Ok(count) => ShellEvent::Output(buffer[..count].to_vec()),
        };
        let over = matches!(event, ShellEvent::Closed);
        if events.send(event).is_err() || over {
            return;
        }
    }
}

/// The output as far as it is kept.
#[derive(Default)]
struct Output {
    head: Vec<u8>,
    tail: Vec<u8>,
    left_out: usize,
}

impl Output {
    fn push(&mut self, bytes: &[u8]) {
        let room = bytes.len().min(HEAD_BYTES - self.head.len());
        self.head.extend_from_slice(&bytes[..room]);
        self.tail.extend_from_slice(&bytes[room..]);
        let over = self.tail.len().saturating_sub(TAIL_BYTES);
        self.tail.drain(..over);
        self.left_out += over;
    }

    fn text(&self) -> String {
        let head = String::from_utf8_lossy(&self.head);
        match self.left_out {
            0 => String::from_utf8_lossy(&[&self.head[..], &self.tail[..]].concat()).into_owned(),
            left => format!("{head}\n… {left} bytes left out …\n{}", String::from_utf8_lossy(&self.tail)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_keeps_its_start_and_its_end() {
        let mut output = Output::default();
        output.push(b"start ");
        for _ in 0..100 {
            output.push(&[b'x'; 4096]);
        }
        output.push(b" end");
        let text = output.text();
        assert!(text.starts_with("start x") && text.ends_with("x end"));
        assert!(text.len() < HEAD_BYTES + TAIL_BYTES + 64);
        let left = 10 + 100 * 4096 - HEAD_BYTES - TAIL_BYTES;
        assert!(text.contains(&format!("{left} bytes left out")));
    }

    #[test]
    fn a_character_cut_in_two_is_whole_again() {
        let mut output = Output::default();
        output.push(&"é".as_bytes()[..1]);
        output.push(&"é".as_bytes()[1..]);
        assert_eq!(output.text(), "é");
    }
}
