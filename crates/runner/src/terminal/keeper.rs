//! The process between the server and a command that it runs for an agent. It is told on stdin what to run, and tells on stdout how the
//! command began and ended; the command prints to its stderr; a further byte on stdin ends the command's tree, and so does the end of stdin.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ExitCode, Stdio};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid, set_child_subreaper, wait};

use super::TerminalExit;
use crate::confine::{BrokerGuard, Family};
use crate::invocation::Invocation;
use crate::processes;

pub(super) const STARTED: &str = "started";
pub(super) const KILL: &[u8] = b"k";
/// How often a tree that is being killed is looked at for newborn processes.
const KILL_AGAIN: Duration = Duration::from_millis(20);

/// More than the system lets any command have.
const MAX_ORDER_BYTES: u32 = 64 * 1024 * 1024;

/// What the keeper of this command is told.
pub(super) fn order(program: &Invocation) -> io::Result<Vec<u8>> {
    let text = serde_json::to_vec(program).map_err(io::Error::other)?;
    let length = u32::try_from(text.len()).ok().filter(|length| *length <= MAX_ORDER_BYTES);
    let length = length.ok_or_else(|| io::Error::new(io::ErrorKind::ArgumentListTooLong, "the command is too long"))?;
    Ok([&length.to_le_bytes()[..], &text].concat())
}

fn take_order() -> io::Result<Invocation> {
    let mut stdin = io::stdin().lock();
    let mut length = [0; 4];
    stdin.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length).min(MAX_ORDER_BYTES);
    let mut text = vec![0; length as usize];
    stdin.read_exact(&mut text)?;
    serde_json::from_slice(&text).map_err(io::Error::other)
}

/// Runs the command that it is told, until it and everything it started has ended.
pub fn run() -> ExitCode {
    // Whatever the command leaves behind becomes our child, and is found when it is to end.
    if let Err(error) = set_child_subreaper(Some(getpid())) {
        tell(&format!("cannot keep its children: {error}"));
        return ExitCode::FAILURE;
    }
    let (child, _broker) = match take_order().and_then(start) {
        Ok(started) => started,
        Err(error) => {
            tell(&error.to_string());
            end_tree();
            return ExitCode::FAILURE;
        }
    };
    tell(STARTED);
    if let Err(error) = std::thread::Builder::new().spawn(heed_orders) {
        tell(&format!("cannot be watched: {error}"));
        end_tree();
    }
    reap(Pid::from_child(&child));
    ExitCode::SUCCESS
}

fn start(mut program: Invocation) -> io::Result<(Child, Option<BrokerGuard>)> {
    // The command starts where this process is. In a sandbox it sees other mounts, and has to find the same directory there; it stays
    // the same as long as this process is in it.
    if let Some(cwd) = &program.cwd {
        cwd.enter()?;
    }
    program.cwd.take_if(|_| program.sandbox.is_none());
    let (mut command, broker) = program.prepare(File::open("/dev/null")?.into())?;
    command.stdout(Stdio::from(io::stderr())).stderr(Stdio::inherit()).process_group(0);
    let guard = broker.map(|broker| broker.start(Family::below_this_process(program.mark))).transpose()?;
    Ok((command.spawn()?, guard))
}

/// Until no child is left.
fn reap(command: Pid) {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == command => tell(&exit_line(status)),
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

fn heed_orders() {
    let mut byte = [0];
    loop {
        match io::stdin().read(&mut byte) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(length) if length > 0 => end_tree(),
            _ => return end_tree(),
        }
    }
}

/// Kills every descendant, and those they have had meanwhile.
fn end_tree() {
    let own = std::collections::HashSet::from([getpid().as_raw_nonzero().get()]);
    loop {
        let all = processes::all();
        let left: Vec<_> = processes::descendants(&all, &own).into_iter().filter(|process| !process.ended).collect();
        if left.is_empty() {
            return;
        }
        left.iter().for_each(|process| processes::signal(process, Signal::KILL));
        std::thread::park_timeout(KILL_AGAIN);
    }
}

/// A server that is gone hears nothing, and that is no fault.
fn tell(line: &str) {
    let mut out = io::stdout();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

fn exit_line(status: WaitStatus) -> String {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => format!("exit {code}"),
        (None, signal) => format!("signal {}", signal.unwrap_or(9)),
    }
}

pub(super) fn read_exit(line: &str) -> Option<TerminalExit> {
    let (how, number) = line.split_once(' ')?;
    let number = number.parse().ok()?;
    match how {
        "exit" => Some(TerminalExit { code: Some(number), signal: None }),
        "signal" => Some(TerminalExit { code: None, signal: Some(number) }),
        _ => None,
    }
}
