//! The conversation, and what was answered to messages that carried a client-made id.

use std::collections::HashSet;
use std::ops::ControlFlow;

use domain::event::{Message, Role};
use domain::ids::{MessageId, SessionId, TurnId};
use jiff::Timestamp;
use rusqlite::{Connection, Row, params};

use super::column::{self, Columns, json, number, time, word};
use super::like::Sought;
use super::{Read, Written, statement};
use crate::error::StoreError;
use crate::search::excerpt;
use crate::unreadable::Unreadable;

const TABLE: &str = "messages";
/// How much of a text a search looks at, in characters.
const LOOKED_AT: i64 = 200_000;
/// So much of messages is read at a time; one may be longer.
const PAGE_BYTES: usize = 8 * 1024 * 1024;
/// So much of what agents did is read with the messages of a turn.
const TURN_BYTES: usize = 16 * 1024 * 1024;
/// Said in a message of which something cannot be read.
const NOTE: &str = "(Part of this message cannot be read.)";

/// Messages, oldest first.
#[derive(Clone, PartialEq, Debug)]
pub struct Page {
    pub messages: Vec<Message>,
    /// There are older ones.
    pub more: bool,
}

pub(super) fn save(conn: &Connection, session: &str, message: &Message) -> Written {
    if let (Some(client_id), Some(turn_id)) = (&message.client_id, message.turn_id) {
        keep_receipt(conn, session, client_id, message.id, turn_id, false)?;
    }
    statement::execute(
        conn,
        "INSERT INTO messages (session_id, id, position, role, content, display, created_at, turn_id, client_id, tool_calls, \
         tool_call_id, is_error, artifact_id, delegation, attachments, session_name) \
         VALUES (?1, ?2, (SELECT COALESCE(MAX(position), 0) + 1 FROM messages WHERE session_id = ?1), \
         ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15) \
         ON CONFLICT (session_id, id) DO UPDATE SET role = excluded.role, content = excluded.content, display = excluded.display, \
         created_at = excluded.created_at, turn_id = excluded.turn_id, client_id = excluded.client_id, \
         tool_calls = excluded.tool_calls, tool_call_id = excluded.tool_call_id, is_error = excluded.is_error, \
         artifact_id = excluded.artifact_id, delegation = excluded.delegation, \
         attachments = excluded.attachments, session_name = excluded.session_name",
        params![
            session,
            message.id.to_string(),
            word(&message.role),
            message.content.as_str(),
            message.display.as_deref(),
            time(message.created_at),
            message.turn_id.map(|id| id.to_string()),
            message.client_id.as_deref(),
            json(&message.tool_calls),
            message.tool_call_id.as_deref(),
            i64::from(message.is_error),
            message.artifact_id.map(|id| id.to_string()),
            message.delegation.as_ref().map(json),
            json(&message.attachments),
            message.delegation.as_ref().map(|delegation| delegation.session_name.as_str())
        ],
    )?;
    Ok(())
}

/// The first answer to a client-made id stands: the message may later start, change or be withdrawn.
pub(super) fn keep_receipt(conn: &Connection, session: &str, client_id: &str, message: MessageId, turn: TurnId, queued: bool) -> Written {
    let sql = "INSERT INTO receipts (session_id, client_id, message_id, turn_id, queued) VALUES (?1, ?2, ?3, ?4, ?5) \
               ON CONFLICT (session_id, client_id) DO UPDATE SET queued = receipts.queued RETURNING message_id";
    let given = params![session, client_id, message.to_string(), turn.to_string(), i64::from(queued)];
    let kept = statement::only(conn, sql, given, |row| row.text("message_id"))?;
    if kept == message.to_string() { Ok(()) } else { Err(StoreError::Conflict { what: "a message with the same client_id" }) }
}

pub(crate) fn receipt(conn: &Connection, session: SessionId, client_id: &str) -> Read<Option<(MessageId, TurnId, bool)>> {
    statement::one(
        conn,
        "SELECT message_id, turn_id, queued FROM receipts WHERE session_id = ?1 AND client_id = ?2",
        params![session.to_string(), client_id],
        |row| Ok((row.parsed("message_id")?, row.parsed("turn_id")?, row.flag("queued")?)),
    )
}

pub(crate) fn was_promised(conn: &Connection, session: SessionId, turn: TurnId) -> Read<bool> {
    let sql = "SELECT 1 FROM receipts WHERE session_id = ?1 AND turn_id = ?2 LIMIT 1";
    let row = statement::one(conn, sql, params![session.to_string(), turn.to_string()], |_| Ok(()))?;
    Ok(row.is_some())
}

/// All of them, and what agents did in the first as far as it fits.
pub(crate) fn of_turn(conn: &Connection, session: SessionId, turn: TurnId) -> Read<Vec<Message>> {
    let sql = "SELECT * FROM messages WHERE session_id = ?1 AND turn_id = ?2 ORDER BY position";
    let mut size = 0;
    let read = |row: &Row<'_>| {
        size += text_bytes(row, "delegation");
        message(row).map(|message| if size > TURN_BYTES { without_updates(message) } else { message })
    };
    column::readable(TABLE, conn, sql, params![session.to_string(), turn.to_string()], read)
}

fn without_updates(mut message: Message) -> Message {
    message.delegation.iter_mut().for_each(|delegation| delegation.updates = Vec::new());
    message
}

/// How much the messages of a session hold.
pub(crate) fn bytes(conn: &Connection, session: SessionId) -> Read<u64> {
    let sql = "SELECT COALESCE(SUM(octet_length(content) + COALESCE(octet_length(display), 0) + COALESCE(octet_length(delegation), 0)), 0) \
               AS bytes FROM messages WHERE session_id = ?1";
    statement::only(conn, sql, params![session.to_string()], |row| row.number("bytes"))
}

fn text_bytes(row: &Row<'_>, column: &str) -> usize {
    row.get_ref(column).ok().and_then(|value| value.as_str().ok()).map_or(0, str::len)
}

/// The latest messages, or the latest before the given one: so many, or as many as fit into a page, one at least. Before an unknown
/// message there is nothing.
pub(crate) fn page(conn: &Connection, session: SessionId, before: Option<MessageId>, limit: u32) -> Read<Page> {
    let (session, most) = (session.to_string(), i64::from(limit) + 1);
    let (mut found, mut size, mut more) = (Vec::new(), 0, false);
    let mut read = |row: &Row<'_>| {
        size += ["content", "display", "delegation"].into_iter().map(|name| text_bytes(row, name)).sum::<usize>();
        if found.len() == limit as usize || (size > PAGE_BYTES && !found.is_empty()) {
            more = true;
            return Ok(ControlFlow::Break(()));
        }
        found.push(column::if_readable(TABLE, row, message));
        Ok(ControlFlow::Continue(()))
    };
    match before {
        Some(before) => {
            let sql = "SELECT * FROM messages WHERE session_id = ?1 AND position < \
                       (SELECT position FROM messages WHERE session_id = ?1 AND id = ?2) ORDER BY position DESC LIMIT ?3";
            statement::each(conn, sql, params![session, before.to_string(), most], &mut read)?;
        }
        None => {
            let sql = "SELECT * FROM messages WHERE session_id = ?1 ORDER BY position DESC LIMIT ?2";
            statement::each(conn, sql, params![session, most], &mut read)?;
        }
    }
    Ok(Page { messages: found.into_iter().rev().flatten().collect(), more })
}

/// What a model needs of a message: without what only people are shown, which can be megabytes.
const FOR_MODEL: &str = "id, role, content, created_at, turn_id, client_id, tool_calls, tool_call_id, NULL AS display, is_error, artifact_id, \
                         delegation, attachments";

/// The latest turns, oldest first, as many as hold about so many bytes of text. The latest is there whole, however long it is: half a
/// turn would make no sense to anybody.
pub(crate) fn latest_turns(conn: &Connection, session: SessionId, bytes: usize) -> Read<Page> {
    let sql = format!("SELECT {FOR_MODEL} FROM messages WHERE session_id = ?1 ORDER BY position DESC");
    // `whole` is how many of them are of turns whose beginning was seen.
    let (mut found, mut whole, mut size, mut more) = (Vec::new(), 0, 0, false);
    statement::each(conn, &sql, params![session.to_string()], |row| {
        let Some(message) = column::if_readable(TABLE, row, message) else { return Ok(ControlFlow::Continue(())) };
        let message = without_updates(message);
        size += message.content.len() + message.tool_calls.iter().map(|call| call.arguments.len()).sum::<usize>();
        if size > bytes && whole > 0 {
            more = true;
            return Ok(ControlFlow::Break(()));
        }
        let begins = message.role == Role::User;
        found.push(message);
        if begins {
            whole = found.len();
        }
        Ok(ControlFlow::Continue(()))
    })?;
    if whole > 0 {
        more |= whole < found.len();
        found.truncate(whole);
    }
    found.reverse();
    Ok(Page { messages: found, more })
}

/// The latest results of a named agent session, the latest first, likewise without what only people are shown.
pub(crate) fn results(conn: &Connection, session: SessionId, name: &str, most: u32) -> Read<Vec<Message>> {
    let sql = format!(
        "SELECT {FOR_MODEL} FROM messages WHERE session_id = ?1 AND session_name = ?2 AND session_name IS NOT NULL \
         ORDER BY position DESC LIMIT ?3"
    );
    let read = |row: &Row<'_>| message(row).map(without_updates);
    column::readable(TABLE, conn, &sql, params![session.to_string(), name, i64::from(most)], read)
}

/// What agents did in the session, oldest first: from the latest back, as far as it fits into so many bytes.
pub(crate) fn delegated(conn: &Connection, session: SessionId, bytes: usize) -> Read<Vec<Message>> {
    let sql = format!(
        "SELECT {FOR_MODEL}, length(delegation) AS size FROM messages WHERE session_id = ?1 AND delegation IS NOT NULL \
         ORDER BY position DESC"
    );
    let (mut found, mut room) = (Vec::new(), bytes as u64);
    statement::each(conn, &sql, params![session.to_string()], |row| {
        let Some(left) = room.checked_sub(row.number("size")?) else { return Ok(ControlFlow::Break(())) };
        room = left;
        found.extend(column::if_readable(TABLE, row, message));
        Ok(ControlFlow::Continue(()))
    })?;
    found.reverse();
    Ok(found)
}

/// A message in which something was found.
pub(crate) struct Said {
    pub(crate) id: MessageId,
    pub(crate) role: Role,
    /// The call whose result it is.
    pub(crate) call: Option<String>,
    pub(crate) at: Timestamp,
    pub(crate) excerpt: String,
}

/// Those at places behind the first and up to the second that hold the text where people see it, the latest first. Of an endless text
/// only the beginning is looked at. What the relay repeats of an agent's words is passed over: people see those words once.
pub(crate) fn matching(conn: &Connection, session: SessionId, (behind, to): (u64, u64), sought: &Sought, most: usize) -> Read<Vec<Said>> {
    let sql = "SELECT id, role, tool_call_id, created_at, substr(COALESCE(display, content), 1, ?5) AS text FROM messages AS said \
               WHERE session_id = ?1 AND position > ?2 AND position <= ?3 \
               AND substr(COALESCE(display, content), 1, ?5) LIKE ?4 ESCAPE '\\' \
               AND NOT (role = 'assistant' AND turn_id IS NOT NULL AND EXISTS (SELECT 1 FROM messages AS told \
                        WHERE told.session_id = said.session_id AND told.position = said.position - 1 \
                        AND told.turn_id = said.turn_id AND told.tool_call_id LIKE 'relay\\_%' ESCAPE '\\')) \
               ORDER BY position DESC";
    let given = params![session.to_string(), number(behind), number(to), sought.pattern(), LOOKED_AT];
    let mut found = Vec::new();
    statement::each(conn, sql, given, |row| {
        // What cannot be read is not found.
        if let Ok(text) = row.text("text")
            && let Some(place) = sought.find(&text)
            && let (Ok(id), Ok(role), Ok(at)) = (row.parsed("id"), row.word("role"), row.parsed("created_at"))
        {
            found.push(Said { id, role, call: row.maybe("tool_call_id").ok().flatten(), at, excerpt: excerpt(&text, place) });
        }
        Ok(if found.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    Ok(found)
}

/// Which of these calls had a result before.
pub(crate) fn known_calls(conn: &Connection, session: SessionId, ids: &[String]) -> Read<HashSet<String>> {
    let sql = "SELECT tool_call_id FROM messages WHERE session_id = ?1 AND tool_call_id = ?2 AND tool_call_id IS NOT NULL LIMIT 1";
    let session = session.to_string();
    let mut known = HashSet::new();
    for id in ids {
        known.extend(statement::one(conn, sql, params![session, id], |row| row.text("tool_call_id"))?);
    }
    Ok(known)
}

pub(crate) fn one(conn: &Connection, session: SessionId, id: MessageId) -> Read<Option<Message>> {
    statement::one(conn, "SELECT * FROM messages WHERE session_id = ?1 AND id = ?2", params![session.to_string(), id.to_string()], message)
}

/// What of a message can be read is shown, and what cannot is said in its text.
fn message(row: &Row<'_>) -> Read<Message> {
    let key = row.text("id")?;
    let attachments = row.json(TABLE, &key, "attachments");
    let tool_calls = row.json(TABLE, &key, "tool_calls");
    let delegation = row.json(TABLE, &key, "delegation");
    let content = row.text("content").map_err(|error| Unreadable::report(TABLE, &key, &error));
    let display = row.maybe("display").map_err(|error| Unreadable::report(TABLE, &key, &error));
    let whole = attachments.is_ok() && tool_calls.is_ok() && delegation.is_ok() && content.is_ok() && display.is_ok();
    let mut message = Message {
        id: row.parsed("id")?,
        role: row.word("role")?,
        content: content.unwrap_or_default(),
        html: None,
        created_at: row.parsed("created_at")?,
        turn_id: row.maybe_parsed("turn_id")?,
        client_id: row.maybe("client_id")?,
        attachments: attachments.ok().flatten().unwrap_or_default(),
        tool_calls: tool_calls.ok().flatten().unwrap_or_default(),
        tool_call_id: row.maybe("tool_call_id")?,
        display: display.ok().flatten(),
        is_error: row.flag("is_error")?,
        artifact_id: row.maybe_parsed("artifact_id")?,
        delegation: delegation.ok().flatten(),
    };
    if !whole {
        message.content = noted(&message.content);
        message.display = message.display.as_deref().map(noted);
    }
    Ok(message)
}

fn noted(text: &str) -> String {
    if text.is_empty() { NOTE.to_owned() } else { format!("{text}\n\n{NOTE}") }
}
