//! Markdown, code and diffs to safe HTML, and changes to hunks.
//!
//! Whatever goes in, what comes out has no script, no style, no event handler and no link but to the web or a mailbox. This
//! crate is pure: it must not know where a text comes from, and nothing it does reads a file or the network. Rendering takes
//! a time that grows with the text and with nothing else; a long text takes a moment, so callers on an async runtime use a
//! blocking thread.

mod code;
mod diff;
mod escape;
mod html;
pub mod hunks;
mod links;
mod markdown;

pub use diff::diff;
pub use markdown::markdown;
