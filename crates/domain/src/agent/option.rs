//! The answers that a request offers: what each means, what people read on it, and what makes an offer malformed.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::PermissionAsk;
use crate::decision::{Decision, Reach, Verdict};
use crate::text::{Piece, clip, pieces, visible};

/// A request with more answers than this is malformed: nobody reads them.
const MAX_OPTIONS: usize = 32;
/// How much of an option's name or id an explanation quotes, in bytes.
const MAX_QUOTED: usize = 60;

/// What choosing an option means.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case", from = "String")]
pub enum OptionKind {
    AllowOnce,
    AllowAlways,
    RejectOnce,
    RejectAlways,
    /// Closes a form without an answer. Only our own forms offer it.
    Cancel,
    /// A kind that nobody defined. It allows nothing, and a request that offers it is malformed.
    Unknown,
}

/// One of the answers that a request offers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct PermissionOption {
    pub option_id: String,
    /// The agent's own name for it, which may say anything. People read `label`.
    pub name: String,
    pub kind: OptionKind,
    /// What people read on it: our verb for the kind, and the agent's name behind it where several would read the same.
    /// Filled in when it is sent, not stored.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
}

impl OptionKind {
    pub const ALLOW: [OptionKind; 2] = [OptionKind::AllowOnce, OptionKind::AllowAlways];
    pub const REJECT: [OptionKind; 2] = [OptionKind::RejectOnce, OptionKind::RejectAlways];

    /// The name in the protocol, the log and the HTTP interface.
    pub fn as_str(self) -> &'static str {
        match self {
            OptionKind::AllowOnce => "allow_once",
            OptionKind::AllowAlways => "allow_always",
            OptionKind::RejectOnce => "reject_once",
            OptionKind::RejectAlways => "reject_always",
            OptionKind::Cancel => "cancel",
            OptionKind::Unknown => "unknown",
        }
    }

    pub fn verdict(self) -> Verdict {
        match self {
            OptionKind::AllowOnce | OptionKind::AllowAlways => Verdict::Allow,
            OptionKind::RejectOnce | OptionKind::RejectAlways => Verdict::Reject,
            OptionKind::Cancel | OptionKind::Unknown => Verdict::Cancel,
        }
    }

    pub fn reach(self) -> Reach {
        match self {
            OptionKind::AllowAlways | OptionKind::RejectAlways => Reach::Always,
            _ => Reach::Once,
        }
    }

    /// The kind of an agent's option: the four of the protocol, and nothing of our own.
    pub fn offered(text: &str) -> OptionKind {
        match OptionKind::from(text.to_owned()) {
            OptionKind::Cancel => OptionKind::Unknown,
            kind => kind,
        }
    }

    fn label(self) -> &'static str {
        match self {
            OptionKind::AllowOnce => "Allow",
            OptionKind::AllowAlways => "Always allow",
            OptionKind::RejectOnce => "Deny",
            OptionKind::RejectAlways => "Always deny",
            OptionKind::Cancel => "Cancel",
            OptionKind::Unknown => "Unknown",
        }
    }
}

/// What an older version stored must stay readable, whatever its agent offered.
impl From<String> for OptionKind {
    fn from(text: String) -> Self {
        let all = [OptionKind::ALLOW, OptionKind::REJECT].concat();
        all.into_iter().chain([OptionKind::Cancel]).find(|kind| kind.as_str() == text).unwrap_or(OptionKind::Unknown)
    }
}

impl PermissionOption {
    pub fn new(option_id: impl Into<String>, name: impl Into<String>, kind: OptionKind) -> PermissionOption {
        PermissionOption { option_id: option_id.into(), name: name.into(), kind, label: String::new() }
    }
}

impl PermissionAsk {
    /// Why this request is malformed, as a fragment; none where it can be put to somebody. A form is our own.
    pub fn flaw(&self) -> Option<String> {
        if self.form.is_some() { None } else { flaw(&self.options) }
    }

    /// The decision to choose this option; none where it is not offered, or the request is malformed.
    pub fn choose(&self, option_id: &str) -> Option<Decision> {
        let option = self.options.iter().find(|option| option.option_id == option_id)?;
        self.flaw().is_none().then(|| Decision::of(option))
    }

    /// The decision to choose the first option of the first of these kinds that is offered; none where the request is malformed.
    pub fn pick(&self, kinds: &[OptionKind]) -> Option<Decision> {
        let option = kinds.iter().find_map(|kind| self.options.iter().find(|option| option.kind == *kind))?;
        self.flaw().is_none().then(|| Decision::of(option))
    }

    /// A no: the option that rejects, once before always, or a cancellation where none is offered.
    pub fn refuse(&self) -> Decision {
        self.pick(&OptionKind::REJECT).unwrap_or_else(Decision::cancelled)
    }

    /// What people read on an option. The verb is ours and follows from the kind, so that no option reads as what it is not. The agent's
    /// name stands behind it where several options of a kind have to be told apart, and where a mode is chosen.
    pub fn label(&self, option: &PermissionOption) -> String {
        if self.form.is_some() {
            return option.name.clone();
        }
        let is_alone = self.options.iter().filter(|other| other.kind == option.kind).count() == 1;
        match (self.is_mode(), option.kind.verdict()) {
            (true, Verdict::Allow) => format!("Allow: {}", option.name),
            (true, Verdict::Reject) => format!("Deny: {}", option.name),
            _ if is_alone => option.kind.label().to_owned(),
            _ => format!("{}: {}", option.kind.label(), option.name),
        }
    }

    pub fn fill_labels(&mut self) {
        let labels: Vec<String> = self.options.iter().map(|option| self.label(option)).collect();
        self.options.iter_mut().zip(labels).for_each(|(option, label)| option.label = label);
    }
}

fn flaw(options: &[PermissionOption]) -> Option<String> {
    if options.is_empty() {
        return Some("it offers no answers".to_owned());
    }
    if options.len() > MAX_OPTIONS {
        return Some(format!("it offers {} answers, and {MAX_OPTIONS} are the limit", options.len()));
    }
    for (at, option) in options.iter().enumerate() {
        let id = quoted(&option.option_id);
        if is_blank(&option.option_id) {
            return Some(format!("its option {} has no id", at + 1));
        }
        if is_blank(&option.name) {
            return Some(format!("its option {id} has no name"));
        }
        if matches!(option.kind, OptionKind::Cancel | OptionKind::Unknown) {
            return Some(format!("its option {id} is of an unknown kind"));
        }
        if options[..at].iter().any(|other| other.option_id == option.option_id) {
            return Some(format!("two of its options share the id {id}"));
        }
    }
    None
}

fn quoted(text: &str) -> String {
    let seen = visible(text);
    let kept = clip(&seen, MAX_QUOTED);
    if kept.len() < seen.len() { format!("`{kept}…`") } else { format!("`{kept}`") }
}

/// Nothing of it would be seen.
fn is_blank(text: &str) -> bool {
    pieces(text).all(|piece| match piece {
        Piece::Hidden(_) => true,
        // A braille pattern without dots is no white space, and looks like it.
        Piece::Plain(plain) => plain.chars().all(|character| character.is_whitespace() || character == '\u{2800}'),
    })
}
