//! A client of the event stream that believes nothing: it checks the numbers and the offsets of everything it is sent.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::BytesMut;
use futures::StreamExt;
use futures::stream::BoxStream;
use serde_json::Value;

#[derive(Clone, PartialEq, Debug)]
pub struct Event {
    pub id: Option<u64>,
    pub kind: String,
    pub data: Value,
}

pub struct Client {
    body: BoxStream<'static, reqwest::Result<bytes::Bytes>>,
    buffer: BytesMut,
    /// How much of the buffer holds no end of an event.
    searched: usize,
    pub seen: Transcript,
}

/// What a client has at hand: the events in order, and the streams put together from their pieces.
#[derive(Clone, Default, Debug)]
pub struct Transcript {
    pub events: Vec<Event>,
    /// The last event of the log that was seen.
    pub cursor: Option<u64>,
    /// Texts by message or tool call id.
    pub texts: BTreeMap<String, String>,
    lengths: BTreeMap<String, u64>,
}

impl Client {
    pub async fn open(http: &reqwest::Client, base: &str, token: &str, session: &str, cursor: Option<u64>) -> Result<Client, String> {
        let mut request = http.get(format!("{base}/api/sessions/{session}/stream")).bearer_auth(token);
        if let Some(cursor) = cursor {
            request = request.header("Last-Event-ID", cursor.to_string());
        }
        let response = request.send().await.map_err(|error| format!("the stream did not open: {error:?}"))?;
        if !response.status().is_success() {
            return Err(format!("the stream was refused: {}", response.status()));
        }
        let seen = Transcript { cursor, ..Transcript::default() };
        Ok(Client { body: response.bytes_stream().boxed(), buffer: BytesMut::new(), searched: 0, seen })
    }

    /// Goes on with what another client had seen before its connection broke.
    pub fn continuing(mut self, seen: Transcript) -> Client {
        self.seen = seen;
        self
    }

    /// The next event; `None` when the stream has ended, for whatever reason.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.parse() {
                self.seen.take(event.clone());
                return Some(event);
            }
            self.buffer.extend_from_slice(&self.body.next().await?.ok()?);
        }
    }

    /// Reads until an event fits.
    ///
    /// # Panics
    /// If none does within the deadline, with everything that came instead.
    pub async fn until(&mut self, what: &str, within: Duration, fits: impl Fn(&Event) -> bool) -> Event {
        let found = tokio::time::timeout(within, async {
            loop {
                match self.next().await {
                    Some(event) if fits(&event) => return Some(event),
                    Some(_) => {}
                    None => return None,
                }
            }
        });
        match found.await {
            Ok(Some(event)) => event,
            ended => panic!("no {what} ({}); seen:\n{}", if ended.is_ok() { "the stream ended" } else { "timed out" }, self.seen.tail()),
        }
    }

    /// Reads until a turn has reached its final state, and gives that state.
    pub async fn turn_end(&mut self, within: Duration) -> String {
        let event = self.until("end of the turn", within, |event| event.kind == "turn" && event.data["state"] != "running").await;
        event.data["state"].as_str().unwrap_or_default().to_owned()
    }

    fn parse(&mut self) -> Option<Event> {
        // Large events come in many reads: what was searched before is not searched again.
        let found = self.buffer[self.searched..].windows(2).position(|pair| pair == b"\n\n");
        let Some(end) = found.map(|at| self.searched + at) else {
            self.searched = self.buffer.len().saturating_sub(1);
            return None;
        };
        self.searched = 0;
        let block = self.buffer.split_to(end + 2);
        let block = std::str::from_utf8(&block).expect("the stream is UTF-8");
        let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name));
        Some(Event {
            id: field("id: ").and_then(|id| id.parse().ok()),
            kind: field("event: ").unwrap_or_default().to_owned(),
            data: field("data: ").and_then(|data| serde_json::from_str(data).ok()).unwrap_or_default(),
        })
    }
}

impl Transcript {
    /// # Panics
    /// If an event is missing or doubled, or a piece of a stream does not continue it.
    pub fn take(&mut self, event: Event) {
        match (event.kind.as_str(), event.id) {
            ("ready", Some(id)) => self.cursor = Some(id),
            ("reset", _) => *self = Transcript::default(),
            (kind, Some(id)) => {
                let before = self.cursor.unwrap_or(0);
                assert!(id > before, "doubled: event {id} ({kind}) came after {before}");
                assert!(id == before + 1, "lost: event {id} ({kind}) came after {before}");
                self.cursor = Some(id);
            }
            (_, None) => {}
        }
        let stream = match event.kind.as_str() {
            "text-delta" => event.data["message_id"].as_str(),
            "copilot-delta" => event.data["tool_call_id"].as_str(),
            _ => None,
        };
        if let Some(stream) = stream.map(str::to_owned) {
            self.piece(stream, &event.data);
        }
        self.events.push(event);
    }

    fn piece(&mut self, stream: String, data: &Value) {
        let (offset, content) = (data["offset"].as_u64().expect("a delta has an offset"), data["content"].as_str().unwrap_or_default());
        let length = self.lengths.entry(stream.clone()).or_default();
        assert!(offset >= *length, "doubled: a piece of stream {stream} at {offset}, which is {length} long already");
        assert!(offset == *length, "lost: a piece of stream {stream} at {offset}, which is only {length} long");
        *length += content.encode_utf16().count() as u64;
        self.texts.entry(stream).or_default().push_str(content);
    }

    pub fn of_kind<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Event> {
        self.events.iter().filter(move |event| event.kind == kind)
    }

    /// The kinds in order, with runs of one kind written once.
    pub fn kinds(&self) -> Vec<&str> {
        let mut kinds: Vec<&str> = self.events.iter().map(|event| event.kind.as_str()).collect();
        kinds.dedup();
        kinds
    }

    /// All text of the agent session called `name`, call after call.
    pub fn agent_text(&self, name: &str) -> String {
        let mut calls: Vec<&str> = self
            .of_kind("copilot-delta")
            .filter(|event| event.data["session_name"] == name)
            .filter_map(|event| event.data["tool_call_id"].as_str())
            .collect();
        calls.dedup();
        calls.into_iter().filter_map(|call| self.texts.get(call)).map(String::as_str).collect()
    }

    /// The last events, short, for a failing test.
    pub fn tail(&self) -> String {
        let from = self.events.len().saturating_sub(40);
        let line = |event: &Event| {
            let data = event.data.to_string();
            format!("{:?} {} {}", event.id, event.kind, &data[..data.floor_char_boundary(300)])
        };
        self.events[from..].iter().map(line).collect::<Vec<_>>().join("\n")
    }
}
