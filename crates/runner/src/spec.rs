//! What a runner is told at its start, and where things lie in its directory.

use std::fs;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::confine::Sandbox;
use crate::invocation::Invocation;

/// The one variable the runner adds to the agent's environment, holding the runner's id. Children inherit it, so what a
/// dead runner left behind can be found even in another process group, another session, or under init.
pub const MARK: &str = "AGENT_RUNNER";

const KEY_FILE: &str = "key";

/// The longest socket address the system takes.
const ADDRESS_BYTES: usize = 107;

/// Everything a runner needs to know, as `spec.json` in its directory.
#[derive(Serialize, Deserialize, Clone, Debug)]
pub struct Spec {
    pub id: Uuid,
    pub command: PathBuf,
    pub args: Vec<String>,
    /// The complete environment of the agent (but for [`MARK`]). It may hold secrets, so the runner takes it out of the
    /// file as soon as it has read it.
    pub env: Vec<(String, String)>,
    pub cwd: PathBuf,
    /// What holds the agent, where something is to.
    #[serde(default)]
    pub sandbox: Option<Sandbox>,
    pub durability: Durability,
    pub ttl_s: u64,
    pub term_grace_ms: u64,
    /// For people who look at the directory or at the log.
    pub label: String,
}

/// What a record survives once somebody has been told of it.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// The end of any process: the kernel has it.
    Process,
    /// Loss of power too: the disk has it.
    Disk,
}

impl Spec {
    pub(crate) fn load(dir: &Path) -> io::Result<Self> {
        let bytes = fs::read(spec_path(dir))?;
        serde_json::from_slice(&bytes).map_err(io::Error::other)
    }

    pub(crate) fn store(&self, dir: &Path) -> io::Result<()> {
        let bytes = serde_json::to_vec_pretty(self).map_err(io::Error::other)?;
        write_whole(&spec_path(dir), &bytes)
    }

    /// The agent as a program to start.
    pub(crate) fn agent(&self) -> Invocation {
        Invocation {
            command: self.command.clone(),
            args: self.args.clone(),
            env: self.env.clone(),
            cwd: Some(self.cwd.clone().into()),
            mark: Some(self.id),
            sandbox: self.sandbox.clone(),
        }
    }

    pub(crate) fn without_env(&self) -> Self {
        Self { env: Vec::new(), ..self.clone() }
    }
}

fn spec_path(dir: &Path) -> PathBuf {
    dir.join("spec.json")
}

pub(crate) fn log_path(dir: &Path) -> PathBuf {
    dir.join("runner.log")
}

/// Whoever has it has the directory. `None` while somebody else does.
pub(crate) fn lock(dir: &Path) -> io::Result<Option<fs::File>> {
    let file = fs::OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(dir.join("lock"))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(file)),
        Err(Errno::WOULDBLOCK) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

pub(crate) fn socket_path(dir: &Path) -> PathBuf {
    dir.join("socket")
}

/// A name for the socket that the system takes, and what must stay open while it is used.
pub(crate) fn socket_address(dir: &Path) -> io::Result<(PathBuf, Option<OwnedFd>)> {
    let path = socket_path(dir);
    if path.as_os_str().len() <= ADDRESS_BYTES {
        return Ok((path, None));
    }
    // Too long to say, so it is named by way of the open directory.
    let opened = rustix::fs::open(dir, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let short = PathBuf::from(format!("/proc/self/fd/{}/socket", opened.as_raw_fd()));
    Ok((short, Some(opened)))
}

/// What the server and the runner know and nobody else: whoever reads it may read everything of the runner. Empty where a runner of an
/// earlier version has none.
pub(crate) fn key(dir: &Path) -> Vec<u8> {
    fs::read(dir.join(KEY_FILE)).unwrap_or_default()
}

pub(crate) fn make_key(dir: &Path) -> io::Result<()> {
    write_whole(&dir.join(KEY_FILE), Uuid::new_v4().as_bytes())
}

pub(crate) fn journal_dir(dir: &Path) -> PathBuf {
    dir.join("journal")
}

/// Puts a file that may hold secrets into a runner's directory, which is made if need be and removed when the runner is.
pub fn put_private(dir: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    create_private_dir(dir)?;
    write_whole(&dir.join(name), bytes)
}

/// Makes `dir` and its parents, the last one for its owner only.
pub(crate) fn create_private_dir(dir: &Path) -> io::Result<()> {
    if let Some(parent) = dir.parent() {
        fs::create_dir_all(parent)?;
    }
    match fs::DirBuilder::new().mode(0o700).create(dir) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

/// Replaces a file in one step, readable by its owner only, so that a reader sees the old content or the new.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let fresh = path.with_extension("new");
    let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&fresh)?;
    file.write_all(bytes)?;
    fs::rename(&fresh, path)
}
