//! The sessions themselves: what they are called, where they work, when they were last active.

use std::ops::ControlFlow;

use domain::agent::{AskedFile, FilePlace};
use domain::event::{Ending, SessionChange, TurnState};
use domain::ids::SessionId;
use domain::policy::Policy;
use domain::text;
use jiff::Timestamp;
use rusqlite::{Connection, Row, params, params_from_iter};
use serde::Deserialize;

use super::column::{self, Columns, number, time};
use super::like::Sought;
use super::sizes::Sizes;
use super::{Read, Written, statement, turn};
use crate::error::StoreError;
use crate::unreadable::Unreadable;

const TABLE: &str = "sessions";
/// A question in a row of the list, in bytes.
const QUESTION_MAX: usize = 200;
const MODELS_MAX: i64 = 50;
static TOUCHES: Sizes = Sizes::new("UPDATE sessions SET updated_at = ? WHERE id IN (", "?", ")");
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
    /// The same in the word that people read; none before the first turn has ended.
    pub ending: Option<Ending>,
    pub running_since: Option<Timestamp>,
    /// How long of the turn that runs a person was waited for, without the wait that goes on.
    pub waited_ms: u64,
    pub waiting_since: Option<Timestamp>,
    /// What has waited longest for a person, in one line.
    pub question: Option<String>,
    /// That is about a protected file, which `auto` leaves to a person.
    pub question_protected: bool,
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

pub(super) fn create(conn: &Connection, session: &str, new: &NewSession) -> Written {
    let created = statement::execute(
        conn,
        "INSERT INTO sessions (id, title, work_dir, model, agent, permission_policy, created_at, updated_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7) ON CONFLICT (id) DO NOTHING",
        params![
            session,
            new.title.as_str(),
            new.work_dir.as_str(),
            new.model.as_str(),
            new.agent.as_str(),
            new.permission_policy.map(|policy| policy.as_str()),
            time(new.created_at)
        ],
    )?;
    if created == 0 { Err(StoreError::Conflict { what: "the session" }) } else { Ok(()) }
}

pub(super) fn update(conn: &Connection, session: &str, change: &SessionChange, now: Timestamp) -> Written {
    statement::execute(
        conn,
        "UPDATE sessions SET title = COALESCE(?2, title), model = COALESCE(?3, model), agent = COALESCE(?4, agent), \
         permission_policy = CASE WHEN ?7 = 1 THEN ?5 ELSE permission_policy END, updated_at = ?6 WHERE id = ?1",
        params![
            session,
            change.title.as_deref(),
            change.model.as_deref(),
            change.agent.as_deref(),
            change.permission_policy.flatten().map(|policy| policy.as_str()),
            time(now),
            i64::from(change.permission_policy.is_some())
        ],
    )?;
    Ok(())
}

pub(super) fn mark(conn: &Connection, session: &str, marks: Marks, now: Timestamp) -> Written {
    statement::execute(
        conn,
        "UPDATE sessions SET pinned = COALESCE(?2, pinned), archived = COALESCE(?3, archived), muted = COALESCE(?4, muted), \
         seen_at = COALESCE(?5, seen_at) WHERE id = ?1",
        params![
            session,
            marks.pinned.map(i64::from),
            marks.archived.map(i64::from),
            marks.muted.map(i64::from),
            marks.seen.then(|| time(now))
        ],
    )?;
    Ok(())
}

pub(super) fn count_changes(conn: &Connection, session: &str, counts: Option<ChangeCounts>) -> Written {
    statement::execute(
        conn,
        "UPDATE sessions SET changed_files = ?2, changed_additions = ?3, changed_deletions = ?4 WHERE id = ?1",
        params![
            session,
            counts.map(|counts| number(counts.files)),
            counts.map(|counts| number(counts.additions)),
            counts.map(|counts| number(counts.deletions))
        ],
    )?;
    Ok(())
}

/// They were active at this time.
pub(crate) fn touch(conn: &Connection, sessions: &[&str], now: Timestamp) -> Written {
    let now = time(now);
    TOUCHES.run(conn, sessions.len(), |conn, sql, rows| {
        let given = std::iter::once(now.as_str()).chain(sessions[rows].iter().copied());
        statement::execute(conn, sql, params_from_iter(given))?;
        Ok(())
    })
}

/// Everything of the session goes with it.
pub(super) fn delete(conn: &Connection, session: &str) -> Written {
    statement::execute(conn, "DELETE FROM sessions WHERE id = ?1", params![session])?;
    Ok(())
}

macro_rules! select_sessions {
    ($rest:literal) => {
        concat!(
            "SELECT s.*, ",
            "COALESCE((SELECT MAX(e.seq) FROM events e WHERE e.session_id = s.id), s.horizon) AS last_seq, ",
            "(SELECT COUNT(*) FROM turns t WHERE t.session_id = s.id AND t.state = 'running') AS running, ",
            "(SELECT COUNT(*) FROM queue q WHERE q.session_id = s.id) AS queue_len, ",
            "(SELECT COUNT(*) FROM permissions p WHERE p.session_id = s.id AND p.resolved_by IS NULL) ",
            "+ (SELECT COUNT(*) FROM confirms c WHERE c.session_id = s.id) AS waiting, ",
            "(SELECT t.started_at FROM turns t INDEXED BY turns_running WHERE t.session_id = s.id AND t.state = 'running' ",
            "ORDER BY t.started_seq DESC LIMIT 1) AS running_since, ",
            "(SELECT t.waited_ms FROM turns t INDEXED BY turns_running WHERE t.session_id = s.id AND t.state = 'running' ",
            "ORDER BY t.started_seq DESC LIMIT 1) AS waited_ms, ",
            "(SELECT t.waiting_since_ms FROM turns t INDEXED BY turns_running WHERE t.session_id = s.id AND t.state = 'running' ",
            "ORDER BY t.started_seq DESC LIMIT 1) AS waiting_since_ms, ",
            "(SELECT t.ending FROM turns t WHERE t.session_id = s.id AND t.state <> 'running' ",
            "ORDER BY t.started_seq DESC LIMIT 1) AS ending, ",
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

pub(crate) fn one(conn: &Connection, id: SessionId) -> Read<Option<SessionRow>> {
    statement::one(conn, select_sessions!("WHERE s.id = ?1"), params![id.to_string()], session)
}

pub(crate) fn list(conn: &Connection, filter: SessionFilter<'_>, before: Option<SessionCursor>, limit: u32) -> Read<Vec<SessionRow>> {
    let sought = filter.query.map(Sought::new);
    let (updated_at, id) = before.map_or((NEWEST.to_owned(), String::new()), |before| (time(before.updated_at), before.id.to_string()));
    // Of what the database finds by its title, not everything counts.
    let most = if sought.is_some() { -1 } else { i64::from(limit) };
    let sql = select_sessions!(
        "WHERE (s.updated_at, s.id) < (?1, ?2) AND (?3 IS NULL OR s.title LIKE ?3 ESCAPE '\\') \
         AND (?4 IS NULL OR s.archived = ?4 OR (?4 = 0 AND (\
         EXISTS (SELECT 1 FROM turns t WHERE t.session_id = s.id AND t.state = 'running') \
         OR EXISTS (SELECT 1 FROM permissions p WHERE p.session_id = s.id AND p.resolved_by IS NULL) \
         OR EXISTS (SELECT 1 FROM confirms c WHERE c.session_id = s.id)))) \
         ORDER BY s.updated_at DESC, s.id DESC LIMIT ?5"
    );
    let given = params![updated_at, id, sought.as_ref().map(Sought::pattern), filter.archived.map(i64::from), most];
    let (mut rows, mut found) = (Vec::new(), 0);
    statement::each(conn, sql, given, |row| {
        let title = row.text("title").unwrap_or_default();
        if found < limit && sought.as_ref().is_none_or(|sought| sought.find(&title).is_some()) {
            found += 1;
            rows.extend(column::if_readable(TABLE, row, session));
        }
        Ok(if found < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    Ok(rows)
}

pub(crate) fn titled(conn: &Connection, title: &str, limit: u32) -> Read<Vec<SessionRow>> {
    let sql = select_sessions!("WHERE s.title = ?1 ORDER BY s.updated_at DESC, s.id DESC LIMIT ?2");
    column::readable(TABLE, conn, sql, params![title, i64::from(limit)], session)
}

pub(crate) fn models(conn: &Connection) -> Read<Vec<String>> {
    let sql = "SELECT model FROM sessions GROUP BY model ORDER BY MAX(updated_at) DESC LIMIT ?1";
    statement::all(conn, sql, params![MODELS_MAX], |row| row.text("model"))
}

/// All sessions, newest activity first: title, latest activity and the place of the last message.
pub(crate) fn conversations(conn: &Connection) -> Read<Vec<(SessionId, String, Timestamp, u64)>> {
    let sql = "SELECT id, title, updated_at, \
               COALESCE((SELECT MAX(position) FROM messages m WHERE m.session_id = s.id), 0) AS last \
               FROM sessions s ORDER BY updated_at DESC, id DESC";
    let read = |row: &Row<'_>| Ok((row.parsed("id")?, row.text("title")?, row.parsed("updated_at")?, row.number("last")?));
    column::readable(TABLE, conn, sql, [], read)
}

/// The sessions of whose log something is left.
pub(crate) fn with_events(conn: &Connection) -> Read<Vec<SessionId>> {
    statement::all(conn, "SELECT id FROM sessions s WHERE EXISTS (SELECT 1 FROM events e WHERE e.session_id = s.id)", [], |row| {
        row.parsed("id")
    })
}

pub(super) fn quiet_since(conn: &Connection, id: SessionId, since: Timestamp) -> Read<bool> {
    let sql = "SELECT updated_at < ?2 AS quiet FROM sessions WHERE id = ?1";
    Ok(statement::one(conn, sql, params![id.to_string(), time(since)], |row| row.flag("quiet"))?.unwrap_or(false))
}

pub(crate) fn count(conn: &Connection) -> Read<u64> {
    statement::only(conn, "SELECT COUNT(*) AS count FROM sessions", [], |row| row.number("count"))
}

/// A policy that cannot be read might have been a strict one, so people are asked.
fn session(row: &Row<'_>) -> Read<SessionRow> {
    let count = |column: &str| row.number(column).map(|count| u32::try_from(count).unwrap_or(u32::MAX));
    let policy = row.maybe_parsed("permission_policy").or_else(|error| {
        Unreadable::report(TABLE, &row.text("id")?, &error);
        Ok::<_, rusqlite::Error>(Some(Policy::Ask))
    });
    let asked: Option<String> = row.maybe("asked")?;
    // A turn whose end cannot be read has one that is not known.
    let outcome = row.maybe("outcome")?.map(|_| row.word("outcome").unwrap_or(TurnState::Unknown));
    let waiting_since = row.get::<_, Option<i64>>("waiting_since_ms")?.and_then(|ms| Timestamp::from_millisecond(ms).ok());
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
        outcome,
        ending: outcome.map(|state| turn::ending(row, state)).transpose()?.flatten(),
        // As text, times are in their order.
        unseen: row.maybe("ended_at")? > row.maybe("seen_at")?,
        running_since: row.maybe_parsed("running_since")?,
        question: asked.as_deref().map(question),
        question_protected: asked.as_deref().is_some_and(is_protected),
        waited_ms: row.maybe_number("waited_ms")?.unwrap_or(0),
        waiting_since,
        changes: changes(row)?,
    })
}

fn changes(row: &Row<'_>) -> Read<Option<ChangeCounts>> {
    let column = |name: &str| row.maybe_number(name);
    let counts = (column("changed_files")?, column("changed_additions")?, column("changed_deletions")?);
    let (Some(files), Some(additions), Some(deletions)) = counts else { return Ok(None) };
    Ok(Some(ChangeCounts { files, additions, deletions }))
}

/// Whether a stored question names a protected file.
fn is_protected(asked: &str) -> bool {
    #[derive(Deserialize)]
    struct Asked {
        #[serde(default)]
        files: Vec<AskedFile>,
    }
    let files = serde_json::from_str(asked).map(|Asked { files }| files).unwrap_or_default();
    files.iter().any(|file| file.place == FilePlace::Protected)
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
