//! What a notification says: the words of the contract, short enough for any push service.

use std::time::Duration;

use domain::agent::{OptionKind, PermissionOption};
use domain::ids::{PermissionId, SessionId};
use domain::text::{clip, visible};
use push::{Note, Urgency};
use serde::Serialize;
use store::SessionRow;

const TITLE_BYTES: usize = 200;
const TEXT_BYTES: usize = 600;
const OPTION_ID_BYTES: usize = 200;
/// With what the encryption adds it is still below the 4,096 bytes that every push service takes.
const PAYLOAD_BYTES: usize = 3500;
/// How long a browser may be away and still be told.
const TTL: Duration = Duration::from_secs(12 * 3600);

pub(super) enum Told {
    NeedsYou {
        text: String,
        request_id: Option<PermissionId>,
        options: Vec<PermissionOption>,
    },
    Done {
        text: String,
    },
    Failed {
        text: String,
    },
    /// What was asked is answered: what the device shows of it goes.
    Closed,
}

#[derive(Serialize)]
struct Payload<'a> {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<SessionId>,
    title: String,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<PermissionId>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    options: Vec<Choice<'a>>,
}

#[derive(Serialize)]
struct Choice<'a> {
    option_id: &'a str,
    name: &'a str,
    kind: &'a str,
}

impl Told {
    /// A device that may only watch is offered no answers.
    pub(super) fn note(&self, row: &SessionRow, may_answer: bool) -> Note {
        let (kind, text, urgency) = match self {
            Told::NeedsYou { text, .. } => ("needs-you", text.as_str(), Urgency::High),
            Told::Done { text } => ("done", text.as_str(), Urgency::Normal),
            Told::Failed { text } => ("failed", text.as_str(), Urgency::Normal),
            Told::Closed => ("closed", "", Urgency::Normal),
        };
        let (request_id, options) = match self {
            Told::NeedsYou { request_id, options, .. } => (*request_id, answers(options, text, may_answer)),
            _ => (None, Vec::new()),
        };
        let title = if row.title.is_empty() { "Untitled session" } else { &row.title };
        let payload = Payload {
            kind,
            session_id: Some(row.id),
            title: shown(title, TITLE_BYTES),
            text: shown(text, TEXT_BYTES),
            request_id,
            options,
        };
        note(payload, urgency, row.id.0.simple().to_string())
    }
}

/// Says that notifications arrive.
pub(crate) fn test() -> Note {
    let text = "This device notifies you when an agent needs you, and when its work is done.".to_owned();
    let payload =
        Payload { kind: "test", session_id: None, title: "Notifications work".to_owned(), text, request_id: None, options: Vec::new() };
    note(payload, Urgency::High, "test".to_owned())
}

fn note(mut payload: Payload<'_>, urgency: Urgency, topic: String) -> Note {
    let bytes = |payload: &Payload<'_>| serde_json::to_vec(payload).expect("texts and ids are plain data");
    let mut encoded = bytes(&payload);
    if encoded.len() > PAYLOAD_BYTES {
        payload.text.clear();
        encoded = bytes(&payload);
    }
    Note { payload: encoded, ttl: TTL, urgency, topic }
}

/// Once, never for always; and only where the whole of what is asked stands in the notification.
fn answers<'a>(options: &'a [PermissionOption], text: &str, may_answer: bool) -> Vec<Choice<'a>> {
    if !may_answer || text.len() >= TEXT_BYTES {
        return Vec::new();
    }
    let of = |kind: OptionKind| options.iter().find(|option| option.kind == kind && option.option_id.len() <= OPTION_ID_BYTES);
    // The words are ours: an agent's name for an option may say anything.
    let choice = |(kind, name): (OptionKind, &'static str)| Some(Choice { option_id: &of(kind)?.option_id, name, kind: kind.as_str() });
    [(OptionKind::AllowOnce, "Allow"), (OptionKind::RejectOnce, "Deny")].into_iter().filter_map(choice).collect()
}

fn shown(text: &str, most: usize) -> String {
    let text = visible(text.trim());
    let cut = clip(&text, most);
    if cut.len() < text.len() { format!("{cut}…") } else { cut.to_owned() }
}
