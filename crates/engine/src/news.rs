//! What people who are not looking are told of: that somebody waits for them, and that something has ended.
//!
//! It is told once, when it is durable. Whoever listens and is slow misses some of it: it can be looked up in the store.

use std::sync::Mutex;

use domain::agent::PermissionOption;
use domain::event::{Event, PermissionRequest, TurnState};
use domain::ids::{PermissionId, SessionId, TurnId};
use domain::text::clip;
use tokio::sync::mpsc;

use crate::Engine;

/// How much may wait for the listener.
const QUEUE: usize = 256;
/// Of a text that an agent has chosen.
const TEXT_BYTES: usize = 600;
const OPTIONS: usize = 16;
/// The notice that an agent needs a login.
const LOGIN: &str = "auth_required";

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Heard {
    pub session: SessionId,
    pub what: Happening,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Happening {
    /// A person is asked.
    Asked { request_id: Option<PermissionId>, text: String, options: Vec<PermissionOption> },
    /// Something that was asked may wait no longer.
    Answered,
    /// `more`: the next message began at once.
    Ended { turn_id: TurnId, state: TurnState, reason: Option<String>, more: bool },
}

impl Happening {
    pub fn asked(request: &PermissionRequest) -> Happening {
        let ask = &request.ask;
        let text = match &ask.command {
            Some(command) if !ask.title.contains(command.as_str()) => format!("{}\n{command}", clip(&ask.title, TEXT_BYTES / 2)),
            _ => ask.title.clone(),
        };
        let options = ask.options.iter().filter(|_| ask.form.is_none()).take(OPTIONS).cloned().collect();
        Happening::Asked { request_id: Some(request.request_id), text: clip(&text, TEXT_BYTES).to_owned(), options }
    }
}

/// The one who listens, if anybody.
#[derive(Default)]
pub(crate) struct News(Mutex<Option<mpsc::Sender<Heard>>>);

impl News {
    pub(crate) fn tell(&self, session: SessionId, events: &[Event]) {
        let listener = self.0.lock().expect("no code panics while it holds the listener").clone();
        let Some(listener) = listener else { return };
        for (at, event) in events.iter().enumerate() {
            let Some(what) = happening(event, &events[at + 1..]) else { continue };
            if let Err(mpsc::error::TrySendError::Full(_)) = listener.try_send(Heard { session, what }) {
                tracing::warn!(%session, "too many notifications: one was dropped");
            }
        }
    }
}

impl Engine {
    /// From now on; whoever listened before hears nothing more.
    pub fn listen(&self) -> mpsc::Receiver<Heard> {
        let (sender, receiver) = mpsc::channel(QUEUE);
        *self.shared.news.0.lock().expect("no code panics while it holds the listener") = Some(sender);
        receiver
    }
}

fn happening(event: &Event, later: &[Event]) -> Option<Happening> {
    let asked = |text: &str| Happening::Asked { request_id: None, text: clip(text, TEXT_BYTES).to_owned(), options: Vec::new() };
    match event {
        Event::PermissionRequest(request) => Some(Happening::asked(request)),
        Event::ToolConfirm(call) => Some(asked(&format!("The main AI wants to use {}", call.name))),
        Event::Notice(notice) if notice.code == LOGIN => Some(asked(&notice.text)),
        Event::PermissionResolved(_) | Event::ToolResult(_) => Some(Happening::Answered),
        Event::Turn(turn) if turn.state != TurnState::Running => {
            let more = later.iter().any(|event| matches!(event, Event::Turn(next) if next.state == TurnState::Running));
            Some(Happening::Ended { turn_id: turn.turn_id, state: turn.state, reason: turn.reason.clone(), more })
        }
        _ => None,
    }
}
