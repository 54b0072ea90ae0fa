//! The process between the server and a command that it runs for an agent. It tells on stdout how the command began and ended;
//! the command prints to its stderr; a word on stdin ends the command's tree, and so does the end of stdin.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid, set_child_subreaper, wait};

use super::TerminalExit;
use crate::processes;

pub(super) const STARTED: &str = "started";
pub(super) const KILL: &[u8] = b"k";
/// How often a tree that is being killed is looked at for newborn processes.
const KILL_AGAIN: Duration = Duration::from_millis(20);

/// Runs `command`, until it and everything it started has ended.
pub fn run(command: &OsString, args: &[OsString]) -> ExitCode {
    // Whatever the command leaves behind becomes our child, and is found when it is to end.
    if let Err(error) = set_child_subreaper(Some(getpid())) {
        tell(&format!("cannot keep its children: {error}"));
        return ExitCode::FAILURE;
    }
    let child = Command::new(command)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::from(std::io::stderr()))
        .stderr(Stdio::inherit())
        .process_group(0)
        .spawn();
    let child = match child {
        Ok(child) => child,
        Err(error) => {
            tell(&error.to_string());
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
        match std::io::stdin().read(&mut byte) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
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
    let mut out = std::io::stdout();
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
