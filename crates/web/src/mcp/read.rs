//! The sessions and what was said in them.

use domain::ids::{MessageId, SessionId};

use super::job::JobId;
use super::tool::{self, MessageList, MessageView, SessionList, SessionView};
use super::{Outcome, shortened};
use crate::App;
use crate::error::{ApiResult, invalid};
use crate::routes::sessions::{format_cursor, parse_cursor};

const SESSIONS: u32 = 20;
const MESSAGES: u32 = 10;
const PAGE_MAX: u32 = 50;
/// Of one message, in characters.
const MESSAGE_MAX: usize = 4_000;

pub(super) async fn sessions(app: &App, wanted: tool::ListSessions) -> ApiResult<Outcome> {
    let store = app.engine.store();
    let limit = wanted.limit.unwrap_or(SESSIONS).clamp(1, PAGE_MAX);
    let rows = store.sessions(wanted.before.as_deref().map(parse_cursor).transpose()?, limit).await?;
    let next = rows.last().filter(|_| rows.len() as u32 == limit).map(|row| format_cursor(row.cursor()));
    let mut sessions = Vec::with_capacity(rows.len());
    for row in rows {
        let job = store.latest_turn(row.id).await?.map(|turn| JobId { session: row.id, turn: turn.id });
        sessions.push(SessionView {
            session_id: row.id.to_string(),
            title: row.title,
            agent: row.agent,
            model: row.model,
            updated_at: row.updated_at.to_string(),
            running: row.running,
            queued: row.queue_len,
            waiting: row.waiting,
            job_id: job.map(|job| job.to_string()),
        });
    }
    let mut text: String = sessions.iter().map(line).collect();
    match &next {
        Some(next) => text.push_str(&format!("(more: call `list_sessions` with before {next})\n")),
        None if sessions.is_empty() => text.push_str("there are no sessions yet: `delegate` makes one"),
        None => {}
    }
    Ok(Outcome::new(SessionList { sessions, next }, text))
}

fn line(session: &SessionView) -> String {
    let state = match session {
        SessionView { waiting: 1.., .. } => "waits for a person",
        SessionView { running: true, .. } => "running",
        _ => "idle",
    };
    let job = session.job_id.as_ref().map(|job| format!(", latest job {job}")).unwrap_or_default();
    format!("{}  {}  “{}”  ({}, {state}{job})\n", session.session_id, session.updated_at, session.title, session.agent)
}

pub(super) async fn session(app: &App, wanted: tool::ReadSession) -> ApiResult<Outcome> {
    let session: SessionId = wanted.session_id.parse().map_err(|_| invalid("this is no session_id: `list_sessions` shows them"))?;
    app.engine.row(session).await?;
    let before: Option<MessageId> = match wanted.before {
        Some(id) => Some(id.parse().map_err(|_| invalid("`before` is not the id of a message"))?),
        None => None,
    };
    let limit = wanted.limit.unwrap_or(MESSAGES).clamp(1, PAGE_MAX);
    let page = app.engine.store().messages(session, before, limit).await?;
    let messages: Vec<_> = page
        .messages
        .into_iter()
        .map(|message| MessageView {
            id: message.id.to_string(),
            role: serde_json::to_value(message.role).ok().and_then(|role| role.as_str().map(str::to_owned)).unwrap_or_default(),
            created_at: message.created_at.to_string(),
            text: shortened(message.display.as_deref().unwrap_or(&message.content), MESSAGE_MAX),
            job_id: message.turn_id.map(|turn| JobId { session, turn }.to_string()),
        })
        .collect();
    let mut text: String =
        messages.iter().map(|message| format!("[{} {}]\n{}\n\n", message.role, message.created_at, message.text)).collect();
    if let (true, Some(oldest)) = (page.more, messages.first()) {
        text.push_str(&format!("(there are older ones: call `read_session` with before {})", oldest.id));
    }
    Ok(Outcome::new(MessageList { session_id: session.to_string(), messages, more: page.more }, text))
}
