//! The working tree before and after each turn, by the names of git's objects.

use domain::ids::{SessionId, TurnId};
use sqlx::SqliteConnection;

use super::column::Columns;
use super::{Read, Written};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TreeRow {
    pub turn_id: TurnId,
    pub before: Option<String>,
    /// None as long as the turn runs, and where it ended without anybody to look.
    pub after: Option<String>,
}

/// Inserts, or fills in what an earlier write left out.
pub(super) async fn save(conn: &mut SqliteConnection, session: String, tree: &TreeRow) -> Written {
    sqlx::query(
        "INSERT INTO snapshots (session_id, turn_id, before_tree, after_tree) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (session_id, turn_id) DO UPDATE SET \
         before_tree = COALESCE(snapshots.before_tree, excluded.before_tree), after_tree = COALESCE(excluded.after_tree, snapshots.after_tree)",
    )
    .bind(session)
    .bind(tree.turn_id.to_string())
    .bind(tree.before.as_deref())
    .bind(tree.after.as_deref())
    .execute(conn)
    .await?;
    Ok(())
}

/// Those of all turns, in the order in which the turns began.
pub(crate) async fn all(conn: &mut SqliteConnection, session: SessionId) -> Read<Vec<TreeRow>> {
    let rows = sqlx::query(
        "SELECT s.turn_id, s.before_tree, s.after_tree FROM snapshots s \
         JOIN turns t ON t.session_id = s.session_id AND t.id = s.turn_id WHERE s.session_id = $1 ORDER BY t.started_seq",
    )
    .bind(session.to_string())
    .fetch_all(conn)
    .await?;
    rows.iter()
        .map(|row| Ok(TreeRow { turn_id: row.parsed("turn_id")?, before: row.maybe("before_tree")?, after: row.maybe("after_tree")? }))
        .collect()
}
