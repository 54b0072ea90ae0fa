//! The runners that lie in a data directory: what is left of them, and how it is ended.

use std::collections::HashSet;
use std::path::Path;

use runner::{Body, LeftoverError, find};
use tokio::time::{Duration, Instant, sleep};
use uuid::Uuid;

use crate::acp::{id, request};
use crate::jsonrpc::{self, Message, RpcId};

pub use runner::{Durability, Found, Spec, left_behind};

/// How long a process that was killed may take to be gone.
const DYING: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(20);

/// Every runner's directory below `runners`, and who of it is still there.
pub fn find_runners(runners: &Path) -> Vec<Found> {
    find(runners)
}

pub fn find_runner(dir: &Path) -> Option<Found> {
    find(dir.parent()?).into_iter().find(|found| found.dir == dir)
}

/// Ends a runner with its agent, or what a dead one left; returns when all are gone.
pub async fn end_runner(found: &Found) -> Result<(), String> {
    let deadline = Instant::now() + DYING;
    loop {
        let stopped = match runner::attach(&found.dir, u64::MAX).await {
            Ok((handle, _records)) => {
                cancel_prompts(&handle, &found.dir).await;
                // Nobody is going to read it any more; otherwise one whose agent has ended would offer its last records for a while.
                if let Err(error) = handle.ack(u64::MAX).await {
                    tracing::debug!(dir = %found.dir.display(), %error, "the runner was not told that it is done with");
                }
                handle.stop().await.map_err(|error| error.to_string())
            }
            Err(error) => Err(error.to_string()),
        };
        // One that was killed, before or while it was told to end, has left its agent behind.
        match runner::end_leftovers(found).await {
            Ok(()) => return Ok(()),
            // It has ended its agent and is about to leave.
            Err(LeftoverError::RunnerAlive) if stopped.is_ok() => return Ok(()),
            // It does not answer any more but is not gone yet either: it is being killed.
            Err(LeftoverError::RunnerAlive) if Instant::now() < deadline => sleep(LOOK).await,
            Err(LeftoverError::RunnerAlive) => return stopped,
            Err(error) => return Err(error.to_string()),
        }
    }
}

/// What the agent works on is cancelled before it is ended, so that it can put it in order.
async fn cancel_prompts(handle: &runner::Handle, dir: &Path) {
    let dir = dir.to_owned();
    let running = tokio::task::spawn_blocking(move || running_sessions(&dir)).await.unwrap_or_default();
    for agent_session in running {
        let line = jsonrpc::notification("session/cancel", &request::cancel(&agent_session));
        if let Err(error) = handle.write(Uuid::now_v7(), line).await {
            tracing::debug!(agent_session, %error, "the agent was not told to stop before its end");
        }
    }
}

/// The agent sessions whose prompts have no answer in the journal.
fn running_sessions(dir: &Path) -> Vec<String> {
    let Ok(records) = runner::read_journal(dir, 0) else { return Vec::new() };
    let mut open: Vec<(String, String)> = Vec::new();
    for record in records {
        let (line, ours) = match record.body {
            Body::ToAgent { line, .. } => (line, true),
            Body::FromAgent(line) => (line, false),
            _ => continue,
        };
        let text = jsonrpc::text(&line);
        match jsonrpc::message(&text) {
            Ok(Message::Request { id: RpcId::String(asked), params: Some(params), .. }) if ours && id::prompted_call(&asked).is_some() => {
                let params: serde_json::Value = serde_json::from_str(params.get()).unwrap_or_default();
                open.extend(params["sessionId"].as_str().map(|session| (asked, session.to_owned())));
            }
            Ok(Message::Response { id: RpcId::String(answered), .. }) if !ours => open.retain(|(asked, _)| *asked != answered),
            _ => {}
        }
    }
    open.into_iter().map(|(_, session)| session).collect()
}

/// The ids of everything that was ever written to the agent: what is not among them has not reached it. `None` where there is no
/// journal to tell.
pub fn written(dir: &Path) -> Option<HashSet<Uuid>> {
    let mut records = runner::read_journal(dir, 0).ok()?.peekable();
    records.peek()?;
    let writes = records.filter_map(|record| match record.body {
        Body::ToAgent { write_id, .. } => Some(write_id),
        _ => None,
    });
    Some(writes.collect())
}

/// Whether the agent was asked to bring back the session called `name`, whatever came of it.
pub fn was_restored(dir: &Path, name: &str) -> bool {
    let asks = [id::load(name), id::resume(name)];
    let Ok(mut records) = runner::read_journal(dir, 0) else { return false };
    records.any(|record| {
        let Body::ToAgent { line, .. } = record.body else { return false };
        let text = jsonrpc::text(&line);
        matches!(jsonrpc::message(&text), Ok(Message::Request { id: RpcId::String(asked), .. }) if asks.contains(&asked))
    })
}
