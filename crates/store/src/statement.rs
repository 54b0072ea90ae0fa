//! The one place through which statements run. Each is prepared once for a connection, and what it cost is tallied for the thread
//! that runs it, so that the tables need not know who counts.

use std::cell::Cell;
use std::ops::ControlFlow;

use rusqlite::{CachedStatement, Connection, Params, Row, StatementStatus};

pub(crate) type Read<T> = Result<T, rusqlite::Error>;

/// How many prepared statements a connection keeps: more than there are.
pub(crate) const KEPT: usize = 192;

/// What statements have cost.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Spent {
    pub statements: u64,
    /// Instructions of the database's own machine: the measure that grows with every row that is looked at.
    pub steps: u64,
    pub rows_read: u64,
    pub rows_written: u64,
}

thread_local! {
    static SPENT: Cell<Spent> = const { Cell::new(Spent { statements: 0, steps: 0, rows_read: 0, rows_written: 0 }) };
}

/// What the statements of this thread have cost since the last call.
pub(crate) fn spent() -> Spent {
    SPENT.take()
}

fn tally(statement: &CachedStatement<'_>, rows_read: u64, rows_written: usize) {
    let steps = statement.reset_status(StatementStatus::VmStep);
    let before = SPENT.get();
    SPENT.set(Spent {
        statements: before.statements + 1,
        steps: before.steps + u64::try_from(steps).unwrap_or(0),
        rows_read: before.rows_read + rows_read,
        rows_written: before.rows_written + rows_written as u64,
    });
}

/// Says how many rows it changed.
pub(crate) fn execute(conn: &Connection, sql: &str, params: impl Params) -> Read<usize> {
    let mut statement = conn.prepare_cached(sql)?;
    let done = statement.execute(params);
    tally(&statement, 0, *done.as_ref().unwrap_or(&0));
    done
}

/// Shows one row after the other, until there is none left or the visitor has enough.
pub(crate) fn each(
    conn: &Connection,
    sql: &str,
    params: impl Params,
    mut visit: impl FnMut(&Row<'_>) -> Read<ControlFlow<()>>,
) -> Read<()> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut seen = 0;
    let walk = || -> Read<()> {
        let mut rows = statement.query(params)?;
        while let Some(row) = rows.next()? {
            seen += 1;
            if visit(row)?.is_break() {
                break;
            }
        }
        Ok(())
    };
    let walked = walk();
    tally(&statement, seen, 0);
    walked
}

pub(crate) fn all<T>(conn: &Connection, sql: &str, params: impl Params, mut read: impl FnMut(&Row<'_>) -> Read<T>) -> Read<Vec<T>> {
    let mut all = Vec::new();
    each(conn, sql, params, |row| {
        all.push(read(row)?);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(all)
}

/// The first row, if there is one.
pub(crate) fn one<T>(conn: &Connection, sql: &str, params: impl Params, mut read: impl FnMut(&Row<'_>) -> Read<T>) -> Read<Option<T>> {
    let mut one = None;
    each(conn, sql, params, |row| {
        one = Some(read(row)?);
        Ok(ControlFlow::Break(()))
    })?;
    Ok(one)
}

/// Of a question that always has an answer.
pub(crate) fn only<T>(conn: &Connection, sql: &str, params: impl Params, read: impl FnMut(&Row<'_>) -> Read<T>) -> Read<T> {
    one(conn, sql, params, read)?.ok_or(rusqlite::Error::QueryReturnedNoRows)
}

/// Everything that is read in it is of one moment.
pub(crate) fn snapshot<T>(conn: &Connection, read: impl FnOnce(&Connection) -> Read<T>) -> Read<T> {
    conn.prepare_cached("BEGIN")?.execute([])?;
    let read = read(conn);
    conn.prepare_cached("COMMIT")?.execute([])?;
    read
}

/// All of it is stored or nothing. Where not even taking it back succeeds, the connection stays in the middle of a transaction.
pub(crate) fn transaction<T, E: From<rusqlite::Error>>(conn: &Connection, write: impl FnOnce(&Connection) -> Result<T, E>) -> Result<T, E> {
    conn.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
    let written = write(conn).and_then(|written| {
        conn.prepare_cached("COMMIT")?.execute([])?;
        Ok(written)
    });
    // After some failures the database has taken it back by itself.
    if written.is_err() && !conn.is_autocommit() {
        let _ = conn.prepare_cached("ROLLBACK").and_then(|mut statement| statement.execute([]));
    }
    written
}
