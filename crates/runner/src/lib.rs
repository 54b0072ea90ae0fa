//! One runner for each agent process: it holds the agent's pipes, writes every line down, and outlives the server.
//!
//! Two halves live here. `process` is the runner itself: plain threads, a journal on disk, a unix socket. `server` is the
//! other end of that socket, for the async server. Neither knows what the lines mean: this crate moves bytes between
//! newlines and must never parse them. `terminal` runs commands for agents, each behind a small process that cannot outlive
//! the server; `pty` runs one that wants a terminal of its own. `confine` keeps an agent within bounds.

mod confine;
mod directory;
mod first_line;
mod identity;
mod invocation;
mod journal;
mod process;
mod processes;
mod program;
mod pty;
mod record;
mod server;
mod spec;
mod starting;
mod terminal;
mod wire;

pub use confine::{Base, Broker, BrokerGuard, CONFINED, Confinement, Family, Feature, Layers, Mechanism, Sandbox, run_confined};
pub use directory::Directory;
pub use first_line::first_line;
pub use identity::{Identity, ProcessIdentity};
pub use invocation::Invocation;
pub use journal::{JournalReader, journal_pieces, read_journal};
pub use process::run;
pub use program::find_program;
pub use pty::Pty;
pub use record::{Body, MAX_LINE_BYTES, Record};
pub use server::{
    AttachError, Bar, Found, Handle, LeftoverError, ReadError, Records, RequestError, StartError, WriteError, attach, bar, end_leftovers,
    find, left_behind, start,
};
pub use spec::{Durability, MARK, Spec, put_private};
pub use starting::starting_line;
pub use terminal::{Terminal, TerminalExit, TerminalSpec, keep_terminal};
