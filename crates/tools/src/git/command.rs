//! Starting git: an argument vector, no shell, no prompts, no network, a bounded answer, and nothing left behind.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicI32, Ordering};

use runner::find_program;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};

use super::stand_in::StandIn;
use crate::{Refusal, bound};

/// Bound of one answer of git. A review of more than this is not read by anybody.
const STDOUT_BYTES: usize = 8 * 1024 * 1024;
const STDERR_BYTES: usize = 16 * 1024;

/// What git needs to find itself and the user's settings. Everything else, this server's secrets and `GIT_*` included,
/// stays here.
const ENVIRONMENT: [&str; 6] = ["PATH", "HOME", "USER", "TMPDIR", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL"];

/// What holds for every call, whatever is configured: the format, no program, and no repository that lies in a project as one of its
/// directories.
const SETTINGS: [&str; 10] = [
    "safe.bareRepository=explicit",
    "protocol.allow=never",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.quotePath=false",
    "diff.orderFile=/dev/null",
    "diff.suppressBlankEmpty=false",
    "diff.ignoreSubmodules=dirty",
    "log.showRoot=true",
    "log.showSignature=false",
];

pub(crate) struct Git {
    directory: PathBuf,
    /// Without one git looks for the repository and reads its configuration, which only `repository` wants.
    stand_in: Option<StandIn>,
    /// The person's own list of files to leave out.
    excludes_file: Option<String>,
}

/// One call of git.
#[derive(Default)]
pub(crate) struct Call<'a> {
    pub arguments: &'a [&'a OsStr],
    /// Goes behind `--` and means itself, however it looks.
    pub path: Option<&'a Path>,
    pub input: Option<&'a [u8]>,
    /// Where it runs, if not in the work directory.
    pub directory: Option<&'a Path>,
    /// Comes after everything else that git is told by its environment.
    pub environment: &'a [(&'static str, &'a OsStr)],
}

pub(crate) struct Printed {
    pub stdout: Vec<u8>,
    /// Git had more to say than is kept.
    pub was_cut: bool,
    pub success: bool,
    pub complaint: String,
}

impl Printed {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    pub(crate) fn succeeded(self, what: &str) -> Result<Self, Refusal> {
        if self.success {
            return Ok(self);
        }
        let complaint = self.complaint.trim().trim_start_matches("fatal: ");
        Err(Refusal::new(format!("{what} failed: {}", bound::prefix(complaint, 1000))))
    }
}

impl Git {
    pub(crate) fn new(directory: &Path) -> Self {
        Self { directory: directory.to_owned(), stand_in: None, excludes_file: None }
    }

    /// From now on git sees the stand-in in place of the repository.
    pub(crate) fn behind(self, stand_in: StandIn, excludes_file: Option<String>) -> Self {
        Self { stand_in: Some(stand_in), excludes_file, ..self }
    }

    pub(super) fn stand_in(&self) -> Option<&Path> {
        self.stand_in.as_ref().map(StandIn::path)
    }

    pub(crate) async fn run(&self, arguments: &[&str], path: Option<&Path>) -> Result<Printed, Refusal> {
        let arguments: Vec<&OsStr> = arguments.iter().map(OsStr::new).collect();
        self.call(Call { arguments: &arguments, path, ..Call::default() }).await
    }

    pub(crate) async fn call(&self, call: Call<'_>) -> Result<Printed, Refusal> {
        // By its whole path: then the system makes a process without copying the tables of this one, which may have grown large.
        let program = find_program(Path::new("git"), search_path().as_deref());
        let program = program.ok_or_else(|| Refusal::new("git is not installed or not on the PATH"))?;
        let mut child = self.command(&program, &call).spawn().map_err(|why| Refusal::new(format!("git cannot be started: {why}")))?;
        let group = Group::of(&child);
        let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(Refusal::new("git was started without pipes"));
        };
        let stdin = child.stdin.take();
        let (stdout, stderr, ()) = tokio::join!(
            async {
                let (bytes, was_cut) = bounded(stdout, STDOUT_BYTES).await;
                if was_cut {
                    // It would block on a pipe that nobody drains.
                    group.kill();
                }
                (bytes, was_cut)
            },
            drained(stderr, STDERR_BYTES),
            async {
                if let (Some(mut stdin), Some(input)) = (stdin, call.input) {
                    // Git that does not read on says why by how it exits.
                    let _ = stdin.write_all(input).await;
                }
            },
        );
        let status = child.wait().await.map_err(|why| Refusal::new(format!("git got lost: {why}")))?;
        group.is_gone();
        let (stdout, was_cut) = stdout;
        Ok(Printed { stdout, was_cut, success: status.success() || was_cut, complaint: String::from_utf8_lossy(&stderr).into_owned() })
    }

    fn command(&self, program: &Path, call: &Call<'_>) -> Command {
        let mut command = Command::new(program);
        command.arg("--no-pager").arg("--no-optional-locks").arg("--literal-pathspecs");
        for setting in SETTINGS {
            command.arg("-c").arg(setting);
        }
        if let Some(path) = &self.excludes_file {
            command.arg("-c").arg(format!("core.excludesFile={path}"));
        }
        command.args(call.arguments);
        if let Some(path) = call.path {
            command.arg("--").arg(path);
        }
        command.current_dir(call.directory.unwrap_or(&self.directory)).env_clear().envs(environment());
        command
            .env("LC_ALL", "C.UTF-8")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_NO_LAZY_FETCH", "1")
            .stdin(if call.input.is_some() { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        if let Some(stand_in) = &self.stand_in {
            // Nothing is ever written to the repository by git itself.
            command
                .env("GIT_DIR", stand_in.path())
                .env("GIT_WORK_TREE", &stand_in.top)
                .env("GIT_OBJECT_DIRECTORY", stand_in.path().join("objects"))
                .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", quoted(&[&stand_in.objects]))
                .env("GIT_CONFIG_GLOBAL", "/dev/null")
                .env("GIT_CONFIG_NOSYSTEM", "1")
                .env("GIT_ATTR_NOSYSTEM", "1");
        }
        command.envs(call.environment.iter().copied());
        command
    }
}

/// Directories as git takes several of them: quoted, since a colon parts them.
pub(super) fn quoted(directories: &[&Path]) -> OsString {
    let mut list = Vec::new();
    for directory in directories {
        if !list.is_empty() {
            list.push(b':');
        }
        list.push(b'"');
        for byte in directory.as_os_str().as_bytes() {
            match byte {
                b'\n' => list.extend(b"\\n"),
                b'"' | b'\\' => list.extend([b'\\', *byte]),
                _ => list.push(*byte),
            }
        }
        list.push(b'"');
    }
    OsString::from_vec(list)
}

#[expect(clippy::disallowed_methods, reason = "where git is looked for, and no setting of ours")]
fn search_path() -> Option<OsString> {
    std::env::var_os("PATH")
}

#[expect(clippy::disallowed_methods, reason = "passed on to git, never read as a setting")]
fn environment() -> impl Iterator<Item = (&'static str, OsString)> {
    ENVIRONMENT.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?)))
}

/// Git's process group, killed when the call is given up: whatever git starts of its own is in it too.
struct Group(AtomicI32);

const NO_GROUP: i32 = 0;

impl Group {
    fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self(AtomicI32::new(id.unwrap_or(NO_GROUP)))
    }

    fn kill(&self) {
        if let Some(pid) = Pid::from_raw(self.0.load(Ordering::Relaxed)) {
            // It may have ended by itself meanwhile.
            let _ = kill_process_group(pid, Signal::KILL);
        }
    }

    /// Once reaped, the number may belong to somebody else.
    fn is_gone(&self) {
        self.0.store(NO_GROUP, Ordering::Relaxed);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Reads up to `limit` bytes; true if there was more.
async fn bounded(stream: impl AsyncRead + Unpin, limit: usize) -> (Vec<u8>, bool) {
    let mut bytes = Vec::new();
    // An error on a pipe is its end; what counts is how git exits.
    let _ = stream.take(limit as u64 + 1).read_to_end(&mut bytes).await;
    let was_cut = bytes.len() > limit;
    bytes.truncate(limit);
    (bytes, was_cut)
}

/// Reads to the end, so that git never waits for us, and keeps the first `limit` bytes.
async fn drained(mut stream: impl AsyncRead + Unpin, limit: usize) -> Vec<u8> {
    let (bytes, was_cut) = bounded(&mut stream, limit).await;
    if was_cut {
        let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
    }
    bytes
}
