//! The remembered answers of all sessions, as they are stored. Every session's task reads them; whoever changes them stores first.

use std::path::Path;
use std::sync::{Mutex, MutexGuard};

use domain::ids::{RuleId, SessionId};
use domain::rule::Rule;
use store::RuleRow;

#[derive(Default)]
pub(crate) struct Rules(Mutex<Vec<RuleRow>>);

impl Rules {
    pub(crate) fn new(stored: Vec<RuleRow>) -> Rules {
        Rules(Mutex::new(stored))
    }

    /// Those that hold in a session.
    pub(crate) fn of(&self, session: SessionId, project: &str) -> Vec<Rule> {
        let holds = |row: &&RuleRow| row.session.map_or(row.work_dir == project, |owner| owner == session);
        self.lock().iter().filter(holds).map(|row| row.rule.clone()).collect()
    }

    /// How many hold in a session with this work directory.
    pub(crate) fn count(&self, session: SessionId, work_dir: &str) -> usize {
        let (own, shared) = {
            let rows = self.lock();
            (rows.iter().filter(|row| row.session == Some(session)).count(), rows.iter().any(|row| row.session.is_none()))
        };
        // What the directory really is, is looked up only where it matters.
        if shared { self.of(session, &project(work_dir)).len() } else { own }
    }

    pub(crate) fn add(&self, row: RuleRow) {
        self.lock().push(row);
    }

    pub(crate) fn remove(&self, id: RuleId) {
        self.lock().retain(|row| row.rule.id != id);
    }

    pub(crate) fn session_deleted(&self, session: SessionId) {
        self.lock().retain(|row| row.session != Some(session));
    }

    fn lock(&self) -> MutexGuard<'_, Vec<RuleRow>> {
        self.0.lock().expect("no code panics while it holds the rules")
    }
}

/// What sessions of one work directory have in common: the directory itself, however it was named.
pub(crate) fn project(work_dir: &str) -> String {
    Path::new(work_dir).canonicalize().map_or_else(|_| work_dir.to_owned(), |real| real.to_string_lossy().into_owned())
}
