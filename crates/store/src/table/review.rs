//! Comments on changes until they are resolved, and the files that were looked at.

use domain::ids::{CommentId, SessionId};
use domain::review::{Comment, Viewed};
use jiff::Timestamp;
use rusqlite::{Connection, Row, params};

use super::column::{self, Columns, time};
use super::{Read, Written, statement};

const TABLE: &str = "comments";

/// Inserts, or replaces the text of one that is there.
pub(super) fn save(conn: &Connection, session: &str, scope: &str, comment: &Comment) -> Written {
    statement::execute(
        conn,
        "INSERT INTO comments (session_id, id, scope, path, side, from_line, to_line, quote, text, since, created_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT (session_id, id) DO UPDATE SET text = excluded.text",
        params![
            session,
            comment.id.to_string(),
            scope,
            comment.path.as_str(),
            column::word(&comment.side),
            comment.from_line.map(i64::from),
            comment.to_line.map(i64::from),
            comment.quote.as_str(),
            comment.text.as_str(),
            comment.since.as_deref(),
            time(comment.created_at)
        ],
    )?;
    Ok(())
}

pub(super) fn send(conn: &Connection, session: &str, ids: &[CommentId], at: Timestamp) -> Written {
    for id in ids {
        let sql = "UPDATE comments SET sent_at = ?3 WHERE session_id = ?1 AND id = ?2";
        statement::execute(conn, sql, params![session, id.to_string(), time(at)])?;
    }
    Ok(())
}

pub(super) fn remove(conn: &Connection, session: &str, ids: &[CommentId]) -> Written {
    for id in ids {
        let sql = "DELETE FROM comments WHERE session_id = ?1 AND id = ?2";
        statement::execute(conn, sql, params![session, id.to_string()])?;
    }
    Ok(())
}

/// `digest` is none where the file is to be looked at again.
pub(super) fn view(conn: &Connection, session: &str, scope: &str, path: &str, digest: Option<&str>) -> Written {
    match digest {
        Some(digest) => {
            let sql = "INSERT INTO viewed (session_id, scope, path, digest) VALUES (?1, ?2, ?3, ?4) \
                       ON CONFLICT (session_id, scope, path) DO UPDATE SET digest = excluded.digest";
            statement::execute(conn, sql, params![session, scope, path, digest])?
        }
        None => statement::execute(
            conn,
            "DELETE FROM viewed WHERE session_id = ?1 AND scope = ?2 AND path = ?3",
            params![session, scope, path],
        )?,
    };
    Ok(())
}

/// Oldest first.
pub(crate) fn comments(conn: &Connection, session: SessionId, scope: &str) -> Read<Vec<Comment>> {
    column::readable(
        TABLE,
        conn,
        "SELECT * FROM comments WHERE session_id = ?1 AND scope = ?2 ORDER BY created_at, id",
        params![session.to_string(), scope],
        comment,
    )
}

pub(crate) fn viewed(conn: &Connection, session: SessionId, scope: &str) -> Read<Vec<Viewed>> {
    statement::all(
        conn,
        "SELECT path, digest FROM viewed WHERE session_id = ?1 AND scope = ?2 ORDER BY path",
        params![session.to_string(), scope],
        |row| Ok(Viewed { path: row.text("path")?, digest: row.text("digest")? }),
    )
}

/// How many comments and how many looked at files the session has, in all scopes.
pub(crate) fn counts(conn: &Connection, session: SessionId) -> Read<(u64, u64)> {
    let sql = "SELECT (SELECT COUNT(*) FROM comments WHERE session_id = ?1) AS comments, \
               (SELECT COUNT(*) FROM viewed WHERE session_id = ?1) AS viewed";
    statement::only(conn, sql, params![session.to_string()], |row| Ok((row.number("comments")?, row.number("viewed")?)))
}

fn comment(row: &Row<'_>) -> Read<Comment> {
    let line = |column: &str| row.maybe_number(column).map(|line| line.and_then(|line| u32::try_from(line).ok()));
    Ok(Comment {
        id: row.parsed("id")?,
        path: row.text("path")?,
        side: row.word("side")?,
        from_line: line("from_line")?,
        to_line: line("to_line")?,
        quote: row.text("quote")?,
        text: row.text("text")?,
        since: row.maybe("since")?,
        created_at: row.parsed("created_at")?,
        sent_at: row.maybe("sent_at")?.and_then(|at| at.parse().ok()),
    })
}
