//! Bodies that tell the connection what it waits for: one that is received, by a deadline and within its bounds, and one that is sent.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use tokio::time::Sleep;

use crate::connections::{Activity, Doing};

/// What all bodies of one kind hold together, and may hold.
#[derive(Debug)]
pub(super) struct Pool {
    held: AtomicUsize,
    most: usize,
}

impl Pool {
    pub(super) fn new(most: usize) -> Pool {
        Pool { held: AtomicUsize::new(0), most }
    }
}

/// What one request's body holds of its pool. Given back when nobody works on the request any more.
#[derive(Debug)]
pub(super) struct Share {
    pool: Arc<Pool>,
    bytes: AtomicUsize,
    most: usize,
    failure: AtomicU8,
}

/// Why a body was not taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(super) enum Failure {
    Late = 1,
    TooLarge = 2,
    /// All bodies together are too much.
    Crowded = 3,
}

impl Share {
    /// Of a body that may have `most` bytes.
    pub(super) fn new(pool: &Arc<Pool>, most: usize) -> Share {
        Share { pool: pool.clone(), bytes: AtomicUsize::new(0), most, failure: AtomicU8::new(0) }
    }

    pub(super) fn failure(&self) -> Option<Failure> {
        let failure = self.failure.load(Ordering::Relaxed);
        [Failure::Late, Failure::TooLarge, Failure::Crowded].into_iter().find(|known| *known as u8 == failure)
    }

    fn fail(&self, failure: Failure) -> axum::BoxError {
        self.failure.store(failure as u8, Ordering::Relaxed);
        io::Error::from(io::ErrorKind::InvalidData).into()
    }

    fn take(&self, bytes: usize) -> Result<(), axum::BoxError> {
        let own = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let all = self.pool.held.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if own > self.most {
            return Err(self.fail(Failure::TooLarge));
        }
        if all > self.pool.most { Err(self.fail(Failure::Crowded)) } else { Ok(()) }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.pool.held.fetch_sub(self.bytes.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

/// A request's body. It fails when the peer has not sent all of it in time, or sends too much.
pub(super) struct Received {
    body: Body,
    deadline: Pin<Box<Sleep>>,
    share: Arc<Share>,
    activity: Arc<Activity>,
    /// While the peer is waited for.
    waiting: Option<Doing>,
}

impl Received {
    pub(super) fn new(body: Body, within: Duration, activity: Arc<Activity>, share: Arc<Share>) -> Received {
        Received { body, deadline: Box::pin(tokio::time::sleep(within)), share, activity, waiting: None }
    }
}

impl HttpBody for Received {
    type Data = Bytes;
    type Error = axum::BoxError;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::BoxError>>> {
        let this = self.get_mut();
        if let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(context) {
            this.waiting = None;
            let Some(frame) = frame else { return Poll::Ready(None) };
            let frame = frame.map_err(Into::into);
            let bytes = frame.as_ref().ok().and_then(Frame::data_ref).map_or(0, Bytes::len);
            return Poll::Ready(Some(this.share.take(bytes).and(frame)));
        }
        this.waiting.get_or_insert_with(|| this.activity.receive());
        ready!(this.deadline.as_mut().poll(context));
        Poll::Ready(Some(Err(this.share.fail(Failure::Late))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A response's body. What it holds (`Held`: shares) is given back when it has ended or is dropped.
pub(super) struct Sent<Held> {
    body: Body,
    activity: Arc<Activity>,
    doing: Doing,
    endless: bool,
    _held: Held,
}

impl<Held> Sent<Held> {
    /// With `endless` it is an event stream.
    pub(super) fn new(body: Body, held: Held, activity: Arc<Activity>, endless: bool) -> Sent<Held> {
        let doing = if endless { activity.stream() } else { activity.send() };
        Sent { body, activity, doing, endless, _held: held }
    }
}

impl<Held: Unpin> HttpBody for Sent<Held> {
    type Data = Bytes;
    type Error = axum::Error;

    /// It is asked for more only when the peer has taken what went before.
    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.get_mut();
        let frame = Pin::new(&mut this.body).poll_frame(context);
        if !this.endless {
            this.doing = if frame.is_pending() { this.activity.handle() } else { this.activity.send() };
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
