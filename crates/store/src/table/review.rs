//! Comments on changes that were not sent yet, and the files that were looked at.

use domain::ids::{CommentId, SessionId};
use domain::review::{Comment, Viewed};
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

use super::column::{self, Columns, time};
use super::{Read, Written};

const TABLE: &str = "comments";

/// Inserts, or replaces the text of one that is there.
pub(super) async fn save(conn: &mut SqliteConnection, session: String, scope: &str, comment: &Comment) -> Written {
    sqlx::query(
        "INSERT INTO comments (session_id, id, scope, path, side, from_line, to_line, quote, text, since, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT (session_id, id) DO UPDATE SET text = excluded.text",
    )
    .bind(session)
    .bind(comment.id.to_string())
    .bind(scope)
    .bind(comment.path.as_str())
    .bind(column::word(&comment.side))
    .bind(comment.from_line.map(i64::from))
    .bind(comment.to_line.map(i64::from))
    .bind(comment.quote.as_str())
    .bind(comment.text.as_str())
    .bind(comment.since.as_deref())
    .bind(time(comment.created_at))
    .execute(conn)
    .await?;
    Ok(())
}

pub(super) async fn remove(conn: &mut SqliteConnection, session: String, ids: &[CommentId]) -> Written {
    for id in ids {
        let sql = "DELETE FROM comments WHERE session_id = $1 AND id = $2";
        sqlx::query(sql).bind(session.as_str()).bind(id.to_string()).execute(&mut *conn).await?;
    }
    Ok(())
}

/// `digest` is none where the file is to be looked at again.
pub(super) async fn view(conn: &mut SqliteConnection, session: String, scope: &str, path: &str, digest: Option<&str>) -> Written {
    let query = match digest {
        Some(digest) => sqlx::query(
            "INSERT INTO viewed (session_id, scope, path, digest) VALUES ($1, $2, $3, $4) \
             ON CONFLICT (session_id, scope, path) DO UPDATE SET digest = excluded.digest",
        )
        .bind(session)
        .bind(scope)
        .bind(path)
        .bind(digest),
        None => sqlx::query("DELETE FROM viewed WHERE session_id = $1 AND scope = $2 AND path = $3").bind(session).bind(scope).bind(path),
    };
    query.execute(conn).await?;
    Ok(())
}

/// Oldest first.
pub(crate) async fn comments(conn: &mut SqliteConnection, session: SessionId, scope: &str) -> Read<Vec<Comment>> {
    let rows = sqlx::query("SELECT * FROM comments WHERE session_id = $1 AND scope = $2 ORDER BY created_at, id")
        .bind(session.to_string())
        .bind(scope)
        .fetch_all(conn)
        .await?;
    Ok(column::readable(TABLE, &rows, comment))
}

pub(crate) async fn viewed(conn: &mut SqliteConnection, session: SessionId, scope: &str) -> Read<Vec<Viewed>> {
    let rows = sqlx::query("SELECT path, digest FROM viewed WHERE session_id = $1 AND scope = $2 ORDER BY path")
        .bind(session.to_string())
        .bind(scope)
        .fetch_all(conn)
        .await?;
    rows.iter().map(|row| Ok(Viewed { path: row.text("path")?, digest: row.text("digest")? })).collect()
}

/// How many comments and how many looked at files the session has, in all scopes.
pub(crate) async fn counts(conn: &mut SqliteConnection, session: SessionId) -> Read<(u64, u64)> {
    let sql = "SELECT (SELECT COUNT(*) FROM comments WHERE session_id = $1) AS comments, \
               (SELECT COUNT(*) FROM viewed WHERE session_id = $1) AS viewed";
    let row = sqlx::query(sql).bind(session.to_string()).fetch_one(conn).await?;
    Ok((row.number("comments")?, row.number("viewed")?))
}

fn comment(row: &SqliteRow) -> Read<Comment> {
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
    })
}
