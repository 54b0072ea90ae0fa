//! What an agent's sessions have used: the context that updates tell of, and the tokens that a prompt's result counts. Each report
//! names only its own part, so the last of both is kept and reported together.

use std::collections::HashMap;
use std::sync::Arc;

use domain::agent::Update;
use serde::Deserialize;
use serde_json::Value;

/// So many sessions are remembered. One that is forgotten only loses the other half of its next report.
const MAX_SESSIONS: usize = 256;

#[derive(Clone, PartialEq, Eq, Default, Debug, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Tokens {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    total_tokens: Option<u64>,
    thought_tokens: Option<u64>,
    #[serde(alias = "cacheReadTokens")]
    cached_read_tokens: Option<u64>,
    #[serde(alias = "cacheWriteTokens")]
    cached_write_tokens: Option<u64>,
}

impl Tokens {
    /// `None` where nothing of it is a count.
    pub(crate) fn read(usage: &Value) -> Option<Tokens> {
        Tokens::deserialize(usage).ok().filter(|tokens| *tokens != Tokens::default())
    }
}

#[derive(Default)]
pub(super) struct Session {
    context: Option<(Option<u64>, Option<u64>, Option<Value>)>,
    pub tokens: Option<Tokens>,
    /// A prompt was answered without a count.
    pub uncounted: bool,
}

#[derive(Default)]
pub(super) struct Accounts(HashMap<Arc<str>, Session>);

impl Accounts {
    pub(super) fn get(&self, session: &Arc<str>) -> Option<&Session> {
        self.0.get(session)
    }

    pub(super) fn session(&mut self, session: &Arc<str>) -> &mut Session {
        if self.0.len() >= MAX_SESSIONS && !self.0.contains_key(session) {
            self.0.clear();
        }
        self.0.entry(session.clone()).or_default()
    }

    /// An update of the context, with the tokens that were counted before.
    pub(super) fn with_context(&mut self, session: &Arc<str>, used: Option<u64>, size: Option<u64>, cost: Option<Value>) -> Update {
        let session = self.session(session);
        session.context = Some((used, size, cost));
        session.update()
    }

    pub(super) fn with_tokens(&mut self, session: &Arc<str>, tokens: Tokens) -> Update {
        let session = self.session(session);
        session.tokens = Some(tokens);
        session.update()
    }
}

impl Session {
    fn update(&self) -> Update {
        let (used, size, cost) = self.context.clone().unwrap_or_default();
        let tokens = self.tokens.clone().unwrap_or_default();
        Update::Usage {
            used,
            size,
            cost,
            input_tokens: tokens.input_tokens,
            output_tokens: tokens.output_tokens,
            total_tokens: tokens.total_tokens,
            thought_tokens: tokens.thought_tokens,
            cached_read_tokens: tokens.cached_read_tokens,
            cached_write_tokens: tokens.cached_write_tokens,
        }
    }
}
