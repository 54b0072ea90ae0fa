//! What a connection hands on, in the host machine's words.

use std::path::{Path, PathBuf};

use agents::{Asks, Signal};
use domain::agent::{AskedChange, Demand, PermissionAsk, Update};
use domain::host::{self, Described, Host};
use domain::ids::SessionId;

use crate::actor::Actor;
use crate::places::Ground;

/// So many changes of a request, and so much of them, are kept to be compared with what is written; what is beyond is asked for again.
const MAX_CHANGES: usize = 64;
const MAX_CHANGES_BYTES: usize = 512 * 1024;

impl Actor {
    pub(crate) fn ground(&self) -> Ground {
        Ground::new(&self.row.work_dir, &self.shared.settings)
    }

    /// What a permission names is looked at before anybody decides about it.
    pub(crate) async fn look_at_asked(&self, signals: &mut Vec<Signal>) {
        let asks = |signal: &Signal| matches!(signal, Signal::Demand { demand: Demand::Permission(_), .. });
        if !signals.iter().any(asks) {
            return;
        }
        let (ground, work_dir, mut taken) = (self.ground(), PathBuf::from(&self.row.work_dir), std::mem::take(signals));
        let look = move || {
            let asks = taken.iter_mut().filter_map(|signal| match signal {
                Signal::Demand { demand: Demand::Permission(ask), .. } => Some(ask),
                _ => None,
            });
            let mut asks: Vec<&mut PermissionAsk> = asks.collect();
            ground.look(&mut asks);
            asks.into_iter().for_each(|ask| resolve_changes(&work_dir, ask));
            taken
        };
        *signals = tokio::task::spawn_blocking(look).await.expect("looking at files does not panic");
    }
}

/// Where the changes that are shown would be written. One that leads to no file that is shown covers no write.
fn resolve_changes(work_dir: &Path, ask: &mut PermissionAsk) {
    let changes = std::mem::take(&mut ask.changes);
    if ask.kind.as_deref() != Some("edit") {
        return;
    }
    let mut bytes = 0;
    for change in changes.into_iter().take(MAX_CHANGES) {
        bytes += change.len();
        let resolved = tools::look(work_dir, &change.path).ok().map(|(shown, _)| shown.path);
        let is_shown = |path: &String| ask.files.iter().any(|file| file.path == *path);
        if let Some(path) = resolved.filter(is_shown).filter(|_| bytes <= MAX_CHANGES_BYTES) {
            ask.changes.push(AskedChange { path, ..change });
        }
    }
}

pub(crate) fn convert(session: SessionId, host: &Host, asks: Asks, signals: Vec<Signal>) -> Vec<host::Signal> {
    signals.into_iter().filter_map(|signal| one(session, host, asks, signal)).collect()
}

fn one(session: SessionId, host: &Host, asks: Asks, signal: Signal) -> Option<host::Signal> {
    Some(match signal {
        Signal::Text { agent_session, text } => host::Signal::Text { agent_session, text },
        Signal::Update { agent_session, update } => {
            let described = described(host, asks, &agent_session, &update);
            host::Signal::Update { agent_session, update, described }
        }
        Signal::Demand { agent_session, place, rpc_id, demand } => host::Signal::Demand { agent_session, place, rpc_id, demand },
        Signal::Withdrawn { rpc_id } => host::Signal::Withdrawn { rpc_id },
        Signal::PromptEnded { call_id: key, result } => {
            let (call_id, round) = host.prompt_of_key(&key)?;
            host::Signal::Answered { call_id: call_id.to_owned(), round, result: result.map(|end| end.stop_reason) }
        }
        Signal::BadLine { text, count, oversized_bytes } => {
            tracing::warn!(%session, agent = host.agent(), text, count, oversized_bytes, "the agent sent what is no message");
            return oversized_bytes.map(|bytes| host::Signal::LineDropped { bytes });
        }
        Signal::Notice(text) => host::Signal::Notice(text),
        Signal::Gone { text, .. } => {
            tracing::info!(%session, agent = host.agent(), text, "the agent is gone");
            host::Signal::Gone { text }
        }
        // Replayed history is ours already, and other notifications concern no session; both stay in the runner's journal.
        Signal::Replay { .. } | Signal::Other { .. } => return None,
    })
}

/// What the update says of the session's options, merged with what is known of them.
fn described(host: &Host, asks: Asks, agent_session: &str, update: &Update) -> Option<Described> {
    if !matches!(update, Update::Mode { .. } | Update::Options { .. }) {
        return None;
    }
    let records = host.sessions().filter_map(|(_, named)| named.record.as_ref());
    let known = records.into_iter().find(|record| record.agent_session == agent_session);
    let (options, mode) = (known.and_then(|record| record.options.as_ref()), known.and_then(|record| record.mode.as_deref()));
    agents::options::described(options, mode, update, asks)
}
