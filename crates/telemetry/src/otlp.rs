//! Spans on their way to a collector: in batches, as OTLP over HTTP in JSON. Nobody waits for it; what it cannot deliver is counted.

use std::net::IpAddr;
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode, Url};
use serde_json::{Value as Json, json};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::span::{Span, SpanCounts, Spans, Value};

/// How many go into one request.
const BATCH: usize = 512;
/// How long the first of a batch waits for others.
const GATHER: Duration = Duration::from_secs(1);
const DEADLINE: Duration = Duration::from_secs(10);
/// How often a batch is sent in all.
const TRIES: u32 = 5;
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Why spans cannot be sent to an address.
#[derive(Debug, thiserror::Error)]
pub enum ExporterError {
    /// It is not repeated: it may hold a secret.
    #[error("the address for spans is no http or https URL without a password and a query")]
    Address,
    #[error("no connection for spans can be prepared")]
    Client(#[source] reqwest::Error),
}

/// Sends what is handed to its [`Spans`]. It is a task's work: [`Exporter::run`].
pub struct Exporter {
    client: Client,
    url: Url,
    version: &'static str,
    queue: mpsc::Receiver<Span>,
    counts: SpanCounts,
    /// That spans are lost was said; said again only after some got there.
    told: bool,
}

enum Sent {
    Taken,
    Refused(String),
    Busy { why: String, wait: Option<Duration> },
}

impl Exporter {
    /// `endpoint` is the collector's address; the path of traces is added to it.
    ///
    /// # Errors
    /// Where spans cannot be sent there.
    pub fn new(endpoint: &str, version: &'static str) -> Result<(Spans, Exporter), ExporterError> {
        let url = Url::parse(&format!("{}/v1/traces", endpoint.trim_end_matches('/'))).map_err(|_| ExporterError::Address)?;
        let plain = url.username().is_empty() && url.password().is_none() && url.query().is_none() && url.fragment().is_none();
        if !plain || !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(ExporterError::Address);
        }
        // Spans go where they were told to go, and nowhere else.
        let mut builder = tls::client().redirect(Policy::none()).timeout(DEADLINE);
        if is_here(&url) {
            // A proxy for the outside world cannot reach this machine's own loopback.
            builder = builder.no_proxy();
        }
        let client = builder.build().map_err(ExporterError::Client)?;
        let (spans, queue, counts) = Spans::queue();
        Ok((spans, Exporter { client, url, version, queue, counts, told: false }))
    }

    /// Until it is told to stop; then what still waits is tried once. Whoever stops it decides how long that may take.
    pub async fn run(mut self, stop: CancellationToken) {
        let mut batch = Vec::new();
        while !(stop.is_cancelled() || self.queue.is_closed() && self.queue.is_empty()) {
            self.gather(&mut batch, &stop).await;
            if !batch.is_empty() {
                self.deliver(&batch, &stop).await;
                batch.clear();
            }
        }
        self.queue.close();
        while self.queue.recv_many(&mut batch, BATCH).await > 0 {
            self.deliver(&batch, &stop).await;
            batch.clear();
        }
    }

    async fn gather(&mut self, batch: &mut Vec<Span>, stop: &CancellationToken) {
        tokio::select! {
            () = stop.cancelled() => return,
            _ = self.queue.recv_many(batch, BATCH) => {}
        }
        let until = Instant::now() + GATHER;
        while batch.len() < BATCH {
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep_until(until) => return,
                count = self.queue.recv_many(batch, BATCH - batch.len()) => if count == 0 { return },
            }
        }
    }

    /// Tries again while that may help, and gives up after a few times: the next ones wait.
    async fn deliver(&mut self, batch: &[Span], stop: &CancellationToken) {
        let body = document(batch, self.version).to_string();
        let mut pause = FIRST_PAUSE;
        for attempt in 1..=TRIES {
            let (why, wait) = match self.send(body.clone()).await {
                Sent::Taken => {
                    self.counts.sent.add(batch.len());
                    self.told = false;
                    return;
                }
                Sent::Refused(why) => return self.lose(batch.len(), &why),
                Sent::Busy { why, wait } => (why, wait),
            };
            if attempt == TRIES || stop.is_cancelled() {
                return self.lose(batch.len(), &why);
            }
            tokio::select! {
                () = stop.cancelled() => {}
                () = tokio::time::sleep(wait.unwrap_or(pause).min(LONGEST_PAUSE)) => {}
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    fn lose(&mut self, count: usize, why: &str) {
        self.counts.dropped.add(count);
        if !self.told {
            let to = self.url.origin().ascii_serialization();
            tracing::warn!(to, why, "spans could not be sent and are left out; this is not said again until some get there");
            self.told = true;
        }
    }

    async fn send(&self, body: String) -> Sent {
        let request = self.client.post(self.url.clone()).header(CONTENT_TYPE, "application/json").body(body);
        // What a collector answers with is not read: its status says all there is to know.
        let response = match request.send().await {
            Ok(response) => response,
            Err(error) => return Sent::Busy { why: format!("the collector cannot be reached: {}", error.without_url()), wait: None },
        };
        let status = response.status();
        let why = || format!("the collector answered with {}", status.as_u16());
        let asked = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
        match status {
            status if status.is_success() => Sent::Taken,
            StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT => Sent::Busy { why: why(), wait: asked.map(Duration::from_secs) },
            status if status.is_server_error() => Sent::Busy { why: why(), wait: asked.map(Duration::from_secs) },
            _ => Sent::Refused(why()),
        }
    }
}

fn is_here(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn document(spans: &[Span], version: &str) -> Json {
    let resource = [attribute("service.name", &"voxpilot".into()), attribute("service.version", &version.into())];
    json!({ "resourceSpans": [{
        "resource": { "attributes": resource },
        "scopeSpans": [{ "scope": { "name": "voxpilot", "version": version }, "spans": spans.iter().map(span).collect::<Vec<_>>() }],
    }] })
}

fn span(span: &Span) -> Json {
    let attributes: Vec<_> = span.attributes.iter().map(|(key, value)| attribute(key, value)).collect();
    let mut object = json!({
        "traceId": hex(&span.trace_id),
        "spanId": hex(&span.span_id),
        "name": span.name,
        // Internal: neither a client's nor a server's.
        "kind": 1,
        "startTimeUnixNano": span.begun_ns.to_string(),
        // A clock that was set back must not make it end before it began.
        "endTimeUnixNano": span.ended_ns.max(span.begun_ns).to_string(),
        "attributes": attributes,
        "status": if span.failed { json!({ "code": 2 }) } else { json!({}) },
    });
    if let Some(parent) = &span.parent_id {
        object["parentSpanId"] = hex(parent).into();
    }
    object
}

fn attribute(key: &str, value: &Value) -> Json {
    let value = match value {
        Value::Text(text) => json!({ "stringValue": text }),
        // As text, since not every reader of JSON has whole numbers of 64 bits.
        Value::Number(number) => json!({ "intValue": number.to_string() }),
        Value::Flag(flag) => json!({ "boolValue": flag }),
    };
    json!({ "key": key, "value": value })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_with_a_secret_in_it_is_refused_and_not_repeated() {
        for bad in ["http://ada:hunter2@127.0.0.1:4318", "http://ada@host", "ftp://host", "host:4318", "", "http://host/?key=hunter2"] {
            let Err(error) = Exporter::new(bad, "1") else { panic!("{bad}") };
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
        for good in ["http://127.0.0.1:4318", "https://collector.example/otlp/", "http://[::1]:4318"] {
            let Ok((_, exporter)) = Exporter::new(good, "1") else { panic!("{good}") };
            assert!(exporter.url.path().ends_with("/v1/traces") && !exporter.url.path().contains("//"), "{}", exporter.url);
        }
    }

    #[test]
    fn a_span_is_told_as_a_collector_reads_it() {
        let told = span(&Span {
            trace_id: [1; 16],
            span_id: [2; 8],
            parent_id: Some([3; 8]),
            name: "turn",
            begun_ns: 1_700_000_000_000_000_001,
            ended_ns: 5,
            attributes: vec![("a", "x".into()), ("b", 7_u64.into()), ("c", true.into())],
            failed: true,
        });
        let expected = json!({
            "traceId": "01".repeat(16), "spanId": "02".repeat(8), "parentSpanId": "03".repeat(8), "name": "turn", "kind": 1,
            "startTimeUnixNano": "1700000000000000001", "endTimeUnixNano": "1700000000000000001", "status": { "code": 2 },
            "attributes": [
                { "key": "a", "value": { "stringValue": "x" } },
                { "key": "b", "value": { "intValue": "7" } },
                { "key": "c", "value": { "boolValue": true } },
            ],
        });
        assert_eq!(told, expected);
    }

    #[tokio::test]
    async fn what_there_is_no_room_for_is_counted_and_holds_up_nobody() {
        let (spans, _exporter) = Exporter::new("http://127.0.0.1:9", "1").expect("the address is good");
        let one = Span {
            trace_id: [1; 16],
            span_id: [2; 8],
            parent_id: None,
            name: "turn",
            begun_ns: 1,
            ended_ns: 2,
            attributes: Vec::new(),
            failed: false,
        };
        for _ in 0..5000 {
            spans.tell(one.clone());
        }
        assert_eq!(spans.counts().expect("it is on").dropped.get(), 5000 - 4096);
        assert!(!Spans::default().are_wanted());
    }
}
