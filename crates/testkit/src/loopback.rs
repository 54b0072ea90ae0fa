//! An HTTP server on loopback for what the server sends out by itself: it reads whole requests and answers each as it is told.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

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

pub(crate) struct Request {
    /// Method and path.
    pub line: String,
    /// Their names in small letters.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// Bound, so that its address is known before it answers.
pub(crate) struct Loopback {
    listener: TcpListener,
}

impl Loopback {
    /// Must be called inside a tokio runtime.
    pub(crate) async fn bind() -> Loopback {
        Loopback { listener: TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free loopback port can be bound") }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.listener.local_addr().expect("it is bound")
    }

    /// Answers until what is returned is dropped, which closes the socket and every connection.
    pub(crate) fn serve(self, answer: impl Fn(Request) -> Answer + Send + Sync + 'static) -> JoinSet<()> {
        let mut serving = JoinSet::new();
        serving.spawn(accept(self.listener, Arc::new(answer)));
        serving
    }
}

async fn accept(listener: TcpListener, answer: Arc<impl Fn(Request) -> Answer + Send + Sync + 'static>) {
    let mut connections = JoinSet::new();
    while let Ok((socket, _)) = listener.accept().await {
        connections.spawn(converse(socket, Arc::clone(&answer)));
    }
}

async fn converse(socket: TcpStream, answer: Arc<impl Fn(Request) -> Answer>) {
    let (reader, mut writer) = socket.into_split();
    let mut reader = BufReader::new(reader);
    while let Some(request) = next(&mut reader).await {
        let Answer::Http(status, headers, body) = answer(request) else { return std::future::pending().await };
        let text = format!("HTTP/1.1 {status} So\r\n{headers}content-length: {}\r\n\r\n{body}", body.len());
        if writer.write_all(text.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// None when the peer has closed the connection.
async fn next(reader: &mut (impl AsyncBufReadExt + Unpin)) -> Option<Request> {
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
    Some(Request { line, headers, body })
}
