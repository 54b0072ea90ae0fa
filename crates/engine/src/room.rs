//! Room for agents: so many processes run at once, whichever sessions they work in.

use std::sync::Arc;

use domain::ids::SessionId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::Shared;
use crate::command::Command;

/// Each is two processes and two connections.
pub const AGENTS_MOST: usize = 256;

pub(crate) struct Room {
    places: Arc<Semaphore>,
    most: usize,
    /// One share for each that waits for a place, and one here.
    waiting: Arc<()>,
}

/// Held as long as the agent runs.
pub(crate) type Place = OwnedSemaphorePermit;

impl Room {
    pub(crate) fn new(most: usize) -> Room {
        Room { places: Arc::new(Semaphore::new(most)), most, waiting: Arc::default() }
    }

    pub(crate) fn most(&self) -> usize {
        self.most
    }

    pub(crate) fn is_full(&self) -> bool {
        self.places.available_permits() == 0
    }

    /// Somebody waits: whoever has nothing to do any more shall leave.
    pub(crate) fn is_wanted(&self) -> bool {
        self.is_full() && Arc::strong_count(&self.waiting) > 1
    }

    /// Waits for a place.
    pub(crate) fn place(&self) -> impl Future<Output = Place> + Send + use<> {
        let (places, waiting) = (Arc::clone(&self.places), Arc::clone(&self.waiting));
        async move {
            let place = places.acquire_owned().await.expect("the room is never closed");
            drop(waiting);
            place
        }
    }

    /// A place for one that runs already: it is counted as far as there is room, and goes on in any case.
    pub(crate) fn place_of_running(&self) -> Option<Place> {
        Arc::clone(&self.places).try_acquire_owned().ok()
    }
}

impl Shared {
    /// Asks all other sessions to end the agents that have nothing to do.
    pub(crate) fn make_room(&self, wanted_by: SessionId) {
        let sessions = self.sessions.lock().expect("no code panics while it holds the sessions");
        for live in sessions.iter().filter(|(id, _)| **id != wanted_by).map(|(_, live)| live) {
            // One whose inbox is full is at work.
            let _ = live.inbox.try_send(Command::MakeRoom);
        }
    }
}
