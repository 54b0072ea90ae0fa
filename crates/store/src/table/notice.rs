//! What people were told beside the conversation: in the log as long as that reaches, and after that here, as far as it still matters.

use std::ops::ControlFlow;

use domain::event::{Event, Notice};
use domain::ids::{SessionId, TurnId};
use rusqlite::{Connection, params};

use super::column::{Columns, json, number};
use super::{Read, Written, event, statement, turn};

const TABLE: &str = "notices";
/// How many outlive their events in one session; the oldest go first.
const KEPT: i64 = 1000;

/// Those that came at that place or behind it, oldest first, each with the turn in which it came.
pub(crate) fn since(conn: &Connection, session: SessionId, from: u64) -> Read<Vec<(Option<TurnId>, Notice)>> {
    let sql = "SELECT session_id, seq, turn_id, data FROM notices WHERE session_id = ?1 AND seq >= ?2 ORDER BY seq";
    let mut all = Vec::new();
    statement::each(conn, sql, params![session.to_string(), number(from)], |row| {
        let key = format!("{session} {}", row.number("seq")?);
        if let Ok(Some(notice)) = row.json(TABLE, &key, "data") {
            all.push((row.maybe_parsed("turn_id")?, notice));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    all.extend(in_log(conn, session, from, u64::MAX)?.into_iter().map(|(_, turn, notice)| (turn, notice)));
    Ok(all)
}

/// Keeps what still matters of the events up to and including `last`, which are about to be dropped.
pub(super) fn keep(conn: &Connection, session: SessionId, last: u64) -> Written {
    for (seq, turn, notice) in in_log(conn, session, 0, last)?.into_iter().filter(|(_, _, notice)| notice.is_lasting()) {
        statement::execute(
            conn,
            "INSERT INTO notices (session_id, seq, turn_id, data) VALUES (?1, ?2, ?3, ?4)",
            params![session.to_string(), number(seq), turn.map(|id| id.to_string()), json(&notice)],
        )?;
    }
    statement::execute(
        conn,
        "DELETE FROM notices WHERE session_id = ?1 AND seq <= \
         (SELECT seq FROM notices WHERE session_id = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2)",
        params![session.to_string(), KEPT],
    )?;
    Ok(())
}

fn in_log(conn: &Connection, session: SessionId, from: u64, last: u64) -> Read<Vec<(u64, Option<TurnId>, Notice)>> {
    let Some((_, horizon)) = event::bounds(conn, session)? else { return Ok(Vec::new()) };
    // Where the log begins in the middle of a turn, or behind one, what it says there belongs to that turn.
    let mut turn = turn::last_begun(conn, session, horizon.max(from))?;
    let mut notices = Vec::new();
    for frame in event::told(conn, session, from, last)? {
        match frame.event() {
            Some(Event::Turn(event)) => turn = Some(event.turn_id),
            Some(Event::Notice(notice)) => notices.push((frame.seq, turn, notice)),
            _ => {}
        }
    }
    Ok(notices)
}
