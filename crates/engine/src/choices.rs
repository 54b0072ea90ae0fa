//! What can be changed while the server runs. All else is read once, at the start.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use domain::policy::Policy;

use crate::command::Command;
use crate::settings::{RELAY, Settings};
use crate::{Engine, Refusal, Shared};

const NAME_MAX: usize = 200;

/// Read where they are used, so that a change holds from then on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Choices {
    pub model: String,
    /// Where every other model name than `relay` is asked for; `Relay` where there is none.
    pub endpoint: model::Settings,
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
            endpoint: settings.endpoint.clone(),
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

impl Choices {
    pub(crate) fn check_model(&self, name: &str) -> Result<(), Refusal> {
        self.model_settings(name).map(drop)
    }

    pub(crate) fn model_settings(&self, name: &str) -> Result<model::Settings, Refusal> {
        match (name, &self.endpoint) {
            (RELAY, _) => Ok(model::Settings::Relay),
            ("", _) => Err(Refusal::Invalid("the model has no name".to_owned())),
            (name, _) if name.len() > NAME_MAX => Err(Refusal::Invalid(format!("the model's name is longer than {NAME_MAX} bytes"))),
            (name, model::Settings::Relay) => Err(Refusal::NoProvider(format!(
                "no provider is set up for the model `{name}`: add a main AI in the settings, or use `relay`"
            ))),
            (name, model::Settings::Endpoint { base_url, api_key, provider, .. }) => Ok(model::Settings::Endpoint {
                model: name.to_owned(),
                base_url: base_url.clone(),
                api_key: api_key.clone(),
                provider: *provider,
            }),
        }
    }
}

impl Choices {
    pub fn has_provider(&self) -> bool {
        self.endpoint != model::Settings::Relay
    }

    /// The key of the main AI's endpoint, for whoever must not show it.
    pub fn secret(&self) -> Option<String> {
        match &self.endpoint {
            model::Settings::Endpoint { api_key: Some(key), .. } => Some(key.expose().to_owned()),
            _ => None,
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
        let is_elsewhere = self.choices().endpoint != choices.endpoint;
        *self.shared.current.lock() = Arc::new(choices);
        if is_elsewhere {
            self.shared.models.lock().await.forget();
        }
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
