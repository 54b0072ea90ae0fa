//! Trees of the work directory around each turn of a session.
//!
//! The first is begun when the turn begins, beside the call of the model; a prompt to an agent waits for it, but only so long. So it
//! is the state before the agent writes, or it is not kept at all. The second is taken when the turn has ended. A server that is killed
//! in between leaves the first alone: then what is there now counts as the second.

use std::path::{Path, PathBuf};
use std::time::Duration;

use domain::ids::{SessionId, TurnId};
use store::{ChangeCounts, Row, Store, TreeRow};
use tokio::sync::watch;
use tools::Checkout;

use super::ledger::Ledger;
use crate::settings::Settings;

/// So long a prompt waits; the tree is given up then.
const BEFORE: Duration = Duration::from_secs(2);
const AFTER: Duration = Duration::from_secs(30);

/// What of the trees is still to be begun, and what prompts wait for.
#[derive(Default)]
pub(crate) struct Trees {
    pub(crate) begun: Option<TurnId>,
    pub(crate) ended: Option<TurnId>,
    gate: Option<watch::Receiver<()>>,
    /// The tree before the running turn, where it is known.
    before: Option<(TurnId, String)>,
}

/// Opens when the tree before the turn is taken or given up.
#[derive(Clone)]
pub(crate) struct Gate(Option<watch::Receiver<()>>);

impl Gate {
    pub(crate) async fn open(self) {
        if let Some(mut gate) = self.0 {
            // It opens by the end of whoever holds it shut.
            while gate.changed().await.is_ok() {}
        }
    }
}

pub(crate) struct TreeTaken {
    pub(crate) row: TreeRow,
    /// What the session's agents changed in the turn, where it has ended.
    pub(crate) counts: Option<ChangeCounts>,
    /// What they wrote, as far as it was not stored before.
    pub(crate) credits: Vec<Row>,
}

impl Trees {
    pub(crate) fn gate(&self) -> Gate {
        Gate(self.gate.clone())
    }

    /// The tree before the turn that has just begun.
    pub(crate) fn before(&mut self, work_dir: &str, kept: PathBuf, turn_id: TurnId) -> impl Future<Output = Option<TreeTaken>> + use<> {
        let (shut, gate) = watch::channel(());
        self.gate = Some(gate);
        self.before = None;
        let work_dir = PathBuf::from(work_dir);
        async move {
            let taken = tokio::time::timeout(BEFORE, taken(&work_dir, &kept)).await;
            drop(shut);
            let (tree, _) = taken.ok()??;
            Some(TreeTaken { row: TreeRow { turn_id, before: Some(tree), after: None }, counts: None, credits: Vec::new() })
        }
    }

    /// The tree before the turn, where it is known.
    pub(crate) fn known_before(&self) -> Option<(TurnId, String)> {
        self.before.clone()
    }

    pub(crate) fn heard(&mut self, taken: &TreeTaken) {
        if let Some(before) = &taken.row.before {
            self.before = Some((taken.row.turn_id, before.clone()));
        }
    }

    /// The tree after a turn, and how much it changed.
    pub(crate) fn after(
        &mut self,
        (store, session): (Store, SessionId),
        work_dir: &str,
        kept: PathBuf,
        turn_id: TurnId,
    ) -> impl Future<Output = Option<TreeTaken>> + use<> {
        let known = self.before.take().filter(|(turn, _)| *turn == turn_id).map(|(_, tree)| tree);
        let work_dir = PathBuf::from(work_dir);
        let work = async move {
            let (tree, checkout) = taken(&work_dir, &kept).await?;
            let stored = match known {
                Some(_) => None,
                // Another server saw the turn begin.
                None => store.trees(session).await.ok()?.into_iter().find(|row| row.turn_id == turn_id).and_then(|row| row.before),
            };
            let row = TreeRow { turn_id, before: None, after: Some(tree.clone()) };
            let Some(before) = known.or(stored) else { return Some(TreeTaken { row, counts: None, credits: Vec::new() }) };
            let Ok(comparison) = checkout.compare(&before, &tree).await else {
                return Some(TreeTaken { row, counts: None, credits: Vec::new() });
            };
            let ledger = Ledger::read(&store, session, Some(turn_id)).await.ok()?;
            let touched = checkout.touched(&comparison).await;
            let credits = ledger.found(&touched, turn_id);
            let (own, _) = comparison.part(&ledger.credited(&touched));
            let (files, additions, deletions) = (own.total_files().into(), own.additions().into(), own.deletions().into());
            Some(TreeTaken { row, counts: Some(ChangeCounts { files, additions, deletions }), credits })
        };
        async move { tokio::time::timeout(AFTER, work).await.ok().flatten() }
    }
}

/// None where there is no repository or it is too large: that is no reason to hold a turn up.
async fn taken(work_dir: &Path, kept: &Path) -> Option<(String, Checkout)> {
    let checkout = Checkout::open(work_dir, Some(kept)).await.ok()?;
    match checkout.keep().await {
        Ok(taken) => Some((taken.tree, checkout)),
        Err(why) => {
            tracing::debug!(%why, "the working tree was not taken down");
            None
        }
    }
}

/// The objects of a session that is gone.
pub(crate) fn forget(settings: &Settings, session: SessionId) {
    let dir = settings.trees_dir(session);
    match std::fs::remove_dir_all(&dir) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            tracing::warn!(%session, %error, "the trees of a deleted session could not be removed");
        }
        _ => {}
    }
}

/// Those that have trees.
pub(crate) fn sessions(settings: &Settings) -> Vec<SessionId> {
    let entries = std::fs::read_dir(settings.all_trees_dir()).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}
