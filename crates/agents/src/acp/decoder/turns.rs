//! Which prompt an id belongs to that an agent of another dialect gives to its turn: in the answer to a prompt, or in the first event.

use std::collections::VecDeque;

/// So many ids, and prompts, are remembered; an agent that has more of them at a time has made them up.
const REMEMBERED: usize = 256;

/// What an agent calls a turn: some of `turnId`, `requestId` and `messageId`, each with its value.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct TurnIds(pub Vec<TurnId>);

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TurnId {
    pub kind: &'static str,
    pub value: String,
}

#[derive(Default)]
pub(super) struct Turns {
    /// Id and call, oldest first.
    known: VecDeque<(TurnId, String)>,
    /// The calls whose prompts went out in another dialect.
    foreign: VecDeque<String>,
}

impl Turns {
    /// The agent has taken the prompt, and will tell its end in a notification.
    pub(super) fn accept(&mut self, call: &str, turn: TurnIds) {
        self.note_foreign(call);
        // Some use an id again: the answer to a prompt says whose it is from now on.
        self.known.retain(|(id, _)| !turn.0.contains(id));
        self.bind(&turn, call);
    }

    pub(super) fn note_foreign(&mut self, call: &str) {
        if !self.is_foreign(call) {
            push(&mut self.foreign, call.to_owned());
        }
    }

    pub(super) fn is_foreign(&self, call: &str) -> bool {
        self.foreign.iter().any(|known| known == call)
    }

    pub(super) fn bind(&mut self, turn: &TurnIds, call: &str) {
        for id in &turn.0 {
            if !self.known.iter().any(|(known, _)| known == id) {
                push(&mut self.known, (id.clone(), call.to_owned()));
            }
        }
    }

    /// Whether the call's turn goes by another id than this.
    pub(super) fn is_another(&self, turn: &TurnIds, call: &str) -> bool {
        let mut ids = self.known.iter().filter(|(_, known)| known == call).map(|(id, _)| id);
        ids.any(|known| turn.0.iter().any(|id| id.kind == known.kind && id.value != known.value))
    }

    /// The call that the turn is of, where it was heard of before.
    pub(super) fn call(&self, turn: &TurnIds) -> Option<&str> {
        let found = turn.0.iter().find_map(|id| self.known.iter().find(|(known, _)| known == id));
        found.map(|(_, call)| call.as_str())
    }
}

fn push<T>(list: &mut VecDeque<T>, item: T) {
    if list.len() == REMEMBERED {
        list.pop_front();
    }
    list.push_back(item);
}
