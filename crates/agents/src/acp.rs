//! The Agent Client Protocol, version 1: what we write and what we make of what we read. Pure: no process, no clock.
//!
//! Requests are built from the schema's types, so they are right by construction. Reading is our own and lenient, because
//! the schema's closed enums and skipped list items would lose what an agent says: whatever cannot be understood stays
//! whole in [`domain::agent::Update::Unknown`].

pub mod alias;
pub mod content;
pub mod decoder;
pub mod diff;
pub mod id;
pub mod mcp;
pub mod request;
pub mod response;

mod chunk;
mod demand;
mod notice;
mod permission;
pub(crate) mod reply;
pub(crate) mod shape;
pub(crate) mod tool_call;
pub(crate) mod update;
pub(crate) mod usage;

pub const PROTOCOL_VERSION: u64 = 1;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    /// What is sent, asked and told, by the names in the source.
    const SOURCES: [&str; 10] = [
        include_str!("acp/alias.rs"),
        include_str!("acp/decoder.rs"),
        include_str!("acp/demand.rs"),
        include_str!("acp/update.rs"),
        include_str!("codex/approval.rs"),
        include_str!("codex/request.rs"),
        include_str!("connection.rs"),
        include_str!("connection/sessions.rs"),
        include_str!("login/asked.rs"),
        include_str!("options.rs"),
    ];

    /// The words in quotes that look like a method or a kind of update; what tests make up is not among them.
    fn names(source: &str) -> impl Iterator<Item = &str> {
        let source = source.split("#[cfg(test)]").next().unwrap();
        let is_name = |word: &&str| {
            let parts: Vec<_> = word.split('/').collect();
            let plain =
                parts.iter().all(|part| !part.is_empty() && part.chars().all(|letter| letter.is_ascii_alphabetic() || letter == '_'));
            plain && ((2..=3).contains(&parts.len()) || word.ends_with("_update") || word.ends_with("_chunk"))
        };
        source.split('"').skip(1).step_by(2).filter(is_name)
    }

    #[test]
    fn the_reference_names_every_method() {
        let reference = include_str!("../../../docs/acp.md");
        let missing: Vec<_> = SOURCES.iter().flat_map(|source| names(source)).filter(|name| !reference.contains(name)).collect();
        assert!(missing.is_empty(), "docs/acp.md does not name {missing:?}");
        assert!(SOURCES.iter().flat_map(|source| names(source)).count() > 40);
    }
}
