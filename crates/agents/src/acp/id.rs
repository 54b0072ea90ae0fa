//! Our request ids. They carry their meaning, so that a server that was restarted can tell from the journal alone what an
//! answer belongs to.

pub const INITIALIZE: &str = "initialize";

const PROMPT: &str = "prompt:";
const LOAD: &str = "load:";

pub fn new(name: &str) -> String {
    format!("new:{name}")
}

pub fn load(name: &str) -> String {
    format!("{LOAD}{name}")
}

pub fn resume(name: &str) -> String {
    format!("resume:{name}")
}

pub fn prompt(call_id: &str) -> String {
    format!("{PROMPT}{call_id}")
}

/// For requests that are never adopted: `what` and a number.
pub fn counted(what: &str, count: u64) -> String {
    format!("{what}:{count}")
}

/// The tool call that a prompt's id names.
pub fn prompted_call(id: &str) -> Option<&str> {
    id.strip_prefix(PROMPT)
}

/// Whether it asks for a list of sessions, in any dialect.
pub fn is_list(id: &str) -> bool {
    id.starts_with("list:")
}

pub fn is_load(id: &str) -> bool {
    id.starts_with(LOAD)
}
