//! The dialect of `codex app-server`: captures of the real program, what we send it, and connections to one that is made up.
#![allow(clippy::unwrap_used)]

#[path = "../replay/captures.rs"]
mod captures;
mod connection;
mod replay;
mod rig;
mod schema;
mod sent;
#[path = "../replay/tell.rs"]
mod tell;
