//! What was decided about a request: a value of our own, made once by whoever decides and carried as it is into the log, the store and
//! the reply. It is never derived again from the id of an option: ids are the agent's.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::agent::{OptionKind, PermissionAsk, PermissionOption};

/// Whether what was asked may be done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Allow,
    Reject,
    /// Nobody decided: it was stopped, withdrawn, malformed, or no answer that rejects was offered. Nothing is allowed by it.
    Cancel,
}

/// Whether an answer holds for this request alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    Once,
    Always,
}

/// A decision about a request, with the option that stands for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decision {
    verdict: Verdict,
    reach: Reach,
    option_id: Option<String>,
}

impl Decision {
    /// To choose this option.
    pub fn of(option: &PermissionOption) -> Decision {
        Decision { verdict: option.kind.verdict(), reach: option.kind.reach(), option_id: Some(option.option_id.clone()) }
    }

    pub fn cancelled() -> Decision {
        Decision { verdict: Verdict::Cancel, reach: Reach::Once, option_id: None }
    }

    /// As it was stored. What names no option allows nothing.
    pub fn stored(verdict: Verdict, reach: Reach, option_id: Option<String>) -> Decision {
        match option_id {
            None => Decision::cancelled(),
            option_id => Decision { verdict, reach, option_id },
        }
    }

    /// As it was stored about `ask`. Earlier versions stored only the id of the option, which says nothing where the offer is malformed.
    pub fn restored(ask: &PermissionAsk, verdict: Option<Verdict>, reach: Option<Reach>, option_id: Option<String>) -> Decision {
        match (verdict, reach) {
            (Some(verdict), Some(reach)) => Decision::stored(verdict, reach, option_id),
            _ => option_id.and_then(|id| ask.choose(&id)).unwrap_or_else(Decision::cancelled),
        }
    }

    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    pub fn reach(&self) -> Reach {
        self.reach
    }

    pub fn option_id(&self) -> Option<&str> {
        self.option_id.as_deref()
    }

    pub fn allows(&self) -> bool {
        self.verdict == Verdict::Allow
    }

    /// The id of the option that the agent is told; none for "cancelled". Of an answer for always it is the one for this once, where that
    /// is offered: we remember what the person saw, and what an agent remembers reaches further and is not asked about any more. The
    /// choice of a mode is told as it is.
    pub fn told(&self, ask: &PermissionAsk) -> Option<String> {
        let once = match (self.verdict, self.reach) {
            (Verdict::Cancel, _) => return None,
            (Verdict::Allow, Reach::Always) => Some(OptionKind::AllowOnce),
            (Verdict::Reject, Reach::Always) => Some(OptionKind::RejectOnce),
            _ => None,
        };
        let once = once.filter(|_| !ask.is_mode()).and_then(|kind| ask.pick(&[kind]));
        once.map_or_else(|| self.option_id.clone(), |once| once.option_id)
    }

    /// What the request's own options make of this decision: a cancellation where they do not offer it, so that nothing is told to an
    /// agent that means something else to it.
    pub fn offered_by(self, ask: &PermissionAsk) -> Decision {
        let offered = self.option_id().and_then(|id| ask.choose(id));
        if offered.as_ref() == Some(&self) { self } else { Decision::cancelled() }
    }
}

impl Verdict {
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Allow => "allow",
            Verdict::Reject => "reject",
            Verdict::Cancel => "cancel",
        }
    }

    pub fn parse(text: &str) -> Option<Verdict> {
        [Verdict::Allow, Verdict::Reject, Verdict::Cancel].into_iter().find(|verdict| verdict.as_str() == text)
    }
}

impl Reach {
    pub fn as_str(self) -> &'static str {
        match self {
            Reach::Once => "once",
            Reach::Always => "always",
        }
    }

    pub fn parse(text: &str) -> Option<Reach> {
        [Reach::Once, Reach::Always].into_iter().find(|reach| reach.as_str() == text)
    }
}
