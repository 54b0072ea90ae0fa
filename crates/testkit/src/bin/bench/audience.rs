//! The clients: any number of plain sockets, read and checked by one thread, so that four hundred streams cost what they send.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use testkit::server::Server;
use testkit::stamped::now_ns;

use crate::chunks::{Asked, Chunks};
use crate::events::{Events, delta};
use crate::figures::thread_cpu;
use crate::latencies::Latencies;

const READ_BYTES: usize = 256 * 1024;
/// Longer than any round; who says nothing for so long has lost something.
const SILENCE: Timespec = Timespec { tv_sec: 60, tv_nsec: 0 };

/// Where the text comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    Agent,
    Model,
}

/// One client.
pub(crate) struct Seat {
    socket: TcpStream,
    source: Source,
    progress: Progress,
}

enum Source {
    Events(Events),
    /// A copy of what an agent or a model wrote, line by line.
    Lines(Lines),
}

enum Awaited {
    /// The end of the snapshot.
    Ready,
    /// A turn that streams these chunks, to its end.
    Turn(Origin, Chunks),
}

/// How far a client has come with what it awaits.
struct Progress {
    awaited: Awaited,
    last_chunk: Option<Instant>,
    end: Option<Instant>,
    messages: u64,
}

/// What was seen until every client had what it awaited.
pub(crate) struct Watched {
    pub latencies: Latencies,
    /// When the last client had the last chunk, and the end of the turn.
    pub last_chunk: Instant,
    pub end: Instant,
    /// Processor time of reading and checking.
    pub cpu: Duration,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Milestone {
    /// Every client has its first chunk.
    AllBegun,
    /// One client has everything.
    FirstDone,
}

pub(crate) struct Audience {
    pub seats: Vec<Seat>,
    input: Vec<u8>,
}

impl Audience {
    pub(crate) fn new(seats: Vec<Seat>) -> Audience {
        Audience { seats, input: vec![0; READ_BYTES] }
    }

    /// Opens a stream of each session and reads it to the end of its snapshot.
    pub(crate) fn open<'a>(server: &Server, sessions: impl IntoIterator<Item = &'a str>) -> anyhow::Result<Audience> {
        let seats = sessions.into_iter().map(|session| Seat::open(server, session)).collect::<anyhow::Result<_>>()?;
        let mut audience = Audience::new(seats);
        audience.watch(|_, _| {})?;
        Ok(audience)
    }

    /// Every client now awaits a turn of these chunks.
    pub(crate) fn expect(&mut self, origin: Origin, asked: Asked) {
        for seat in &mut self.seats {
            seat.progress = Progress::new(Awaited::Turn(origin, Chunks::new(asked)));
        }
    }

    /// Reads until every client has what it awaits; `at` is told of milestones, with all chunks that had come by then.
    pub(crate) fn watch(&mut self, mut at: impl FnMut(Milestone, u64)) -> anyhow::Result<Watched> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        for (number, seat) in self.seats.iter().enumerate() {
            epoll::add(&epoll, &seat.socket, epoll::EventData::new_u64(number as u64), epoll::EventFlags::IN)?;
        }
        let mut latencies = Latencies::default();
        let mut ready = Vec::with_capacity(self.seats.len());
        let clients = self.seats.len();
        let cpu = thread_cpu();
        let (mut begun, mut done) = (0, 0);
        while done < clients {
            ready.clear();
            let count = epoll::wait(&epoll, spare_capacity(&mut ready), Some(&SILENCE))?;
            ensure!(count > 0, "nothing came any more: {done} of {clients} clients have everything");
            for event in &ready {
                let seat = &mut self.seats[usize::try_from(event.data.u64())?];
                let (had_begun, was_done) = (seat.progress.has_begun(), seat.progress.end.is_some());
                seat.read(&mut self.input, &mut latencies)?;
                if !had_begun && seat.progress.has_begun() {
                    begun += 1;
                    if begun == clients {
                        at(Milestone::AllBegun, latencies.count);
                    }
                }
                if !was_done && seat.progress.end.is_some() {
                    done += 1;
                    if done == 1 {
                        at(Milestone::FirstDone, latencies.count);
                    }
                }
            }
        }
        let last = |instant: fn(&Seat) -> Option<Instant>| self.seats.iter().filter_map(instant).max();
        let end = last(|seat| seat.progress.end).context("there are no clients")?;
        Ok(Watched {
            latencies,
            last_chunk: last(|seat| seat.progress.last_chunk).unwrap_or(end),
            end,
            cpu: thread_cpu().saturating_sub(cpu),
        })
    }
}

impl Seat {
    /// Asks for the stream and reads nothing of it.
    pub(crate) fn open(server: &Server, session: &str) -> anyhow::Result<Seat> {
        let address = server.base.strip_prefix("http://").context("the server's address is not HTTP")?;
        let mut socket = TcpStream::connect(address)?;
        let token = server.token();
        let request = format!("GET /api/sessions/{session}/stream HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\r\n");
        socket.write_all(request.as_bytes())?;
        Ok(Seat::new(socket, Source::Events(Events::new()), Awaited::Ready))
    }

    /// At the end of a bare loop; `mark` is what stands before a text.
    pub(crate) fn bare(socket: TcpStream, mark: &'static [u8], asked: Asked) -> Seat {
        Seat::new(socket, Source::Lines(Lines { kept: Vec::new(), mark, at: None }), Awaited::Turn(Origin::Agent, Chunks::new(asked)))
    }

    fn new(socket: TcpStream, source: Source, awaited: Awaited) -> Seat {
        Seat { socket, source, progress: Progress::new(awaited) }
    }

    /// The number of the last event.
    pub(crate) fn cursor(&self) -> u64 {
        match &self.source {
            Source::Events(events) => events.cursor.unwrap_or_default(),
            Source::Lines(_) => 0,
        }
    }

    /// How many messages have come.
    pub(crate) fn messages(&self) -> u64 {
        self.progress.messages
    }

    /// Reads once; whoever calls knows that there is something.
    fn read(&mut self, input: &mut [u8], latencies: &mut Latencies) -> anyhow::Result<()> {
        let length = self.socket.read(input).context("reading a stream")?;
        let now_ns = now_ns();
        ensure!(length > 0, "chunks were lost: the stream ended after {}", self.progress.count());
        let (input, progress) = (&input[..length], &mut self.progress);
        match &mut self.source {
            Source::Lines(lines) => lines.take(input, |text| progress.text(text, now_ns, latencies)),
            Source::Events(events) => events.take(input, |kind, data| progress.event(kind, data, now_ns, latencies)),
        }
    }
}

impl Progress {
    fn new(awaited: Awaited) -> Progress {
        Progress { awaited, last_chunk: None, end: None, messages: 0 }
    }

    fn count(&self) -> u64 {
        if let Awaited::Turn(_, chunks) = &self.awaited { chunks.count } else { 0 }
    }

    fn has_begun(&self) -> bool {
        self.count() > 0
    }

    /// From a bare loop, where the last chunk is the end.
    fn text(&mut self, text: &[u8], now_ns: u64, latencies: &mut Latencies) -> anyhow::Result<()> {
        let Awaited::Turn(_, chunks) = &mut self.awaited else { bail!("a bare loop has no snapshot") };
        chunks.take(text, now_ns, latencies)?;
        if chunks.are_complete() {
            let now = Instant::now();
            (self.last_chunk, self.end) = (Some(now), Some(now));
        }
        Ok(())
    }

    fn event(&mut self, kind: &str, data: &[u8], now_ns: u64, latencies: &mut Latencies) -> anyhow::Result<()> {
        self.messages += u64::from(kind == "message");
        let Awaited::Turn(origin, chunks) = &mut self.awaited else {
            if kind == "ready" {
                self.end = Some(Instant::now());
            }
            return Ok(());
        };
        match (kind, origin) {
            ("copilot-delta", Origin::Agent) | ("text-delta", Origin::Model) => {
                let (offset, content) = delta(data)?;
                ensure!(offset == chunks.bytes, "a piece at {offset} does not continue what ends at {}", chunks.bytes);
                chunks.take(content, now_ns, latencies)?;
                if chunks.are_complete() {
                    self.last_chunk.get_or_insert_with(Instant::now);
                }
            }
            ("turn", _) if contains(data, b"\"completed\"") => {
                ensure!(chunks.are_complete(), "chunks were lost: only {} came", chunks.count);
                self.end = Some(Instant::now());
            }
            ("turn", _) if contains(data, b"\"running\"") => {}
            ("turn" | "error", _) => bail!("the turn did not complete: {}", String::from_utf8_lossy(data)),
            _ => {}
        }
        Ok(())
    }
}

fn contains(data: &[u8], word: &[u8]) -> bool {
    memchr::memmem::find(data, word).is_some()
}

/// Lines of JSON, each with at most one text.
struct Lines {
    kept: Vec<u8>,
    mark: &'static [u8],
    /// Where the mark stood in the last line that had one: all such lines have the same form.
    at: Option<usize>,
}

impl Lines {
    fn take(&mut self, input: &[u8], mut each: impl FnMut(&[u8]) -> anyhow::Result<()>) -> anyhow::Result<()> {
        self.kept.extend_from_slice(input);
        let mut start = 0;
        while let Some(end) = memchr::memchr(b'\n', &self.kept[start..]) {
            let line = &self.kept[start..start + end];
            start += end + 1;
            let is_there = |at: &usize| line.get(*at..).is_some_and(|rest| rest.starts_with(self.mark));
            let Some(at) = self.at.filter(is_there).or_else(|| memchr::memmem::find(line, self.mark)) else { continue };
            self.at = Some(at);
            let text = &line[at + self.mark.len()..];
            let length = memchr::memchr(b'"', text).context("a text without an end")?;
            each(&text[..length])?;
        }
        self.kept.drain(..start);
        Ok(())
    }
}
