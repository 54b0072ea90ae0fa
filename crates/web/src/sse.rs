//! The event streams of clients: cursors over logs, and nothing else. A client that reads slowly holds up nobody.

mod many;
mod one;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::{self, HeaderName};
use axum::response::{IntoResponse, Response};
use bytes::{BufMut, BytesMut};
use domain::event::Event;
use domain::ids::SessionId;
use engine::Viewer;
use futures::{Stream, StreamExt};
use store::{Batch, Feed, Frame};
use telemetry::Gauge;
use tokio::time::{Instant, Interval, MissedTickBehavior};

use crate::App;
use crate::{hunks, snapshot};

pub(crate) use many::{Wanted, open as open_many};
pub(crate) use one::open;

const KEEPALIVE: Duration = Duration::from_secs(15);
/// How many events are taken at once, and about how many bytes go out in one piece.
const FRAMES: usize = 512;
const PIECE: usize = 64 * 1024;
/// From this size on an event is not copied for each of its readers.
const SHARED: usize = 16 * 1024;
/// How many messages a snapshot holds; older ones are paged.
const MESSAGES: u32 = 50;

/// The response that sends these pieces as they come, and counts them; it is one of those that `open` counts.
fn response(app: &App, open: &Arc<Gauge>, pieces: impl Stream<Item = Bytes> + Send + 'static) -> Response {
    let (counted, metrics) = (open.hold(), app.engine.metrics().clone());
    let pieces = pieces.inspect(move |piece| {
        let _until_it_ends = &counted;
        metrics.stream_pieces.increment();
        metrics.stream_bytes.add(piece.len());
    });
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
        (header::CONNECTION, "keep-alive"),
        // A proxy is not to gather events.
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    (headers, Body::from_stream(pieces.map(Ok::<_, std::convert::Infallible>))).into_response()
}

fn keepalive() -> Interval {
    let mut keepalive = tokio::time::interval_at(Instant::now() + KEEPALIVE, KEEPALIVE);
    keepalive.set_missed_tick_behavior(MissedTickBehavior::Delay);
    keepalive
}

/// What became of a source.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Went {
    On,
    /// There is no such session any more.
    Gone,
    /// The stream ends; the client comes back with its cursor.
    Over,
}

/// One session's part in a stream.
struct Source {
    app: App,
    session: SessionId,
    /// It is one of several: each frame says which session it is of.
    named: bool,
    feed: Feed,
    /// `None` until a snapshot has been sent.
    cursor: Option<u64>,
    /// Frames that are read but not sent yet.
    waiting: VecDeque<Frame>,
    _viewer: Viewer,
}

impl Source {
    fn new(app: &App, session: SessionId, cursor: Option<u64>, named: bool) -> Source {
        let feed = app.engine.store().feed(session);
        Source { app: app.clone(), session, named, feed, cursor, waiting: VecDeque::new(), _viewer: app.engine.watch(session) }
    }

    fn head(&self) -> Head {
        Head { session: self.named.then_some(self.session) }
    }

    /// Takes what the feed gave, and sends as much of it as fits into one piece.
    async fn batch(&mut self, batch: Result<Batch, store::FeedError>, pieces: &mut VecDeque<Bytes>) -> Went {
        match batch {
            Ok(Batch::Frames { frames }) => {
                self.cursor = frames.last().map(|frame| frame.seq).or(self.cursor);
                self.app.engine.metrics().stream_events.add(frames.len());
                self.waiting.extend(frames);
                self.piece(pieces).await;
                Went::On
            }
            Ok(Batch::Reset) => {
                let mut out = BytesMut::new();
                self.head().write(&mut out, None, "reset", b"{}");
                self.snapshot(out, pieces).await
            }
            Ok(Batch::Deleted) => Went::Gone,
            Err(store::FeedError::Closed) => Went::Over,
            Err(error) => {
                // The client comes back with its cursor, and by then the database may answer again.
                tracing::error!(session = %self.session, %error, "the event stream ends");
                Went::Over
            }
        }
    }

    /// As many waiting frames as fit into one piece.
    async fn piece(&mut self, pieces: &mut VecDeque<Bytes>) {
        let head = self.head();
        let mut out = BytesMut::new();
        while let Some(frame) = self.waiting.pop_front() {
            let data = match frame.kind.as_ref() {
                "message" | "done" | "permission-request" => self.rendered(&frame).await,
                "agent-update" if hunks::may_hold_change(&frame.data) => self.rendered(&frame).await,
                _ => frame.data,
            };
            if data.len() >= SHARED {
                // All readers share it; a copy for each would make a slow one expensive.
                head.begin(&mut out, Some(frame.seq), &frame.kind);
                return pieces.extend([out.freeze(), data, Bytes::from_static(END)]);
            }
            head.write(&mut out, Some(frame.seq), &frame.kind, &data);
            if out.len() >= PIECE {
                break;
            }
        }
        pieces.push_back(out.freeze());
    }

    /// The frame's data with what is made when it is sent and not stored: the HTML of its message, the hunks of its changes.
    async fn rendered(&self, frame: &Frame) -> Bytes {
        let event = match frame.event() {
            Some(mut event @ (Event::Message(_) | Event::AgentUpdate(_) | Event::PermissionRequest(_))) => {
                self.app.html.complete(&mut event).await;
                event
            }
            Some(Event::Done(mut done)) => {
                match self.app.html.finished(self.app.engine.store(), self.session, done.message_id).await {
                    Ok(html) => done.html = html,
                    Err(error) => tracing::error!(session = %self.session, %error, "a finished message goes out without its HTML"),
                }
                Event::Done(done)
            }
            _ => return frame.data.clone(),
        };
        Bytes::from(event.data())
    }

    async fn snapshot(&mut self, mut out: BytesMut, pieces: &mut VecDeque<Bytes>) -> Went {
        let snapshot = match self.app.engine.store().snapshot(self.session, MESSAGES).await {
            Ok(Some(snapshot)) => snapshot,
            Ok(None) => return Went::Gone,
            Err(error) => {
                tracing::error!(session = %self.session, %error, "no snapshot");
                pieces.push_back(out.freeze());
                return Went::Over;
            }
        };
        let (seq, head) = (snapshot.seq, self.head());
        for mut event in snapshot::events(snapshot) {
            self.app.html.complete(&mut event).await;
            head.write(&mut out, None, event.kind(), event.data().as_bytes());
        }
        let ready = Event::Ready { seq };
        head.write(&mut out, Some(seq), ready.kind(), ready.data().as_bytes());
        self.cursor = Some(seq);
        pieces.push_back(out.freeze());
        Went::On
    }
}

const END: &[u8] = b"\n\n";

/// What stands before the data of an event on the wire.
#[derive(Clone, Copy, Default)]
struct Head {
    session: Option<SessionId>,
}

impl Head {
    /// One event on the wire. JSON text has no line breaks, so one `data:` line holds it.
    fn write(self, out: &mut BytesMut, id: Option<u64>, kind: &str, data: &[u8]) {
        out.reserve(data.len() + kind.len() + 96);
        self.begin(out, id, kind);
        out.put_slice(data);
        out.put_slice(END);
    }

    fn begin(self, out: &mut BytesMut, id: Option<u64>, kind: &str) {
        if let Some(session) = self.session {
            out.put_slice(b"session: ");
            out.put_slice(session.to_string().as_bytes());
            out.put_slice(b"\n");
        }
        if let Some(id) = id {
            out.put_slice(b"id: ");
            out.put_slice(id.to_string().as_bytes());
            out.put_slice(b"\n");
        }
        out.put_slice(b"event: ");
        out.put_slice(kind.as_bytes());
        out.put_slice(b"\ndata: ");
    }
}
