//! What can be changed while the server runs. All else is read once, at the start.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use domain::policy::Policy;

use crate::command::Command;
use crate::settings::Settings;
use crate::{Engine, Shared};

/// Read where they are used, so that a change holds from then on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Choices {
    pub model: String,
    pub default_agent: String,
    pub max_iterations: u32,
    /// As it is configured.
    pub permission_policy: Option<Policy>,
    /// As people chose it in the page.
    pub chosen_policy: Option<Policy>,
    pub permission_timeout: Option<Duration>,
    pub agent_ttl: Duration,
    pub disk_quota: Option<u64>,
    pub project_title: Option<String>,
    pub suggestions: Vec<String>,
    pub ignore: Vec<String>,
}

impl Choices {
    pub fn of(settings: &Settings) -> Choices {
        Choices {
            model: settings.model.clone(),
            default_agent: settings.default_agent.clone(),
            max_iterations: settings.max_iterations,
            permission_policy: settings.permission_policy,
            chosen_policy: settings.chosen_policy,
            permission_timeout: settings.permission_timeout,
            agent_ttl: settings.agent_ttl,
            disk_quota: settings.disk_quota,
            project_title: settings.project_title.clone(),
            suggestions: settings.suggestions.clone(),
            ignore: settings.ignore.clone(),
        }
    }
}

/// Those that hold now.
pub(crate) struct Current(Mutex<Arc<Choices>>);

impl Current {
    pub(crate) fn new(choices: Choices) -> Current {
        Current(Mutex::new(Arc::new(choices)))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Arc<Choices>> {
        self.0.lock().expect("no code panics while it holds the choices")
    }
}

impl Shared {
    pub(crate) fn choices(&self) -> Arc<Choices> {
        self.current.lock().clone()
    }

    /// What the tools are given for a session in this directory.
    pub(crate) fn project(&self, work_dir: &str) -> tools::Project {
        tools::Project { work_dir: work_dir.into(), ignore: self.choices().ignore.clone(), ignore_root: self.settings.work_dir.clone() }
    }

    /// A person who talks straight to an agent is asked, whatever was chosen for delegated work, unless that is stricter still.
    /// The project can make it stricter.
    pub(crate) fn policy(&self, relay: bool) -> Policy {
        let choices = self.choices();
        let decided = match (relay, choices.chosen_policy, choices.permission_policy) {
            (true, chosen, configured) => {
                let otherwise = configured.unwrap_or(Policy::Ask);
                chosen.map_or(otherwise, |chosen| chosen.stricter(otherwise))
            }
            (false, chosen, configured) => chosen.or(configured).unwrap_or(Policy::Auto),
        };
        self.settings.least_policy.map_or(decided, |least| decided.stricter(least))
    }
}

impl Engine {
    pub fn choices(&self) -> Arc<Choices> {
        self.shared.choices()
    }

    /// From now on these hold, also in sessions that run.
    pub async fn adopt(&self, choices: Choices) {
        let policies = || (self.default_policy(false), self.default_policy(true));
        let before = policies();
        *self.shared.current.lock() = Arc::new(choices);
        let policy = policies() != before;
        self.tell_all(|| Command::ChoicesChanged { policy }).await;
    }

    /// What a new session gets; `relay` where the person talks straight to an agent.
    pub fn default_policy(&self, relay: bool) -> Policy {
        self.shared.policy(relay)
    }

    /// Somebody has decided what delegated work runs under, be it in the configuration.
    pub fn is_policy_chosen(&self) -> bool {
        let choices = self.shared.choices();
        choices.permission_policy.or(choices.chosen_policy).is_some()
    }
}
