//! An agent's own login, run in a pseudo-terminal because that is what such commands expect.

use std::io::Read;
use std::os::fd::OwnedFd;
use std::process::Stdio;

use agents::catalogue::Agent;
use bytes::Bytes;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use tokio::process::{Child, Command};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::{Refusal, Settings};

const CHUNKS: usize = 64;

/// A login under way. Dropping it ends the command.
pub struct Login {
    output: mpsc::Receiver<Bytes>,
    child: Child,
    _reader: JoinSet<()>,
}

pub(crate) fn start(agent: &Agent, settings: &Settings) -> Result<Login, Refusal> {
    if agent.login.is_empty() {
        return Err(Refusal::Conflict(format!("{} has no login that can be run from here: use its own command", agent.title)));
    }
    let program = settings.program(agent)?;
    let env = agent.environment(settings.environment.iter().cloned()).map_err(|error| Refusal::Invalid(error.to_string()))?;
    let (terminal, side) = terminal().map_err(|error| Refusal::Unavailable(format!("no pseudo-terminal to log in with: {error}")))?;
    let stdio =
        || side.try_clone().map(Stdio::from).map_err(|error| Refusal::Unavailable(format!("no pseudo-terminal to log in with: {error}")));
    let child = Command::new(&program)
        .args(&agent.login)
        .env_clear()
        .envs(env)
        .env("TERM", "dumb")
        .current_dir(&settings.work_dir)
        .stdin(stdio()?)
        .stdout(stdio()?)
        .stderr(stdio()?)
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| Refusal::Unavailable(format!("the login of {} could not be started: {error}", agent.title)))?;
    let (sender, output) = mpsc::channel(CHUNKS);
    let mut reader = JoinSet::new();
    reader.spawn_blocking(move || read(terminal, &sender));
    Ok(Login { output, child, _reader: reader })
}

fn terminal() -> rustix::io::Result<(OwnedFd, OwnedFd)> {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&terminal)?;
    unlockpt(&terminal)?;
    let name = ptsname(&terminal, Vec::new())?;
    let side = rustix::fs::open(
        name.as_c_str(),
        rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY | rustix::fs::OFlags::CLOEXEC,
        rustix::fs::Mode::empty(),
    )?;
    Ok((terminal, side))
}

/// Ends when the last process has closed its side, which Linux reports as an error, or when nobody listens.
fn read(terminal: OwnedFd, sender: &mpsc::Sender<Bytes>) {
    let mut terminal = std::fs::File::from(terminal);
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = terminal.read(&mut buffer) {
        if sender.blocking_send(Bytes::copy_from_slice(&buffer[..count])).is_err() {
            return;
        }
    }
}

impl Login {
    /// The next piece of what it prints; nothing once it has ended.
    pub async fn output(&mut self) -> Option<Bytes> {
        self.output.recv().await
    }

    /// Waits for the end; whether it says that the login worked.
    pub async fn succeeded(&mut self) -> bool {
        self.child.wait().await.is_ok_and(|status| status.success())
    }
}
