//! The server under measurement, and its sessions: one with one client, or a fleet of them with an agent each.

use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use futures::future::join_all;
use serde_json::json;
use testkit::faulty_agent::fast_agent_path;
use testkit::server::{Rig, Server};
use testkit::{counts, processes};

use crate::CHUNK_BYTES;
use crate::audience::{Audience, Origin, Watched};
use crate::chunks::Asked;

/// So many agents are started at once.
const WAVE: usize = 20;
pub(crate) const ONE: Asked = Asked { count: 1, bytes: CHUNK_BYTES };

/// The server with the fast agent and nothing else.
pub(crate) fn rig() -> Rig {
    Rig::default().agent("fast", &fast_agent_path(), &[]).env("VOXPILOT_MODEL", "relay").env("VOXPILOT_PERMISSION_POLICY", "auto")
}

pub(crate) fn flood(asked: Asked) -> String {
    format!("flood {} {}", asked.count, asked.bytes)
}

pub(crate) fn paced(asked: Asked, every: Duration) -> String {
    format!("paced {} {} {}", asked.count, asked.bytes, every.as_micros())
}

/// A session with its clients.
pub(crate) struct Session<'a> {
    server: &'a Server,
    pub id: String,
    audience: Option<Audience>,
}

impl<'a> Session<'a> {
    /// Whose agent runs already, with so many clients.
    pub(crate) async fn open(server: &'a Server, clients: usize) -> anyhow::Result<Session<'a>> {
        let id = server.new_session(json!({ "title": "bench" })).await;
        let mut session = Session::of(server, &id, clients)?;
        session.prompt(&flood(ONE), Origin::Agent, ONE).await?;
        Ok(session)
    }

    /// One that is there.
    pub(crate) fn of(server: &'a Server, id: &str, clients: usize) -> anyhow::Result<Session<'a>> {
        let audience = Audience::open(server, std::iter::repeat_n(id, clients))?;
        Ok(Session { server, id: id.to_owned(), audience: Some(audience) })
    }

    /// Gives the moment before the message was sent, and what then arrived.
    pub(crate) async fn prompt(&mut self, prompt: &str, origin: Origin, asked: Asked) -> anyhow::Result<(Instant, Watched)> {
        let mut audience = self.audience.take().context("the session's stream broke in an earlier turn")?;
        audience.expect(origin, asked);
        let watching = blocking(move || audience.watch(|_, _| {}).map(|watched| (watched, audience)));
        let begun = Instant::now();
        let (_, watched) = tokio::join!(self.server.send(&self.id, prompt), watching);
        let (watched, audience) = watched?;
        self.audience = Some(audience);
        Ok((begun, watched))
    }

    /// The number of the last event that its first client has seen.
    pub(crate) fn cursor(&self) -> u64 {
        self.audience.as_ref().and_then(|audience| audience.seats.first()).map_or(0, |seat| seat.cursor())
    }

    pub(crate) fn take_audience(&mut self) -> Option<Audience> {
        self.audience.take()
    }

    pub(crate) async fn close(self) -> anyhow::Result<()> {
        delete(self.server, &self.id).await
    }
}

/// Sessions with a running agent each, and one more in which nothing happens.
pub(crate) struct Fleet {
    pub server: Server,
    pub sessions: Vec<String>,
    pub quiet: String,
}

impl Fleet {
    pub(crate) async fn start(count: usize) -> anyhow::Result<Fleet> {
        let server = rig().start().await;
        let mut sessions = Vec::new();
        while sessions.len() < count + 1 {
            let wave = WAVE.min(count + 1 - sessions.len());
            let made = join_all((0..wave).map(|_| server.new_session(json!({ "title": "fleet" })))).await;
            let mut audience = Audience::open(&server, made.iter().map(String::as_str))?;
            audience.expect(Origin::Agent, ONE);
            let watching = blocking(move || audience.watch(|_, _| {}));
            let prompt = flood(ONE);
            let (_, watched) = tokio::join!(join_all(made.iter().map(|id| server.send(id, &prompt))), watching);
            watched?;
            sessions.extend(made);
        }
        let quiet = sessions.pop().context("there is one more than was asked for")?;
        Ok(Fleet { server, sessions, quiet })
    }

    pub(crate) async fn end(self) -> anyhow::Result<()> {
        for wave in self.sessions.chunks(WAVE) {
            for deleted in join_all(wave.iter().map(|id| delete(&self.server, id))).await {
                deleted?;
            }
        }
        self.server.end().await;
        Ok(())
    }
}

async fn delete(server: &Server, id: &str) -> anyhow::Result<()> {
    let (status, answer) = server.call("DELETE", &format!("/api/sessions/{id}"), None).await;
    ensure!(status < 300, "the session could not be deleted: {answer}");
    Ok(())
}

/// The runners of a server.
pub(crate) fn runners(server: &Server) -> Vec<i32> {
    having(server, |command| command.contains(" runner "))
}

/// The agents of a server.
pub(crate) fn agents(server: &Server) -> Vec<i32> {
    having(server, |command| command.contains("fast-agent"))
}

fn having(server: &Server, fits: impl Fn(&str) -> bool) -> Vec<i32> {
    let found = processes::of_dir(server.rig().home()).into_iter().filter(|process| fits(&process.command));
    found.map(|process| process.pid).collect()
}

/// Processor time of several processes together.
pub(crate) fn cpu(pids: &[i32]) -> Duration {
    pids.iter().filter_map(|pid| counts::cpu(*pid)).sum()
}

/// Runs what blocks beside the runtime.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> anyhow::Result<T> + Send + 'static) -> anyhow::Result<T> {
    tokio::task::spawn_blocking(work).await?
}
