//! A session as events, for a client that comes without a cursor. The order is the contract's.

use domain::event::{AgentUpdate, CopilotDelta, Event, Message, Notice, TextDelta, Turn as TurnEvent, TurnState, Waits};
use domain::ids::TurnId;
use domain::turn::{CallState, Phase, Turn};
use store::Snapshot;

/// Everything but `ready`, which carries the sequence and comes last.
pub(crate) fn events(snapshot: Snapshot) -> Vec<Event> {
    let mut events = messages(snapshot.messages, &snapshot.notices, &snapshot.ended_turns);
    events.extend(snapshot.artifacts.into_iter().map(Event::ReviewArtifact));
    if let Some(turn) = &snapshot.turn_state.turn {
        open_turn(turn, &mut events);
        events.extend(recovered(turn, &snapshot.notices));
    }
    events.extend(snapshot.confirms.into_iter().map(Event::ToolConfirm));
    events.extend(snapshot.permissions.into_iter().map(Event::PermissionRequest));
    let holds = snapshot.turn_state.turn.into_iter().flat_map(|turn| turn.holds);
    events.extend(holds.map(Event::PermissionHeld));
    events.push(Event::Queue(snapshot.queue));
    events
}

/// The messages, and behind those of a turn what people were told in it and how it ended if it did not complete: otherwise a reload
/// would hide a failure.
fn messages(messages: Vec<Message>, notices: &[(Option<TurnId>, Notice)], ended: &[TurnEvent]) -> Vec<Event> {
    let mut events = Vec::with_capacity(messages.len());
    let mut messages = messages.into_iter().peekable();
    while let Some(message) = messages.next() {
        let turn_id = message.turn_id;
        let last = messages.peek().is_none_or(|next| next.turn_id != turn_id);
        events.push(Event::Message(message));
        let told = notices.iter().filter(|(turn, notice)| last && turn.is_some() && *turn == turn_id && notice.is_lasting());
        events.extend(told.map(|(_, notice)| Event::Notice(notice.clone())));
        if let Some(turn) = ended.iter().find(|turn| last && Some(turn.turn_id) == turn_id) {
            events.push(Event::Turn(turn.clone()));
        }
    }
    events
}

/// Which of the turn's open calls go on from before a restart: their blocks say so. Of several restarts the last counts.
fn recovered(turn: &Turn, notices: &[(Option<TurnId>, Notice)]) -> Vec<Event> {
    let is_open = |name: &str| turn.calls().iter().any(|call| call.state != CallState::Done && call.session_name() == Some(name));
    let told = notices.iter().filter(|(of, notice)| *of == Some(turn.id) && notice.code == "recovered");
    let mut latest: Vec<&Notice> = Vec::new();
    for (_, notice) in told.filter(|(_, notice)| notice.session_name.as_deref().is_some_and(is_open)) {
        latest.retain(|known| known.session_name != notice.session_name);
        latest.push(notice);
    }
    latest.into_iter().map(|notice| Event::Notice(notice.clone())).collect()
}

fn open_turn(turn: &Turn, events: &mut Vec<Event>) {
    let reason = turn.cancelling.then(|| "cancelling".to_owned());
    events.push(Event::Turn(TurnEvent::new(turn.id, TurnState::Running, reason)));
    if let Phase::Model { text, .. } = &turn.phase
        && !text.is_empty()
    {
        events.push(Event::TextDelta(TextDelta { message_id: turn.message_id(), offset: 0, content: text.clone() }));
    }
    if !turn.waits.is_empty() {
        events.push(Event::Waits(Waits { turn_id: turn.id, changed: turn.waits.clone() }));
    }
    for call in turn.calls().iter().filter(|call| call.state != CallState::Done) {
        events.push(Event::ToolCall(call.call.clone()));
        let (tool_call_id, Some(session_name)) = (call.call.id.clone(), call.session_name().map(str::to_owned)) else { continue };
        events.push(Event::CopilotDelta(CopilotDelta {
            tool_call_id: tool_call_id.clone(),
            session_name: session_name.clone(),
            offset: 0,
            content: call.text.clone(),
        }));
        for placed in &call.updates {
            events.push(Event::AgentUpdate(AgentUpdate {
                tool_call_id: tool_call_id.clone(),
                session_name: session_name.clone(),
                offset: placed.offset,
                update: placed.update.clone(),
                times: placed.times,
            }));
        }
        if call.stopping {
            events.push(Event::ToolStopping { id: tool_call_id });
        }
    }
}
