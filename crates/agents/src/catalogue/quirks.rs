//! How an agent differs from what the protocol says, as data: nobody compares an agent's name to know how to treat it.

use std::time::Duration;

use crate::records::Records;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Quirks {
    /// It says among its message text what others send as notices: a chunk that begins with `Info: `, `Warning: ` or `Error: `.
    pub notices_in_text: bool,
    /// How such errors of its own begin, behind `Error: `. They are believed also where it cannot be told whether a model said them.
    pub own_errors: &'static [&'static str],
    /// A line on stderr that its wrapper prints whenever its program has ended badly, also after hours of work.
    pub false_blame: Option<&'static str>,
    /// The flag that gives it the stdio MCP servers, where it does not take them from a client.
    pub mcp_flag: Option<&'static str>,
    /// Reached over TCP, it ends the sessions of a lost connection only after a moment, and with them whatever was brought back before.
    pub settle_after_disconnect: Duration,
    /// What of ours it is offered. One that asks by itself and then has us do it needs nothing of it.
    pub offers: Offers,
    /// Whether it asks before it changes something.
    pub asks: Asks,
    /// How a text begins with which it says that its model failed, and then ends as if it had finished.
    pub faults_in_text: &'static [&'static str],
    /// It lists only the sessions of the directory that it is asked for.
    pub lists_by_directory: bool,
    /// What a prompt does to one that still runs in the same session. We never send one; it is told to people.
    pub second_prompt: SecondPrompt,
    /// How it keeps its sessions on disk, where that is known well enough to find and repair damage.
    pub records: Option<Records>,
}

/// What an agent may have us do for it, see `clientCapabilities` of the protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Offers {
    pub read: bool,
    pub write: bool,
    pub terminal: bool,
}

/// How an agent is brought to ask.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asks {
    /// It does by itself.
    Always,
    /// Only in this mode, by the option's id and its value.
    InMode { option: &'static str, value: &'static str },
    /// Only with this in its environment when it starts.
    WithVariable { name: &'static str, value: &'static str },
    /// Never, whatever it is told.
    Never,
}

/// What a prompt does to one that runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SecondPrompt {
    Unknown,
    Queued,
    /// The first one ends as cancelled.
    Cancels,
    /// It joins the first one.
    Steers,
}

impl Offers {
    pub const ALL: Offers = Offers { read: true, write: true, terminal: true };
    pub const NONE: Offers = Offers { read: false, write: false, terminal: false };
}

/// An agent that does as the protocol says.
pub(super) const STANDARD: Quirks = Quirks {
    notices_in_text: false,
    own_errors: &[],
    false_blame: None,
    mcp_flag: None,
    settle_after_disconnect: Duration::from_secs(3),
    offers: Offers::ALL,
    asks: Asks::Always,
    faults_in_text: &[],
    lists_by_directory: false,
    second_prompt: SecondPrompt::Unknown,
    records: None,
};

pub(super) const COPILOT: Quirks = Quirks {
    notices_in_text: true,
    own_errors: &[
        "Failed to get response from the AI model; retried",
        "Authentication failed with provider at ",
        "Could not connect to local model provider at ",
        "GenericFailure, ",
    ],
    false_blame: Some("no platform package found"),
    mcp_flag: Some("--additional-mcp-config"),
    second_prompt: SecondPrompt::Cancels,
    records: Some(Records {
        below: "session-state",
        file: "events.jsonl",
        first: "session.start",
        families: &["session.", "user.", "assistant.", "system.", "tool."],
        messages: &["user.message", "assistant.message"],
        title: ("workspace.yaml", "name: "),
        complaints: &["Session file is corrupted", "Failed to read persisted event journal", "Invalid event at line"],
    }),
    ..STANDARD
};

pub(super) const CODEX: Quirks =
    Quirks { asks: Asks::InMode { option: "mode", value: "read-only" }, second_prompt: SecondPrompt::Steers, ..STANDARD };

/// In its own mode something else than a person decides.
pub(super) const CODEX_ACP: Quirks =
    Quirks { asks: Asks::InMode { option: "mode", value: "read-only" }, second_prompt: SecondPrompt::Queued, ..STANDARD };

pub(super) const CLAUDE: Quirks = Quirks { second_prompt: SecondPrompt::Queued, ..STANDARD };

/// A file that is not there must not be an error to it, so it reads by itself.
pub(super) const GEMINI: Quirks = Quirks { offers: Offers::NONE, second_prompt: SecondPrompt::Cancels, ..STANDARD };

pub(super) const OPENCODE: Quirks = Quirks {
    offers: Offers::NONE,
    asks: Asks::WithVariable {
        name: "OPENCODE_PERMISSION",
        value: r#"{"bash":"ask","edit":"ask","webfetch":"ask","external_directory":"ask"}"#,
    },
    second_prompt: SecondPrompt::Queued,
    ..STANDARD
};

/// In its own mode (`auto`) something else than a person decides.
pub(super) const QWEN: Quirks = Quirks {
    offers: Offers::NONE,
    asks: Asks::InMode { option: "mode", value: "default" },
    lists_by_directory: true,
    second_prompt: SecondPrompt::Cancels,
    ..STANDARD
};

pub(super) const GOOSE: Quirks = Quirks {
    offers: Offers::NONE,
    asks: Asks::WithVariable { name: "GOOSE_MODE", value: "approve" },
    faults_in_text: &["Ran into this error:"],
    ..STANDARD
};

impl Default for Quirks {
    fn default() -> Self {
        STANDARD
    }
}
