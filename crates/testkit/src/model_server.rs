//! A scripted model server on loopback. It speaks chat completions and the Responses API, and the same script answers in both.
//!
//! Owns one listening socket, the script that decides each answer, and the record of what was asked.
//! It speaks enough HTTP/1.1 and server-sent events to be the endpoint of the main AI and the model
//! provider of a real agent at the same time. It must not know either of them: it sees requests only.

mod anthropic;
mod gemini;
mod http;
mod reply;
mod request;
mod responses;
mod rules;
mod script;
mod stamped_stream;
mod stream;

pub use reply::{Gate, Reply, ToolCall};
pub use request::Request;
pub use rules::Rules;
pub use script::Script;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::BufReader;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// How long the `wait_for_*` calls wait before they panic: far above any healthy test.
const WAIT_DEADLINE: Duration = Duration::from_secs(60);

/// The running server; dropping it closes the socket and every connection.
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    /// Holds the accept loop, which in turn owns the connections: they all end with the server.
    _accepting: JoinSet<()>,
}

/// What the accept loop and every connection see.
struct Shared {
    script: Script,
    record: Mutex<Record>,
    /// Counts every change of the record, so that waiting needs no polling.
    changes: watch::Sender<u64>,
    call_ids: AtomicUsize,
    /// Keeps tool-call ids of two servers apart: an agent may meet both in one session.
    call_prefix: String,
}

#[derive(Default)]
struct Record {
    completions: Vec<Request>,
    others: Vec<Request>,
    hang_ups: usize,
}

impl ModelServer {
    /// Starts on a free port. Must be called inside a tokio runtime.
    pub fn start(script: impl Into<Script>) -> ModelServer {
        Self::start_on(0, script).expect("a free loopback port can be bound")
    }

    /// Starts on a given port; 0 picks a free one.
    pub fn start_on(port: u16, script: impl Into<Script>) -> io::Result<ModelServer> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(listener)?;
        let address = listener.local_addr()?;
        let prefix = uuid::Uuid::new_v4().simple().to_string();
        let shared = Arc::new(Shared {
            script: script.into(),
            record: Mutex::default(),
            changes: watch::channel(0).0,
            call_ids: AtomicUsize::new(0),
            call_prefix: format!("call_{}", &prefix[..8]),
        });
        let mut accepting = JoinSet::new();
        accepting.spawn(accept(listener, Arc::clone(&shared)));
        Ok(ModelServer { address, shared, _accepting: accepting })
    }

    /// The URL a client is configured with, ending in `/v1`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Every request for an answer of a model so far, oldest first.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.record().completions.clone()
    }

    /// Those of them that named this model.
    pub fn requests_for(&self, model: &str) -> Vec<Request> {
        let mut requests = self.requests();
        requests.retain(|request| request.model() == model);
        requests
    }

    /// Requests to any other path, such as a model list.
    pub fn other_requests(&self) -> Vec<Request> {
        self.shared.record().others.clone()
    }

    /// How often a client closed its connection in the middle of an answer.
    pub fn hang_ups(&self) -> usize {
        self.shared.record().hang_ups
    }

    /// Adds an answer to the end of a model's queue while the server runs.
    pub fn push(&self, model: &str, reply: Reply) {
        self.shared.script.push(model, reply);
    }

    /// Waits until at least `count` requests for an answer have arrived and returns them.
    pub async fn wait_for_requests(&self, count: usize) -> Vec<Request> {
        self.wait_until("requests", |record| record.completions.len() >= count).await;
        self.requests()
    }

    /// Waits until at least `count` clients have hung up in the middle of an answer.
    pub async fn wait_for_hang_ups(&self, count: usize) {
        self.wait_until("hang-ups", |record| record.hang_ups >= count).await;
    }

    async fn wait_until(&self, what: &str, reached: impl Fn(&Record) -> bool) {
        let mut changes = self.shared.changes.subscribe();
        let waiting = async {
            while !reached(&self.shared.record()) {
                changes.changed().await.expect("the sender lives as long as the server");
            }
        };
        if tokio::time::timeout(WAIT_DEADLINE, waiting).await.is_err() {
            panic!("the expected {what} did not come within {WAIT_DEADLINE:?}");
        }
    }
}

impl Shared {
    fn record(&self) -> MutexGuard<'_, Record> {
        // A panicking test must not hide its own message behind a poisoned lock.
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, change: impl FnOnce(&mut Record)) {
        change(&mut self.record());
        self.changes.send_modify(|count| *count += 1);
    }

    fn next_call_id(&self) -> String {
        let number = self.call_ids.fetch_add(1, Ordering::Relaxed);
        format!("{}_{number}", self.call_prefix)
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((socket, _)) => {
                    connections.spawn(converse(socket, Arc::clone(&shared)));
                }
                Err(_) => return,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Serves one connection until either side closes it. Errors mean that the client is gone.
async fn converse(socket: TcpStream, shared: Arc<Shared>) {
    let _ = socket.set_nodelay(true);
    let (reader, mut writer) = socket.into_split();
    let mut reader = BufReader::new(reader);
    while let Ok(Some(request)) = http::read_request(&mut reader).await {
        let is_whole = shared.script.has_path(&request.path);
        let request = if is_whole { request } else { request.understood() };
        let completion = !is_whole && request.is_completion();
        let reply = shared.script.answer(&request);
        shared.note(|record| {
            let list = if completion { &mut record.completions } else { &mut record.others };
            list.push(request.clone());
        });
        let sending = stream::send(&mut writer, &request, reply, || shared.next_call_id());
        let sent = tokio::select! {
            biased;
            sent = sending => sent,
            () = http::closed(&mut reader) => Err(io::ErrorKind::ConnectionAborted.into()),
        };
        let kept = sent.unwrap_or_else(|_| {
            shared.note(|record| record.hang_ups += 1);
            false
        });
        if !kept {
            return;
        }
    }
}
