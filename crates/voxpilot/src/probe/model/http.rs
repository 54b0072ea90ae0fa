//! As much of HTTP as an agent's client needs: one request, one answer, then the end.

use std::io;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::wire::Event;

const HEAD_BYTES: usize = 64 * 1024;
/// A whole conversation with every tool described.
const BODY_BYTES: usize = 32 * 1024 * 1024;

pub(super) struct Request {
    pub method: String,
    /// Without what follows a question mark.
    pub path: String,
    pub body: Vec<u8>,
}

/// `None` where the peer says nothing, or too much.
pub(super) async fn read(stream: &mut TcpStream) -> io::Result<Option<Request>> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at;
        }
        if bytes.len() > HEAD_BYTES || stream.read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
    };
    let text = String::from_utf8_lossy(&bytes[..head]).into_owned();
    let mut lines = text.lines();
    let mut first = lines.next().unwrap_or_default().split(' ');
    let (method, target) = (first.next().unwrap_or_default().to_owned(), first.next().unwrap_or_default());
    let path = target.split('?').next().unwrap_or_default().to_owned();
    let headers: Vec<(String, String)> =
        lines.filter_map(|line| line.split_once(':')).map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned())).collect();
    let header = |wanted: &str| headers.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
    if header("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue")) {
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
    }
    let rest = bytes.split_off(head + 4);
    let body = match header("content-length").and_then(|length| length.parse::<usize>().ok()) {
        Some(length) if length <= BODY_BYTES => sized(stream, rest, length).await?,
        None if header("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked")) => chunked(stream, rest).await?,
        None => Some(Vec::new()),
        Some(_) => None,
    };
    Ok(body.map(|body| Request { method, path, body }))
}

async fn sized(stream: &mut TcpStream, mut body: Vec<u8>, length: usize) -> io::Result<Option<Vec<u8>>> {
    while body.len() < length {
        if stream.read_buf(&mut body).await? == 0 {
            return Ok(None);
        }
    }
    body.truncate(length);
    Ok(Some(body))
}

async fn chunked(stream: &mut TcpStream, mut rest: Vec<u8>) -> io::Result<Option<Vec<u8>>> {
    let (mut body, mut at) = (Vec::new(), 0);
    loop {
        let line = rest[at..].windows(2).position(|window| window == b"\r\n").map(|end| at + end);
        let size = line.and_then(|end| usize::from_str_radix(String::from_utf8_lossy(&rest[at..end]).split(';').next()?.trim(), 16).ok());
        match (line, size) {
            (Some(_), Some(0)) => return Ok(Some(body)),
            (Some(end), Some(size)) if size <= BODY_BYTES && rest.len() >= end + 2 + size + 2 => {
                body.extend_from_slice(&rest[end + 2..end + 2 + size]);
                at = end + 2 + size + 2;
                continue;
            }
            (Some(_), None) => return Ok(None),
            _ => {}
        }
        if rest.len() > BODY_BYTES || stream.read_buf(&mut rest).await? == 0 {
            return Ok(None);
        }
    }
}

pub(super) async fn json(stream: &mut TcpStream, body: &Value) -> io::Result<()> {
    let body = body.to_string();
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await
}

pub(super) async fn nothing(stream: &mut TcpStream) -> io::Result<()> {
    stream.write_all(b"HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}").await
}

pub(super) async fn begin_stream(stream: &mut TcpStream) -> io::Result<()> {
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\nconnection: close\r\n\r\n").await
}

pub(super) async fn event(stream: &mut TcpStream, event: &Event) -> io::Result<()> {
    let name = event.name.map(|name| format!("event: {name}\n")).unwrap_or_default();
    stream.write_all(format!("{name}data: {}\n\n", event.data).as_bytes()).await?;
    stream.flush().await
}
