//! The evidence of what an earlier server left: stored rows, journals, runners found alive or dead. What follows from it, the host
//! machine decides.

use std::collections::BTreeSet;

use agents::{Connection, Known};
use domain::agent::{Demand, Update};
use domain::event::PermissionRequest;
use domain::host::{DebtRecord, Evidence, Found, Input, NamedState, Signal};
use domain::ids::RunnerId;
use domain::turn::CallState;
use store::{RequestRow, Row, RunnerRow};
use tokio::sync::mpsc;

use super::SIGNALS;
use crate::actor::Actor;
use crate::{Refusal, recover};

impl Actor {
    /// Takes up the runners that an earlier server left in this session.
    pub(crate) async fn restore_hosts(&mut self) -> Result<(), Refusal> {
        let mut left = self.shared.store.session_runners(self.id).await?;
        let mut all: Vec<(String, Found)> = Vec::new();
        while let Some(row) = left.pop() {
            let Ok(runner) = row.id.parse::<RunnerId>() else { continue };
            // An agent has one process in a session; of an older one only what it left is cleaned away.
            if all.iter().any(|(agent, _)| *agent == row.agent) {
                recover::clear_dir(&self.shared.settings, &self.shared.settings.runner_dir(runner)).await;
                self.rows.push(Row::RemoveRunner { id: row.id });
                continue;
            }
            let found = self.find(runner, &row).await?;
            let (agent, cursor, evidence) = (&row.agent, row.cursor, &found.evidence);
            tracing::info!(session = %self.id, %runner, agent, cursor, ?evidence, "an earlier server left a runner");
            all.push((row.agent, found));
        }
        // A turn whose outcome is unknown is broken off, and then what other agents work on must be known.
        all.sort_by_key(|(_, found)| matches!(found.evidence, Evidence::Lost { .. }));
        for (agent, found) in all {
            self.tell_host(agent, Input::Restored(Box::new(found)));
            self.flush().await;
        }
        Ok(())
    }

    async fn find(&self, runner: RunnerId, row: &RunnerRow) -> Result<Found, Refusal> {
        let evidence = self.evidence(runner, row).await?;
        let alive = matches!(evidence, Evidence::Alive { .. });
        let can = capabilities(row);
        let asked = self.shared.store.asked(self.id, &row.id).await?;
        let names = self.machine.hosts().filter(|host| host.agent() == row.agent).flat_map(|host| host.sessions());
        let asks = self.asks(&row.agent);
        let allows_all = |record: &domain::host::AgentSession| agents::options::acts_unasked(record.options.as_ref(), asks);
        Ok(Found {
            runner,
            cursor: row.cursor,
            can_reopen: can.close && (can.load || can.resume),
            allows_all: names.filter(|(_, named)| named.record.as_ref().is_some_and(allows_all)).map(|(name, _)| name.to_owned()).collect(),
            debts: if alive { self.debts(row, &asked).await? } else { Vec::new() },
            asked: asked.into_iter().map(|asked| (asked.tool_call_id, asked.ask)).collect(),
            evidence,
        })
    }

    async fn evidence(&self, runner: RunnerId, row: &RunnerRow) -> Result<Evidence, Refusal> {
        let dir = &self.shared.settings.runner_dir(runner);
        if row.capabilities.is_none() {
            return Ok(Evidence::NeverUp);
        }
        let found = agents::find_runner(dir);
        if found.as_ref().is_some_and(|found| found.runner_alive) {
            return Ok(Evidence::Alive { ending: row.ending, restoring: self.is_restoring(runner, row).await });
        }
        // No two owners: whatever its agent left behind is gone before anything else is started.
        if let Some(found) = found
            && let Err(error) = agents::end_runner(&found).await
        {
            tracing::warn!(session = %self.id, error, "what a runner left could not be ended");
        }
        match agents::written(dir) {
            Some(written) => {
                let turn = self.machine.turn().turn.as_ref();
                let calls = turn.into_iter().flat_map(|turn| turn.calls().iter().map(move |call| (turn.id, call)));
                let written = calls
                    .filter(|(turn, call)| written.contains(&turn.prompt_write(&call.call.id, call.round)))
                    .map(|(_, call)| call.call.id.clone())
                    .collect();
                Ok(Evidence::Dead { written })
            }
            None => Ok(Evidence::Lost { certain: self.certain().await? }),
        }
    }

    /// A session that a prompt waits for was asked for in that process, and is not known to be open there.
    async fn is_restoring(&self, runner: RunnerId, row: &RunnerRow) -> bool {
        let calls = self.machine.turn().turn.as_ref().map(|turn| turn.calls()).unwrap_or_default();
        let names = calls.iter().filter(|call| call.state != CallState::Done).filter_map(|call| call.session_name());
        let host = self.machine.hosts().find(|host| host.agent() == row.agent);
        let elsewhere = |name: &&str| {
            let record = host.and_then(|host| host.sessions().find(|(known, _)| known == name)?.1.record.as_ref());
            record.is_some_and(|record| record.runner_id.map(|runner| runner.to_string()).as_ref() != Some(&row.id))
        };
        let waiting: Vec<String> = names.filter(elsewhere).map(str::to_owned).collect();
        let dir = self.shared.settings.runner_dir(runner);
        let look = move || waiting.iter().any(|name| agents::was_restored(&dir, name));
        tokio::task::spawn_blocking(look).await.unwrap_or(false)
    }

    /// What is certain about the running turn: the last event, and the files that changed since it began.
    async fn certain(&self) -> Result<String, Refusal> {
        let turns = self.shared.store.open_turns().await?;
        let started = turns.into_iter().find(|(session, _)| *session == self.id).map(|(_, turn)| turn.started_at);
        let last = self.shared.store.session(self.id).await?.map_or(0, |row| row.last_seq);
        let project = self.shared.project(&self.row.work_dir);
        let since = started.map_or(std::time::SystemTime::UNIX_EPOCH, std::time::SystemTime::from);
        let changed = tokio::task::spawn_blocking(move || tools::changed_since(&project, since)).await.unwrap_or_default();
        let files = if changed.is_empty() { "no file has changed".to_owned() } else { format!("files changed: {}", changed.join(", ")) };
        Ok(format!("The last that is known of it is event {last}; since it began, {files}."))
    }

    /// What the agent of this runner is still owed: from the table of requests, and of permissions those that are open, or answered and
    /// perhaps not delivered. What a person was asked on our own behalf is in both, and not the agent's to hear.
    async fn debts(&self, row: &RunnerRow, asked: &[PermissionRequest]) -> Result<Vec<DebtRecord>, Refusal> {
        let store = &self.shared.store;
        let mut debts: Vec<DebtRecord> = store.requests(self.id, &row.id).await?.into_iter().filter_map(debt).collect();
        let ids: BTreeSet<_> = debts.iter().map(|debt| debt.id).collect();
        let replies = store.answers(self.id, &row.id).await?;
        for asked in asked.iter().filter(|asked| !ids.contains(&asked.request_id)) {
            let reply = replies.iter().find(|reply| reply.request_id == asked.request_id);
            if let Some(reply) = reply {
                let (rpc_id, decision) = (reply.rpc_id.clone(), Some(reply.decision(&asked.ask)));
                let (call_id, demand) = (Some(asked.tool_call_id.clone()), Demand::Permission(asked.ask.clone()));
                debts.push(DebtRecord { id: asked.request_id, rpc_id, call_id, demand, begun: false, decision, reply: None });
            }
        }
        for open in store.permissions(self.id).await?.into_iter().filter(|open| open.runner_id == row.id) {
            if !ids.contains(&open.request.request_id) {
                let (id, rpc_id, call_id) = (open.request.request_id, open.rpc_id, Some(open.request.tool_call_id));
                let demand = Demand::Permission(open.request.ask);
                debts.push(DebtRecord { id, rpc_id, call_id, demand, begun: false, decision: None, reply: None });
            }
        }
        Ok(debts)
    }

    /// Reattaches to a runner from where its journal was read last. One that has died meanwhile is read to its end from the disk, and then
    /// counts as gone like any other.
    pub(crate) async fn adopt(&mut self, agent: &str, runner: RunnerId, cursor: u64) {
        let known = match self.known(agent, runner).await {
            Ok(known) => known,
            Err(error) => return tracing::error!(session = %self.id, %error, "what is stored of a runner cannot be read"),
        };
        let (sender, signals) = mpsc::channel(SIGNALS);
        let dir = self.shared.settings.runner_dir(runner);
        match Connection::adopt(&dir, cursor, known, self.shared.settings.deadlines, sender).await {
            Ok(connection) => {
                let connection = self.offer(connection, agent);
                let counted = self.shared.metrics.agents.of(agent).processes.hold();
                self.links.add(runner, agent.to_owned(), signals, counted);
                self.links.connect(runner, connection, self.shared.agents.place_of_running());
            }
            Err(error) => {
                tracing::warn!(session = %self.id, %runner, %error, "a runner of an earlier server cannot be adopted");
                let gone = vec![Signal::Gone { text: error.to_string() }];
                self.tell_host(agent.to_owned(), Input::Batch { runner, cursor, signals: gone });
            }
        }
    }

    async fn known(&self, agent: &str, runner: RunnerId) -> Result<Known, Refusal> {
        let rows = self.shared.store.session_runners(self.id).await?;
        let capabilities = rows.iter().find(|row| row.id == runner.to_string()).map(capabilities).unwrap_or_default();
        let agent = self.shared.settings.agent(agent).map(|agent| (agent.dialect, agent.quirks));
        let (dialect, quirks) = agent.unwrap_or_default();
        let mut known = Known { capabilities, dialect, quirks, ..Known::default() };
        let Some(host) = self.machine.host_of_runner(runner) else { return Ok(known) };
        for prompt in host.prompts().iter().filter(|prompt| prompt.is_out()) {
            let named = host.sessions().find(|(name, named)| *name == prompt.name && named.state != NamedState::Stored);
            let Some(record) = named.and_then(|(_, named)| named.record.as_ref()) else { continue };
            known.prompts.push((record.agent_session.clone(), prompt.call_id.clone()));
            let updates = self.machine.turn().call(&prompt.call_id).map_or(&[][..], |call| &call.updates);
            for placed in updates {
                if let Update::ToolCall(tool_call) = &placed.update {
                    known.calls.push((record.agent_session.clone(), tool_call.clone()));
                }
            }
        }
        Ok(known)
    }
}

fn capabilities(row: &RunnerRow) -> agents::Capabilities {
    row.capabilities.clone().and_then(|value| serde_json::from_value(value).ok()).unwrap_or_default()
}

fn debt(row: RequestRow) -> Option<DebtRecord> {
    let demand = match serde_json::from_value(row.request) {
        Ok(demand) => demand,
        Err(error) => {
            tracing::warn!(id = %row.id, %error, "what an agent had asked cannot be read any more");
            return None;
        }
    };
    let reply = row.answer.and_then(|answer| serde_json::from_value(answer).ok());
    Some(DebtRecord { id: row.id, rpc_id: row.rpc_id, call_id: row.call_id, demand, begun: row.begun, decision: None, reply })
}
