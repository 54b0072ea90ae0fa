//! After a start: what an earlier server left running is taken up, and what nobody owns any more is ended.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use agents::Found;
use domain::ids::SessionId;

use crate::trace::kept;
use crate::{Engine, Refusal, Settings, changes};

const REMOVE_TRIES: u32 = 20;
const REMOVE_AGAIN: Duration = Duration::from_millis(10);

/// Wakes every session that has something open, and cleans away runners that belong to none.
pub(crate) async fn recover(engine: &Engine) -> Result<(), Refusal> {
    let store = engine.store();
    let runners = store.runners().await?;
    let turns = store.open_turns().await?;
    let queued = store.queued_sessions().await?;
    let sessions = runners.iter().map(|runner| runner.session).chain(turns.iter().map(|(session, _)| *session)).chain(queued);
    let owned: HashSet<_> = runners.iter().filter_map(|runner| Some(engine.settings().runner_dir(runner.id.parse().ok()?))).collect();
    for found in agents::find_runners(&engine.settings().runners_dir()) {
        if !owned.contains(&found.dir) {
            tracing::info!(dir = %found.dir.display(), "ending a runner that belongs to no session");
            clear(engine.settings(), &found).await;
        }
    }
    forget_deleted(engine).await?;
    // Only now: an agent that is brought back must not meet what is left of its former self.
    for session in sessions.collect::<HashSet<_>>() {
        engine.wake(session);
    }
    Ok(())
}

/// How many runners live on without the server.
pub(crate) fn count_running(settings: &Settings) -> usize {
    agents::find_runners(&settings.runners_dir()).iter().filter(|found| found.runner_alive).count()
}

/// Ends what is left of a runner and its agent, and removes its directory.
async fn clear(settings: &Settings, found: &Found) {
    let ended = agents::end_runner(found).await;
    if let Err(error) = &ended {
        tracing::warn!(dir = %found.dir.display(), error, "the leftovers of a runner could not be ended");
    }
    // What it gave keeps the directory free of others until it is gone.
    remove_dir(settings, &found.dir).await;
}

/// Ends whatever there is of the runner in `dir`, and removes it.
pub(crate) async fn clear_dir(settings: &Settings, dir: &Path) {
    match agents::find_runner(dir) {
        Some(found) => clear(settings, &found).await,
        None => remove_dir(settings, dir).await,
    }
}

/// The traffic of a session that was deleted just before a crash.
async fn forget_deleted(engine: &Engine) -> Result<(), Refusal> {
    let traces = engine.settings().traces_dir();
    for session in kept::sessions(&traces).unwrap_or_default() {
        if engine.store().session(session).await?.is_none() {
            forget_traces(engine.settings(), session);
        }
    }
    for session in changes::sessions(engine.settings()) {
        if engine.store().session(session).await?.is_none() {
            changes::forget(engine.settings(), session);
        }
    }
    Ok(())
}

pub(crate) fn forget_traces(settings: &Settings, session: SessionId) {
    if let Err(error) = kept::forget(&settings.traces_dir(), session) {
        tracing::warn!(%session, %error, "the traffic of a deleted session could not be removed");
    }
}

/// The journal is kept for people to look at; nothing else needs it any more.
async fn remove_dir(settings: &Settings, dir: &Path) {
    let (traces, from) = (settings.traces_dir(), dir.to_owned());
    let kept = tokio::task::spawn_blocking(move || kept::keep(&traces, &from)).await;
    if let Ok(Err(error)) = kept {
        tracing::warn!(dir = %dir.display(), %error, "the traffic of an agent could not be kept");
    }
    let mut tries = 0;
    while let Err(error) = tokio::fs::remove_dir_all(dir).await {
        match error.kind() {
            ErrorKind::NotFound => return,
            // A runner that was on its way has written into its log meanwhile.
            ErrorKind::DirectoryNotEmpty if tries < REMOVE_TRIES => tries += 1,
            _ => return tracing::warn!(dir = %dir.display(), %error, "the directory of a runner could not be removed"),
        }
        tokio::time::sleep(REMOVE_AGAIN).await;
    }
}
