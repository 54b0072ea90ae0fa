//! A command that the server runs for an agent, and what it has printed: the server's end.
//!
//! Between the two stands a keeper (`keeper`), a process of this binary. The server holds its stdin; when that closes, because
//! the terminal was released or because the server was killed, the keeper ends the command's whole tree and leaves. So a
//! terminal cannot outlive its server, and nothing has to be cleaned away later.

mod keeper;
mod screen;

use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;
use uuid::Uuid;

use crate::confine::Sandbox;
use crate::directory::Directory;
use crate::invocation::Invocation;
use crate::spec::MARK;

pub use keeper::run as keep_terminal;
use screen::Screen;

/// How long the keeper may take to start the command.
const START: Duration = Duration::from_secs(10);
/// What a command printed before it ended is in the pipe when its end is reported; so long is looked for it.
const LAST_WORDS: Duration = Duration::from_millis(20);
const CHUNK_BYTES: usize = 32 * 1024;
/// How much is kept where the agent sets no limit, and at most.
const MOST_BYTES: usize = 1024 * 1024;

#[derive(Debug)]
pub struct TerminalSpec {
    /// The binary that holds the keeper.
    pub exe: PathBuf,
    pub command: String,
    pub args: Vec<String>,
    /// The complete environment.
    pub env: Vec<(String, String)>,
    pub cwd: Directory,
    /// What holds the command, where something is to.
    pub sandbox: Option<Sandbox>,
    /// How much of the output is kept; the end counts.
    pub limit_bytes: Option<u64>,
    /// The runner for whose agent it runs.
    pub runner: Uuid,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TerminalExit {
    pub code: Option<i32>,
    pub signal: Option<i32>,
}

/// A running or ended command. Dropped, it ends with everything that it started.
pub struct Terminal {
    screen: Arc<Mutex<Screen>>,
    exit: watch::Receiver<Progress>,
    /// A word ends the command, and no sender any more ends the keeper too.
    control: mpsc::Sender<()>,
    _reader: JoinSet<()>,
}

#[derive(Clone, Default)]
struct Progress {
    /// Grows with the output.
    version: u64,
    exit: Option<TerminalExit>,
}

impl Terminal {
    /// Starts the command; the error is for whoever asked for it.
    pub async fn start(spec: TerminalSpec) -> io::Result<Terminal> {
        let program = Invocation {
            command: spec.command.into(),
            args: spec.args,
            env: spec.env,
            cwd: Some(spec.cwd),
            mark: Some(spec.runner),
            sandbox: spec.sandbox,
        };
        // Nothing of the command's reaches the keeper but as data: its environment, above all, is the command's alone.
        let order = keeper::order(&program)?;
        let mut child = Command::new(&spec.exe)
            .arg("terminal")
            .env_clear()
            .env(MARK, spec.runner.to_string())
            .current_dir("/")
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let (Some(mut input), Some(reports), Some(output)) = (child.stdin.take(), child.stdout.take(), child.stderr.take()) else {
            return Err(io::Error::other("the terminal's pipes are missing"));
        };
        let mut reports = BufReader::new(reports).lines();
        let started = async {
            input.write_all(&order).await?;
            reports.next_line().await
        };
        match timeout(START, started).await {
            Ok(Ok(Some(line))) if line == keeper::STARTED => {}
            Ok(Ok(Some(line))) => return Err(io::Error::other(line)),
            Ok(Ok(None)) => return Err(io::Error::other("the terminal ended before its command began")),
            Ok(Err(error)) => return Err(error),
            Err(_) => return Err(io::Error::new(io::ErrorKind::TimedOut, "the command did not start in time")),
        }
        let limit = spec.limit_bytes.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(MOST_BYTES).min(MOST_BYTES);
        let screen = Arc::new(Mutex::new(Screen::new(limit)));
        let (progress, exit) = watch::channel(Progress::default());
        let (control, orders) = mpsc::channel(1);
        let mut reader = JoinSet::new();
        let keeper = Keeper { child, input: Some(input), reports, output, orders, screen: screen.clone(), progress };
        reader.spawn(keeper.tend());
        Ok(Terminal { screen, exit, control, _reader: reader })
    }

    /// The output as far as it is kept, and whether its beginning was cut off.
    pub fn output(&self) -> (String, bool) {
        self.screen.lock().unwrap_or_else(PoisonError::into_inner).text()
    }

    pub fn exit(&self) -> Option<TerminalExit> {
        self.exit.borrow().exit.clone()
    }

    /// Resolves when the command has ended.
    pub fn ended(&self) -> impl Future<Output = TerminalExit> + Send + use<> {
        let mut exit = self.exit.clone();
        async move { exit.wait_for(|progress| progress.exit.is_some()).await.ok().and_then(|now| now.exit.clone()).unwrap_or_default() }
    }

    /// Resolves when there is more output than now, or the command has ended.
    pub fn changed(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut exit = self.exit.clone();
        let seen = exit.borrow().version;
        async move {
            // The one who tells is gone: that is a change too.
            let _ = exit.wait_for(|progress| progress.version > seen || progress.exit.is_some()).await;
        }
    }

    /// Ends the command and everything it started; what it printed stays.
    pub fn kill(&self) {
        // A full queue holds the same order already.
        let _ = self.control.try_send(());
    }
}

/// The task that reads what the keeper tells and what the command prints.
struct Keeper {
    child: Child,
    input: Option<ChildStdin>,
    reports: Lines<BufReader<ChildStdout>>,
    output: ChildStderr,
    orders: mpsc::Receiver<()>,
    screen: Arc<Mutex<Screen>>,
    progress: watch::Sender<Progress>,
}

impl Keeper {
    async fn tend(mut self) {
        let mut chunk = vec![0; CHUNK_BYTES];
        let mut printing = true;
        while printing {
            tokio::select! {
                order = self.orders.recv(), if self.input.is_some() => self.order(order).await,
                read = self.output.read(&mut chunk) => printing = self.take(read, &chunk),
                line = self.reports.next_line(), if self.progress.borrow().exit.is_none() => {
                    let exit = line.ok().flatten().and_then(|line| keeper::read_exit(&line));
                    while let Ok(read) = timeout(LAST_WORDS, self.output.read(&mut chunk)).await {
                        printing = self.take(read, &chunk);
                        if !printing { break; }
                    }
                    // A keeper that was killed can tell nothing, and has taken nothing along.
                    let exit = exit.unwrap_or(TerminalExit { code: None, signal: Some(9) });
                    self.progress.send_modify(|progress| progress.exit = Some(exit));
                }
            }
        }
        if self.progress.borrow().exit.is_none() {
            let line = self.reports.next_line().await.ok().flatten();
            let exit = line.and_then(|line| keeper::read_exit(&line)).unwrap_or(TerminalExit { code: None, signal: Some(9) });
            self.progress.send_modify(|progress| progress.exit = Some(exit));
        }
        let _ = self.child.wait().await;
    }

    async fn order(&mut self, order: Option<()>) {
        match (order, &mut self.input) {
            // One that has left needs no order.
            (Some(()), Some(input)) => _ = input.write_all(keeper::KILL).await,
            _ => self.input = None,
        }
    }

    /// Whether more may come.
    fn take(&mut self, read: io::Result<usize>, chunk: &[u8]) -> bool {
        match read {
            Ok(length) if length > 0 => {
                self.screen.lock().unwrap_or_else(PoisonError::into_inner).push(&chunk[..length]);
                self.progress.send_modify(|progress| progress.version += 1);
                true
            }
            _ => false,
        }
    }
}
