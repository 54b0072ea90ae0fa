//! The protocols that agents speak.

/// What an agent's lines mean. Everything above `agents` sees the same signals, whichever it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Dialect {
    /// The Agent Client Protocol.
    #[default]
    Acp,
    /// `codex app-server`.
    Codex,
}

impl Dialect {
    /// As the configuration calls it.
    pub fn from_name(name: &str) -> Option<Dialect> {
        match name {
            "acp" => Some(Dialect::Acp),
            "codex" => Some(Dialect::Codex),
            _ => None,
        }
    }
}
