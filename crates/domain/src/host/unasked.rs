//! Agents that act without asking, whatever the policy says: not prompted where everything is denied, and told to people elsewhere.

use super::{NamedState, PromptState, Step, Told};
use crate::policy::Policy;
use crate::turn::AgentEnd;

impl Step<'_> {
    /// The agent was told to ask.
    pub(super) fn forbidden(&mut self, told: &Told, asks: bool) {
        self.told(told);
        if asks || !self.is_current(told.runner) {
            return;
        }
        if let Some(named) = self.host.sessions.get_mut(&told.name)
            && let NamedState::Open { allows_all, .. } = &mut named.state
        {
            *allows_all = true;
            named.unguarded = true;
        }
    }

    /// Under "deny" an agent that would not ask could do everything, so it is not run.
    pub(super) fn refuse_unasked(&mut self) {
        if self.context.policy != Policy::Deny {
            return;
        }
        let refused = |step: &Self| {
            let waiting = step.host.prompts.iter().enumerate().filter(|(_, prompt)| prompt.state == PromptState::Waiting);
            waiting.into_iter().find_map(|(at, prompt)| Some((at, step.why_unasked(&prompt.name)?)))
        };
        while let Some((at, why)) = refused(self) {
            let title = self.title();
            let message = format!("{title} cannot be kept from acting without asking, so it is not run under \"deny\": {why}");
            self.end(at, AgentEnd::failed("agent_unguarded", message));
        }
    }

    /// Once for each time that its session is opened.
    pub(super) fn warn_unasked(&mut self, at: usize) {
        let name = self.host.prompts[at].name.clone();
        let (policy, Some(why)) = (self.context.policy, self.why_unasked(&name)) else { return };
        let asks_people = matches!(policy, Policy::Ask | Policy::ReadOnly);
        if !asks_people || self.host.sessions.get_mut(&name).is_none_or(|named| std::mem::replace(&mut named.warned, true)) {
            return;
        }
        let text = format!("{} may act without asking, although the policy is \"{}\": {why}", self.title(), policy.as_str());
        self.notice("acts_unasked", "warning", "It may not ask", text, Some(&name));
    }

    fn why_unasked(&self, name: &str) -> Option<String> {
        let told = self.context.agents.get(&self.host.agent).and_then(|words| words.unasked.clone());
        let unguarded = self.host.sessions.get(name).is_some_and(|named| named.unguarded && matches!(named.state, NamedState::Open { .. }));
        told.or_else(|| unguarded.then(|| "its own setting for that could not be changed".to_owned()))
    }
}
