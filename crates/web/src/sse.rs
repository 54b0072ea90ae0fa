//! The event stream of one client: a cursor over the log, and nothing else. A client that reads slowly holds up nobody.

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
use tokio::time::{Instant, MissedTickBehavior};

use crate::App;
use crate::error::{ApiResult, not_found};
use crate::snapshot;

const KEEPALIVE: Duration = Duration::from_secs(15);
/// How many events are taken at once, and about how many bytes go out in one piece.
const FRAMES: usize = 512;
const PIECE: usize = 64 * 1024;
/// How many messages a snapshot holds; older ones are paged.
const MESSAGES: u32 = 50;

struct Reader {
    app: App,
    session: SessionId,
    feed: Feed,
    /// `None` until a snapshot has been sent.
    cursor: Option<u64>,
    keepalive: tokio::time::Interval,
    /// Frames that are read but not sent yet.
    waiting: std::collections::VecDeque<Frame>,
    /// The rest of a large frame, which goes out as it is.
    rest: std::collections::VecDeque<Bytes>,
    ended: bool,
    _viewer: Viewer,
}

/// Opens the stream after `cursor`, or with a snapshot where there is none.
pub(crate) async fn open(app: &App, session: SessionId, cursor: Option<u64>) -> ApiResult<Response> {
    if app.engine.store().session(session).await?.is_none() {
        return Err(not_found("session"));
    }
    let mut keepalive = tokio::time::interval_at(Instant::now() + KEEPALIVE, KEEPALIVE);
    keepalive.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let reader = Reader {
        app: app.clone(),
        session,
        feed: app.engine.store().feed(session),
        cursor,
        keepalive,
        waiting: std::collections::VecDeque::new(),
        rest: std::collections::VecDeque::new(),
        ended: false,
        _viewer: app.engine.watch(session),
    };
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
        (header::CONNECTION, "keep-alive"),
        // A proxy is not to gather events.
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    Ok((headers, Body::from_stream(pieces(reader).map(Ok::<_, std::convert::Infallible>))).into_response())
}

fn pieces(reader: Reader) -> impl Stream<Item = Bytes> {
    futures::stream::unfold(reader, |mut reader| async move {
        let piece = reader.next().await?;
        Some((piece, reader))
    })
    .fuse()
}

impl Reader {
    async fn next(&mut self) -> Option<Bytes> {
        if self.ended {
            return None;
        }
        if let Some(rest) = self.rest.pop_front() {
            return Some(rest);
        }
        if !self.waiting.is_empty() {
            return Some(self.piece().await);
        }
        let Some(cursor) = self.cursor else { return self.snapshot(BytesMut::new()).await };
        let stopping = self.app.stopping.clone();
        tokio::select! {
            () = stopping.cancelled() => None,
            _ = self.keepalive.tick() => {
                let mut out = BytesMut::new();
                write(&mut out, None, "keepalive", b"{}");
                Some(out.freeze())
            }
            batch = self.feed.after(cursor, FRAMES) => self.batch(batch).await,
        }
    }

    async fn batch(&mut self, batch: Result<Batch, store::FeedError>) -> Option<Bytes> {
        match batch {
            Ok(Batch::Frames { frames }) => {
                self.cursor = frames.last().map(|frame| frame.seq).or(self.cursor);
                self.waiting.extend(frames);
                Some(self.piece().await)
            }
            Ok(Batch::Reset) => {
                let mut out = BytesMut::new();
                write(&mut out, None, "reset", b"{}");
                self.snapshot(out).await
            }
            Ok(Batch::Deleted) => None,
            Err(store::FeedError::Closed) => None,
            Err(error) => {
                // The client comes back with its cursor, and by then the database may answer again.
                tracing::error!(session = %self.session, %error, "the event stream ends");
                None
            }
        }
    }

    /// As many waiting frames as fit into one piece.
    async fn piece(&mut self) -> Bytes {
        let mut out = BytesMut::new();
        while let Some(frame) = self.waiting.pop_front() {
            let data = match frame.kind.as_ref() {
                "message" | "done" => self.rendered(&frame).await,
                _ => frame.data,
            };
            if data.len() >= PIECE {
                // All readers share it; a copy for each would make a slow one expensive.
                write_head(&mut out, Some(frame.seq), &frame.kind);
                self.rest.extend([data, Bytes::from_static(END)]);
                break;
            }
            write(&mut out, Some(frame.seq), &frame.kind, &data);
            if out.len() >= PIECE {
                break;
            }
        }
        out.freeze()
    }

    /// The frame's data with the HTML of its message, which is made when it is sent and not stored.
    async fn rendered(&self, frame: &Frame) -> Bytes {
        let event = match frame.event() {
            Some(Event::Message(mut message)) => {
                self.app.html.fill(&mut message).await;
                Event::Message(message)
            }
            Some(Event::Done(mut done)) => {
                if let Ok(Some(mut message)) = self.app.engine.store().message(self.session, done.message_id).await {
                    self.app.html.fill(&mut message).await;
                    done.html = message.html;
                }
                Event::Done(done)
            }
            _ => return frame.data.clone(),
        };
        Bytes::from(event.data())
    }

    async fn snapshot(&mut self, mut out: BytesMut) -> Option<Bytes> {
        let snapshot = match self.app.engine.store().snapshot(self.session, MESSAGES).await {
            Ok(Some(snapshot)) => snapshot,
            Ok(None) => return None,
            Err(error) => {
                tracing::error!(session = %self.session, %error, "no snapshot");
                self.ended = true;
                return Some(out.freeze());
            }
        };
        let seq = snapshot.seq;
        for mut event in snapshot::events(snapshot) {
            if let Event::Message(message) = &mut event {
                self.app.html.fill(message).await;
            }
            write(&mut out, None, event.kind(), event.data().as_bytes());
        }
        let ready = Event::Ready { seq };
        write(&mut out, Some(seq), ready.kind(), ready.data().as_bytes());
        self.cursor = Some(seq);
        Some(out.freeze())
    }
}

const END: &[u8] = b"\n\n";

/// One event on the wire. JSON text has no line breaks, so one `data:` line holds it.
fn write(out: &mut BytesMut, id: Option<u64>, kind: &str, data: &[u8]) {
    out.reserve(data.len() + kind.len() + 48);
    write_head(out, id, kind);
    out.put_slice(data);
    out.put_slice(END);
}

fn write_head(out: &mut BytesMut, id: Option<u64>, kind: &str) {
    if let Some(id) = id {
        out.put_slice(b"id: ");
        out.put_slice(id.to_string().as_bytes());
        out.put_slice(b"\n");
    }
    out.put_slice(b"event: ");
    out.put_slice(kind.as_bytes());
    out.put_slice(b"\ndata: ");
}
