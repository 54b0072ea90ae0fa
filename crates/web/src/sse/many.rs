//! The stream of several sessions and of the list: one response for all that a browser shows. One session is looked at after the
//! other, and what one look gave is sent before the next, so that a busy session leaves room for the others and a slow client holds no
//! more than one session's batch.

use std::collections::VecDeque;
use std::time::Duration;

use axum::body::Bytes;
use axum::response::Response;
use bytes::BytesMut;
use domain::ids::SessionId;
use futures::StreamExt;
use futures::future::select_all;
use store::ListFeed;
use tokio::time::{Instant, Interval};

use super::{FRAMES, Head, Source, Went};
use crate::App;
use crate::routes::sessions::SessionView;

/// A row of the list is told of at most so often.
const ROWS_PAUSE: Duration = Duration::from_millis(250);
/// How many rows go out in one piece.
const ROWS: usize = 16;

/// A session that a client wants to hear of, and the last event that it has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Wanted {
    pub(crate) session: SessionId,
    pub(crate) after: Option<u64>,
}

/// A session, and whether its last look found something: then there may be more.
struct Looked {
    source: Source,
    found: bool,
}

struct Reader {
    app: App,
    /// Those that were not begun yet.
    wanted: VecDeque<Wanted>,
    /// The first is the next to be looked at, or is still sending what its last look gave.
    sources: VecDeque<Looked>,
    list: ListFeed,
    /// The rows that are to be sent, and when the list is next looked at.
    changed: VecDeque<SessionId>,
    rows_at: Instant,
    keepalive: Interval,
    /// What goes out next, as it is.
    pieces: VecDeque<Bytes>,
    ended: bool,
}

/// Opens the stream. The list counts from here on.
pub(crate) fn open(app: &App, wanted: Vec<Wanted>) -> Response {
    let reader = Reader {
        app: app.clone(),
        wanted: wanted.into(),
        sources: VecDeque::new(),
        list: app.engine.store().list_feed(),
        changed: VecDeque::new(),
        rows_at: Instant::now(),
        keepalive: super::keepalive(),
        pieces: VecDeque::new(),
        ended: false,
    };
    let pieces = futures::stream::unfold(reader, |mut reader| async move {
        let piece = reader.next().await?;
        Some((piece, reader))
    });
    super::response(app, &app.engine.metrics().many_streams, pieces.fuse())
}

impl Reader {
    async fn next(&mut self) -> Option<Bytes> {
        while self.pieces.is_empty() && !self.ended {
            self.ended = self.app.stopping.is_cancelled() || self.go_on().await == Went::Over;
        }
        self.pieces.pop_front()
    }

    async fn go_on(&mut self) -> Went {
        if let Some(first) = self.sources.front_mut().filter(|first| !first.source.waiting.is_empty()) {
            first.source.piece(&mut self.pieces).await;
            return Went::On;
        }
        if self.look_at_list() == Went::Over {
            return Went::Over;
        }
        if !self.changed.is_empty() {
            return self.rows().await;
        }
        if let Some(wanted) = self.wanted.pop_front() {
            return self.begin(wanted).await;
        }
        // The one that was looked at last comes last.
        let others = self.sources.len().min(1);
        self.sources.rotate_left(others);
        match self.sources.iter().position(|looked| looked.found || looked.source.feed.has_rung()) {
            Some(place) => {
                self.sources.rotate_left(place);
                self.look().await
            }
            None => self.wait().await,
        }
    }

    async fn begin(&mut self, wanted: Wanted) -> Went {
        match self.app.engine.store().session(wanted.session).await {
            Ok(Some(_)) => {
                let source = Source::new(&self.app, wanted.session, wanted.after, true);
                self.sources.push_front(Looked { source, found: true });
                self.look().await
            }
            Ok(None) => self.gone(wanted.session),
            Err(error) => over(&error),
        }
    }

    /// Looks at the first of the sources.
    async fn look(&mut self) -> Went {
        let Some(first) = self.sources.front_mut() else { return Went::On };
        let went = first.look(&mut self.pieces).await;
        if went != Went::Gone {
            return went;
        }
        let session = first.source.session;
        self.sources.pop_front();
        self.gone(session)
    }

    /// The others go on.
    fn gone(&mut self, session: SessionId) -> Went {
        self.send(Head { session: Some(session) }, "gone", b"{}");
        Went::On
    }

    fn look_at_list(&mut self) -> Went {
        if !self.changed.is_empty() || Instant::now() < self.rows_at {
            return Went::On;
        }
        match self.list.now() {
            Ok(changed) if changed.is_empty() => {}
            Ok(changed) => {
                self.changed = changed.into();
                self.rows_at = Instant::now() + ROWS_PAUSE;
            }
            // The client reads the list whenever it opens a stream.
            Err(store::FeedError::Closed | store::FeedError::Behind) => return Went::Over,
            Err(error) => return over(&error),
        }
        Went::On
    }

    async fn rows(&mut self) -> Went {
        for _ in 0..ROWS {
            let Some(id) = self.changed.pop_front() else { break };
            let (kind, data) = match self.app.engine.store().session(id).await {
                Ok(Some(row)) => ("sessions", serde_json::to_vec(&SessionView::new(&self.app, row))),
                Ok(None) => ("sessions-gone", serde_json::to_vec(&serde_json::json!({ "id": id }))),
                Err(error) => return over(&error),
            };
            self.send(Head::default(), kind, &data.expect("a row is plain data"));
        }
        Went::On
    }

    fn send(&mut self, head: Head, kind: &str, data: &[u8]) {
        let mut out = BytesMut::new();
        head.write(&mut out, None, kind, data);
        self.pieces.push_back(out.freeze());
    }

    /// Until one of the sources or the list has something. Whatever it is, the next look finds it.
    async fn wait(&mut self) -> Went {
        let stopping = self.app.stopping.clone();
        let Reader { sources, list, rows_at, keepalive, .. } = self;
        let any = async {
            match sources.is_empty() {
                true => std::future::pending().await,
                false => drop(select_all(sources.iter_mut().map(|looked| Box::pin(looked.source.feed.rung()))).await),
            }
        };
        let rows = async {
            tokio::time::sleep_until(*rows_at).await;
            list.rung().await;
        };
        tokio::select! {
            () = stopping.cancelled() => return Went::Over,
            _ = keepalive.tick() => {}
            () = any => return Went::On,
            () = rows => return Went::On,
        }
        self.send(Head::default(), "keepalive", b"{}");
        Went::On
    }
}

/// The client comes back with its cursors, and by then the database may answer again.
fn over(error: &dyn std::error::Error) -> Went {
    tracing::error!(%error, "the event stream of several sessions ends");
    Went::Over
}

impl Looked {
    /// Sends the first of what is there now: a snapshot, or what follows the cursor.
    async fn look(&mut self, pieces: &mut VecDeque<Bytes>) -> Went {
        self.found = true;
        let Looked { source, found } = self;
        let Some(cursor) = source.cursor else { return source.snapshot(BytesMut::new(), pieces).await };
        match source.feed.now(cursor, FRAMES).await {
            Ok(Some(batch)) => source.batch(Ok(batch), pieces).await,
            Ok(None) => {
                *found = false;
                Went::On
            }
            Err(error) => source.batch(Err(error), pieces).await,
        }
    }
}
