//! Bodies that tell the connection what it waits for: one that is received by a deadline, and one that is sent.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use tokio::time::Sleep;

use crate::connections::{Activity, Doing};

/// A request's body. It fails when the peer has not sent all of it in time.
pub(super) struct Received {
    body: Body,
    deadline: Pin<Box<Sleep>>,
    late: Arc<AtomicBool>,
    activity: Arc<Activity>,
    /// While the peer is waited for.
    waiting: Option<Doing>,
}

impl Received {
    pub(super) fn new(body: Body, within: Duration, activity: Arc<Activity>, late: Arc<AtomicBool>) -> Received {
        Received { body, deadline: Box::pin(tokio::time::sleep(within)), late, activity, waiting: None }
    }
}

impl HttpBody for Received {
    type Data = Bytes;
    type Error = axum::BoxError;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::BoxError>>> {
        let this = self.get_mut();
        if let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(context) {
            this.waiting = None;
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        this.waiting.get_or_insert_with(|| this.activity.receive());
        ready!(this.deadline.as_mut().poll(context));
        this.late.store(true, Ordering::Relaxed);
        Poll::Ready(Some(Err(io::Error::from(io::ErrorKind::TimedOut).into())))
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
