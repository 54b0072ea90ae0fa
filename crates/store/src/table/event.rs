//! The log itself.

use std::sync::{Arc, LazyLock};

use domain::ids::SessionId;
use futures::TryStreamExt;
use jiff::Timestamp;
use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, Row, SqliteConnection};

use super::column::{Columns, number};
use super::{Read, Written, notice, turn};
use crate::frame::{Draft, Frame};

/// Statements for so many rows at once: few sizes, so that each is prepared once. Larger ones gain nothing, because SQLite looks up
/// the name of each parameter in a list.
static INSERTS: LazyLock<[(usize, Arc<str>); 3]> = LazyLock::new(|| [64, 8, 1].map(|rows| (rows, insert_sql(rows).into())));

fn insert_sql(rows: usize) -> String {
    let values: Vec<String> = (0..rows).map(|row| format!("($1, ${}, ${}, ${})", 3 * row + 2, 3 * row + 3, 3 * row + 4)).collect();
    format!("INSERT INTO events (session_id, seq, kind, data) VALUES {}", values.join(", "))
}

/// Numbered from behind `base` on.
pub(crate) async fn insert(conn: &mut SqliteConnection, session: &Arc<str>, base: u64, drafts: &[Draft]) -> Written {
    let mut seq = base;
    let mut rest = drafts;
    for (rows, sql) in INSERTS.iter() {
        while rest.len() >= *rows {
            let (now, later) = rest.split_at(*rows);
            let mut query = sqlx::query(AssertSqlSafe(Arc::clone(sql))).bind(Arc::clone(session));
            for draft in now {
                seq += 1;
                query = query.bind(number(seq)).bind(draft.kind).bind(Arc::clone(&draft.text));
            }
            query.execute(&mut *conn).await?;
            rest = later;
        }
    }
    Ok(())
}

/// A running turn is rebuilt from its events, so they stay.
pub(super) async fn advance_horizon(conn: &mut SqliteConnection, session: SessionId, seq: u64) -> Written {
    let Some((last, horizon)) = bounds(conn, session).await? else { return Ok(()) };
    let kept_from = turn::first_running(conn, session).await?.unwrap_or(last + 1);
    let horizon = seq.min(last).min(kept_from.saturating_sub(1)).max(horizon);
    notice::keep(conn, session, horizon).await?;
    let session = session.to_string();
    sqlx::query("UPDATE sessions SET horizon = $2 WHERE id = $1").bind(session.as_str()).bind(number(horizon)).execute(&mut *conn).await?;
    sqlx::query("DELETE FROM events WHERE session_id = $1 AND seq <= $2").bind(session).bind(number(horizon)).execute(conn).await?;
    Ok(())
}

/// The horizon as it is, and as far as it could move: past what was over before `older_than`, and past whole turns beyond the latest
/// `most` events. Never into a running turn. `None` where there is nothing to drop.
pub(crate) async fn droppable(
    conn: &mut SqliteConnection,
    session: SessionId,
    older_than: Timestamp,
    most: u64,
) -> Read<Option<(u64, u64)>> {
    let Some((last, horizon)) = bounds(conn, session).await? else { return Ok(None) };
    let running = turn::first_running(conn, session).await?;
    let target = if running.is_none() && super::session::quiet_since(conn, session, older_than).await? {
        last
    } else {
        let old = turn::last_ended_before(conn, session, older_than).await?;
        match old.max(last.checked_sub(most)) {
            Some(place) => behind_turns(conn, session, place).await?,
            None => horizon,
        }
    };
    let target = running.map_or(target, |start| target.min(start.saturating_sub(1)));
    Ok((target > horizon).then_some((horizon, target)))
}

/// The last event that belongs to the turns which began at or before that place.
async fn behind_turns(conn: &mut SqliteConnection, session: SessionId, place: u64) -> Read<u64> {
    if let Some(next) = turn::first_begun_after(conn, session, place).await? {
        return Ok(next.saturating_sub(1));
    }
    // A turn's last event is the word of its end.
    let row = sqlx::query("SELECT COALESCE(MAX(seq), 0) AS seq FROM events WHERE session_id = $1 AND kind = 'turn'")
        .bind(session.to_string())
        .fetch_one(conn)
        .await?;
    row.number("seq")
}

/// The last sequence number and the horizon; `None` where there is no such session.
pub(crate) async fn bounds(conn: &mut SqliteConnection, session: SessionId) -> Read<Option<(u64, u64)>> {
    let row = sqlx::query("SELECT last_seq, horizon FROM sessions WHERE id = $1").bind(session.to_string()).fetch_optional(conn).await?;
    row.map(|row| Ok((row.number("last_seq")?, row.number("horizon")?))).transpose()
}

/// The notices and the turns' beginnings and ends that the log still holds, up to and including the event numbered `last`.
pub(super) async fn told(conn: &mut SqliteConnection, session: SessionId, last: u64) -> Read<Vec<Frame>> {
    let rows =
        sqlx::query("SELECT seq, kind, data FROM events WHERE session_id = $1 AND kind IN ('notice', 'turn') AND seq <= $2 ORDER BY seq")
            .bind(session.to_string())
            .bind(number(last))
            .fetch_all(conn)
            .await?;
    rows.iter().map(|row| frame(session, row)).collect()
}

/// At most `limit` events after `after`, fewer where they hold more than `bytes`, but at least one if there is one.
pub(crate) async fn frames(conn: &mut SqliteConnection, session: SessionId, after: u64, limit: usize, bytes: usize) -> Read<Vec<Frame>> {
    let mut rows = sqlx::query("SELECT seq, kind, data FROM events WHERE session_id = $1 AND seq > $2 ORDER BY seq LIMIT $3")
        .bind(session.to_string())
        .bind(number(after))
        .bind(number(limit as u64))
        .fetch(conn);
    let mut frames = Vec::new();
    let mut size = 0;
    while let Some(row) = rows.try_next().await? {
        let frame = frame(session, &row)?;
        size += frame.data.len();
        frames.push(frame);
        if size >= bytes {
            break;
        }
    }
    Ok(frames)
}

/// A text that is not even text is as unreadable as one that is not JSON.
fn frame(session: SessionId, row: &SqliteRow) -> Read<Frame> {
    let data: String = row.try_get("data").unwrap_or_default();
    Ok(Frame::stored(session, row.number("seq")?, row.try_get("kind")?, data))
}
