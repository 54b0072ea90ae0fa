//! The sessions themselves: what they are called, where they work, where their log ends.

use domain::event::{SessionChange, TurnState};
use domain::ids::SessionId;
use domain::policy::Policy;
use domain::text;
use futures::TryStreamExt;
use jiff::Timestamp;
use serde::Deserialize;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

use super::column::{self, Columns, number, time};
use super::like::Sought;
use super::{Read, Written};
use crate::error::StoreError;
use crate::unreadable::Unreadable;

const TABLE: &str = "sessions";
/// A question in a row of the list, in bytes.
const QUESTION_MAX: usize = 200;
const MODELS_MAX: i64 = 50;
/// Behind every time and every id, as text.
const NEWEST: &str = "~";

#[derive(Clone, PartialEq, Debug)]
pub struct NewSession {
    pub title: String,
    pub work_dir: String,
    pub model: String,
    pub agent: String,
    pub permission_policy: Option<Policy>,
    pub created_at: Timestamp,
}

#[derive(Clone, PartialEq, Debug)]
pub struct SessionRow {
    pub id: SessionId,
    pub title: String,
    pub work_dir: String,
    pub model: String,
    pub agent: String,
    pub permission_policy: Option<Policy>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub last_seq: u64,
    pub running: bool,
    pub queue_len: u32,
    /// How many permissions and confirmations wait for a person.
    pub waiting: u32,
    pub pinned: bool,
    pub archived: bool,
    pub muted: bool,
    /// How its last turn ended, of those that did.
    pub outcome: Option<TurnState>,
    /// That was after somebody last looked.
    pub unseen: bool,
    pub running_since: Option<Timestamp>,
    /// What has waited longest for a person, in one line.
    pub question: Option<String>,
    pub changes: Option<ChangeCounts>,
}

/// What a turn changed in the work directory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChangeCounts {
    pub files: u64,
    pub additions: u64,
    pub deletions: u64,
}

/// How people keep a session in their list: what is given is set.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Marks {
    pub pinned: Option<bool>,
    pub archived: Option<bool>,
    pub muted: Option<bool>,
    /// Somebody looks at it now.
    pub seen: bool,
}

/// Which sessions are listed; all of them where nothing is said.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SessionFilter<'a> {
    /// In the title, in whatever case.
    pub query: Option<&'a str>,
    /// Only those, or only the others; what runs or waits for a person is among the others all the same.
    pub archived: Option<bool>,
}

/// A place in the list of sessions; the list goes on behind it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SessionCursor {
    pub updated_at: Timestamp,
    pub id: SessionId,
}

impl SessionRow {
    pub fn cursor(&self) -> SessionCursor {
        SessionCursor { updated_at: self.updated_at, id: self.id }
    }
}

pub(super) async fn create(conn: &mut SqliteConnection, session: String, new: &NewSession) -> Written {
    let created = sqlx::query(
        "INSERT INTO sessions (id, title, work_dir, model, agent, permission_policy, created_at, updated_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $7) ON CONFLICT (id) DO NOTHING",
    )
    .bind(session)
    .bind(new.title.as_str())
    .bind(new.work_dir.as_str())
    .bind(new.model.as_str())
    .bind(new.agent.as_str())
    .bind(new.permission_policy.map(|policy| policy.as_str()))
    .bind(time(new.created_at))
    .execute(conn)
    .await?;
    if created.rows_affected() == 0 { Err(StoreError::Conflict { what: "the session" }) } else { Ok(()) }
}

pub(super) async fn update(conn: &mut SqliteConnection, session: String, change: &SessionChange, now: Timestamp) -> Written {
    sqlx::query(
        "UPDATE sessions SET title = COALESCE($2, title), model = COALESCE($3, model), agent = COALESCE($4, agent), \
         permission_policy = CASE WHEN $7 = 1 THEN $5 ELSE permission_policy END, updated_at = $6 WHERE id = $1",
    )
    .bind(session)
    .bind(change.title.as_deref())
    .bind(change.model.as_deref())
    .bind(change.agent.as_deref())
    .bind(change.permission_policy.flatten().map(|policy| policy.as_str()))
    .bind(time(now))
    .bind(i64::from(change.permission_policy.is_some()))
    .execute(conn)
    .await?;
    Ok(())
}

pub(super) async fn mark(conn: &mut SqliteConnection, session: String, marks: Marks, now: Timestamp) -> Written {
    sqlx::query(
        "UPDATE sessions SET pinned = COALESCE($2, pinned), archived = COALESCE($3, archived), muted = COALESCE($4, muted), \
         seen_at = COALESCE($5, seen_at) WHERE id = $1",
    )
    .bind(session)
    .bind(marks.pinned.map(i64::from))
    .bind(marks.archived.map(i64::from))
    .bind(marks.muted.map(i64::from))
    .bind(marks.seen.then(|| time(now)))
    .execute(conn)
    .await?;
    Ok(())
}

pub(super) async fn count_changes(conn: &mut SqliteConnection, session: String, counts: Option<ChangeCounts>) -> Written {
    sqlx::query("UPDATE sessions SET changed_files = $2, changed_additions = $3, changed_deletions = $4 WHERE id = $1")
        .bind(session)
        .bind(counts.map(|counts| number(counts.files)))
        .bind(counts.map(|counts| number(counts.additions)))
        .bind(counts.map(|counts| number(counts.deletions)))
        .execute(conn)
        .await?;
    Ok(())
}

/// Everything of the session goes with it.
pub(super) async fn delete(conn: &mut SqliteConnection, session: String) -> Written {
    sqlx::query("DELETE FROM sessions WHERE id = $1").bind(session).execute(conn).await?;
    Ok(())
}

macro_rules! select_sessions {
    ($rest:literal) => {
        concat!(
            "SELECT s.*, ",
            "(SELECT COUNT(*) FROM turns t WHERE t.session_id = s.id AND t.state = 'running') AS running, ",
            "(SELECT COUNT(*) FROM queue q WHERE q.session_id = s.id) AS queue_len, ",
            "(SELECT COUNT(*) FROM permissions p WHERE p.session_id = s.id AND p.resolved_by IS NULL) ",
            "+ (SELECT COUNT(*) FROM confirms c WHERE c.session_id = s.id) AS waiting, ",
            "(SELECT t.started_at FROM turns t WHERE t.session_id = s.id AND t.state = 'running' ",
            "ORDER BY t.started_seq DESC LIMIT 1) AS running_since, ",
            "(SELECT t.state FROM turns t WHERE t.session_id = s.id AND t.state <> 'running' ",
            "ORDER BY t.started_seq DESC LIMIT 1) AS outcome, ",
            "(SELECT t.ended_at FROM turns t WHERE t.session_id = s.id AND t.state <> 'running' ",
            "ORDER BY t.started_seq DESC LIMIT 1) AS ended_at, ",
            "(SELECT asked FROM (",
            "SELECT p.opened_seq AS place, p.request AS asked FROM permissions p WHERE p.session_id = s.id AND p.resolved_by IS NULL ",
            "UNION ALL SELECT c.opened_seq, c.call FROM confirms c WHERE c.session_id = s.id) ORDER BY place LIMIT 1) AS asked ",
            "FROM sessions s ",
            $rest
        )
    };
}

pub(crate) async fn one(conn: &mut SqliteConnection, id: SessionId) -> Read<Option<SessionRow>> {
    let row = sqlx::query(select_sessions!("WHERE s.id = $1")).bind(id.to_string()).fetch_optional(conn).await?;
    row.map(|row| session(&row)).transpose()
}

pub(crate) async fn list(
    conn: &mut SqliteConnection,
    filter: SessionFilter<'_>,
    before: Option<SessionCursor>,
    limit: u32,
) -> Read<Vec<SessionRow>> {
    let sought = filter.query.map(Sought::new);
    let (updated_at, id) = before.map_or((NEWEST.to_owned(), String::new()), |before| (time(before.updated_at), before.id.to_string()));
    // Of what the database finds by its title, not everything counts.
    let most = if sought.is_some() { -1 } else { i64::from(limit) };
    let query = sqlx::query(select_sessions!(
        "WHERE (s.updated_at, s.id) < ($1, $2) AND ($3 IS NULL OR s.title LIKE $3 ESCAPE '\\') \
         AND ($4 IS NULL OR s.archived = $4 OR ($4 = 0 AND (\
         EXISTS (SELECT 1 FROM turns t WHERE t.session_id = s.id AND t.state = 'running') \
         OR EXISTS (SELECT 1 FROM permissions p WHERE p.session_id = s.id AND p.resolved_by IS NULL) \
         OR EXISTS (SELECT 1 FROM confirms c WHERE c.session_id = s.id)))) \
         ORDER BY s.updated_at DESC, s.id DESC LIMIT $5"
    ));
    let pattern = sought.as_ref().map(Sought::pattern);
    let query = query.bind(updated_at).bind(id).bind(pattern).bind(filter.archived.map(i64::from)).bind(most);
    let mut found = query.fetch(conn);
    let mut rows = Vec::new();
    while rows.len() < limit as usize
        && let Some(row) = found.try_next().await?
    {
        let title = row.text("title").unwrap_or_default();
        if sought.as_ref().is_none_or(|sought| sought.find(&title).is_some()) {
            rows.push(row);
        }
    }
    Ok(column::readable(TABLE, &rows, session))
}

pub(crate) async fn titled(conn: &mut SqliteConnection, title: &str, limit: u32) -> Read<Vec<SessionRow>> {
    let query = sqlx::query(select_sessions!("WHERE s.title = $1 ORDER BY s.updated_at DESC, s.id DESC LIMIT $2"));
    let rows = query.bind(title).bind(i64::from(limit)).fetch_all(conn).await?;
    Ok(column::readable(TABLE, &rows, session))
}

pub(crate) async fn models(conn: &mut SqliteConnection) -> Read<Vec<String>> {
    let sql = "SELECT model FROM sessions GROUP BY model ORDER BY MAX(updated_at) DESC LIMIT $1";
    let rows = sqlx::query(sql).bind(MODELS_MAX).fetch_all(conn).await?;
    rows.iter().map(|row| row.text("model")).collect()
}

/// All sessions, newest activity first: title, latest activity and the place of the last message.
pub(crate) async fn conversations(conn: &mut SqliteConnection) -> Read<Vec<(SessionId, String, Timestamp, u64)>> {
    let rows = sqlx::query(
        "SELECT id, title, updated_at, \
         COALESCE((SELECT MAX(position) FROM messages m WHERE m.session_id = s.id), 0) AS last \
         FROM sessions s ORDER BY updated_at DESC, id DESC",
    )
    .fetch_all(conn)
    .await?;
    let read = |row: &SqliteRow| Ok((row.parsed("id")?, row.text("title")?, row.parsed("updated_at")?, row.number("last")?));
    Ok(column::readable(TABLE, &rows, read))
}

/// The sessions of whose log something is left.
pub(crate) async fn with_events(conn: &mut SqliteConnection) -> Read<Vec<SessionId>> {
    let rows = sqlx::query("SELECT id FROM sessions WHERE horizon < last_seq").fetch_all(conn).await?;
    rows.iter().map(|row| row.parsed("id")).collect()
}

pub(super) async fn quiet_since(conn: &mut SqliteConnection, id: SessionId, since: Timestamp) -> Read<bool> {
    let row = sqlx::query("SELECT updated_at < $2 AS quiet FROM sessions WHERE id = $1")
        .bind(id.to_string())
        .bind(time(since))
        .fetch_optional(conn)
        .await?;
    row.map_or(Ok(false), |row| row.flag("quiet"))
}

pub(crate) async fn count(conn: &mut SqliteConnection) -> Read<u64> {
    sqlx::query("SELECT COUNT(*) AS count FROM sessions").fetch_one(conn).await?.number("count")
}

/// A policy that cannot be read might have been a strict one, so people are asked.
fn session(row: &SqliteRow) -> Read<SessionRow> {
    let count = |column: &str| row.number(column).map(|count| u32::try_from(count).unwrap_or(u32::MAX));
    let policy = row.maybe_parsed("permission_policy").or_else(|error| {
        Unreadable::report(TABLE, &row.text("id")?, &error);
        Ok::<_, sqlx::Error>(Some(Policy::Ask))
    });
    Ok(SessionRow {
        id: row.parsed("id")?,
        title: row.text("title")?,
        work_dir: row.text("work_dir")?,
        model: row.text("model")?,
        agent: row.text("agent")?,
        permission_policy: policy?,
        created_at: row.parsed("created_at")?,
        updated_at: row.parsed("updated_at")?,
        last_seq: row.number("last_seq")?,
        running: row.flag("running")?,
        queue_len: count("queue_len")?,
        waiting: count("waiting")?,
        pinned: row.flag("pinned")?,
        archived: row.flag("archived")?,
        muted: row.flag("muted")?,
        // A turn whose end cannot be read has one that is not known.
        outcome: row.maybe("outcome")?.map(|_| row.word("outcome").unwrap_or(TurnState::Unknown)),
        // As text, times are in their order.
        unseen: row.maybe("ended_at")? > row.maybe("seen_at")?,
        running_since: row.maybe_parsed("running_since")?,
        question: row.maybe("asked")?.map(|asked| question(&asked)),
        changes: changes(row)?,
    })
}

fn changes(row: &SqliteRow) -> Read<Option<ChangeCounts>> {
    let column = |name: &str| row.maybe_number(name);
    let counts = (column("changed_files")?, column("changed_additions")?, column("changed_deletions")?);
    let (Some(files), Some(additions), Some(deletions)) = counts else { return Ok(None) };
    Ok(Some(ChangeCounts { files, additions, deletions }))
}

/// What a stored question is about, in one line.
fn question(asked: &str) -> String {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Asked {
        Permission { title: String },
        Confirm { name: String },
    }
    let text = match serde_json::from_str(asked) {
        Ok(Asked::Permission { title }) => title,
        Ok(Asked::Confirm { name }) => format!("Allow {name}?"),
        Err(_) => "A question that cannot be read".to_owned(),
    };
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("A question without words");
    text::clip(&text::visible(line), QUESTION_MAX).to_owned()
}
