//! How long a turn and what is done in it waited for a person: that is no time of the work.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::ids::TurnId;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Waits {
    pub turn_id: TurnId,
    /// What waits since now, or no longer does.
    pub changed: Vec<Wait>,
}

/// How long something waited, all in all: a tool call of an agent, a call, or the turn itself where neither is named.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct Wait {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_call: Option<String>,
    /// Without the wait that goes on.
    pub waited_ms: u64,
    /// In ms since 1970; missing while nothing is waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting_since_ms: Option<i64>,
}

impl Wait {
    pub fn is_of(&self, tool_call_id: Option<&str>, agent_call: Option<&str>) -> bool {
        self.tool_call_id.as_deref() == tool_call_id && self.agent_call.as_deref() == agent_call
    }

    /// The same after it has begun or ended to wait.
    pub(crate) fn turned(self, waits: bool, now_ms: i64) -> Wait {
        let waited = self.waiting_since_ms.map_or(0, |since| u64::try_from(now_ms - since).unwrap_or(0));
        Wait { waited_ms: self.waited_ms + waited, waiting_since_ms: waits.then_some(now_ms), ..self }
    }
}
