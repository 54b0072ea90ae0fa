//! Statements for many rows at once. There are few sizes of each, so that each is prepared once for a connection.

use std::ops::Range;
use std::sync::OnceLock;

use rusqlite::Connection;

use super::Written;

/// Any number of rows up to the largest is at most one statement of each; still larger ones gain nothing.
const SIZES: [usize; 7] = [64, 32, 16, 8, 4, 2, 1];

/// A statement in which one part is repeated for each row.
pub(super) struct Sizes {
    head: &'static str,
    row: &'static str,
    tail: &'static str,
    texts: OnceLock<[String; SIZES.len()]>,
}

impl Sizes {
    pub(super) const fn new(head: &'static str, row: &'static str, tail: &'static str) -> Sizes {
        Sizes { head, row, tail, texts: OnceLock::new() }
    }

    fn text(&self, rows: usize) -> String {
        format!("{}{}{}", self.head, vec![self.row; rows].join(", "), self.tail)
    }

    /// Runs statements until all of so many rows were in one; each is given its rows.
    pub(super) fn run(
        &self,
        conn: &Connection,
        rows: usize,
        mut execute: impl FnMut(&Connection, &str, Range<usize>) -> Written,
    ) -> Written {
        let texts = self.texts.get_or_init(|| SIZES.map(|size| self.text(size)));
        let mut done = 0;
        for (size, sql) in SIZES.into_iter().zip(texts) {
            while rows - done >= size {
                execute(conn, sql, done..done + size)?;
                done += size;
            }
        }
        Ok(())
    }
}
