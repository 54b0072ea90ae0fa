//! Which rows of the list of sessions have changed: one entry a session, its latest, so that a reader who was away finds each of them
//! once. Readers are cursors, as they are over a log.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::ids::SessionId;
use tokio::sync::watch;

use crate::error::FeedError;

/// How many sessions are remembered; who was away for more of them has to read the list again.
const REMEMBERED: usize = 4096;

#[derive(Default)]
struct State {
    /// How many changes there were.
    count: u64,
    /// The latest change of each session, and the sessions in that order.
    latest: HashMap<SessionId, u64>,
    order: BTreeMap<u64, SessionId>,
    /// Changes up to this one are forgotten.
    forgotten: u64,
    closed: bool,
}

pub(crate) struct Board {
    state: Mutex<State>,
    bell: watch::Sender<()>,
}

impl Default for Board {
    fn default() -> Board {
        Board { state: Mutex::default(), bell: watch::Sender::new(()) }
    }
}

impl Board {
    fn state(&self) -> MutexGuard<'_, State> {
        // Every change under this lock is complete at any point where it could panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn changed(&self, session: SessionId) {
        {
            let mut state = self.state();
            state.count += 1;
            let now = state.count;
            if let Some(before) = state.latest.insert(session, now) {
                state.order.remove(&before);
            }
            state.order.insert(now, session);
            while state.order.len() > REMEMBERED {
                let Some((change, session)) = state.order.pop_first() else { break };
                state.latest.remove(&session);
                state.forgotten = change;
            }
        }
        self.bell.send_replace(());
    }

    pub(crate) fn close(&self) {
        self.state().closed = true;
        self.bell.send_replace(());
    }
}

/// Says which rows of the list have changed since it was last asked.
pub struct ListFeed {
    board: Arc<Board>,
    bell: watch::Receiver<()>,
    cursor: u64,
}

impl ListFeed {
    /// From now on.
    pub(crate) fn new(board: Arc<Board>) -> ListFeed {
        let bell = board.bell.subscribe();
        let cursor = board.state().count;
        ListFeed { board, bell, cursor }
    }

    /// The sessions whose rows have changed, each once: made, changed or deleted.
    pub fn now(&mut self) -> Result<Vec<SessionId>, FeedError> {
        self.bell.mark_unchanged();
        let state = self.board.state();
        if state.closed {
            return Err(FeedError::Closed);
        }
        if self.cursor < state.forgotten {
            return Err(FeedError::Behind);
        }
        let changed = state.order.range(self.cursor + 1..).map(|(_, session)| *session).collect();
        self.cursor = state.count;
        Ok(changed)
    }

    /// Waits until something has changed since the last look. Dropping the future loses nothing.
    pub async fn rung(&mut self) {
        // Nobody rings any more: the next look says so.
        let _ = self.bell.changed().await;
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn id(n: usize) -> SessionId {
        SessionId(Uuid::from_u128(n as u128))
    }

    #[test]
    fn a_reader_finds_each_session_once_in_the_order_of_its_latest_change() {
        let board = Arc::new(Board::default());
        board.changed(id(9));
        let mut feed = ListFeed::new(Arc::clone(&board));
        assert_eq!(feed.now().unwrap(), [], "what was before is none of its business");
        for n in [1, 2, 1, 3, 1] {
            board.changed(id(n));
        }
        assert_eq!(feed.now().unwrap(), [2, 3, 1].map(id));
        assert_eq!(feed.now().unwrap(), []);
    }

    #[test]
    fn what_is_remembered_has_a_bound_and_who_missed_something_is_told() {
        let board = Arc::new(Board::default());
        let (mut away, mut there) = (ListFeed::new(Arc::clone(&board)), ListFeed::new(Arc::clone(&board)));
        for n in 0..=REMEMBERED {
            board.changed(id(n));
            assert_eq!(there.now().unwrap(), [id(n)]);
        }
        assert_eq!(board.state().latest.len(), REMEMBERED);
        assert!(matches!(away.now(), Err(FeedError::Behind)));
        board.close();
        assert!(matches!(there.now(), Err(FeedError::Closed)));
    }
}
