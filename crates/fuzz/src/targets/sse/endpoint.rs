//! A model's endpoint on loopback that answers every request with the bytes of the case.

use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use model::{Completion, Event, Fault, Model, Provider, Request, Settings, Tuning};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

pub(super) const KEY: &str = "sk-fuzz-0123456789";

pub(super) static ENDPOINT: LazyLock<Endpoint> = LazyLock::new(Endpoint::start);

/// An answer: its status, its bytes, and how many of them come at once.
#[derive(Clone, Default)]
pub(super) struct Body {
    pub status: u16,
    pub piece: usize,
    pub bytes: Vec<u8>,
}

pub(super) struct Endpoint {
    runtime: Runtime,
    answer: Arc<Mutex<Body>>,
    models: Vec<(&'static str, Model)>,
    _serving: JoinSet<()>,
}

impl Endpoint {
    fn start() -> Endpoint {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port on loopback");
        let base_url = format!("http://{}/v1/", listener.local_addr().expect("a bound listener has an address"));
        let answer = Arc::new(Mutex::new(Body::default()));
        let mut serving = JoinSet::new();
        serving.spawn_on(serve(listener, Arc::clone(&answer)), runtime.handle());
        let model = |provider: Option<Provider>| {
            let (model, api_key) = ("main".to_owned(), Some(KEY.into()));
            let settings = Settings::Endpoint { model, base_url: Some(base_url.clone()), api_key, provider };
            // Nothing is tried again: a case is one answer.
            let tuning = Tuning { first_backoff_ms: 1, stall_ms: 30_000, tries: 1 };
            Model::with_tuning(settings, tuning).expect("the settings are good")
        };
        let models =
            vec![("openai", model(None)), ("anthropic", model(Some(Provider::Anthropic))), ("gemini", model(Some(Provider::Gemini)))];
        Endpoint { runtime, answer, models, _serving: serving }
    }

    /// What came of one request: `None` where it did not end in time.
    pub(super) fn complete(
        &self,
        provider: &str,
        answer: Body,
        request: Request,
        deadline: Duration,
    ) -> (Option<Result<Completion, Fault>>, Vec<Event>) {
        *self.answer.lock().unwrap_or_else(PoisonError::into_inner) = answer;
        let model = &self.models.iter().find(|(name, _)| *name == provider).expect("one of the providers").1;
        self.runtime.block_on(async {
            let (sender, mut receiver) = mpsc::channel(64);
            let heard = async {
                let mut events = Vec::new();
                while let Some(event) = receiver.recv().await {
                    events.push(event);
                }
                events
            };
            let (outcome, events) = tokio::join!(tokio::time::timeout(deadline, model.complete(request, sender)), heard);
            (outcome.ok(), events)
        })
    }
}

async fn serve(listener: TcpListener, answer: Arc<Mutex<Body>>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            Some(_ended) = connections.join_next() => {}
            Ok((stream, _)) = listener.accept() => {
                connections.spawn(connection(stream, Arc::clone(&answer)));
            }
        }
    }
}

/// Answers requests until the peer closes.
async fn connection(mut stream: TcpStream, answer: Arc<Mutex<Body>>) {
    let mut unread = Vec::new();
    while request(&mut stream, &mut unread).await.is_some() {
        let body = answer.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if respond(&mut stream, &body).await.is_err() {
            return;
        }
    }
}

/// Reads one request and leaves what follows it.
async fn request(stream: &mut TcpStream, unread: &mut Vec<u8>) -> Option<()> {
    loop {
        if let Some(end) = unread.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&unread[..end]).to_ascii_lowercase();
            let length =
                head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok()).unwrap_or_default();
            if unread.len() >= end + 4 + length {
                unread.drain(..end + 4 + length);
                return Some(());
            }
        }
        if stream.read_buf(unread).await.ok()? == 0 {
            return None;
        }
    }
}

async fn respond(stream: &mut TcpStream, body: &Body) -> std::io::Result<()> {
    let kind = if body.status == 200 { "text/event-stream" } else { "application/json" };
    let head = format!("HTTP/1.1 {} Some\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n", body.status);
    let mut framed = head.into_bytes();
    for piece in body.bytes.chunks(body.piece) {
        framed.extend(format!("{:x}\r\n", piece.len()).into_bytes());
        framed.extend_from_slice(piece);
        framed.extend_from_slice(b"\r\n");
    }
    framed.extend_from_slice(b"0\r\n\r\n");
    stream.write_all(&framed).await
}
