//! The events of a session, each exactly once: over lost connections, and over restarts of the server.

use std::collections::VecDeque;
use std::time::Duration;

use reqwest::Response;
use serde_json::json;
use tokio::time::{Instant, sleep, timeout};

use super::http::{Api, CallError};
use super::print::json_line;
use super::sse::{Event, Parser};
use crate::say::warn;

/// The server says something every 15 s; one that is silent for longer than this is not there any more.
const SILENCE: Duration = Duration::from_secs(45);
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
const PATIENCE_S: u64 = 300;

impl Event {
    pub(super) fn line(&self) -> String {
        match self.id {
            Some(id) => json_line(&json!({ "id": id, "event": self.kind, "data": self.data })),
            None => json_line(&json!({ "event": self.kind, "data": self.data })),
        }
    }
}

pub(super) struct Stream {
    api: Api,
    session: String,
    /// The last event of the log that was handed out; `None` until a snapshot was.
    cursor: Option<u64>,
    response: Option<Response>,
    parser: Parser,
    /// A snapshot is handed out as a whole, so that one that breaks off can simply be asked for again.
    snapshot: Vec<Event>,
    ready: VecDeque<Event>,
}

impl Stream {
    /// A stream that begins with a snapshot.
    pub(super) async fn open(api: &Api, session: &str) -> Result<Stream, CallError> {
        Stream::after(api, session, None).await
    }

    /// A stream of what follows `cursor`. The first connection is not waited for.
    pub(super) async fn after(api: &Api, session: &str, cursor: Option<u64>) -> Result<Stream, CallError> {
        let response = Some(api.stream(session, cursor).await?);
        let (api, session) = (api.clone(), session.to_owned());
        Ok(Stream { api, session, cursor, response, parser: Parser::default(), snapshot: Vec::new(), ready: VecDeque::new() })
    }

    /// Everything up to `ready`, which comes last.
    pub(super) async fn snapshot(&mut self) -> Result<Vec<Event>, CallError> {
        let mut events = Vec::new();
        loop {
            let event = self.next().await?;
            let last = event.kind == "ready";
            events.push(event);
            if last {
                return Ok(events);
            }
        }
    }

    pub(super) async fn next(&mut self) -> Result<Event, CallError> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(event);
            }
            if let Some(event) = self.parser.next_event() {
                self.take(event);
                continue;
            }
            match &mut self.response {
                Some(response) => match timeout(SILENCE, response.chunk()).await {
                    Ok(Ok(Some(piece))) if self.parser.push(&piece) => {}
                    _ => self.response = None,
                },
                None => self.reconnect().await?,
            }
        }
    }

    fn take(&mut self, event: Event) {
        match (event.kind.as_str(), event.id, self.cursor) {
            ("keepalive", ..) => {}
            ("reset", ..) => {
                self.cursor = None;
                self.snapshot = vec![event];
            }
            ("ready", ..) => {
                self.cursor = event.data["seq"].as_u64().or(event.id);
                self.ready.extend(self.snapshot.drain(..));
                self.ready.push_back(event);
            }
            (_, _, None) => self.snapshot.push(event),
            (_, Some(id), Some(cursor)) if id <= cursor => {}
            (_, id, Some(cursor)) => {
                self.cursor = id.or(Some(cursor));
                self.ready.push_back(event);
            }
        }
    }

    async fn reconnect(&mut self) -> Result<(), CallError> {
        self.parser = Parser::default();
        self.snapshot.clear();
        let deadline = Instant::now() + Duration::from_secs(PATIENCE_S);
        let mut pause = FIRST_PAUSE;
        let mut reported = false;
        loop {
            match self.api.stream(&self.session, self.cursor).await {
                Ok(response) => {
                    self.response = Some(response);
                    if reported {
                        warn(format_args!("voxpilot: connected again"));
                    }
                    return Ok(());
                }
                Err(error) if !error.is_away() => return Err(error),
                Err(_) if Instant::now() > deadline => return Err(CallError::GivenUp(PATIENCE_S)),
                Err(_) => {}
            }
            if !std::mem::replace(&mut reported, true) {
                warn(format_args!("voxpilot: the connection is lost; waiting for the server"));
            }
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}
