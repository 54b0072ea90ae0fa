//! The client: one event stream over a plain socket, read as cheaply as its promises can be checked.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use testkit::server::Server;

use crate::chunks::{Chunks, now_ns};

const READ_BYTES: usize = 256 * 1024;
/// Longer than any round; a server that says nothing for so long has lost something.
const SILENCE: Duration = Duration::from_secs(120);

pub(crate) struct Stream {
    socket: TcpStream,
    body: Body,
    /// What has been read of the body and not been taken apart yet, and how much of it holds no line end.
    text: Vec<u8>,
    searched: usize,
    kind: String,
    cursor: Option<u64>,
    input: Vec<u8>,
}

/// When the parts of a turn had arrived.
pub(crate) struct Arrival {
    pub chunks: Chunks,
    pub last_chunk: Instant,
    pub turn_end: Instant,
}

impl Stream {
    /// Opens the stream and reads nothing of it.
    pub(crate) fn open(server: &Server, session: &str) -> anyhow::Result<Stream> {
        let address = server.base.strip_prefix("http://").context("the server's address is not HTTP")?;
        let mut socket = TcpStream::connect(address)?;
        socket.set_read_timeout(Some(SILENCE))?;
        let token = server.token();
        let request = format!("GET /api/sessions/{session}/stream HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\r\n");
        socket.write_all(request.as_bytes())?;
        let text = Vec::new();
        Ok(Stream {
            socket,
            body: Body::Head(Vec::new()),
            text,
            searched: 0,
            kind: String::new(),
            cursor: None,
            input: vec![0; READ_BYTES],
        })
    }

    /// Reads until the snapshot is there.
    pub(crate) fn until_ready(&mut self) -> anyhow::Result<()> {
        let mut ready = false;
        while !ready {
            self.read(|kind, _, _| {
                ready |= kind == "ready";
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Reads until the turn has ended, and checks the agent's text on the way.
    pub(crate) fn turn(&mut self, mut chunks: Chunks) -> anyhow::Result<Arrival> {
        let mut last_chunk = None;
        let mut turn_end = None;
        while turn_end.is_none() {
            self.read(|kind, data, now_ns| {
                match kind {
                    "copilot-delta" => {
                        let (offset, content) = delta(data)?;
                        ensure!(offset == chunks.bytes, "a piece at {offset} does not continue what ends at {}", chunks.bytes);
                        chunks.take(content, now_ns)?;
                        if chunks.are_complete() {
                            last_chunk.get_or_insert_with(Instant::now);
                        }
                    }
                    "turn" if contains(data, b"\"completed\"") => turn_end = Some(Instant::now()),
                    "turn" if contains(data, b"\"running\"") => {}
                    "turn" | "error" => bail!("the turn did not complete: {}", String::from_utf8_lossy(data)),
                    _ => {}
                }
                Ok(())
            })?;
        }
        let lost = chunks.count;
        let last_chunk = last_chunk.with_context(|| format!("chunks were lost: only {lost} came"))?;
        Ok(Arrival { chunks, last_chunk, turn_end: turn_end.expect("the loop ended with it") })
    }

    /// Reads once, and calls `each` with every event that is whole: its kind, its data, and when it was read.
    fn read(&mut self, mut each: impl FnMut(&str, &[u8], u64) -> anyhow::Result<()>) -> anyhow::Result<()> {
        let length = self.socket.read(&mut self.input).context("reading the event stream")?;
        let now_ns = now_ns();
        ensure!(length > 0, "the server ended the event stream");
        self.body.take(&self.input[..length], &mut self.text)?;
        let mut start = 0;
        while let Some(found) = self.text[self.searched..].iter().position(|byte| *byte == b'\n') {
            let end = self.searched + found;
            let line = &self.text[start..end];
            (start, self.searched) = (end + 1, end + 1);
            if let Some(data) = line.strip_prefix(b"data: ") {
                each(&self.kind, data, now_ns)?;
            } else if let Some(kind) = line.strip_prefix(b"event: ") {
                self.kind.clear();
                self.kind.push_str(std::str::from_utf8(kind)?);
            } else if let Some(id) = line.strip_prefix(b"id: ") {
                let id: u64 = std::str::from_utf8(id)?.parse()?;
                // The first number is that of the snapshot.
                ensure!(self.cursor.is_none_or(|cursor| id == cursor + 1), "event {id} came after {:?}", self.cursor);
                self.cursor = Some(id);
            }
        }
        self.text.drain(..start);
        self.searched = self.text.len();
        Ok(())
    }
}

/// Offset and content of a delta. The agent's text needs no escapes, so the content ends with the object.
fn delta(data: &[u8]) -> anyhow::Result<(u64, &[u8])> {
    const OFFSET: &str = "\"offset\":";
    const CONTENT: &str = ",\"content\":\"";
    let head = &data[..data.len().min(1024)];
    let head = std::str::from_utf8(head).context("a delta is not UTF-8")?;
    let parts = head.find(OFFSET).zip(head.find(CONTENT)).filter(|(offset, content)| offset < content);
    let (offset, content) = parts.with_context(|| format!("a delta of an unknown form: {head}"))?;
    let offset = head[offset + OFFSET.len()..content].parse()?;
    let content = data[content + CONTENT.len()..].strip_suffix(b"\"}").with_context(|| format!("a delta of an unknown form: {head}"))?;
    Ok((offset, content))
}

fn contains(data: &[u8], word: &[u8]) -> bool {
    data.windows(word.len()).any(|window| window == word)
}

/// The answer's body, out of its transfer coding.
enum Body {
    /// The head of the answer, as far as it has come.
    Head(Vec<u8>),
    /// The length line of the next piece, as far as it has come.
    Length(Vec<u8>),
    /// So many bytes of a piece are still to come, its line end included.
    Piece(usize),
}

impl Body {
    fn take(&mut self, mut input: &[u8], text: &mut Vec<u8>) -> anyhow::Result<()> {
        while let Some((first, rest)) = input.split_first() {
            match self {
                Body::Head(head) => {
                    head.push(*first);
                    input = rest;
                    if head.ends_with(b"\r\n\r\n") {
                        let head = String::from_utf8_lossy(head).to_lowercase();
                        ensure!(head.starts_with("http/1.1 200"), "the stream was refused: {head}");
                        ensure!(head.contains("transfer-encoding: chunked"), "the stream is not chunked: {head}");
                        *self = Body::Length(Vec::new());
                    }
                }
                Body::Length(line) => {
                    line.push(*first);
                    input = rest;
                    if line.ends_with(b"\r\n") {
                        let length = usize::from_str_radix(std::str::from_utf8(line)?.trim_end(), 16)?;
                        ensure!(length > 0, "the server ended the event stream");
                        *self = Body::Piece(length + 2);
                    }
                }
                Body::Piece(missing) => {
                    let (piece, rest) = input.split_at(input.len().min(*missing));
                    // The last two bytes are the line end.
                    text.extend_from_slice(&piece[..piece.len().min(missing.saturating_sub(2))]);
                    *missing -= piece.len();
                    input = rest;
                    if *missing == 0 {
                        *self = Body::Length(Vec::new());
                    }
                }
            }
        }
        Ok(())
    }
}
