//! What an agent does, in one vocabulary, whatever dialect it speaks. `agents` makes these; engine and page read them.

pub(crate) mod ask;
mod demand;
mod option;
mod shown;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::ids::RuleId;
use crate::json::RawJson;
use crate::text::{clip_start, utf16_len};

pub use ask::{Approval, AskedFile, DIRECTORY_FIELDS, FILE_FIELDS, FilePlace, PermissionAsk, SavedRule};
pub use demand::{Demand, Exited, Failure, Fault, FormAction, Place, Problem, Reply, StartTerminal};
pub use option::{OptionKind, PermissionOption};
pub use shown::{AskedChange, ChangeText, Run, Shown, Variable, is_system_shell, shell_script};

/// How much of a tool call's output stream is kept.
const STREAM_MAX: usize = 64 * 1024;
/// What is left when it is cut, so that not every piece cuts again.
const STREAM_KEPT: usize = 48 * 1024;
const STREAM_CUT: &str = "… (the beginning was cut)\n";

/// Something an agent did in one of its sessions.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Update {
    /// The agent's reasoning, a piece at a time.
    Thought {
        text: String,
    },
    /// A tool call of the agent's, as it is now: each one replaces the earlier one of the same id.
    ToolCall(ToolCall),
    /// More of what a tool call prints, for agents that send their output as a stream.
    ToolOutput {
        /// The agent's id of the call.
        id: String,
        /// Where it continues the call's output, in UTF-16 code units.
        offset: u64,
        content: String,
    },
    /// The whole plan; replaces the earlier one.
    Plan {
        entries: Vec<PlanEntry>,
    },
    Usage {
        used: Option<u64>,
        size: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cost: Option<Value>,
        /// What the agent's models have read and written, as it counts: some count a prompt, some the whole session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input_tokens: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output_tokens: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        total_tokens: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thought_tokens: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cached_read_tokens: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cached_write_tokens: Option<u64>,
    },
    Title {
        title: Option<String>,
    },
    Commands {
        commands: Vec<Command>,
    },
    Mode {
        mode_id: String,
    },
    /// The agent's options with their values, as the agent describes them.
    Options {
        options: Value,
    },
    Notice {
        /// info, warning or error.
        level: String,
        text: String,
        /// It came among the agent's message text, which is how Copilot says such things. An error of this kind that nothing
        /// follows is how the work ended, whatever the agent calls it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        in_text: bool,
        /// The agent asks its model again, and the answer comes once more from its beginning.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry: Option<Retry>,
    },
    /// The agent shortens what it remembers of the conversation. Later reports of one id are merged into earlier ones.
    Compaction {
        id: String,
        /// in_progress, completed, failed, cancelled, or what the agent says.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary: Option<String>,
        /// The summary continues the earlier one instead of replacing it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        appends: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// The session's policy or a saved rule did not allow something that the agent asked for.
    Denied {
        title: String,
        /// The agent's own id of the tool call it asked for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent_call: Option<String>,
        /// What was wrong with the request, where it was refused for that and put to nobody.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        malformed: Option<String>,
        /// policy or rule; empty in logs of earlier versions, where it was the policy.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        by: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule_id: Option<RuleId>,
    },
    /// What a person said when they did not allow something: the agent's next prompt in the same call.
    FollowUp {
        text: String,
    },
    /// Something that the agent asked for was allowed without asking a person.
    Approved(Approval),
    /// A person had an answer remembered.
    Rule(SavedRule),
    /// A message part that is not text (an image, a resource).
    Content {
        #[schema(value_type = Value)]
        content: RawJson,
    },
    /// The person's words, as the agent repeats them when it replays a session.
    UserMessage {
        text: String,
    },
    /// A kind that this version does not know; nothing of it is dropped.
    Unknown {
        kind: String,
        #[schema(value_type = Value)]
        raw: RawJson,
    },
}

/// How far the repetition of an answer has come. It is reported anew as the repetition goes on, each time in the place of the last.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, ToSchema)]
#[schema(as = AgentRetry)]
pub struct Retry {
    /// Counts the retries of one call, from 1.
    pub number: u32,
    /// How much of the text before it has come again, in UTF-16 code units, and is not shown twice.
    pub repeated: u64,
    /// The repetition differed: the unfinished answer before it is void, and the whole new one follows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub anew: bool,
}

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, ToSchema)]
#[schema(as = AgentToolCall)]
pub struct ToolCall {
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// read, edit, delete, move, search, execute, think, fetch, switch_mode, other, or what the agent says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// pending, in_progress, completed, failed, or what the agent says; cancelled or interrupted where we closed what it left open, and
    /// declined where it was not allowed (rejected in logs of earlier versions).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Where it never began: who decided that, in the words of `permission-resolved` (cancel and agent_gone: nobody had answered).
    /// Missing in logs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declined_by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Vec<ToolContent>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locations: Option<Vec<Location>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Value>)]
    pub input: Option<RawJson>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Value>)]
    pub output: Option<RawJson>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// The sub-agent that made the call, where the agent marks it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The end of what came as [`Update::ToolOutput`]. Reports of the call leave it alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<String>,
    /// How much came in all, in UTF-16 code units: where the next piece begins.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stream_length: u64,
    /// Part of it was too large to keep.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToolContent {
    Text {
        text: String,
    },
    Diff {
        path: String,
        old_text: Option<String>,
        new_text: String,
        /// Made when it is sent, not stored.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(schema_with = hunks_schema, required = false)]
        hunks: Option<Value>,
    },
    Terminal {
        terminal_id: String,
    },
    Other {
        #[schema(value_type = Value)]
        raw: RawJson,
    },
}

impl ToolContent {
    /// About how much memory it takes.
    pub fn bytes(&self) -> usize {
        size_of::<ToolContent>()
            + match self {
                ToolContent::Text { text } => text.len(),
                ToolContent::Diff { path, old_text, new_text, .. } => {
                    path.len() + old_text.as_ref().map_or(0, String::len) + new_text.len()
                }
                ToolContent::Terminal { terminal_id } => terminal_id.len(),
                ToolContent::Other { raw } => raw.text().len(),
            }
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Location {
    pub path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct PlanEntry {
    pub content: String,
    pub priority: String,
    /// pending, in_progress, completed, or what the agent says; stopped where its work ended in the middle of it.
    pub status: String,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Command {
    pub name: String,
    pub description: String,
}

impl Update {
    /// About how much memory it takes.
    pub fn bytes(&self) -> usize {
        let words = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        size_of::<Update>()
            + match self {
                Update::Thought { text } | Update::UserMessage { text } | Update::FollowUp { text } => text.len(),
                Update::ToolCall(call) => call.bytes(),
                Update::ToolOutput { id, content, .. } => id.len() + content.len(),
                Update::Plan { entries } => entries.iter().map(PlanEntry::bytes).sum(),
                Update::Title { title } => words(title),
                Update::Commands { commands } => commands.iter().map(Command::bytes).sum(),
                Update::Mode { mode_id } => mode_id.len(),
                Update::Options { options } => RawJson::from(options).text().len(),
                Update::Notice { level, text, .. } => level.len() + text.len(),
                Update::Compaction { id, status, summary, error, .. } => id.len() + words(status) + words(summary) + words(error),
                Update::Denied { title, agent_call, malformed, .. } => title.len() + words(agent_call) + words(malformed),
                Update::Approved(approval) => approval.bytes(),
                Update::Rule(rule) => rule.text.len() + words(&rule.command),
                Update::Content { content } => content.text().len(),
                Update::Unknown { kind, raw } => kind.len() + raw.text().len(),
                // Numbers, and a word about costs.
                Update::Usage { .. } => 0,
            }
    }

    /// A notice that an agent sent as one.
    pub fn notice(level: impl Into<String>, text: impl Into<String>) -> Update {
        Update::Notice { level: level.into(), text: text.into(), in_text: false, retry: None }
    }

    /// How full the agent's context is, without any count of tokens.
    pub fn usage(used: Option<u64>, size: Option<u64>, cost: Option<Value>) -> Update {
        Update::Usage {
            used,
            size,
            cost,
            input_tokens: None,
            output_tokens: None,
            total_tokens: None,
            thought_tokens: None,
            cached_read_tokens: None,
            cached_write_tokens: None,
        }
    }
}

impl PlanEntry {
    fn bytes(&self) -> usize {
        size_of::<PlanEntry>() + self.content.len() + self.priority.len() + self.status.len()
    }
}

impl Command {
    fn bytes(&self) -> usize {
        size_of::<Command>() + self.name.len() + self.description.len()
    }
}

impl ToolCall {
    /// Merges a later, partial report into this one: what it does not mention stays, what it mentions replaces.
    pub fn merge(&mut self, later: ToolCall) {
        fn put<T>(field: &mut Option<T>, later: Option<T>) {
            if later.is_some() {
                *field = later;
            }
        }
        put(&mut self.title, later.title);
        put(&mut self.kind, later.kind);
        put(&mut self.status, later.status);
        put(&mut self.content, later.content);
        put(&mut self.locations, later.locations);
        // What is known is not taken back by a report that leaves it out in its own way.
        let known = self.input.is_some();
        put(&mut self.input, later.input.filter(|input| !known || !input.is_empty()));
        put(&mut self.output, later.output);
        put(&mut self.exit_code, later.exit_code);
        put(&mut self.parent, later.parent);
        self.truncated |= later.truncated;
    }

    /// About how much memory it takes.
    pub fn bytes(&self) -> usize {
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let raw = |raw: &Option<RawJson>| raw.as_ref().map_or(0, |raw| raw.text().len());
        let content: usize = self.content.iter().flatten().map(ToolContent::bytes).sum();
        let locations: usize = self.locations.iter().flatten().map(|location| size_of::<Location>() + location.path.len()).sum();
        let words = self.id.len() + text(&self.title) + text(&self.kind) + text(&self.status) + text(&self.parent) + text(&self.stream);
        size_of::<ToolCall>() + words + content + locations + raw(&self.input) + raw(&self.output)
    }

    /// Appends a piece of output. Only the end of a long stream is kept, below a note; the offsets count on.
    pub fn append_output(&mut self, offset: u64, content: &str) {
        let known = self.stream_length.saturating_sub(offset);
        let new = clip_utf16(content, known);
        self.stream_length = self.stream_length.max(offset + utf16_len(content));
        let stream = self.stream.get_or_insert_default();
        stream.push_str(new);
        if stream.len() > STREAM_MAX {
            let tail = clip_start(stream, STREAM_KEPT - STREAM_CUT.len());
            *stream = format!("{STREAM_CUT}{tail}");
        }
    }

    pub fn is_open(&self) -> bool {
        !matches!(self.status.as_deref(), Some("completed" | "failed" | "cancelled" | "interrupted" | "declined" | "rejected"))
    }

    /// It may change files, as far as its kind tells.
    pub fn may_write(&self) -> bool {
        !matches!(self.kind.as_deref(), Some("read" | "search" | "think" | "fetch" | "switch_mode"))
    }

    /// Nothing tells what it is going to do.
    pub fn says_nothing(&self) -> bool {
        self.input.as_ref().is_none_or(RawJson::is_empty) && self.content.as_ref().is_none_or(Vec::is_empty)
    }
}

/// Hunks are `render`'s to make: here they only pass through.
pub(crate) fn hunks_schema() -> utoipa::openapi::Array {
    utoipa::openapi::ArrayBuilder::new().items(utoipa::openapi::Ref::from_schema_name("DiffHunk")).build()
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// `text` without its first `units` UTF-16 code units.
fn clip_utf16(text: &str, units: u64) -> &str {
    let mut passed = 0;
    let rest = text.char_indices().find(|(_, character)| {
        let here = passed;
        passed += character.len_utf16() as u64;
        here >= units
    });
    rest.map_or("", |(index, _)| &text[index..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_appended_by_offset_and_only_its_end_is_kept() {
        let mut call = ToolCall::default();
        call.append_output(0, "ä𝄞");
        call.append_output(3, "b");
        call.append_output(1, "𝄞bc");
        assert_eq!((call.stream.as_deref(), call.stream_length), (Some("ä𝄞bc"), 5));
        for number in 0..3000 {
            let content = format!("{number:050}\n");
            call.append_output(call.stream_length, &content);
            assert!(call.stream.as_ref().is_some_and(|stream| stream.len() <= STREAM_MAX));
        }
        assert_eq!(call.stream_length, 5 + 3000 * 51);
        let stream = call.stream.unwrap_or_default();
        assert!(stream.starts_with(STREAM_CUT) && stream.ends_with("2999\n"));
        assert_eq!(stream.matches(STREAM_CUT).count(), 1);
    }
}
