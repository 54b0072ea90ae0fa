//! The rows of the table, one file each: a workload, its bare companion, its goals.

pub(crate) mod absent;
pub(crate) mod build;
pub(crate) mod commit;
pub(crate) mod fan_out;
pub(crate) mod flood;
pub(crate) mod growth;
pub(crate) mod idle;
pub(crate) mod many;
pub(crate) mod model;
pub(crate) mod open;
pub(crate) mod paced;
pub(crate) mod sandbox;
pub(crate) mod start;

/// Why a process has more resident memory than it uses.
const BINARY_PAGES: &str = "pages of the binary's code, which the system shares between all processes of it; what is its own is far less";
/// Why a rate is lower, or a wait longer, than on another day.
const PROCESSORS: &str =
    "the processors: agents, runners, server and clients share them, and the bare loop beside it tells how fast they are just now";
