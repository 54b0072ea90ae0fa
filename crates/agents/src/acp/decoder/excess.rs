//! Lines of which part was left out since there was too much: people are told once for each prompt, not for each line.

use std::sync::Arc;

use domain::agent::Update;

use super::Decoder;
use crate::jsonrpc::ErrorObject;
use crate::signal::Signals;

pub(crate) const NOTICE: &str = "Part of what the agent sent was dropped: it held too many values.";

/// In the place of a list that was cut: what is missing in it would be taken for lost.
pub(crate) fn too_long() -> ErrorObject {
    ErrorObject { code: 0, message: "its list is too long to be read".to_owned(), data: None }
}

#[derive(Default)]
pub(super) struct Excess {
    /// Part of the line that is being read was left out.
    pub is_cut: bool,
    /// The call whose people know.
    told: Option<String>,
}

impl Decoder {
    /// After a line that was cut.
    pub(super) fn tell_excess(&mut self, signals: &mut Signals) {
        let Some(session) = self.last_session.clone() else { return };
        let Some(call) = self.prompts.get(&session).filter(|call| self.excess.told.as_ref() != Some(call)).cloned() else { return };
        self.excess.told = Some(call);
        self.update(&Arc::clone(&session), Update::notice("warning", NOTICE), signals);
    }
}
