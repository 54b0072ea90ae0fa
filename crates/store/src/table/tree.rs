//! The working tree before and after each turn, by the names of git's objects.

use domain::ids::{SessionId, TurnId};
use rusqlite::{Connection, params};

use super::column::Columns;
use super::{Read, Written, statement};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TreeRow {
    pub turn_id: TurnId,
    pub before: Option<String>,
    /// None as long as the turn runs, and where it ended without anybody to look.
    pub after: Option<String>,
}

/// Inserts, or fills in what an earlier write left out.
pub(super) fn save(conn: &Connection, session: &str, tree: &TreeRow) -> Written {
    statement::execute(
        conn,
        "INSERT INTO snapshots (session_id, turn_id, before_tree, after_tree) VALUES (?1, ?2, ?3, ?4) \
         ON CONFLICT (session_id, turn_id) DO UPDATE SET \
         before_tree = COALESCE(snapshots.before_tree, excluded.before_tree), after_tree = COALESCE(excluded.after_tree, snapshots.after_tree)",
        params![session, tree.turn_id.to_string(), tree.before.as_deref(), tree.after.as_deref()],
    )?;
    Ok(())
}

/// Those of all turns, in the order in which the turns began.
pub(crate) fn all(conn: &Connection, session: SessionId) -> Read<Vec<TreeRow>> {
    statement::all(
        conn,
        "SELECT s.turn_id, s.before_tree, s.after_tree FROM snapshots s \
         JOIN turns t ON t.session_id = s.session_id AND t.id = s.turn_id WHERE s.session_id = ?1 ORDER BY t.started_seq",
        params![session.to_string()],
        |row| Ok(TreeRow { turn_id: row.parsed("turn_id")?, before: row.maybe("before_tree")?, after: row.maybe("after_tree")? }),
    )
}
