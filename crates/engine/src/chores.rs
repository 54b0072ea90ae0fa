//! What people have done about an agent: a test of what it can do, and its installation. Each is a process of its own, one at a time for
//! each agent, and ends with the server.

use std::collections::HashMap;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use agents::catalogue::{Agent, Found, Places};
use jiff::Timestamp;
use rustix::process::{Pid, Signal, kill_process_group};
use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::catalogue::{CatalogueEntry, ask_versions};
use crate::{Engine, Refusal, Shared};

/// Neither takes this long unless it hangs.
const PATIENCE: Duration = Duration::from_secs(900);
/// What was told to end is killed after that.
const GRACE: Duration = Duration::from_secs(15);
/// What an ended one printed may still be on its way.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// Of a line that a chore prints.
const LINE_BYTES: usize = 400;
const LINES: usize = 16;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChoreKind {
    Test,
    Install,
}

impl ChoreKind {
    pub fn as_str(self) -> &'static str {
        match self {
            ChoreKind::Test => "test",
            ChoreKind::Install => "install",
        }
    }
}

/// One that is under way, or has failed.
#[derive(Clone, Debug)]
pub struct Chore {
    pub kind: ChoreKind,
    /// What it does now, or did last.
    pub step: String,
    pub done: u32,
    /// How many steps there are; 0 where nobody knows.
    pub of: u32,
    pub since: Timestamp,
    /// Why it did not come to its end.
    pub problem: Option<String>,
}

/// By agent id. One that went well leaves nothing here.
#[derive(Default)]
pub(crate) struct Chores(Mutex<HashMap<String, (Chore, CancellationToken)>>);

impl Chores {
    fn all(&self) -> MutexGuard<'_, HashMap<String, (Chore, CancellationToken)>> {
        self.0.lock().expect("no code panics while it holds the chores")
    }

    pub(crate) fn of(&self, agent: &str) -> Option<Chore> {
        self.all().get(agent).map(|(chore, _)| chore.clone())
    }

    /// Nothing where one is under way.
    fn begin(&self, agent: &str, kind: ChoreKind, parent: &CancellationToken) -> Option<CancellationToken> {
        let mut all = self.all();
        if all.get(agent).is_some_and(|(chore, _)| chore.problem.is_none()) {
            return None;
        }
        let stop = parent.child_token();
        let chore = Chore { kind, step: String::new(), done: 0, of: 0, since: Timestamp::now(), problem: None };
        all.insert(agent.to_owned(), (chore, stop.clone()));
        Some(stop)
    }

    fn change(&self, agent: &str, change: impl FnOnce(&mut Chore)) {
        if let Some((chore, _)) = self.all().get_mut(agent) {
            change(chore);
        }
    }

    fn end(&self, agent: &str, outcome: Result<(), String>) {
        match outcome {
            Ok(()) => drop(self.all().remove(agent)),
            Err(problem) => self.change(agent, |chore| chore.problem = Some(problem)),
        }
    }

    /// Whether there was one under way. One that has failed is forgotten.
    fn stop(&self, agent: &str) {
        let mut all = self.all();
        match all.get(agent) {
            Some((Chore { problem: None, .. }, stop)) => stop.cancel(),
            _ => drop(all.remove(agent)),
        }
    }
}

impl Engine {
    /// Tries out what the agent can do, offline and in a directory of its own.
    pub fn test_agent(&self, id: &str) -> Result<CatalogueEntry, Refusal> {
        let settings = &self.shared.settings;
        let agent = settings.agent(id)?;
        if !settings.find(agent).is_some_and(|program| program.how != Found::Npx) {
            return Err(Refusal::Conflict(format!("{} is not installed, so it cannot be tested", agent.title)));
        }
        let mut command = Command::new(&settings.exe);
        command.args(["probe", id, "--progress"]).args(&settings.flags).env_clear().envs(settings.environment.iter().cloned());
        self.begin(agent, ChoreKind::Test, command)
    }

    /// Runs the command that installs the agent, as the server's user.
    pub fn install_agent(&self, id: &str) -> Result<CatalogueEntry, Refusal> {
        let settings = &self.shared.settings;
        let agent = settings.agent(id)?;
        let title = &agent.title;
        if settings.find(agent).is_some_and(|program| program.how != Found::Npx) {
            return Err(Refusal::Conflict(format!("{title} is already installed")));
        }
        let words: Vec<_> = agent.install.split_whitespace().collect();
        let Some((program, args)) = words.split_first() else {
            return Err(Refusal::Conflict(format!("VoxPilot doesn't know how to install {title}: see its own documentation")));
        };
        let search_path = settings.environment.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.as_os_str());
        let Some(path) = agents::find_program(program.as_ref(), search_path) else {
            return Err(Refusal::Conflict(format!("{title} was not installed: {program} is missing on the server")));
        };
        let mut command = Command::new(path);
        let env = agents::catalogue::environment(settings.environment.iter().cloned(), &[], &[]);
        command.args(args).env_clear().envs(env).current_dir(&settings.data_dir);
        self.begin(agent, ChoreKind::Install, command)
    }

    /// Ends what is under way, or forgets that it has failed.
    pub fn stop_chore(&self, id: &str) -> Result<CatalogueEntry, Refusal> {
        let agent = self.shared.settings.agent(id)?;
        self.shared.chores.stop(id);
        Ok(self.shared.entry(agent, &Places::of(&self.shared.settings.environment)))
    }

    fn begin(&self, agent: &Agent, kind: ChoreKind, mut command: Command) -> Result<CatalogueEntry, Refusal> {
        let shared = &self.shared;
        let Some(stop) = shared.chores.begin(&agent.id, kind, &shared.stop) else {
            return Err(Refusal::Conflict(format!("{} is being tested or installed: wait for that or stop it", agent.title)));
        };
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0).kill_on_drop(true);
        let (of_task, id) = (shared.clone(), agent.id.clone());
        shared.tasks().start(async move {
            let mut outcome = run(&of_task, &id, kind, command, &stop).await;
            if kind == ChoreKind::Install && outcome.is_ok() {
                ask_versions(&of_task).await;
                outcome = check_found(&of_task, &id);
            }
            of_task.chores.end(&id, outcome);
        });
        Ok(shared.entry(agent, &Places::of(&shared.settings.environment)))
    }
}

fn check_found(shared: &Shared, id: &str) -> Result<(), String> {
    let found = shared.settings.agent(id).ok().and_then(|agent| shared.settings.find(agent)).is_some();
    found.then_some(()).ok_or_else(|| "it was installed, but its program is in no directory where programs are looked for".to_owned())
}

/// The error is for a person; that it was stopped is none.
async fn run(shared: &Arc<Shared>, id: &str, kind: ChoreKind, mut command: Command, stop: &CancellationToken) -> Result<(), String> {
    let mut child = command.spawn().map_err(|error| format!("it could not be started: {error}"))?;
    let (sender, mut lines) = mpsc::channel(LINES);
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let reading = async { tokio::join!(read_lines(out, sender.clone(), false), read_lines(err, sender.clone(), true)) };
    let mut complaint = String::new();
    tokio::pin!(reading);
    let mut ended = None;
    let mut deadline = Instant::now() + PATIENCE;
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled(), if ended.is_none() => {
                end(&mut child).await;
                return Ok(());
            }
            Some((line, is_error)) = lines.recv() => {
                if is_error {
                    complaint.clone_from(&line);
                }
                shared.chores.change(id, |chore| note(chore, &line));
            }
            _ = &mut reading, if !lines.is_closed() => lines.close(),
            over = child.wait(), if ended.is_none() => {
                ended = Some(over);
                // What it left running may hold the pipes.
                deadline = Instant::now() + LAST_WORDS;
            }
            () = tokio::time::sleep_until(deadline) => break,
            else => break,
        }
        if ended.is_some() && lines.is_closed() && lines.is_empty() {
            break;
        }
    }
    match ended {
        Some(ended) => judge(ended, kind, complaint),
        None => {
            end(&mut child).await;
            Err("it took too long and was stopped".to_owned())
        }
    }
}

fn judge(ended: io::Result<ExitStatus>, kind: ChoreKind, complaint: String) -> Result<(), String> {
    let complaint = complaint.trim_start_matches("voxpilot: ").to_owned();
    match ended {
        Ok(status) if status.success() => Ok(()),
        Ok(_) if !complaint.is_empty() => Err(complaint),
        Ok(status) => Err(format!("the {} ended with {status}", kind.as_str())),
        Err(error) => Err(error.to_string()),
    }
}

/// With everything that it started.
async fn end(child: &mut Child) {
    let Some(group) = child.id().and_then(|id| Pid::from_raw(id.try_into().ok()?)) else { return };
    let _ = kill_process_group(group, Signal::TERM);
    let _ = tokio::time::timeout(GRACE, child.wait()).await;
    // What it left behind, too.
    let _ = kill_process_group(group, Signal::KILL);
    if let Err(error) = child.wait().await {
        tracing::warn!(%error, "the end of a chore was not seen");
    }
}

/// What a test prints of each step; anything else is only shown.
fn note(chore: &mut Chore, line: &str) {
    #[derive(Deserialize)]
    struct Progress {
        step: String,
        done: u32,
        of: u32,
    }
    match serde_json::from_str(line) {
        Ok(Progress { step, done, of }) => (chore.step, chore.done, chore.of) = (step, done, of),
        Err(_) if chore.kind == ChoreKind::Install => line.clone_into(&mut chore.step),
        Err(_) => {}
    }
}

/// Every line that is not empty, cut where it is long.
async fn read_lines(from: Option<impl AsyncRead + Unpin>, lines: mpsc::Sender<(String, bool)>, is_error: bool) {
    let Some(mut from) = from else { return };
    let (mut buffer, mut line) = ([0; 4096], Vec::new());
    // Whoever reads no more has seen enough, and so has one that cannot.
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        for &byte in &buffer[..read] {
            if !matches!(byte, b'\n' | b'\r') {
                if line.len() < LINE_BYTES {
                    line.push(byte);
                }
                continue;
            }
            let text = String::from_utf8_lossy(&std::mem::take(&mut line)).trim().to_owned();
            if !text.is_empty() && lines.send((text, is_error)).await.is_err() {
                return;
            }
        }
    }
}
