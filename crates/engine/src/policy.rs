//! Who decides in a session that has no policy of its own: what is configured, else what people chose in the page, else by who is
//! talking.

use std::sync::Mutex;

use domain::policy::Policy;
use store::{ServerRow, Store};

use crate::command::Command;
use crate::{Engine, Refusal, Shared};

/// The name of the choice in the store.
const KEY: &str = "permission_policy";

/// What people chose for sessions in which a main AI delegates.
#[derive(Default)]
pub(crate) struct Chosen(Mutex<Option<Policy>>);

impl Chosen {
    pub(crate) async fn read(store: &Store) -> Result<Chosen, Refusal> {
        let stored = store.preference(KEY).await?;
        Ok(Chosen(Mutex::new(stored.and_then(|policy| policy.parse().ok()))))
    }

    fn get(&self) -> Option<Policy> {
        *self.0.lock().expect("no code panics while it holds the policy")
    }

    fn set(&self, policy: Policy) {
        *self.0.lock().expect("no code panics while it holds the policy") = Some(policy);
    }
}

impl Shared {
    /// A person who talks straight to an agent is asked, whatever was chosen for delegated work. The project can make it stricter.
    pub(crate) fn policy(&self, relay: bool) -> Policy {
        let fallback = || if relay { Policy::Ask } else { self.default_policy.get().unwrap_or(Policy::Auto) };
        let default = self.settings.permission_policy.unwrap_or_else(fallback);
        self.settings.least_policy.map_or(default, |least| default.stricter(least))
    }
}

impl Engine {
    /// What a new session gets; `relay` where the person talks straight to an agent.
    pub fn default_policy(&self, relay: bool) -> Policy {
        self.shared.policy(relay)
    }

    /// Somebody has decided what delegated work runs under, be it in the configuration.
    pub fn is_policy_chosen(&self) -> bool {
        self.shared.settings.permission_policy.is_some() || self.shared.default_policy.get().is_some()
    }

    /// Chooses the policy of all sessions with a main AI that have none of their own, those that run included.
    pub async fn choose_policy(&self, policy: Policy) -> Result<(), Refusal> {
        if self.shared.settings.permission_policy.is_some() {
            let message = "the policy is set in the configuration (permission_policy): change it there, or in the session";
            return Err(Refusal::Conflict(message.to_owned()));
        }
        self.shared.store.save(vec![ServerRow::Preference { key: KEY.to_owned(), value: policy.as_str().to_owned() }]).await?;
        self.shared.default_policy.set(policy);
        self.tell_all(|| Command::PolicyChanged).await;
        Ok(())
    }
}
