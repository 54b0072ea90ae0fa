//! What of a turn waits for a person.

use super::{Call, CallState, Phase, Turn};
use crate::event::Wait;

/// So many tool calls of agents are remembered that waited and do so no more.
const MOST_OVER: usize = 500;

type Waiting<'a> = (Option<&'a str>, Option<&'a str>);

impl Turn {
    pub(super) fn note_wait(&mut self, wait: &Wait) {
        let (call, agent_call) = (wait.tool_call_id.as_deref(), wait.agent_call.as_deref());
        match self.waits.iter_mut().find(|known| known.is_of(call, agent_call)) {
            Some(known) => *known = wait.clone(),
            None => self.waits.push(wait.clone()),
        }
        let is_over = |wait: &Wait| wait.agent_call.is_some() && wait.waiting_since_ms.is_none();
        if self.waits.len() > MOST_OVER
            && let Some(oldest) = self.waits.iter().position(is_over)
        {
            self.waits.remove(oldest);
        }
    }

    /// How long it waited until now: a call, a tool call of its agent, or the turn where neither is named.
    pub fn waited_ms(&self, tool_call_id: Option<&str>, agent_call: Option<&str>) -> u64 {
        self.waits.iter().find(|wait| wait.is_of(tool_call_id, agent_call)).map_or(0, |wait| wait.waited_ms)
    }

    /// What begins or ends to wait now.
    pub(super) fn changed_waits(&self, now_ms: i64) -> Vec<Wait> {
        let waiting = self.waiting();
        let ended = self.waits.iter().filter(|wait| {
            wait.waiting_since_ms.is_some() && !waiting.contains(&(wait.tool_call_id.as_deref(), wait.agent_call.as_deref()))
        });
        let begun = waiting.iter().filter_map(|(call, agent_call)| {
            let known = self.waits.iter().find(|wait| wait.is_of(*call, *agent_call));
            match known {
                Some(wait) if wait.waiting_since_ms.is_some() => None,
                Some(wait) => Some(wait.clone().turned(true, now_ms)),
                None => {
                    let wait = Wait { tool_call_id: call.map(str::to_owned), agent_call: agent_call.map(str::to_owned), ..Wait::default() };
                    Some(wait.turned(true, now_ms))
                }
            }
        });
        ended.map(|wait| wait.clone().turned(false, now_ms)).chain(begun).collect()
    }

    /// The turn waits where a question is open and nobody works.
    fn waiting(&self) -> Vec<Waiting<'_>> {
        let Phase::Tools { calls, .. } = &self.phase else { return Vec::new() };
        let asks = |call: &Call| call.state == CallState::Asking || self.permissions.iter().any(|open| open.tool_call_id == call.call.id);
        let mut waiting: Vec<Waiting<'_>> = Vec::new();
        for call in calls.iter().filter(|call| call.state != CallState::Done && asks(call)) {
            waiting.push((Some(&call.call.id), None));
        }
        let works = calls.iter().any(|call| call.state == CallState::Running && !asks(call));
        if !waiting.is_empty() && !works {
            waiting.push((None, None));
        }
        for open in &self.permissions {
            let asked = (Some(open.tool_call_id.as_str()), open.ask.agent_call.as_deref());
            if asked.1.is_some() && !waiting.contains(&asked) {
                waiting.push(asked);
            }
        }
        waiting
    }
}
