//! After a start: what an earlier server left running is taken up, and what nobody owns any more is ended.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use agents::{Connection, Found, Known};
use domain::agent::Update;
use domain::event::TurnState;
use domain::ids::SessionId;
use domain::turn::{CallState, Input};
use store::{Row, RunnerRow};
use tokio::sync::mpsc;
use uuid::Uuid;

use crate::actor::Actor;
use crate::delegate::SIGNALS;
use crate::host::{NamedState, Slot, rpc_id};
use crate::trace::kept;
use crate::{Engine, Refusal, Settings};

/// Wakes every session that has something open, and cleans away runners that belong to none.
pub(crate) async fn recover(engine: &Engine) -> Result<(), Refusal> {
    let store = engine.store();
    let runners = store.runners().await?;
    let turns = store.open_turns().await?;
    let queued = store.queued_sessions().await?;
    let sessions = runners.iter().map(|runner| runner.session).chain(turns.iter().map(|(session, _)| *session)).chain(queued);
    let owned: HashSet<_> = runners.iter().map(|runner| runner.dir.as_str()).collect();
    for found in agents::find_runners(&engine.settings().runners_dir()) {
        if !owned.contains(found.dir.to_string_lossy().as_ref()) {
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
    if let Err(error) = agents::end_runner(found).await {
        tracing::warn!(dir = %found.dir.display(), error, "the leftovers of a runner could not be ended");
    }
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
    match tokio::fs::remove_dir_all(dir).await {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            tracing::warn!(dir = %dir.display(), %error, "the directory of a runner could not be removed");
        }
        _ => {}
    }
}

impl Actor {
    /// Takes up the runner that an earlier server left, from where its journal was read last. A runner that has died meanwhile is
    /// read to its end from the disk, and then counts as gone like any other.
    pub(crate) async fn take_up_agent(&mut self) -> Result<(), Refusal> {
        let Some(left) = self.host.left.take() else { return Ok(()) };
        let (Ok(runner), dir) = (left.id.parse::<Uuid>(), Path::new(&left.dir)) else { return Ok(()) };
        if left.capabilities.is_none() {
            // It had not come up when the server died, so nothing was asked of it; the next prompt starts another.
            clear_dir(&self.shared.settings, dir).await;
            self.rows.push(Row::RemoveRunner { id: left.id });
            return Ok(());
        }
        let found = agents::find_runner(dir);
        let alive = found.as_ref().is_some_and(|found| found.runner_alive);
        if let Some(found) = found.filter(|found| !found.runner_alive) {
            // No two owners: whatever its agent left behind is gone before anything else is started.
            if let Err(error) = agents::end_runner(&found).await {
                tracing::warn!(session = %self.id, error, "the leftovers of a runner could not be ended");
            }
        }
        let written = if alive { None } else { agents::written(dir) };
        if !alive && written.is_none() {
            return self.outcome_unknown(runner, &left).await;
        }
        self.reopen_names(&left, written.as_ref());
        self.reopen_permissions(&left).await?;
        if alive {
            self.reopen_requests(&left).await?;
        }
        let known = self.known(&left);
        let (sender, signals) = mpsc::channel(SIGNALS);
        match Connection::adopt(dir, left.cursor, known, self.shared.settings.deadlines, sender).await {
            Ok(connection) => {
                tracing::info!(session = %self.id, %runner, cursor = left.cursor, alive, "took up an agent of an earlier server");
                let connection = self.offer(connection, &left.agent);
                self.host.slot = Slot::Up { runner, connection };
                // What waits is for the next one, and what this one had been given is in the journal that is about to be read.
                self.host.ending = !alive;
                // One that is in the middle of bringing back a session for the earlier server makes room like one that was replaced:
                // Copilot, asked twice, serves such a session twice over.
                let restoring = alive && self.is_restoring(&left).await;
                self.host.agent = if restoring { String::new() } else { left.agent.clone() };
                self.host.signals = Some(signals);
                self.say_recovered(alive);
                self.repeat_answers(&left).await
            }
            Err(error) => {
                tracing::warn!(session = %self.id, %runner, %error, "an agent of an earlier server cannot be taken up");
                self.host.slot = Slot::Down;
                self.agent_gone(runner, &error.to_string());
                Ok(())
            }
        }
    }

    /// A session that a prompt waits for was asked for in that process, and is not known to be open there.
    async fn is_restoring(&self, left: &RunnerRow) -> bool {
        let calls = self.state.turn.as_ref().map(|turn| turn.calls()).unwrap_or_default();
        let names = calls.iter().filter(|call| call.state != CallState::Done).filter_map(|call| call.session_name());
        let elsewhere = |name: &&str| {
            let row = self.host.names.get(*name).and_then(|named| named.row.as_ref());
            row.is_some_and(|row| row.runner_id.as_ref() != Some(&left.id))
        };
        let waiting: Vec<String> = names.filter(elsewhere).map(str::to_owned).collect();
        let dir = PathBuf::from(&left.dir);
        let look = move || waiting.iter().any(|name| agents::was_restored(&dir, name));
        tokio::task::spawn_blocking(look).await.unwrap_or(false)
    }

    /// The runner is gone and its journal with it. A prompt may have been worked on or not, and nothing says which: the person decides
    /// what happens next, and is given what is certain.
    async fn outcome_unknown(&mut self, runner: Uuid, left: &RunnerRow) -> Result<(), Refusal> {
        tracing::warn!(session = %self.id, %runner, "a runner is gone and has left no journal");
        let opened_there = |name: &str| {
            let row = self.host.names.get(name).and_then(|named| named.row.as_ref());
            row.is_some_and(|row| row.runner_id.as_ref() == Some(&left.id) && row.prompted_at.is_some())
        };
        let open = self.state.turn.as_ref().map(|turn| turn.calls().iter().filter(|call| call.state != CallState::Done));
        let prompted = open.is_some_and(|mut calls| calls.any(|call| call.session_name().is_some_and(opened_there)));
        self.agent_gone(runner, "its journal is missing");
        if prompted {
            let evidence = self.evidence().await?;
            let reason = format!("it cannot be known whether the agent finished this: its process and its journal are gone. {evidence}");
            self.step(Input::Abort { state: TurnState::Unknown, code: "outcome_unknown".to_owned(), reason });
        }
        self.settle().await;
        Ok(())
    }

    /// What is certain about the running turn: the last event, and the files that changed since it began.
    async fn evidence(&self) -> Result<String, Refusal> {
        let turns = self.shared.store.open_turns().await?;
        let started = turns.into_iter().find(|(session, _)| *session == self.id).map(|(_, turn)| turn.started_at);
        let last = self.shared.store.session(self.id).await?.map_or(0, |row| row.last_seq);
        let work_dir = PathBuf::from(&self.row.work_dir);
        let since = started.map_or(std::time::SystemTime::UNIX_EPOCH, std::time::SystemTime::from);
        let changed = tokio::task::spawn_blocking(move || tools::changed_since(&work_dir, since)).await.unwrap_or_default();
        let files = if changed.is_empty() { "no file has changed".to_owned() } else { format!("files changed: {}", changed.join(", ")) };
        Ok(format!("The last that is known of it is event {last}; since it began, {files}."))
    }

    /// The sessions that were open in that process are open still, and the calls whose prompts it has are running.
    fn reopen_names(&mut self, left: &RunnerRow, written: Option<&HashSet<Uuid>>) {
        let turn = self.state.turn.as_ref();
        for (name, named) in &mut self.host.names {
            if named.row.as_ref().is_none_or(|row| row.runner_id.as_ref() != Some(&left.id)) {
                continue;
            }
            named.state = NamedState::Open;
            let Some(turn) = turn else { continue };
            let open = turn.calls().iter().find(|call| call.state != CallState::Done && call.session_name() == Some(name));
            // Where the journal is closed, only a prompt that it holds can have been worked on. Where the runner lives, the
            // prompt is simply sent again, and the runner lets it through only once.
            named.running = open
                .filter(|call| written.is_none_or(|written| written.contains(&turn.id.prompt_write(&call.call.id))))
                .map(|call| call.call.id.clone());
        }
        for named in self.host.names.values() {
            if let Some(call_id) = &named.running {
                self.state.begun(call_id);
            }
        }
    }

    async fn reopen_permissions(&mut self, left: &RunnerRow) -> Result<(), Refusal> {
        for row in self.shared.store.permissions(self.id).await?.into_iter().filter(|row| row.runner_id == left.id) {
            if let Some(id) = rpc_id(&row.rpc_id) {
                self.host.asks.insert(row.request.request_id, id);
            }
        }
        for asked in self.shared.store.asked(self.id, &left.id).await? {
            if self.host.name_of_call(&asked.tool_call_id).is_some() {
                self.note_asked(&asked.tool_call_id, &asked.ask);
            }
        }
        Ok(())
    }

    /// An answer is stored before it is sent; one that was not sent any more is sent now, and one that was, is let through only once.
    async fn repeat_answers(&mut self, left: &RunnerRow) -> Result<(), Refusal> {
        for store::AnswerRow { rpc_id: rpc, option_id, .. } in self.shared.store.answers(self.id, &left.id).await? {
            // What was permitted to us is not the agent's to hear.
            if let Some(id) = rpc_id(&rpc).filter(|id| !self.host.requests.iter().any(|asked| asked.rpc_id == *id)) {
                self.reply_permission(id, option_id);
            }
        }
        Ok(())
    }

    fn known(&self, left: &RunnerRow) -> Known {
        let capabilities = left.capabilities.clone().and_then(|value| serde_json::from_value(value).ok()).unwrap_or_default();
        let notices_in_text = self.shared.settings.agent(&left.agent).is_ok_and(|agent| agent.notices_in_text);
        let mut known = Known { capabilities, notices_in_text, ..Known::default() };
        for named in self.host.names.values() {
            let (Some(row), Some(call_id)) = (&named.row, &named.running) else { continue };
            known.prompts.push((row.acp_session_id.clone(), call_id.clone()));
            let call = self.state.turn.as_ref().and_then(|turn| turn.call(call_id));
            for placed in call.into_iter().flat_map(|call| &call.updates) {
                if let Update::ToolCall(tool_call) = &placed.update {
                    known.calls.push((row.acp_session_id.clone(), tool_call.clone()));
                }
            }
        }
        known
    }

    fn say_recovered(&mut self, alive: bool) {
        let running: Vec<_> = self.host.names.iter().filter(|(_, named)| named.running.is_some()).map(|(name, _)| name.clone()).collect();
        for name in running.into_iter().filter(|_| alive) {
            let text = "Recovered ongoing Copilot tool execution, replaying output...".to_owned();
            self.notice("recovered", "info", "Recovered", text, Some(name));
        }
    }
}
