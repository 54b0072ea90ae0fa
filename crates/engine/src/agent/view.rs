//! The named agent sessions as people see them.

use domain::host::{Host, Named, NamedState};

use crate::actor::Actor;
use crate::command::AgentSessionView;

impl Actor {
    pub(crate) fn agent_views(&self) -> Vec<AgentSessionView> {
        let sessions = self.machine.hosts().flat_map(|host| host.sessions().map(move |(name, named)| (host, name, named)));
        let mut views: Vec<_> = sessions.filter_map(|(host, name, named)| view(host, name, named)).collect();
        views.sort_by(|a, b| a.name.cmp(&b.name));
        views
    }

    pub(super) fn view(&self, name: &str) -> Option<AgentSessionView> {
        self.agent_views().into_iter().find(|view| view.name == name)
    }
}

fn view(host: &Host, name: &str, named: &Named) -> Option<AgentSessionView> {
    let record = named.record.clone()?;
    let running = host.prompts().iter().any(|prompt| prompt.is_out() && prompt.name == name);
    let state = match named.state {
        _ if running => "running",
        NamedState::Stored | NamedState::Cut => "stored",
        NamedState::Opening => "opening",
        NamedState::Open { .. } => "idle",
    };
    Some(AgentSessionView {
        name: record.name,
        agent: record.agent,
        state: state.to_owned(),
        mode: record.mode,
        options: record.options,
        wanted: record.wanted,
        usage: record.usage,
        title: record.title,
        commands: record.commands,
        restored: record.restored,
    })
}
