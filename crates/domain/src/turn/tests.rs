//! The turn machine under every input that can come, in every order, and under a restart at every moment.

mod answers;
mod denials;
mod holds;
mod order;
mod properties;
mod reasons;
mod rules;
mod stops;
mod waits;
mod world;

use jiff::Timestamp;
use uuid::Uuid;

use super::{Effect, Input, Now, Session, Settings};
use crate::event::{Event, QueueItem, ToolCall};
use crate::ids::{MessageId, TurnId};

pub(super) const AGENT: &str = "agent";
pub(super) const NOW: Now = Now(Timestamp::UNIX_EPOCH);

pub(super) fn settings() -> Settings {
    Settings { max_iterations: 4, relay: false, model: "main".to_owned(), agent: AGENT.to_owned(), is_full: false, denial_hold_ms: 0 }
}

/// The `number`th message of a test, and the turn that it begins.
pub(super) fn item(number: u128) -> QueueItem {
    QueueItem {
        message_id: MessageId(Uuid::from_u128(number)),
        turn_id: TurnId(Uuid::from_u128(number << 64)),
        content: format!("message {number}"),
        created_at: Timestamp::UNIX_EPOCH,
        client_id: None,
        attachments: Vec::new(),
    }
}

pub(super) fn tool_call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall { id: id.to_owned(), name: name.to_owned(), arguments: arguments.to_owned() }
}

pub(super) fn delegate(id: &str, session_name: &str) -> ToolCall {
    tool_call(id, "copilot_agent", &format!(r#"{{"prompt":"do it","session_name":"{session_name}"}}"#))
}

/// A session with one turn, for tests that tell a story.
pub(super) struct Story {
    pub session: Session,
    pub settings: Settings,
    pub effects: Vec<Effect>,
}

impl Story {
    pub(super) fn begin() -> Story {
        let mut story = Story { session: Session::default(), settings: settings(), effects: Vec::new() };
        story.feed(Input::Message(item(1)));
        story
    }

    pub(super) fn feed(&mut self, input: Input) -> Vec<Effect> {
        let effects = self.session.step(input, &self.settings, NOW);
        self.effects.extend(effects.iter().cloned());
        effects
    }

    /// The model answers with these calls, or with text where there are none.
    pub(super) fn answer(&mut self, text: &str, tool_calls: Vec<ToolCall>) -> Vec<Effect> {
        let message_id = self.session.turn.as_ref().expect("a turn runs").message_id();
        self.feed(Input::ModelEnd { message_id, text: text.to_owned(), tool_calls })
    }

    /// What another server makes of the log.
    pub(super) fn restarted(&self) -> Session {
        let mut session = Session::default();
        for effect in &self.effects {
            if let Effect::Append(event) = effect {
                session.apply(event);
            }
        }
        session
    }

    pub(super) fn kinds(&self) -> Vec<String> {
        kinds(&self.effects)
    }
}

/// The kinds of the appended events.
pub(super) fn kinds(effects: &[Effect]) -> Vec<String> {
    effects.iter().filter_map(|effect| if let Effect::Append(event) = effect { Some(kind(event)) } else { None }).collect()
}

/// An event's kind; a turn's with its state.
pub(super) fn kind(event: &Event) -> String {
    match event {
        Event::Turn(turn) => format!("turn {}", serde_json::to_value(turn.state).expect("a word").as_str().expect("a word")),
        other => other.kind().to_owned(),
    }
}
