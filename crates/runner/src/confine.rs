//! Confinement of an agent: it and everything that it starts may change files only where it is let, never sees what is hidden, and reaches
//! no process outside but over the network.
//!
//! In place of the agent a process of this binary is started, with a clean environment. It is told what to do over a socket ([`order`]),
//! gives up its own rights, and becomes the agent. Nothing can give them back. Three things hold it:
//!
//! - the *base*: Landlock, or `bubblewrap` where the kernel has none. Without it no agent is started.
//! - the *view* ([`view`]): a mount namespace in which everything but the agent's places is read-only.
//! - the *filter* ([`filter`]): some system calls are refused, and connections are made by a [`broker`] outside.
//!
//! Whether they work on this machine is tried, not guessed ([`probe`]).

mod broker;
mod bubblewrap;
mod capabilities;
mod filter;
mod landlock;
mod order;
mod places;
mod probe;
mod sys;
mod view;

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use rustix::fs::{Mode, OFlags};
use rustix::io::{FdFlags, fcntl_dupfd_cloexec, fcntl_setfd};
use serde::{Deserialize, Serialize};

pub use broker::{Broker, BrokerGuard, Family};
use order::Order;
use places::Places;
pub use probe::Feature;

/// The word by which this binary is told to confine itself.
pub const CONFINED: &str = "confined";

/// The words behind it: inside of bubblewrap, and to try what is held.
const INSIDE: &str = "inside";
const PROBE: &str = "probe";
/// What a shell answers when a command cannot be run.
const CANNOT_RUN: u8 = 126;

/// What holds an agent on this machine, and what of it was seen to hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mechanism {
    pub base: Base,
    pub layers: Layers,
    /// What the sandbox does not hold here.
    pub open: Vec<Feature>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Base {
    /// The kernel itself.
    Landlock,
    /// The program `bwrap`, at this path.
    Bubblewrap(PathBuf),
}

/// What is used besides the base.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layers {
    /// A view of the file system in which the rest is read-only.
    pub view: bool,
    /// A filter of system calls, with a broker for connections.
    pub calls: bool,
}

/// What a confined agent may do. Paths that are not there are left out, directories of its own are made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// Where it may write, and what is made for it if need be.
    pub writable: Vec<PathBuf>,
    pub own: Vec<PathBuf>,
    /// What it must not even read.
    pub hidden: Vec<PathBuf>,
    /// Single files of what is hidden that are meant for it.
    pub shown: Vec<PathBuf>,
    /// Where other agents may write: a link in there leads nowhere.
    pub untrusted: Vec<PathBuf>,
}

/// The sandbox that a program is started in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sandbox {
    /// This binary.
    pub exe: PathBuf,
    pub mechanism: Mechanism,
    pub confinement: Confinement,
}

impl Mechanism {
    /// As people call it.
    pub fn name(&self) -> &'static str {
        match self.base {
            Base::Landlock => "landlock",
            Base::Bubblewrap(_) => "bubblewrap",
        }
    }

    /// The same, with its version where it has one.
    pub fn full_name(&self) -> String {
        match self.base {
            Base::Landlock => format!("Landlock (ABI {})", sys::landlock_version()),
            Base::Bubblewrap(_) => "bubblewrap".to_owned(),
        }
    }
}

impl Sandbox {
    /// The command that runs a program in it, and what its connections are made by. The program gets `stdin` as its stdin; stdout and
    /// stderr are those of the command.
    pub(crate) fn command(&self, program: &crate::Invocation, stdin: OwnedFd) -> io::Result<(Command, Broker)> {
        let order = Order {
            program: program.command.clone(),
            args: program.args.clone(),
            env: program.environment().collect(),
            cwd: program.cwd.clone(),
            base: self.mechanism.base.clone(),
            layers: self.mechanism.layers,
            confinement: self.confinement.clone(),
        };
        let (control, theirs) = order::pair()?;
        order::send(&control, &[order.write()?.as_fd(), stdin.as_fd()])?;
        let mut command = Command::new(&self.exe);
        // Where the program runs is the program's affair, and chosen by the agent.
        command.arg(CONFINED).env_clear().current_dir("/").stdin(Stdio::from(theirs));
        Ok((command, Broker::new(control)))
    }
}

/// Confines this process and becomes the program that it is told of. Returns only where that fails; then nothing of the program has run.
pub fn run_confined(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    let words: Vec<OsString> = words.into_iter().collect();
    let error = match &words[..] {
        [] => begin(),
        [word, rest @ ..] if word == INSIDE => begin_inside(rest),
        [word, facts] if word == PROBE => return probe::run(facts),
        _ => io::Error::other("the confinement cannot be read"),
    };
    eprintln!("voxpilot: {error}");
    ExitCode::from(CANNOT_RUN)
}

/// Why it failed.
fn begin() -> io::Error {
    match take_order() {
        Ok((order, control)) => {
            let program = order.program.clone();
            let error = match order.base.clone() {
                Base::Landlock => hold(order, &control),
                Base::Bubblewrap(bwrap) => go_inside(&bwrap, &order, &control),
            };
            failed(&program, &error)
        }
        Err(error) => io::Error::other(format!("there is no command to confine: {error}")),
    }
}

/// The socket that was stdin stays open beside the stdin that came over it.
fn take_order() -> io::Result<(Order, OwnedFd)> {
    let control = fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
    let files: [OwnedFd; 2] = order::receive(&control)?.try_into().map_err(|_| io::Error::other("it came without its files"))?;
    let [order, stdin] = files;
    let order = Order::read(File::from(order))?;
    rustix::stdio::dup2_stdin(stdin)?;
    leave_terminal()?;
    Ok((order, control))
}

/// Whoever started the server did it in a terminal, perhaps, and that is nothing for an agent to type into.
fn leave_terminal() -> io::Result<()> {
    if rustix::process::setsid().is_ok() {
        return Ok(());
    }
    match rustix::fs::open("/dev/tty", OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()) {
        Ok(terminal) => Ok(sys::leave_terminal(terminal)?),
        // There is none.
        Err(_) => Ok(()),
    }
}

/// Confines this process by the kernel and becomes the program. Why that failed.
fn hold(order: Order, control: &OwnedFd) -> io::Error {
    let held = || -> io::Result<()> {
        let names = if order.layers.view { Some(view::enter()?) } else { None };
        let places = Places::of(&order.confinement)?;
        if let Some(names) = names {
            view::fix(&places, names)?;
        }
        landlock::restrict(&places)
    };
    match held() {
        Ok(()) => become_program(order, control),
        Err(error) => error,
    }
}

/// Has bubblewrap start this binary once more, inside.
fn go_inside(bwrap: &Path, order: &Order, control: &OwnedFd) -> io::Error {
    let prepared = || -> io::Result<Command> {
        let places = Places::of(&order.confinement)?;
        let (exe, file) = (std::env::current_exe()?, order.write()?);
        // Only here are they passed on: this process has one thread, and becomes bubblewrap.
        fcntl_setfd(&file, FdFlags::empty())?;
        fcntl_setfd(control, FdFlags::empty())?;
        let mut command = Command::new(bwrap);
        command.env_clear().args(bubblewrap::arguments(&places)).arg("--").arg(exe);
        command.args([CONFINED, INSIDE]).args([file.as_raw_fd().to_string(), control.as_raw_fd().to_string()]);
        // It lives until this process is another.
        std::mem::forget(file);
        Ok(command)
    };
    match prepared() {
        Ok(mut command) => command.exec(),
        Err(error) => error,
    }
}

fn begin_inside(words: &[OsString]) -> io::Error {
    let Some([order, control]) = inherited(words) else { return io::Error::other("the confinement cannot be read") };
    match Order::read(File::from(order)) {
        Ok(order) => {
            let program = order.program.clone();
            let error = become_program(order, &control);
            failed(&program, &error)
        }
        Err(error) => error,
    }
}

/// The two files that were passed on by their numbers.
#[allow(unsafe_code, reason = "the process that became bubblewrap has passed on exactly these, and nothing else here owns them")]
fn inherited(words: &[OsString]) -> Option<[OwnedFd; 2]> {
    let [order, control] = words else { return None };
    let number = |word: &OsString| word.to_str()?.parse().ok().filter(|number: &i32| *number > 2);
    let (order, control) = (number(order)?, number(control)?);
    // SAFETY: see above; each is taken once.
    Some(unsafe { [OwnedFd::from_raw_fd(order), OwnedFd::from_raw_fd(control)] })
}

/// Gives up what is left to give up, and is the program from then on. Only now do its variables have an effect.
fn become_program(order: Order, control: &OwnedFd) -> io::Error {
    let reduced = || -> io::Result<()> {
        rustix::thread::set_no_new_privs(true)?;
        capabilities::reduce()?;
        if order.layers.calls {
            let filter = filter::program().ok_or_else(|| io::Error::other("there is no filter for this processor"))?;
            let listener = sys::install_filter(&filter)?;
            order::send(control, &[listener.as_fd()])?;
        }
        if let Some(cwd) = &order.cwd {
            cwd.enter()?;
        }
        Ok(sys::close_rest_on_exec()?)
    };
    match reduced() {
        Ok(()) => Command::new(&order.program).args(&order.args).env_clear().envs(order.env).exec(),
        Err(error) => error,
    }
}

fn failed(program: &Path, error: &io::Error) -> io::Error {
    io::Error::other(format!("cannot run {} confined: {error}", program.display()))
}
