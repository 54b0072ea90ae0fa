//! A session's raw traffic: the journals of its agents' runners, newest first or as one capture.
//!
//! The journal of a runner that has ended is kept aside (`kept`), so that there is something to look at after a crash.

mod capture;
pub(crate) mod kept;

use std::io;
use std::path::PathBuf;

use agents::Transport;
use agents::trace::{self, Entry, Filter, Mask};
use domain::ids::SessionId;
use uuid::Uuid;

use crate::{Engine, Refusal, Settings};

pub use capture::Capture;

/// A runner of the session, with what is kept of its traffic.
#[derive(Clone, Debug)]
pub struct TracedRunner {
    pub id: Uuid,
    pub running: bool,
    /// The first record that is kept: 1 unless the beginning was dropped, `None` where nothing is left.
    pub first_seq: Option<u64>,
    pub(crate) dir: PathBuf,
}

/// A place in a session's traffic: what came before that record of that runner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceCursor {
    pub runner: Uuid,
    pub seq: u64,
}

#[derive(Debug, Default)]
pub struct TracePage {
    /// Newest first, each with its runner.
    pub entries: Vec<(Uuid, Entry)>,
    pub next: Option<TraceCursor>,
    /// Newest first.
    pub runners: Vec<TracedRunner>,
}

impl Engine {
    /// The newest traffic before a place, or the newest of all.
    pub async fn trace(
        &self,
        id: SessionId,
        before: Option<TraceCursor>,
        limit: usize,
        filter: Filter,
        token: &str,
    ) -> Result<TracePage, Refusal> {
        let (runners, mask) = self.traced(id, token).await?;
        blocking(move || page(runners, before, limit, &filter, &mask)).await
    }

    /// One entry, whole.
    pub async fn trace_entry(&self, id: SessionId, place: TraceCursor, token: &str) -> Result<Entry, Refusal> {
        let (runners, mask) = self.traced(id, token).await?;
        let runner = runners.into_iter().find(|runner| runner.id == place.runner).ok_or(Refusal::NotFound("agent process"))?;
        let found = blocking(move || trace::one(&runner.dir, place.seq, &mask)).await?;
        found.ok_or(Refusal::NotFound("entry"))
    }

    /// Everything that is kept, oldest first, to be read piece by piece.
    pub async fn trace_capture(&self, id: SessionId, token: &str) -> Result<Capture, Refusal> {
        let (runners, mask) = self.traced(id, token).await?;
        Ok(Capture::new(runners, mask))
    }

    /// The session's runners, newest first, and what must not be shown of what they wrote down. `token` is the server's own secret,
    /// which the engine has no other use for.
    async fn traced(&self, id: SessionId, token: &str) -> Result<(Vec<TracedRunner>, Mask), Refusal> {
        self.row(id).await?;
        let rows = self.store().session_runners(id).await?;
        let running: Vec<Uuid> = rows.iter().filter_map(|row| row.id.parse().ok()).collect();
        let (settings, choices, token) = (self.settings().clone(), self.choices(), token.to_owned());
        blocking(move || {
            let mut secrets = settings.secrets();
            secrets.extend(choices.secret());
            secrets.push(token);
            let runners = kept::runners(&settings.traces_dir(), &settings.runners_dir(), id, &running)?;
            Ok((runners, Mask::new(secrets)))
        })
        .await
    }

    /// Drops the traffic of agents that ended before `age` ago.
    pub async fn drop_old_traces(&self, age: std::time::Duration) {
        let traces = self.settings().traces_dir();
        if let Err(error) = blocking(move || kept::drop_older(&traces, age)).await {
            tracing::warn!(%error, "old traffic could not be dropped");
        }
    }
}

fn page(runners: Vec<TracedRunner>, before: Option<TraceCursor>, limit: usize, filter: &Filter, mask: &Mask) -> io::Result<TracePage> {
    let mut page = TracePage::default();
    // Ids grow with time: runners that began after the one of the cursor have been shown.
    let wanted = |runner: &&TracedRunner| runner.first_seq.is_some() && before.is_none_or(|place| runner.id <= place.runner);
    let mut wanted = runners.iter().filter(wanted).peekable();
    while let Some(runner) = wanted.next() {
        let seq = before.filter(|place| place.runner == runner.id).map(|place| place.seq);
        let part = trace::page(&runner.dir, seq, limit - page.entries.len(), filter, mask)?;
        page.entries.extend(part.entries.into_iter().map(|entry| (runner.id, entry)));
        if let Some(seq) = part.older {
            page.next = Some(TraceCursor { runner: runner.id, seq });
            break;
        }
        if page.entries.len() == limit {
            page.next = wanted.peek().map(|older| TraceCursor { runner: older.id, seq: u64::MAX });
            break;
        }
    }
    page.runners = runners;
    Ok(page)
}

impl Settings {
    pub(crate) fn traces_dir(&self) -> PathBuf {
        self.data_dir.join("traces")
    }

    /// Every secret that the server was told, by its value.
    pub fn secrets(&self) -> Vec<String> {
        let given = self.environment.iter().map(|(name, value)| (name.to_string_lossy(), value.to_string_lossy()));
        let mut secrets: Vec<String> = given.filter(|(name, _)| trace::sounds_secret(name)).map(|(_, value)| value.into_owned()).collect();
        for agent in self.catalogue.iter() {
            let named = agent.env.iter().filter(|(name, _)| trace::sounds_secret(name)).cloned();
            // What is kept elsewhere is kept there because it is one. One that cannot be read has not been given to the agent either.
            let referred = agent.referred(&self.environment).unwrap_or_default();
            secrets.extend(named.chain(referred).map(|(_, value)| value));
        }
        for server in self.mcp_servers.iter() {
            let (Transport::Stdio { env: values, .. } | Transport::Http { headers: values, .. } | Transport::Sse { headers: values, .. }) =
                &server.transport;
            secrets.extend(values.iter().map(|(_, value)| value.clone()));
        }
        if let model::Settings::Endpoint { api_key: Some(key), .. } = &self.endpoint {
            secrets.push(key.expose().to_owned());
        }
        secrets
    }
}

/// Journals are files, which are read on a thread of their own.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> Result<T, Refusal> {
    let done = tokio::task::spawn_blocking(work).await;
    let failed = |error: &dyn std::fmt::Display| {
        tracing::warn!(%error, "the traffic of an agent cannot be read");
        Refusal::Unavailable("the traffic cannot be read: see the server's log".to_owned())
    };
    match done {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(failed(&error)),
        Err(error) => Err(failed(&error)),
    }
}
