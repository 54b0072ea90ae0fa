//! The options of named agent sessions: mode, model and whatever else an agent offers.
//!
//! What a person sets is stored as wanted first. An open session is told at once; one that is not in the process is told when it is next
//! brought back. From then on the agent's own word counts, and what it last said is what a restored session is put back to.

use std::collections::BTreeMap;

use agents::Asks;
use agents::options::{self, Asking};
use domain::host::{AgentSession, Described, Input, OptionOutcome, Told};
use domain::ids::RunnerId;
use domain::policy::Policy;
use serde_json::Value;

use super::Work;
use crate::actor::Actor;
use crate::command::{AgentSessionView, Refusal, Reply};

/// Who waits for an agent's answer, by the name of its session.
#[derive(Default)]
pub(crate) struct Replies(Vec<Waiting>);

struct Waiting {
    name: String,
    reply: Reply<AgentSessionView>,
    /// The agent has answered, and refused where there are words.
    answer: Option<Option<String>>,
}

impl Actor {
    /// Takes what a person wants. Answers at once where it can only be stored, else when the agent has answered.
    pub(crate) async fn want_options(&mut self, name: &str, set: BTreeMap<String, Value>, reply: Reply<AgentSessionView>) {
        let (agent, input) = match self.check_options(name, set) {
            Ok(checked) => checked,
            Err(refusal) => {
                let _ = reply.send(Err(refusal));
                return;
            }
        };
        self.tell_host(agent, input);
        self.flush().await;
        if self.machine.host_of_session(name).is_some_and(|host| host.sessions().any(|(known, named)| known == name && named.is_setting()))
        {
            self.option_replies.0.push(Waiting { name: name.to_owned(), reply, answer: None });
        } else {
            let _ = reply.send(self.view(name).ok_or(Refusal::NotFound("agent session")));
        }
    }

    fn check_options(&self, name: &str, set: BTreeMap<String, Value>) -> Result<(String, Input), Refusal> {
        let host = self.machine.host_of_session(name).ok_or(Refusal::NotFound("agent session"))?;
        let record = host.sessions().find(|(known, _)| *known == name).and_then(|(_, named)| named.record.as_ref());
        let described = record.ok_or(Refusal::NotFound("agent session"))?.options.as_ref();
        let asks = self.asks(host.agent());
        if set.is_empty() {
            return Err(Refusal::Invalid("nothing to set: name a mode, a model or an option".to_owned()));
        }
        let (mut chosen, mut shown, mut allow_all) = (BTreeMap::new(), Vec::new(), None);
        for (key, value) in set {
            let (id, value) = options::choose(described, &key, &value).map_err(Refusal::Invalid)?;
            let unasked = options::would_act_unasked(described, &id, &value, asks);
            // The agent's own "allow all" may be chosen against the policy, but for one that denies everything; a mode may not: people
            // choose it for other reasons.
            let free = if options::is_allow_all(&id) { self.policy() != Policy::Deny } else { self.policy().is_automatic() };
            if unasked && !free && options::decides_asking(&id, asks) {
                let policy = self.policy().as_str();
                return Err(Refusal::Invalid(format!(
                    "the policy is \"{policy}\", and set so the agent would act without asking: change the policy first"
                )));
            }
            if options::decides_asking(&id, asks) {
                allow_all = Some(unasked);
            }
            let (option, choice) = options::names(described, &id, &value);
            shown.push(format!("{option}: {choice}"));
            chosen.insert(id, value);
        }
        Ok((host.agent().to_owned(), Input::SetOptions { name: name.to_owned(), set: chosen, allow_all, shown: shown.join(", ") }))
    }

    /// Sets one option after the other.
    pub(super) fn send_options(&self, agent: String, runner: RunnerId, session: AgentSession) -> Work {
        let Some(connection) = self.links.connection(runner).cloned() else { return Work::Nothing };
        let asks = self.asks(&agent);
        let told = Told::of(runner, &session);
        Work::host(agent, async move {
            let wanted = session.wanted.as_ref().and_then(Value::as_object).cloned().unwrap_or_default();
            let (mut described, mut mode, mut outcomes) = (session.options, session.mode, Vec::new());
            for (id, value) in wanted {
                let shown = options::names(described.as_ref(), &id, &value);
                let outcome = connection.set_option(&session.agent_session, described.as_ref(), &id, &value).await;
                if let (Ok(()), Some(options)) = (&outcome, &mut described) {
                    // The agent's own report may still name the old value.
                    if options::mode_id(options).as_deref() == Some(&*id) {
                        mode = value.as_str().map(str::to_owned);
                    }
                    options::put(options, &id, &value);
                }
                outcomes.push(OptionOutcome { id, value, shown, outcome });
            }
            let allows_all = options::acts_unasked(described.as_ref(), asks);
            Input::OptionsSet { told, outcomes, described: Described { mode, options: described, allows_all } }
        })
    }

    /// The agent has answered: whoever waits for that is told once it is stored, see [`Actor::send_option_replies`].
    pub(crate) fn options_answered(&mut self, agent: &str, input: &Input) {
        let Input::OptionsSet { told: Told { name, .. }, outcomes, .. } = input else { return };
        let title = self.shared.agent_title(agent);
        let refused = outcomes.iter().rev().find_map(|outcome| outcome.refusal(&title));
        for waiting in self.option_replies.0.iter_mut().filter(|waiting| waiting.name == *name) {
            waiting.answer = Some(refused.clone());
        }
    }

    pub(crate) fn send_option_replies(&mut self) {
        let (ready, waiting) = std::mem::take(&mut self.option_replies.0).into_iter().partition(|waiting| waiting.answer.is_some());
        self.option_replies.0 = waiting;
        let ready: Vec<Waiting> = ready;
        for Waiting { name, reply, answer } in ready {
            let view = self.view(&name).ok_or(Refusal::NotFound("agent session"));
            let _ = reply.send(answer.flatten().map_or(view, |text| Err(Refusal::Invalid(text))));
        }
    }

    /// Sets the agent to ask.
    pub(super) fn forbid_all(&self, agent: String, runner: RunnerId, session: AgentSession) -> Work {
        let Some(connection) = self.links.connection(runner).cloned() else { return Work::Nothing };
        let (asks, told) = (self.asks(&agent), Told::of(runner, &session));
        Work::host(agent, async move {
            let described = session.options.as_ref();
            let asks = match options::asking(described, asks) {
                Asking::Asks => true,
                Asking::Cannot => false,
                Asking::After(id, value) => {
                    let set = connection.set_option(&session.agent_session, described, &id, &value).await;
                    set.inspect_err(|failure| {
                        tracing::warn!(agent_session = session.agent_session, %failure, "the agent could not be set to ask");
                    })
                    .is_ok()
                }
            };
            Input::Forbidden { told, asks }
        })
    }

    /// How the agent is brought to ask.
    pub(crate) fn asks(&self, agent: &str) -> Asks {
        self.shared.settings.agent(agent).map_or(Asks::Always, |agent| agent.quirks.asks)
    }
}
