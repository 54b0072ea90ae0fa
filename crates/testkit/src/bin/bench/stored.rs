//! Databases that have been used for a while, written by the store itself, because living through so many turns would take minutes.

use std::path::Path;

use domain::event::{CopilotDelta, Delegation, Event, Message, Role, ToolCall, Turn, TurnState};
use domain::ids::{MessageId, SessionId, TurnId};
use jiff::Timestamp;
use store::{NewSession, Row, Store, TurnRow, Write};
use testkit::server::Rig;
use uuid::Uuid;

/// What a turn that was relayed to an agent leaves behind.
pub(crate) const MESSAGES_A_TURN: u64 = 4;

/// Writes so many sessions into the database of a server that has not been started; gives their ids.
pub(crate) async fn sessions(rig: &Rig, sessions: usize, turns: usize, message_bytes: usize) -> anyhow::Result<Vec<String>> {
    let store = Store::open(&rig.data_dir().join("voxpilot.db"), false).await?;
    let mut ids = Vec::new();
    for _ in 0..sessions {
        let session = SessionId(Uuid::now_v7());
        let rows = vec![Row::CreateSession(new_session(&rig.work_dir()))];
        store.commit(Write { session, events: Vec::new(), rows }).await?;
        let turns = (0..turns).map(|_| turn(session, message_bytes));
        // A few at a time: one write has a limit.
        for write in together(session, turns, 50) {
            store.commit(write).await?;
        }
        ids.push(session.0.to_string());
    }
    store.close().await;
    Ok(ids)
}

fn together(session: SessionId, turns: impl Iterator<Item = Write>, at_once: usize) -> Vec<Write> {
    let turns: Vec<Write> = turns.collect();
    let joined = turns.chunks(at_once).map(|turns| Write {
        session,
        events: turns.iter().flat_map(|turn| turn.events.clone()).collect(),
        rows: turns.iter().flat_map(|turn| turn.rows.clone()).collect(),
    });
    joined.collect()
}

fn new_session(work_dir: &Path) -> NewSession {
    NewSession {
        title: "a stored session".to_owned(),
        work_dir: work_dir.display().to_string(),
        model: "relay".to_owned(),
        agent: "fast".to_owned(),
        permission_policy: None,
        created_at: Timestamp::now(),
    }
}

/// A question, a delegation, its result and the answer, as the server writes them.
fn turn(session: SessionId, message_bytes: usize) -> Write {
    let (id, now) = (TurnId(Uuid::now_v7()), Timestamp::now());
    let text = "x".repeat(message_bytes);
    let call = format!("relay_{}", Uuid::new_v4().simple());
    let question = message(id, Role::User, &text);
    let asking =
        ToolCall { id: call.clone(), name: "copilot_agent".to_owned(), arguments: r#"{"prompt":"x","session_name":"main"}"#.to_owned() };
    let delegating = Message { tool_calls: vec![asking.clone()], ..message(id, Role::Assistant, "") };
    let delegation = Delegation {
        session_name: "main".into(),
        agent: "fast".into(),
        stop_reason: "end_turn".into(),
        ending: None,
        waited_ms: 0,
        turn_waited_ms: None,
        summary: text.clone(),
        updates: Vec::new(),
    };
    let result = Message { tool_call_id: Some(call.clone()), delegation: Some(delegation), ..message(id, Role::Tool, &text) };
    let answer = message(id, Role::Assistant, &text);
    let mut rows: Vec<Row> = [&question, &delegating, &result, &answer].into_iter().cloned().map(Row::Message).collect();
    rows.push(Row::Turn(TurnRow {
        id,
        state: TurnState::Completed,
        reason: None,
        user_message_id: Some(question.id),
        started_seq: 0,
        started_at: now,
        ended_at: Some(now),
    }));
    let told = |state| Event::Turn(Turn::new(id, state, None));
    let delta = CopilotDelta { tool_call_id: call, session_name: "main".to_owned(), offset: 0, content: text };
    let events = vec![
        Event::Message(question),
        told(TurnState::Running),
        Event::ToolCall(asking),
        Event::CopilotDelta(delta),
        Event::Message(answer),
        told(TurnState::Completed),
    ];
    Write { session, events, rows }
}

fn message(turn_id: TurnId, role: Role, content: &str) -> Message {
    let message = Message::plain(MessageId(Uuid::now_v7()), role, content.to_owned(), Timestamp::now());
    Message { turn_id: Some(turn_id), ..message }
}
