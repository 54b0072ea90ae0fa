//! Markdown, code and diffs to safe HTML.
//!
//! Whatever goes in, what comes out has no script, no style, no event handler and no link but to the web or a mailbox. This
//! crate is pure: it must not know where a text comes from, and nothing it does reads a file or the network. Rendering is
//! bounded but may take a moment, so callers on an async runtime use a blocking thread.

mod diff;
mod escape;
mod highlight;
mod language;
mod links;
mod markdown;
mod sanitize;

pub use diff::diff;
pub use highlight::code;
pub use markdown::markdown;

/// The colours of the `hl-` classes, for light and dark, with contrast AA in both.
pub const HIGHLIGHT_CSS: &str = include_str!("../highlight.css");
