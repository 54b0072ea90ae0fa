//! The runners that lie in a data directory: what is left of them, and how it is ended.

use std::collections::HashSet;
use std::path::Path;

use runner::{Bar, Body, LeftoverError, find};
use serde_json::Value;
use tokio::time::{Duration, Instant, sleep};
use uuid::Uuid;

use crate::acp::{id, request};
use crate::codex;
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

/// Ends a runner with its agent, or what a dead one left; returns when all are gone. While what it gives is held, none that was
/// being started comes up there either.
pub async fn end_runner(found: &Found) -> Result<Option<Bar>, String> {
    let deadline = Instant::now() + DYING;
    loop {
        let barred = runner::bar(&found.dir);
        if let Ok(Some(bar)) = barred {
            match runner::end_leftovers(found).await {
                // It has let go of its directory and is not gone yet.
                Err(LeftoverError::RunnerAlive) if Instant::now() < deadline => {
                    drop(bar);
                    sleep(LOOK).await;
                    continue;
                }
                ended => return ended.map(|()| Some(bar)).map_err(|error| error.to_string()),
            }
        }
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
            // Somebody has the directory, and has not said yet who it is.
            Ok(()) if barred.is_ok() && Instant::now() < deadline => sleep(LOOK).await,
            Ok(()) => return Ok(None),
            // It has ended its agent and is about to leave.
            Err(LeftoverError::RunnerAlive) if stopped.is_ok() => return Ok(None),
            // It does not answer any more but is not gone yet either: it is being killed.
            Err(LeftoverError::RunnerAlive) if Instant::now() < deadline => sleep(LOOK).await,
            Err(LeftoverError::RunnerAlive) => return stopped.map(|()| None),
            Err(error) => return Err(error.to_string()),
        }
    }
}

/// What the agent works on is cancelled before it is ended, so that it can put it in order.
async fn cancel_prompts(handle: &runner::Handle, dir: &Path) {
    let dir = dir.to_owned();
    let running = tokio::task::spawn_blocking(move || running_prompts(&dir)).await.unwrap_or_default();
    for prompt in running {
        let Some(line) = prompt.stop() else { continue };
        if let Err(error) = handle.write(Uuid::now_v7(), line).await {
            tracing::debug!(agent_session = prompt.agent_session, %error, "the agent was not told to stop before its end");
        }
    }
}

/// A prompt that has not ended by what the journal says.
struct Running {
    id: String,
    agent_session: String,
    /// In the dialect of Codex a prompt is a turn, which has a name once it is begun.
    is_turn: bool,
    turn: Option<String>,
}

impl Running {
    fn stop(&self) -> Option<Vec<u8>> {
        match (self.is_turn, &self.turn) {
            (false, _) => Some(jsonrpc::notification("session/cancel", &request::cancel(&self.agent_session))),
            (true, Some(turn)) => {
                let params = codex::request::interrupt(&self.agent_session, turn);
                Some(jsonrpc::request(&id::counted("stop", 0), codex::request::INTERRUPT, &params))
            }
            (true, None) => None,
        }
    }
}

fn running_prompts(dir: &Path) -> Vec<Running> {
    let Ok(records) = runner::read_journal(dir, 0) else { return Vec::new() };
    let mut open: Vec<Running> = Vec::new();
    for record in records {
        match record.body {
            Body::ToAgent { line, .. } => open.extend(prompted(&line)),
            Body::FromAgent(line) => follow(&mut open, &line),
            _ => {}
        }
    }
    open
}

fn prompted(line: &[u8]) -> Option<Running> {
    let text = jsonrpc::text(line);
    let Ok(Message::Request { id: RpcId::String(id), params: Some(params), .. }) = jsonrpc::message(&text) else { return None };
    id::prompted_call(&id)?;
    let params: Value = serde_json::from_str(params.get()).ok()?;
    let is_turn = params["threadId"].is_string();
    let agent_session = params[if is_turn { "threadId" } else { "sessionId" }].as_str()?.to_owned();
    Some(Running { id, agent_session, is_turn, turn: None })
}

/// An answer ends a prompt, but only begins a turn.
fn follow(open: &mut Vec<Running>, line: &[u8]) {
    if open.is_empty() {
        return;
    }
    let text = jsonrpc::text(line);
    match jsonrpc::message(&text) {
        Ok(Message::Response { id: RpcId::String(answered), outcome }) => {
            let result = outcome.and_then(Result::ok).and_then(|result| serde_json::from_str::<Value>(result.get()).ok());
            let begun = result.and_then(|result| result["turn"]["id"].as_str().map(str::to_owned));
            open.retain_mut(|running| {
                if running.id == answered && running.is_turn {
                    running.turn.clone_from(&begun);
                }
                running.id != answered || running.turn.is_some()
            });
        }
        Ok(Message::Notification { method, params: Some(params) }) if method == "turn/completed" => {
            let params: Value = serde_json::from_str(params.get()).unwrap_or_default();
            open.retain(|running| !running.is_turn || params["threadId"] != running.agent_session.as_str());
        }
        _ => {}
    }
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
