//! What was taken back and may be wanted again. In memory: it is for the moment after a click, not for a restart.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};

use domain::ids::SessionId;
use uuid::Uuid;

const MOST: usize = 100;
const MOST_BYTES: usize = 64 * 1024 * 1024;

#[derive(Default)]
pub(crate) struct Undos(Mutex<VecDeque<(Uuid, SessionId, tools::Undo)>>);

impl Undos {
    /// The oldest are forgotten where there are too many.
    pub(super) fn keep(&self, session: SessionId, undo: tools::Undo) -> Uuid {
        let id = Uuid::now_v7();
        let mut kept = self.kept();
        kept.push_back((id, session, undo));
        let mut bytes: usize = kept.iter().map(|(_, _, undo)| undo.bytes()).sum();
        while kept.len() > 1 && (kept.len() > MOST || bytes > MOST_BYTES) {
            bytes -= kept.pop_front().map_or(0, |(_, _, undo)| undo.bytes());
        }
        id
    }

    pub(super) fn take(&self, session: SessionId, id: Uuid) -> Option<tools::Undo> {
        let mut kept = self.kept();
        let at = kept.iter().position(|(kept, of, _)| *kept == id && *of == session)?;
        kept.remove(at).map(|(_, _, undo)| undo)
    }

    pub(crate) fn session_deleted(&self, session: SessionId) {
        self.kept().retain(|(_, of, _)| *of != session);
    }

    fn kept(&self) -> MutexGuard<'_, VecDeque<(Uuid, SessionId, tools::Undo)>> {
        self.0.lock().expect("no code panics while it holds what can be undone")
    }
}
