//! A command in a pseudo-terminal, for programs that insist on one. One thread reads what it prints, waits for its end, and ends
//! everything that it started when nobody waits for it any more.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use bytes::Bytes;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, getpid, pidfd_open, waitpid};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;
use uuid::Uuid;

use crate::confine::{BrokerGuard, Family};
use crate::invocation::Invocation;
use crate::processes::{self, Process};
use crate::spec::MARK;

const CHUNKS: usize = 64;
const CHUNK_BYTES: usize = 4096;
/// How long to look for what a command printed right before it ended.
const LAST_WORDS: Duration = Duration::from_millis(50);
/// How long processes that are killed may take to be gone, and how often they are looked at.
const KILL: Duration = Duration::from_secs(5);
const KILL_AGAIN: Duration = Duration::from_millis(10);

/// A command under way. Dropped before it has succeeded, it ends with everything that it started.
pub struct Pty {
    output: mpsc::Receiver<Bytes>,
    /// Whether it succeeded, once it has ended.
    exit: watch::Receiver<Option<bool>>,
    /// Closed with this value, which tells the thread.
    _alive: OwnedFd,
    _broker: Option<BrokerGuard>,
    _thread: JoinSet<()>,
}

impl Pty {
    /// Must be called in a tokio runtime. The program gets a mark of its own.
    pub fn start(program: Invocation) -> io::Result<Pty> {
        let (screen, side) = open()?;
        let mark = Uuid::new_v4();
        let program = Invocation { mark: Some(mark), ..program };
        let (mut command, broker) = program.prepare(side.try_clone()?)?;
        let child = command.stdout(side.try_clone()?).stderr(Stdio::from(side)).process_group(0).spawn()?;
        drop(command);
        let pid = Pid::from_child(&child);
        let (dropped, alive) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        let (sender, output) = mpsc::channel(CHUNKS);
        let (exit_sender, exit) = watch::channel(None);
        let tree = Tree { leader: pid, mark };
        let ended = match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(ended) => ended,
            Err(error) => {
                tree.end();
                return Err(error.into());
            }
        };
        let keeper = Keeper { child, tree, ended, screen: Some(File::from(screen)), dropped, output: sender, exit: exit_sender };
        let family = Family::of(keeper.child.id(), Some(mark));
        let mut thread = JoinSet::new();
        thread.spawn_blocking(move || keeper.tend());
        let broker = broker.map(|broker| broker.start(family)).transpose()?;
        Ok(Pty { output, exit, _alive: alive, _broker: broker, _thread: thread })
    }

    /// The next piece of what it prints; nothing once it has ended.
    pub async fn output(&mut self) -> Option<Bytes> {
        tokio::select! {
            biased;
            piece = self.output.recv() => piece,
            // Something it left may keep the terminal open for ever.
            _ = ended(&mut self.exit) => timeout(LAST_WORDS, self.output.recv()).await.ok().flatten(),
        }
    }

    /// Waits for the end; whether it says that it succeeded.
    pub async fn succeeded(&mut self) -> bool {
        ended(&mut self.exit).await
    }
}

async fn ended(exit: &mut watch::Receiver<Option<bool>>) -> bool {
    exit.wait_for(Option::is_some).await.is_ok_and(|exit| *exit == Some(true))
}

/// The terminal's two sides: ours, and the command's.
fn open() -> io::Result<(OwnedFd, OwnedFd)> {
    let screen = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&screen)?;
    unlockpt(&screen)?;
    let name = ptsname(&screen, Vec::new())?;
    let side = rustix::fs::open(name.as_c_str(), OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
    Ok((screen, side))
}

struct Keeper {
    child: Child,
    tree: Tree,
    /// Readable once the child has ended.
    ended: OwnedFd,
    screen: Option<File>,
    /// Hangs up when nobody waits any more.
    dropped: OwnedFd,
    output: mpsc::Sender<Bytes>,
    exit: watch::Sender<Option<bool>>,
}

impl Keeper {
    fn tend(mut self) {
        let mut exit = None;
        while exit.is_none() || self.screen.is_some() {
            let (ended, printed, dropped) = self.wait(exit.is_none());
            let wanted = !printed || self.read();
            if ended && exit.is_none() {
                exit = Some(self.reap());
            }
            if dropped || !wanted {
                break;
            }
        }
        if exit != Some(true) {
            self.tree.end();
            self.reap();
        }
    }

    /// What happened: the child ended, there is something to read, nobody waits.
    fn wait(&self, running: bool) -> (bool, bool, bool) {
        let mut watched = vec![PollFd::new(&self.dropped, PollFlags::IN)];
        if running {
            watched.push(PollFd::new(&self.ended, PollFlags::IN));
        }
        if let Some(screen) = &self.screen {
            watched.push(PollFd::from_borrowed_fd(screen.as_fd(), PollFlags::IN));
        }
        match poll(&mut watched, None) {
            Ok(_) | Err(Errno::INTR) => {}
            // Nothing can be waited for any more.
            Err(_) => return (false, false, true),
        }
        let happened = |at: usize| watched.get(at).is_some_and(|fd| !fd.revents().is_empty());
        (running && happened(1), self.screen.is_some() && happened(1 + usize::from(running)), happened(0))
    }

    /// Whether anybody takes what is printed. The end of the output is reported as an error on Linux.
    fn read(&mut self) -> bool {
        let mut buffer = [0; CHUNK_BYTES];
        match self.screen.as_mut().map(|screen| screen.read(&mut buffer)) {
            Some(Ok(count @ 1..)) => self.output.blocking_send(Bytes::copy_from_slice(&buffer[..count])).is_ok(),
            Some(Err(error)) if error.kind() == io::ErrorKind::Interrupted => true,
            _ => {
                self.screen = None;
                true
            }
        }
    }

    fn reap(&mut self) -> bool {
        let succeeded = self.child.wait().is_ok_and(|status| status.success());
        if self.exit.borrow().is_none() {
            self.exit.send_replace(Some(succeeded));
        }
        succeeded
    }
}

/// A command and everything it started, wherever that went.
struct Tree {
    leader: Pid,
    mark: Uuid,
}

impl Tree {
    fn end(&self) {
        let deadline = Instant::now() + KILL;
        loop {
            let left = self.left();
            if left.is_empty() || Instant::now() > deadline {
                return;
            }
            left.iter().for_each(|process| processes::signal(process, Signal::KILL));
            std::thread::park_timeout(KILL_AGAIN);
            left.iter().for_each(|process| self.reap_orphan(process));
        }
    }

    fn left(&self) -> Vec<Process> {
        let (leader, mark) = (self.leader.as_raw_nonzero().get(), self.mark.to_string());
        let all = processes::all();
        let ours =
            |process: &&Process| process.pid == leader || process.group == leader || processes::has_variable(process.pid, MARK, &mark);
        let mut left: Vec<Process> = all.iter().filter(ours).copied().collect();
        let roots: HashSet<i32> = left.iter().map(|process| process.pid).collect();
        left.extend(processes::descendants(&all, &roots));
        left.retain(|process| !process.ended);
        left
    }

    /// What a killed parent leaves is ours to reap where this process is the one that orphans fall to.
    fn reap_orphan(&self, process: &Process) {
        let own = getpid().as_raw_nonzero().get();
        let is_ours = processes::read(process.pid).is_some_and(|now| now.start == process.start && now.parent == own);
        if let Some(pid) = Pid::from_raw(process.pid).filter(|pid| is_ours && *pid != self.leader) {
            let _ = waitpid(Some(pid), WaitOptions::NOHANG);
        }
    }
}
