//! Agents as the engine sees them: a wire dialect in, normalised signals out.
//!
//! This crate owns the JSON-RPC peer, ACP, Codex's dialect, and the catalogue of known agents; it is the only one that names the ACP schema.
//! It stores nothing, decides nothing about permissions, and knows neither sessions of ours nor turns: what an agent says is
//! handed on with the journal position it was read at, and whoever stores it says so with [`Connection::ack`].

pub mod acp;
mod bounds;
pub mod catalogue;
pub mod codex;
pub mod connection;
mod fault;
pub mod jsonrpc;
pub mod login;
pub mod options;
pub mod records;
pub mod runners;
pub mod signal;
pub mod trace;

pub use acp::alias::Names;
pub use acp::content::{Attached, not_sent};
pub use acp::diff::unified as unified_diff;
pub use acp::mcp::{McpServer, Transport};
pub use acp::response::{Capabilities, Listed};
pub use catalogue::{Asks, Dialect, Quirks};
pub use connection::{ConnectError, Connection, Deadlines, How, Known, KnownSession, Launch, Opened, Reopen};
pub use login::{Login, LoginCommand};
pub use runner::{
    Base, Confinement, Directory, Feature, Invocation, Layers, Mechanism, Sandbox, Terminal, TerminalExit, TerminalSpec, find_program,
    starting_line,
};
pub use runners::{Durability, Found, Spec, end_runner, find_runner, find_runners, left_behind, was_restored, written};
pub use signal::{Batch, Exit, Part, PromptEnd, Signal};
