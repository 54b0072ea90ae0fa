//! The stream of one session.

use std::collections::VecDeque;

use axum::body::Bytes;
use axum::response::Response;
use bytes::BytesMut;
use domain::ids::SessionId;
use futures::StreamExt;
use tokio::time::Interval;

use super::{FRAMES, Head, Source, Went};
use crate::App;
use crate::error::{ApiResult, not_found};

struct Reader {
    source: Source,
    keepalive: Interval,
    /// What goes out next, as it is.
    pieces: VecDeque<Bytes>,
    ended: bool,
}

/// Opens the stream after `cursor`, or with a snapshot where there is none.
pub(crate) async fn open(app: &App, session: SessionId, cursor: Option<u64>) -> ApiResult<Response> {
    if app.engine.store().session(session).await?.is_none() {
        return Err(not_found("session"));
    }
    let source = Source::new(app, session, cursor, false);
    let reader = Reader { source, keepalive: super::keepalive(), pieces: VecDeque::new(), ended: false };
    let pieces = futures::stream::unfold(reader, |mut reader| async move {
        let piece = reader.next().await?;
        Some((piece, reader))
    });
    Ok(super::response(app, &app.engine.metrics().single_streams, pieces.fuse()))
}

impl Reader {
    async fn next(&mut self) -> Option<Bytes> {
        while self.pieces.is_empty() && !self.ended {
            self.ended = self.go_on().await != Went::On;
        }
        self.pieces.pop_front()
    }

    async fn go_on(&mut self) -> Went {
        let Reader { source, keepalive, pieces, .. } = self;
        if !source.waiting.is_empty() {
            source.piece(pieces).await;
            return Went::On;
        }
        let Some(cursor) = source.cursor else { return source.snapshot(BytesMut::new(), pieces).await };
        let stopping = source.app.stopping.clone();
        tokio::select! {
            () = stopping.cancelled() => Went::Over,
            _ = keepalive.tick() => {
                let mut out = BytesMut::new();
                Head::default().write(&mut out, None, "keepalive", b"{}");
                pieces.push_back(out.freeze());
                Went::On
            }
            batch = source.feed.after(cursor, FRAMES) => source.batch(batch, pieces).await,
        }
    }
}
