//! How work ended, in one word for the list and the conversation.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::TurnState;

/// What a person is told of an end. Of a turn in which a person talks to an agent it is the agent's.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    Completed,
    Stopped,
    Declined,
    Failed,
    Crashed,
    Interrupted,
    Unknown,
    NeedsSignIn,
    InUse,
    Refused,
    Limit,
}

impl Ending {
    /// Of an agent's work, by the reason that stands with it. One that broke off and one whose process died have the same.
    pub fn of_reason(stop_reason: &str, crashed: bool) -> Ending {
        match stop_reason {
            "end_turn" => Ending::Completed,
            "cancelled" => Ending::Stopped,
            "denied" => Ending::Declined,
            "agent_gone" => Ending::Crashed,
            "interrupted" if crashed => Ending::Crashed,
            "unknown" => Ending::Unknown,
            "auth_required" => Ending::NeedsSignIn,
            "owned_elsewhere" => Ending::InUse,
            "refusal" => Ending::Refused,
            "max_tokens" | "max_turn_requests" => Ending::Limit,
            "failed" | "error" | "attachment_unsupported" => Ending::Failed,
            code if code.starts_with("agent_") => Ending::Failed,
            // Agents have words of their own.
            _ => Ending::Interrupted,
        }
    }

    /// Of a turn, where nothing more is known; none while it runs.
    pub fn of_turn(state: TurnState) -> Option<Ending> {
        match state {
            TurnState::Running => None,
            TurnState::Completed => Some(Ending::Completed),
            TurnState::Cancelled => Some(Ending::Stopped),
            TurnState::Failed => Some(Ending::Failed),
            TurnState::Interrupted => Some(Ending::Interrupted),
            TurnState::Unknown => Some(Ending::Unknown),
        }
    }
}
