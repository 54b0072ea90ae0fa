//! The world outside of a host machine: what its acts come to, on real runners, files and terminals.
//!
//! Nothing here decides anything. [`Actor::work`] turns an act into a task, and the end of the task into an input.

mod fetch;
mod link;
pub(crate) mod options;
mod prompt;
mod restore;
pub(crate) mod signals;
mod start;
mod terminals;
mod view;
mod work;

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use agents::{Connection, KnownSession, Reopen};
use domain::agent::{Failure, Fault, Reply};
use domain::host::{Act, AgentSession, Described, How, Input, Opened};
use domain::ids::{PermissionId, RunnerId};
use uuid::Uuid;

pub(crate) use fetch::Progress;
pub(crate) use link::Links;

use crate::actor::{Actor, Ended};
use crate::{history, recover};

/// How many batches of an agent's words wait to be taken: what one commit holds stays small.
pub(crate) const SIGNALS: usize = 4;
const UNSENT_PAUSE: Duration = Duration::from_secs(1);
/// How long an agent that is being ended has to stop what it works on.
const LAST_CANCEL: Duration = Duration::from_secs(2);

pub(crate) type Task = Pin<Box<dyn Future<Output = Ended> + Send>>;

/// What an act comes to.
pub(crate) enum Work {
    Task(Task),
    /// It is over already.
    Input(String, Box<Input>),
    Nothing,
}

impl Work {
    fn task(work: impl Future<Output = Ended> + Send + 'static) -> Work {
        Work::Task(Box::pin(work))
    }

    /// A task that ends with an input for the host of `agent`.
    fn host(agent: String, work: impl Future<Output = Input> + Send + 'static) -> Work {
        Work::task(async move { Ended::Host { agent, input: Box::new(work.await) } })
    }

    /// A task whose end nobody waits for.
    fn quiet(work: impl Future<Output = ()> + Send + 'static) -> Work {
        Work::task(async move {
            work.await;
            Ended::Nothing
        })
    }
}

impl Actor {
    pub(crate) fn work(&mut self, agent: String, act: Act) -> Work {
        match act {
            Act::Start { runner, agent } => self.start(agent, runner),
            Act::Open { runner, name, known, closing } => self.open(agent, runner, name, known, closing),
            Act::Prompt { runner, turn_id, call_id, round, agent_session, name, text, introduce } => {
                self.prompt(agent, prompt::Prompt { runner, turn_id, call_id, round, agent_session, name, text, introduce })
            }
            Act::Cancel { runner, call_id, agent_session } => self.cancel_prompt(runner, &call_id, agent_session),
            Act::Reply { runner, id, rpc_id, reply } => self.reply(agent, runner, id, rpc_id, reply),
            Act::Prepare { id, demand } => self.prepare(agent, id, demand),
            Act::Do { runner, id, call_id, demand, shown } => self.do_demand(agent, runner, id, call_id, demand, shown),
            Act::SetOptions { runner, session } => self.send_options(agent, runner, *session),
            Act::ForbidAll { runner, session } => self.forbid_all(agent, runner, *session),
            Act::WatchTerminal { runner, terminal_id } => self.watch_terminal(runner, terminal_id),
            Act::KillTerminals { call_id } => {
                self.links.kill_terminals_of(&call_id);
                Work::Nothing
            }
            Act::Acknowledge { runner, cursor } => self.acknowledge(runner, cursor),
            Act::End { runner } => self.end(runner),
            Act::Clear { runner, agent } => self.clear(agent, runner),
            Act::Adopt { .. } | Act::GiveUp { .. } | Act::Timer(_) => Work::Nothing,
        }
    }

    fn connection(&self, runner: RunnerId) -> Option<Connection> {
        self.links.connection(runner).cloned()
    }

    fn open(&mut self, agent: String, runner: RunnerId, name: String, known: Option<Box<AgentSession>>, closing: bool) -> Work {
        let Some(connection) = self.connection(runner) else {
            let outcome = Err(Failure::new(Fault::Gone, "the agent is gone"));
            return Work::Input(agent, Box::new(Input::SessionOpened { runner, name, outcome }));
        };
        let cwd = std::path::PathBuf::from(&self.row.work_dir);
        let (store, id) = (self.shared.store.clone(), self.id);
        let how = if closing { Reopen::Closing } else { Reopen::No };
        let (must_ask, asks) = (!self.policy().is_automatic(), self.asks(&agent));
        let records = self.shared.settings.agent(&agent).ok().and_then(|agent| agent.quirks.records);
        let span = self.observer.begin("session open").with("agent", agent.as_str());
        Work::host(agent, async move {
            let known = known.map(|known| known_session(&known));
            let opened = match connection.open(&name, &cwd, known.as_ref(), how, must_ask).await {
                Ok(opened) => opened,
                Err(failure) => {
                    span.end(true);
                    return Input::SessionOpened { runner, name, outcome: Err(failure) };
                }
            };
            let damaged = match (&opened.how, known) {
                (agents::How::Lost { message }, Some(known)) if records.is_some_and(|records| records.is_damage(message)) => {
                    Some(known.agent_session)
                }
                _ => None,
            };
            let how = match &opened.how {
                agents::How::New => How::New,
                agents::How::Resumed => How::Resumed,
                agents::How::Loaded => How::Loaded,
                agents::How::Lost { .. } => How::Lost,
            };
            span.with("how", how.as_str()).end(how == How::Lost);
            let restored = matches!(how, How::Resumed | How::Loaded);
            let cut_off = restored && history::was_cut_off(&store, id, &name).await.unwrap_or(false);
            let allows_all = agents::options::acts_unasked(opened.options.as_ref(), asks);
            let described = Described { mode: opened.mode, options: opened.options, allows_all };
            let (wanted, unguarded) = (opened.wanted, opened.unguarded);
            let outcome = Ok(Opened { agent_session: opened.agent_session, how, described, wanted, unguarded, cut_off, damaged });
            Input::SessionOpened { runner, name, outcome }
        })
    }

    fn cancel_prompt(&mut self, runner: RunnerId, call_id: &str, agent_session: String) -> Work {
        let Some(connection) = self.connection(runner) else { return Work::Nothing };
        let under_way = self.links.begin_stop(runner);
        let write_id = self.id.cancel_write(call_id);
        Work::quiet(async move {
            let _under_way = under_way;
            while !is_settled("a stop", &connection.cancel(write_id, &agent_session).await).await {}
        })
    }

    fn reply(&self, agent: String, runner: RunnerId, id: PermissionId, rpc_id: String, reply: Reply) -> Work {
        let Some(connection) = self.connection(runner) else { return Work::Nothing };
        let write_id: Uuid = id.reply_write();
        let stops = self.links.stops(runner);
        Work::task(async move {
            stops.over().await;
            loop {
                let sent = connection.answer(write_id, &rpc_id, &reply).await;
                if is_settled("a reply", &sent).await {
                    break match sent {
                        Ok(()) => Ended::Host { agent, input: Box::new(Input::ReplySent { id }) },
                        Err(_) => Ended::Nothing,
                    };
                }
            }
        })
    }

    fn acknowledge(&self, runner: RunnerId, cursor: u64) -> Work {
        let Some(connection) = self.connection(runner) else { return Work::Nothing };
        connection.set_busy(false);
        Work::quiet(async move {
            connection.tell_busy().await;
            connection.ack(cursor).await;
        })
    }

    fn end(&self, runner: RunnerId) -> Work {
        let Some(connection) = self.connection(runner) else { return Work::Nothing };
        Work::quiet(async move { stop(&connection).await })
    }

    fn clear(&mut self, agent: String, runner: RunnerId) -> Work {
        self.links.remove(runner);
        let shared = self.shared.clone();
        let remote = shared.settings.agent(&agent).ok().filter(|agent| agent.remote.is_some());
        let settles = remote.map(|agent| agent.settle_after_disconnect());
        Work::host(agent, async move {
            recover::clear_dir(&shared.settings, &shared.settings.runner_dir(runner)).await;
            // What a lost connection had open there ends after a moment, and with it whatever was brought back before that.
            if let Some(pause) = settles {
                tokio::time::sleep(pause).await;
            }
            Input::Cleared { runner }
        })
    }
}

/// Whether the runner has what was sent, or is gone and needs nothing any more. Else it is to be sent again, after a pause.
async fn is_settled(what: &str, sent: &Result<(), Failure>) -> bool {
    match sent {
        Ok(()) => true,
        Err(failure) if failure.fault == Fault::Gone => {
            tracing::debug!(%failure, what, "the agent is gone");
            true
        }
        Err(failure) => {
            tracing::warn!(%failure, what, "could not be sent to the agent; trying again");
            tokio::time::sleep(UNSENT_PAUSE).await;
            false
        }
    }
}

fn known_session(record: &AgentSession) -> KnownSession {
    KnownSession {
        agent_session: record.agent_session.clone(),
        prompted: record.prompted_at.is_some(),
        options: record.options.clone(),
        wanted: record.wanted.clone(),
        allow_all: record.allow_all,
    }
}

async fn stop(connection: &Connection) {
    if let Err(error) = connection.stop().await {
        tracing::warn!(%error, "the agent could not be ended");
    }
}

/// Ends every agent of the session and waits until it is gone. What it works on is cancelled first, so that it can put it in order.
pub(crate) async fn end_all(actor: &mut Actor) {
    let mut runners = Vec::new();
    for host in actor.machine.hosts() {
        let Some(runner) = host.runner() else { continue };
        runners.push(runner);
        let Some(connection) = actor.links.connection(runner) else { continue };
        for prompt in host.prompts().iter().filter(|prompt| prompt.is_out()) {
            let record = host.sessions().find(|(name, _)| *name == prompt.name).and_then(|(_, named)| named.record.as_ref());
            if let Some(record) = record {
                let cancel = connection.cancel(actor.id.cancel_write(&prompt.call_id), &record.agent_session);
                let _ = tokio::time::timeout(LAST_CANCEL, cancel).await;
            }
        }
        tracing::info!(session = %actor.id, %runner, agent = host.agent(), "ending an agent");
        stop(connection).await;
        actor.shared.metrics.agents.of(host.agent()).ended.increment();
    }
    for runner in runners {
        actor.links.remove(runner);
        // One that was still starting has no connection yet, and one that has ended none any more; what there is is in its directory.
        let settings = &actor.shared.settings;
        recover::clear_dir(settings, &settings.runner_dir(runner)).await;
    }
}
