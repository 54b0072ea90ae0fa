//! Looking at a database without opening it for work: nothing is changed, and a server may be running on it.

use std::path::Path;

use domain::ids::SessionId;
use rusqlite::Connection;

use crate::error::OpenError;
use crate::open::{MIGRATIONS, beside, examine, in_use, sound};
use crate::statement::Read;
use crate::{blocking, connect};

/// A database that can be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Look {
    /// The schema version, and the one that this version of ours knows.
    pub version: usize,
    pub known: usize,
    /// A server holds it.
    pub in_use: bool,
}

/// Without a server and its log, a file that nobody writes: reading it then needs no room beside it.
fn conn(path: &Path) -> Read<Connection> {
    let alone = !in_use(path) && !beside(path, "-wal").metadata().is_ok_and(|log| log.len() > 0);
    if alone { connect::immutable(path) } else { connect::read_only(path) }
}

/// Reads through the whole database, which takes its time where there is much.
pub async fn look(path: &Path) -> Result<Look, OpenError> {
    let path = path.to_owned();
    blocking::run(move || {
        let conn = conn(&path).map_err(|error| OpenError::database(&path, error))?;
        let version = examine(&path, &conn, "main", MIGRATIONS.len())?;
        sound(&conn, &path, "PRAGMA quick_check(1)")?;
        Ok(Look { version, known: MIGRATIONS.len(), in_use: in_use(&path) })
    })
    .await
}

/// The agents' own ids of a session's agent sessions, each with its agent.
pub async fn agent_sessions_of(path: &Path, session: SessionId) -> Result<Vec<(String, String)>, OpenError> {
    let path = path.to_owned();
    blocking::run(move || {
        let failed = |error| OpenError::database(&path, error);
        let conn = conn(&path).map_err(failed)?;
        examine(&path, &conn, "main", MIGRATIONS.len())?;
        agent_ids(&conn, session).map_err(failed)
    })
    .await
}

fn agent_ids(conn: &Connection, session: SessionId) -> Read<Vec<(String, String)>> {
    let sql = "SELECT agent, acp_session_id FROM acp_sessions WHERE session_id = ?1 ORDER BY created_at, name";
    conn.prepare(sql)?.query_map([session.to_string()], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}
