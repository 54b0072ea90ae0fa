//! Starting a runner that will outlive this server.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use thiserror::Error;
use tokio::process::Command;
use tokio::time::{Instant, sleep, timeout};

use super::connect;
use crate::identity::Identity;
use crate::spec::{Spec, create_private_dir, log_path, make_key};
use crate::wire::{Request, Status};

const READY: Duration = Duration::from_secs(15);
const FIRST_LOOK: Duration = Duration::from_millis(1);
const SLOWEST_LOOK: Duration = Duration::from_millis(50);
const LOG_TAIL_BYTES: usize = 2048;

#[derive(Debug, Error)]
pub enum StartError {
    #[error("preparing the runner's directory")]
    Directory(#[source] io::Error),
    /// That directory has a runner; attach to it.
    #[error("the runner is already there")]
    Running,
    #[error("starting the runner")]
    Spawn(#[source] io::Error),
    /// It began and ended before it could be reached; its last words.
    #[error("the runner ended at once: {0}")]
    Ended(String),
    #[error("the runner is not ready after {} s", READY.as_secs())]
    Late,
}

/// Starts the runner of `dir` by `exe runner <dir>` and returns when it answers: its agent is started then, or could not be
/// and the journal says why. The directory is made if need be.
pub async fn start(exe: &Path, dir: &Path, spec: &Spec) -> Result<(), StartError> {
    if Identity::load(dir).is_ok_and(|identity| identity.runner_alive()) {
        return Err(StartError::Running);
    }
    create_private_dir(dir).and_then(|()| make_key(dir)).and_then(|()| spec.store(dir)).map_err(StartError::Directory)?;
    let log = OpenOptions::new().append(true).create(true).mode(0o600).open(log_path(dir));
    let log = log.map_err(StartError::Directory)?;
    let errors = log.try_clone().map_err(StartError::Directory)?;
    // Nothing is shared with the server: no pipe, no environment with its secrets. This process leaves at once and the runner
    // it has started is nobody's child.
    let first = Command::new(exe).arg("runner").arg(dir).env_clear().stdin(Stdio::null()).stdout(log).stderr(errors).status();
    let status = timeout(READY, first).await.map_err(|_| StartError::Late)?.map_err(StartError::Spawn)?;
    if !status.success() {
        return Err(StartError::Ended(last_words(dir)));
    }
    until_ready(dir).await
}

async fn until_ready(dir: &Path) -> Result<(), StartError> {
    let deadline = Instant::now() + READY;
    let mut pause = FIRST_LOOK;
    while Instant::now() < deadline {
        // The order matters: one that answers has not ended, and one that has ended will not answer.
        let ended = Identity::load(dir).is_ok_and(|identity| !identity.runner_alive());
        if answers(dir).await {
            return Ok(());
        }
        if ended {
            return Err(StartError::Ended(last_words(dir)));
        }
        sleep(pause).await;
        pause = (pause * 2).min(SLOWEST_LOOK);
    }
    Err(StartError::Late)
}

async fn answers(dir: &Path) -> bool {
    let Ok(mut stream) = connect::open(dir).await else { return false };
    matches!(connect::ask(&mut stream, &Request::Ping).await, Ok((Status::Done, _)))
}

fn last_words(dir: &Path) -> String {
    let log = fs::read(log_path(dir)).unwrap_or_default();
    String::from_utf8_lossy(&log[log.len().saturating_sub(LOG_TAIL_BYTES)..]).trim().to_owned()
}
