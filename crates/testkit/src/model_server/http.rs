//! Just enough HTTP/1.1: read a request, write a head, write chunks, notice a closed peer.
//! Knows nothing of completions or scripts.

use std::io;

use serde_json::Value;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::request::Request;

/// A request larger than this is a broken client, not a long conversation.
const BODY_LIMIT: usize = 64 * 1024 * 1024;

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

/// Reads the next request of a connection; `None` when the peer has closed it between two requests.
pub(super) async fn read_request<R>(reader: &mut R) -> io::Result<Option<Request>>
where
    R: AsyncBufRead + Unpin,
{
    let first = read_line(reader).await?;
    if first.is_empty() {
        return Ok(None);
    }
    let mut words = first.split_whitespace();
    let (Some(method), Some(path)) = (words.next(), words.next()) else {
        return Err(invalid("not a request line"));
    };
    let (method, path) = (method.to_owned(), path.to_owned());
    let mut headers = Vec::new();
    loop {
        let line = read_line(reader).await?;
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').ok_or_else(|| invalid("not a header"))?;
        headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
    }
    let bytes = read_body(reader, &headers).await?;
    let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
    Ok(Some(Request { method, path, headers, body }))
}

async fn read_line<R: AsyncBufRead + Unpin>(reader: &mut R) -> io::Result<String> {
    let mut line = String::new();
    reader.read_line(&mut line).await?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

async fn read_body<R>(reader: &mut R, headers: &[(String, String)]) -> io::Result<Vec<u8>>
where
    R: AsyncBufRead + Unpin,
{
    let header = |wanted: &str| {
        let found = headers.iter().find(|(name, _)| name == wanted);
        found.map(|(_, value)| value.as_str())
    };
    if header("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked")) {
        return read_chunked(reader).await;
    }
    let length = match header("content-length") {
        Some(length) => length.parse().map_err(|_| invalid("not a content length"))?,
        None => 0,
    };
    read_exactly(reader, length).await
}

async fn read_chunked<R: AsyncBufRead + Unpin>(reader: &mut R) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line = read_line(reader).await?;
        let digits = line.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(digits, 16).map_err(|_| invalid("not a chunk size"))?;
        if size == 0 {
            while !read_line(reader).await?.is_empty() {}
            return Ok(body);
        }
        if body.len() + size > BODY_LIMIT {
            return Err(invalid("the body is too large"));
        }
        body.extend(read_exactly(reader, size).await?);
        read_line(reader).await?;
    }
}

async fn read_exactly<R: AsyncBufRead + Unpin>(reader: &mut R, length: usize) -> io::Result<Vec<u8>> {
    if length > BODY_LIMIT {
        return Err(invalid("the body is too large"));
    }
    let mut bytes = vec![0; length];
    reader.read_exact(&mut bytes).await?;
    Ok(bytes)
}

/// Resolves when the peer has closed its side. Early bytes of a next request are left in the buffer.
pub(super) async fn closed<R: AsyncBufRead + Unpin>(reader: &mut R) {
    if let Ok([_, ..]) = reader.fill_buf().await {
        std::future::pending().await
    }
}

pub(super) async fn write_json<W>(writer: &mut W, status: u16, headers: &[(String, String)], body: &str) -> io::Result<()>
where
    W: AsyncWrite + Unpin,
{
    write_whole(writer, status, headers, "application/json", body).await
}

/// A complete answer with a known length.
pub(super) async fn write_whole<W>(
    writer: &mut W,
    status: u16,
    headers: &[(String, String)],
    content_type: &str,
    body: &str,
) -> io::Result<()>
where
    W: AsyncWrite + Unpin,
{
    let mut head = head(status, headers, content_type);
    head.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
    writer.write_all(head.as_bytes()).await?;
    writer.write_all(body.as_bytes()).await?;
    writer.flush().await
}

/// The head of an answer whose body follows in chunks.
pub(super) async fn write_stream_head<W>(writer: &mut W, status: u16, headers: &[(String, String)]) -> io::Result<()>
where
    W: AsyncWrite + Unpin,
{
    let mut head = head(status, headers, "text/event-stream");
    head.push_str("cache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n");
    writer.write_all(head.as_bytes()).await?;
    writer.flush().await
}

pub(super) async fn write_chunk<W: AsyncWrite + Unpin>(writer: &mut W, bytes: &[u8]) -> io::Result<()> {
    let mut frame = format!("{:x}\r\n", bytes.len()).into_bytes();
    frame.extend_from_slice(bytes);
    frame.extend_from_slice(b"\r\n");
    writer.write_all(&frame).await?;
    writer.flush().await
}

pub(super) async fn write_last_chunk<W: AsyncWrite + Unpin>(writer: &mut W) -> io::Result<()> {
    writer.write_all(b"0\r\n\r\n").await?;
    writer.flush().await
}

fn head(status: u16, headers: &[(String, String)], content_type: &str) -> String {
    let reason = match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        404 => "Not Found",
        429 => "Too Many Requests",
        503 => "Service Unavailable",
        _ => "Scripted",
    };
    let mut head = format!("HTTP/1.1 {status} {reason}\r\ncontent-type: {content_type}\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head
}
