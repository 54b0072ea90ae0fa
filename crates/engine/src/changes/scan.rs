//! Looks at the work directory when tool calls have ended, so that what they wrote is known before somebody else writes over it.
//!
//! One look at a time. The pause before the next follows from what the last one took, so that a large repository costs no more than a
//! small part of the time; calls that end meanwhile share a look. What is never looked at is found when the turn has ended.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use domain::ids::{SessionId, TurnId};
use store::Row;
use tokio::task::AbortHandle;
use tools::Checkout;

use super::ledger::Ledger;
use crate::Shared;

const TIME_LIMIT: Duration = Duration::from_secs(10);
/// How many times as long as a look the pause behind it is.
const PAUSE: u32 = 9;

#[derive(Default)]
pub(crate) struct Scans {
    task: Option<AbortHandle>,
    is_wanted: bool,
    pause: Duration,
}

/// What a look found, and how long it took.
pub(crate) struct Scanned {
    pub(crate) rows: Vec<Row>,
    took: Duration,
}

/// Where to look, and for what.
pub(crate) struct Place {
    pub(crate) shared: Arc<Shared>,
    pub(crate) session: SessionId,
    pub(crate) work_dir: String,
    pub(crate) turn: TurnId,
    /// The tree before the turn.
    pub(crate) before: String,
}

impl Scans {
    pub(crate) fn want(&mut self) {
        self.is_wanted = true;
    }

    /// Before which pause the next look begins, if there is to be one now.
    pub(crate) fn next(&mut self) -> Option<Duration> {
        (self.task.is_none() && std::mem::take(&mut self.is_wanted)).then_some(self.pause)
    }

    pub(crate) fn began(&mut self, task: AbortHandle) {
        self.task = Some(task);
    }

    pub(crate) fn ended(&mut self, scanned: &Scanned) {
        self.task = None;
        self.pause = scanned.took * PAUSE;
    }

    /// The turn has ended: all of it is looked at.
    pub(crate) fn stop(&mut self) {
        self.is_wanted = false;
        if let Some(task) = self.task.take() {
            task.abort();
        }
    }
}

impl Place {
    pub(crate) async fn scan(self, pause: Duration) -> Scanned {
        tokio::time::sleep(pause).await;
        let _permit = self.shared.looking.acquire().await;
        let begun = Instant::now();
        let rows = tokio::time::timeout(TIME_LIMIT, self.look()).await.ok().flatten().unwrap_or_default();
        Scanned { rows, took: begun.elapsed() }
    }

    async fn look(&self) -> Option<Vec<Row>> {
        let kept = self.shared.settings.trees_dir(self.session);
        let checkout = Checkout::open(Path::new(&self.work_dir), Some(&kept)).await.ok()?;
        let now = checkout.now().await.ok()?;
        let comparison = checkout.compare(&self.before, &now.tree).await.ok()?;
        let touched = checkout.touched(&comparison).await;
        let ledger = Ledger::read(&self.shared.store, self.session, Some(self.turn)).await.ok()?;
        Some(ledger.found(&touched, self.turn))
    }
}
