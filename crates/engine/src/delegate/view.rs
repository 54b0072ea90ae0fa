//! The named agent sessions as people see them.

use crate::actor::Actor;
use crate::command::AgentSessionView;
use crate::host::{Named, NamedState};

impl Actor {
    pub(crate) fn agent_views(&self) -> Vec<AgentSessionView> {
        let mut views: Vec<_> = self.host.names.iter().filter_map(|(name, named)| self.view(name, named)).collect();
        views.sort_by(|a, b| a.name.cmp(&b.name));
        views
    }

    pub(super) fn view(&self, name: &str, named: &Named) -> Option<AgentSessionView> {
        let row = named.row.as_ref()?;
        let told = self.host.told.get(&row.acp_session_id).cloned().unwrap_or_default();
        let state = match (named.state, &named.running) {
            (_, Some(_)) => "running",
            (NamedState::Stored | NamedState::Cut, None) => "stored",
            (NamedState::Opening, None) => "opening",
            (NamedState::Open, None) => "idle",
        };
        Some(AgentSessionView {
            name: name.to_owned(),
            agent: row.agent.clone(),
            state: state.to_owned(),
            mode: told.mode.or_else(|| row.mode.clone()),
            options: told.options.or_else(|| row.options.clone()),
            wanted: row.wanted.clone(),
            usage: told.usage.or_else(|| row.usage.clone()),
            title: told.title.or_else(|| row.title.clone()),
            commands: told.commands.or_else(|| row.commands.clone()),
            restored: row.restored.clone(),
        })
    }
}
