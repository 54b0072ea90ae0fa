//! What a sandbox holds on this machine: a program in it really tries to get out, once for each way.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read};
use std::net::{TcpListener, TcpStream};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitCode, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, getpid, pidfd_open, test_kill_process};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Base, CONFINED, Confinement, Family, Layers, Mechanism, PROBE, Sandbox, bubblewrap, landlock};
use crate::Invocation;

/// A try is some starts of a process; one that takes longer is stuck.
const DEADLINE: Duration = Duration::from_secs(10);

/// Something that a sandbox is to keep an agent from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Feature {
    /// Writing outside of its places, and reading what is hidden.
    Files,
    /// Changing mode, owner, times or attributes of files outside.
    Metadata,
    /// Connecting to local sockets of other programs.
    Sockets,
    /// Sending signals to other processes.
    Signals,
    /// Reading other processes: their memory, environment and files.
    Processes,
    /// Shared memory, message queues and terminals of other programs.
    Sharing,
}

impl Feature {
    pub const ALL: [Feature; 6] =
        [Feature::Files, Feature::Metadata, Feature::Sockets, Feature::Signals, Feature::Processes, Feature::Sharing];

    pub fn as_str(self) -> &'static str {
        match self {
            Feature::Files => "files",
            Feature::Metadata => "metadata",
            Feature::Sockets => "sockets",
            Feature::Signals => "signals",
            Feature::Processes => "processes",
            Feature::Sharing => "sharing",
        }
    }

    /// What an agent cannot do where it is held, and can where it is not, behind "an agent can".
    pub fn describe(self) -> &'static str {
        match self {
            Feature::Files => "change files outside its directories, or read VoxPilot's data",
            Feature::Metadata => "change mode, owner, times and attributes of your files outside its directories",
            Feature::Sockets => "connect to Unix sockets of other programs (D-Bus, Docker, ssh-agent, X11, tmux)",
            Feature::Signals => "send signals to other processes of yours",
            Feature::Processes => "read memory, environment and open files of other processes of yours",
            Feature::Sharing => "use shared memory, message queues and terminals of other programs of yours",
        }
    }
}

/// What the program in the sandbox has to know to try.
#[derive(Serialize, Deserialize)]
struct Facts {
    root: PathBuf,
    outside_process: i32,
    port: Option<u16>,
    abstract_name: String,
    sharing: Sharing,
}

/// By which it is seen whether shared memory, queues and terminals are the same.
#[derive(Serialize, Deserialize, PartialEq, Eq)]
struct Sharing {
    ipc: PathBuf,
    terminals: Option<u64>,
}

impl Sharing {
    fn here() -> io::Result<Self> {
        Ok(Self { ipc: fs::read_link("/proc/self/ns/ipc")?, terminals: fs::metadata("/dev/pts").ok().map(|found| found.dev()) })
    }
}

/// What was found out in the sandbox.
#[derive(Serialize, Deserialize)]
struct Report {
    open: Vec<Feature>,
    /// The network works as before.
    online: bool,
}

impl Mechanism {
    /// The strongest that works here. `exe` is this binary; what lies in an untrusted place is not run. Blocking.
    pub fn find(exe: &Path, search_path: Option<&OsStr>, untrusted: &[PathBuf]) -> Option<Self> {
        let kernel = landlock::works().then_some(Base::Landlock);
        let bases = kernel.into_iter().chain(bubblewrap::find(search_path, untrusted).map(Base::Bubblewrap));
        bases.into_iter().find_map(|base| Self::of(exe, base))
    }

    /// With everything besides the base that works.
    pub fn of(exe: &Path, base: Base) -> Option<Self> {
        let has_view = base == Base::Landlock;
        let tried = [(true, true), (false, true), (true, false), (false, false)];
        tried.into_iter().filter(|(view, _)| has_view || !view).find_map(|(view, calls)| {
            let tried = Mechanism { base: base.clone(), layers: Layers { view, calls }, open: Vec::new() };
            let report = attempt(exe, tried.clone()).ok()?;
            let holds = report.online && !report.open.contains(&Feature::Files);
            holds.then_some(Mechanism { open: report.open, ..tried })
        })
    }
}

/// Something to get at, for as long as this is there.
struct Outside {
    root: PathBuf,
    _listener: UnixListener,
    _abstract: UnixListener,
    network: Option<TcpListener>,
    abstract_name: String,
}

impl Outside {
    fn make() -> io::Result<Self> {
        let root = std::env::temp_dir().join(format!("voxpilot-{}", Uuid::new_v4()));
        fs::DirBuilder::new().mode(0o700).create(&root)?;
        let abstract_name = root.to_string_lossy().into_owned();
        let made = || -> io::Result<Self> {
            for directory in ["inside", "outside", "hidden"] {
                fs::create_dir(root.join(directory))?;
            }
            for file in ["outside/file", "hidden/file"] {
                fs::write(root.join(file), "")?;
            }
            Ok(Self {
                _listener: UnixListener::bind(root.join("outside/socket"))?,
                _abstract: UnixListener::bind_addr(&SocketAddr::from_abstract_name(&abstract_name)?)?,
                network: TcpListener::bind(("127.0.0.1", 0)).ok(),
                root: root.clone(),
                abstract_name,
            })
        };
        made().inspect_err(|_| _ = fs::remove_dir_all(&root))
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// Runs this binary in the sandbox, to try.
fn attempt(exe: &Path, mechanism: Mechanism) -> io::Result<Report> {
    let outside = Outside::make()?;
    let at = |name: &str| vec![outside.root.join(name)];
    let confinement = Confinement { writable: at("inside"), hidden: at("hidden"), ..Confinement::default() };
    let port = outside.network.as_ref().and_then(|network| Some(network.local_addr().ok()?.port()));
    let facts = Facts {
        root: outside.root.clone(),
        outside_process: getpid().as_raw_nonzero().get(),
        port,
        abstract_name: outside.abstract_name.clone(),
        sharing: Sharing::here()?,
    };
    let facts = serde_json::to_string(&facts).map_err(io::Error::other)?;
    let program = Invocation {
        command: exe.to_owned(),
        args: vec![CONFINED.to_owned(), PROBE.to_owned(), facts],
        cwd: Some(outside.root.join("inside").into()),
        sandbox: Some(Sandbox { exe: exe.to_owned(), mechanism, confinement }),
        ..Invocation::default()
    };
    let (mut command, broker) = program.prepare(File::open("/dev/null")?.into())?;
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let _guard = broker.map(|broker| broker.start(Family::of(child.id(), None))).transpose()?;
    let ended = ends_in_time(&child);
    if !ended {
        child.kill()?;
    }
    let status = child.wait()?;
    let mut text = String::new();
    if let (true, Some(mut output)) = (ended && status.success(), child.stdout.take()) {
        output.read_to_string(&mut text)?;
    }
    serde_json::from_str(&text).map_err(io::Error::other)
}

fn ends_in_time(child: &Child) -> bool {
    let Ok(pinned) = pidfd_open(Pid::from_child(child), PidfdFlags::empty()) else { return false };
    let limit = Timespec { tv_sec: DEADLINE.as_secs().cast_signed(), tv_nsec: 0 };
    matches!(poll(&mut [PollFd::new(&pinned, PollFlags::IN)], Some(&limit)), Ok(1))
}

/// In the sandbox: tries each way out and reports those that are open.
pub(super) fn run(facts: &OsString) -> ExitCode {
    let read = facts.to_str().and_then(|facts| serde_json::from_str::<Facts>(facts).ok());
    let report =
        read.map(|facts| Report { open: Feature::ALL.into_iter().filter(|way| way.is_open(&facts)).collect(), online: facts.online() });
    match report.and_then(|report| serde_json::to_string(&report).ok()) {
        Some(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        None => ExitCode::FAILURE,
    }
}

impl Facts {
    fn online(&self) -> bool {
        self.port.is_none_or(|port| TcpStream::connect(("127.0.0.1", port)).is_ok())
    }
}

impl Feature {
    /// Whether it can be done from here.
    fn is_open(self, facts: &Facts) -> bool {
        let at = |name: &str| facts.root.join(name);
        match self {
            Feature::Files => {
                let written = fs::write(at("outside/made"), "").is_ok() || fs::write(at("outside/file"), "x").is_ok();
                written || fs::read(at("hidden/file")).is_ok() || fs::write(at("inside/made"), "").is_err()
            }
            Feature::Metadata => {
                let changed = fs::set_permissions(at("outside/file"), fs::Permissions::from_mode(0o600)).is_ok();
                let touched = || File::open(at("outside/file")).and_then(|file| file.set_modified(std::time::SystemTime::UNIX_EPOCH));
                changed || touched().is_ok()
            }
            Feature::Sockets => {
                let by_name = SocketAddr::from_abstract_name(&facts.abstract_name).and_then(|name| UnixStream::connect_addr(&name));
                UnixStream::connect(at("outside/socket")).is_ok() || by_name.is_ok()
            }
            Feature::Signals => Pid::from_raw(facts.outside_process).is_some_and(|process| test_kill_process(process).is_ok()),
            Feature::Processes => fs::read(format!("/proc/{}/environ", facts.outside_process)).is_ok(),
            Feature::Sharing => Sharing::here()
                .is_ok_and(|here| here.ipc == facts.sharing.ipc || (here.terminals.is_some() && here.terminals == facts.sharing.terminals)),
        }
    }
}
