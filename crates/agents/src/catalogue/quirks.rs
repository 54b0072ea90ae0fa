//! How an agent differs from what the protocol says, as data: nobody compares an agent's name to know how to treat it.

use std::time::Duration;

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
    /// What to do where it needs a login, behind "it needs a login: ".
    pub login_advice: &'static str,
    /// What to do where its program is missing, behind a colon.
    pub install_advice: &'static str,
}

/// An agent that does as the protocol says.
const STANDARD: Quirks = Quirks {
    notices_in_text: false,
    own_errors: &[],
    false_blame: None,
    mcp_flag: None,
    settle_after_disconnect: Duration::from_secs(3),
    login_advice: "log in with its own command; the message waits and is sent afterwards",
    install_advice: "",
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
    settle_after_disconnect: Duration::from_secs(3),
    login_advice: "run `copilot login` or `gh auth login`; the message waits and is sent afterwards. A token in COPILOT_GITHUB_TOKEN \
                   works too, after a restart of the server",
    install_advice: "install it with `npm install -g @github/copilot`, or set VOXPILOT_COPILOT_CLI_PATH",
};

impl Default for Quirks {
    fn default() -> Self {
        STANDARD
    }
}
