//! A collector of traces on loopback: it takes what it is sent, answers as it was told to, and lets a test look at the spans.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

const PATIENCE: Duration = Duration::from_secs(60);

/// What a request is answered with.
#[derive(Clone, Debug)]
pub enum Answer {
    /// A status and headers, each with its line break, and a body.
    Http(u16, String, String),
    /// None, while the connection stays open.
    Silence,
}

impl Answer {
    pub fn status(status: u16) -> Answer {
        Answer::Http(status, String::new(), String::new())
    }
}

#[derive(Clone, Debug)]
pub struct Posted {
    /// Method and path.
    pub line: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

/// Dropping it closes the socket and every connection.
pub struct Collector {
    address: SocketAddr,
    shared: Arc<Shared>,
    _accepting: JoinSet<()>,
}

struct Shared {
    state: Mutex<State>,
    changes: watch::Sender<u64>,
}

#[derive(Default)]
struct State {
    posted: Vec<Posted>,
    answers: VecDeque<Answer>,
    /// Of every request for which there is no other.
    otherwise: Option<Answer>,
}

impl Collector {
    /// Must be called inside a tokio runtime. Takes everything, unless it is told otherwise.
    pub async fn start() -> Collector {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free loopback port can be bound");
        let address = listener.local_addr().expect("it is bound");
        let shared = Arc::new(Shared { state: Mutex::default(), changes: watch::channel(0).0 });
        let mut accepting = JoinSet::new();
        accepting.spawn(accept(listener, Arc::clone(&shared)));
        Collector { address, shared, _accepting: accepting }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The next request gets this answer.
    pub fn answer(&self, answer: Answer) {
        self.shared.state().answers.push_back(answer);
    }

    /// Every request gets this answer.
    pub fn always(&self, answer: Answer) {
        self.shared.state().otherwise = Some(answer);
    }

    pub fn posted(&self) -> Vec<Posted> {
        self.shared.state().posted.clone()
    }

    /// Every span that was posted, also with requests that were refused.
    pub fn spans(&self) -> Vec<Value> {
        let documents = self.posted().into_iter().map(|posted| serde_json::from_str::<Value>(&posted.body).expect("a body is JSON"));
        documents.flat_map(|document| spans_of(&document)).collect()
    }

    /// Waits until what was posted is enough.
    pub async fn wait(&self, what: &str, enough: impl Fn(&Collector) -> bool) {
        let mut changes = self.shared.changes.subscribe();
        let waiting = async {
            while !enough(self) {
                changes.changed().await.expect("the sender lives as long as the collector");
            }
        };
        let waited = tokio::time::timeout(PATIENCE, waiting).await;
        assert!(waited.is_ok(), "{what} was not posted; only {:#?}", self.spans());
    }
}

fn spans_of(document: &Value) -> Vec<Value> {
    let list = |value: &Value, key: &str| value[key].as_array().cloned().unwrap_or_default();
    let scopes = list(document, "resourceSpans").into_iter().flat_map(|resource| list(&resource, "scopeSpans"));
    scopes.flat_map(|scope| list(&scope, "spans")).collect()
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    while let Ok((socket, _)) = listener.accept().await {
        connections.spawn(converse(socket, Arc::clone(&shared)));
    }
}

async fn converse(socket: TcpStream, shared: Arc<Shared>) {
    let (reader, mut writer) = socket.into_split();
    let mut reader = BufReader::new(reader);
    while let Some(posted) = request(&mut reader).await {
        let answer = {
            let mut state = shared.state();
            state.posted.push(posted);
            state.answers.pop_front().or_else(|| state.otherwise.clone()).unwrap_or_else(|| Answer::status(200))
        };
        shared.changes.send_modify(|count| *count += 1);
        let Answer::Http(status, headers, body) = answer else { return std::future::pending().await };
        let text = format!("HTTP/1.1 {status} So\r\n{headers}content-length: {}\r\n\r\n{body}", body.len());
        if writer.write_all(text.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// The next one of a connection; none when the peer has closed it.
async fn request(reader: &mut (impl AsyncBufReadExt + Unpin)) -> Option<Posted> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).await.ok().filter(|read| *read > 0)?;
        let line = line.trim_end().to_owned();
        if line.is_empty() {
            break;
        }
        lines.push(line);
    }
    let line = lines.first()?.trim_end_matches(" HTTP/1.1").to_owned();
    let pair = |line: &String| line.split_once(':').map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()));
    let headers: Vec<_> = lines[1..].iter().filter_map(pair).collect();
    let length: usize = headers.iter().find(|(name, _)| name == "content-length")?.1.parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).await.ok()?;
    Some(Posted { line, headers, body: String::from_utf8(body).expect("a body is text") })
}
