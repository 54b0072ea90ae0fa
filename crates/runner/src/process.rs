//! The runner process: it owns one agent, drains it, writes it down, serves one server at a time, and takes the agent's
//! whole process tree along when it ends. Threads and blocking calls only; it knows nothing of what the lines mean.

mod agent;
mod attach;
mod drain;
mod life;
mod lines;
mod log;
mod reaper;
mod serve;
mod signals;
mod stdin;

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use crate::identity::{Identity, ProcessIdentity};
use crate::journal::Journal;
use crate::processes;
use crate::record::{Body, ExitPayload, Kind};
use crate::spec::{self, Spec, socket_address, socket_path};
use attach::Attach;
use life::{Event, Life};
use stdin::Stdin;

/// Tells the second start from the first; see [`run`].
const DETACHED: &str = "RUNNER_DETACHED";
/// Threads here call little and deep never; the default of 2 MiB each is not needed.
const STACK_BYTES: usize = 256 * 1024;

/// What the threads of a runner share.
struct Hub {
    spec: Spec,
    /// What a server shows before it is listened to.
    key: Vec<u8>,
    dir: PathBuf,
    journal: Journal,
    stdin: Stdin,
    attach: Attach,
    events: SyncSender<Event>,
    /// The agent has written something on stdout.
    spoke: AtomicBool,
}

/// Runs the runner of `dir`, which holds its `spec.json`.
///
/// The process first starts itself once more and leaves, so that the runner is nobody's child and no wait or kill by way of
/// the server's process tree reaches it. What goes wrong is in `runner.log`; if the agent could not even be tried, also in
/// the journal as its exit.
pub fn run(given: &Path) -> ExitCode {
    let dir = match std::path::absolute(given) {
        Ok(dir) => dir,
        Err(error) => {
            eprintln!("runner directory {}: {error}", given.display());
            return ExitCode::FAILURE;
        }
    };
    log::open(&dir);
    let outcome = if is_detached() { live(&dir) } else { start_detached(given, &dir) };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            log::line(format_args!("failed: {error}"));
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "not a setting: a word from this process to itself")]
fn is_detached() -> bool {
    std::env::var_os(DETACHED).is_some()
}

fn start_detached(given: &Path, dir: &Path) -> io::Result<()> {
    // The binary may have been replaced since this process began; what runs now is still there by its link.
    let exe = std::env::current_exe().ok().filter(|exe| exe.exists()).unwrap_or_else(|| "/proc/self/exe".into());
    let mut arguments = std::env::args_os();
    let mut command = Command::new(exe);
    if let Some(name) = arguments.next() {
        command.arg0(name);
    }
    // A long-lived process stands in nobody's way at the root, so the directory must be named in full.
    command.args(arguments.map(|argument| if argument == given.as_os_str() { dir.into() } else { argument }));
    command.current_dir("/").env_clear().env(DETACHED, "1");
    // It must hold nothing open that belongs to whoever started it.
    command.stdin(Stdio::null()).stdout(log::sink()).stderr(log::sink());
    command.spawn().map(drop)
}

fn live(dir: &Path) -> io::Result<()> {
    let _lock = spec::lock(dir)?.ok_or_else(|| io::Error::other("another runner has this directory"))?;
    // Fails only for the leader of a group; then whoever started it has already set it apart.
    let _ = rustix::process::setsid();
    let own = rustix::process::getpid();
    rustix::process::set_child_subreaper(Some(own))?;
    let runner = ProcessIdentity::of(own.as_raw_nonzero().get()).ok_or_else(|| io::Error::other("this process is not in /proc"))?;
    let identity = Identity { boot_id: processes::boot_id(), runner, agent: None };
    identity.store(dir)?;
    let spec = Spec::load(dir)?;
    spec.without_env().store(dir)?;
    log::line(format_args!("runner {} of {} started, pid {}", spec.id, spec.label, runner.pid));

    let stdin = Stdin::new();
    let journal = Journal::open(dir, spec.durability, |record| {
        if let Body::ToAgent { write_id, .. } = record.body {
            stdin.already_written(write_id);
        }
    })?;
    let (events, inbox) = sync_channel(64);
    let attach = Attach::new();
    let key = spec::key(dir);
    let hub = Arc::new(Hub { dir: dir.to_owned(), key, spec, journal, stdin, attach, events, spoke: AtomicBool::new(false) });
    let mut life = Life::new(&hub, inbox);
    let exit = tend_agent(&hub, &mut life, identity).unwrap_or_else(|error| {
        let (command, cwd) = (hub.spec.command.display(), hub.spec.cwd.display());
        let stderr_tail = format!("cannot start {command} in {cwd}: {error}");
        log::line(format_args!("{stderr_tail}"));
        ExitPayload { code: None, signal: None, stderr_tail }
    });
    hub.stdin.close();
    let payload = serde_json::to_vec(&exit).map_err(io::Error::other)?;
    let exit_seq = hub.journal.seal(|batch| batch.push(Kind::Exit, &[&payload]));
    life.linger(exit_seq);
    // A successor in the same directory would have made a socket of its own, but the lock keeps it out until now.
    let _ = fs::remove_file(socket_path(dir));
    hub.attach.close();
    log::line(format_args!("ended, last record {exit_seq}"));
    Ok(())
}

/// From the agent's start to its end. An error means that there was no agent.
fn tend_agent(hub: &Arc<Hub>, life: &mut Life, mut identity: Identity) -> io::Result<ExitPayload> {
    let listener = listen(&hub.dir)?;
    signals::watch(hub)?;
    let agent = agent::spawn(hub);
    if let Ok(agent) = &agent {
        let pid = agent.pid.as_raw_nonzero().get();
        log::line(format_args!("agent started, pid {pid}"));
        identity.agent = ProcessIdentity::of(pid);
        // On a disk that is full by now: its mark still tells whose it is.
        if let Err(error) = identity.store(&hub.dir) {
            log::line(format_args!("writing the identity: {error}"));
        }
    }
    // Only now, so that whoever gets an answer knows that the agent has been tried.
    if let Err(error) = serve::begin(hub, listener) {
        log::line(format_args!("serving: {error}"));
        let _ = hub.events.send(Event::Stop("nobody could reach it"));
    }
    agent.map(|agent| life.until_the_end(&agent))
}

/// Two runners must never share a directory.
fn listen(dir: &Path) -> io::Result<UnixListener> {
    let (address, _opened) = socket_address(dir)?;
    match fs::remove_file(&address) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(&address)?;
    fs::set_permissions(&address, fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// Starts a thread of the runner. One that panics ends the runner in order: half a runner is worse than none.
fn spawn_thread(hub: &Arc<Hub>, name: &str, work: impl FnOnce(&Arc<Hub>) + Send + 'static) -> io::Result<()> {
    let hub = Arc::clone(hub);
    let guarded = move || {
        let guard = PanicGuard(Arc::clone(&hub));
        work(&hub);
        drop(guard);
    };
    thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES).spawn(guarded).map(drop)
}

struct PanicGuard(Arc<Hub>);

impl Drop for PanicGuard {
    fn drop(&mut self) {
        if thread::panicking() {
            let _ = self.0.events.send(Event::Stop("a thread of the runner panicked"));
        }
    }
}
