//! What one peer may take of the server: the numbers, and the check that every request passes. `docs/LIMITS.md` has the table.

mod body;
mod share;

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::App;
use crate::connections::Activity;
use crate::error::ApiError;
use crate::hosts::AmbiguousHost;
use crate::peer::Peer;
use crate::routes::{self, Who};
use body::{Failure, Pool, Received, Sent, Share};
pub(crate) use share::{Holder, owner};
use share::{Shares, Sizes, Slot};

/// The path and query of a request, in bytes.
const URL_MAX: usize = 8 * 1024;
const HEADERS_MAX: usize = 64;
/// All header names and values together, in bytes.
pub(crate) const HEADER_BYTES_MAX: usize = 16 * 1024;
/// The body of a request that anybody may make: a code or a token is short.
const STRANGER_BODY_MAX: usize = 4 * 1024;
/// And of one that every device may make: a key, or where it gets its notifications.
const READER_BODY_MAX: usize = 16 * 1024;

/// What changes with who serves: tests wait less and count lower.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Connections in all.
    pub connections: usize,
    pub connections_per_address: usize,
    /// This machine's own share of connections: everybody behind a tunnel comes from here.
    pub connections_of_loopback: usize,
    /// From the first byte of a request, or from the connection, to the end of its headers.
    pub header_timeout: Duration,
    pub handshake_timeout: Duration,
    /// How long a connection may be open with no request.
    pub idle_timeout: Duration,
    /// For a whole request body.
    pub body_timeout: Duration,
    /// For the body of a message, which may hold attachments.
    pub upload_timeout: Duration,
    /// How long a peer may take none of a response. Event streams are exempt: they hold up nobody.
    pub send_timeout: Duration,
    /// Requests at once from one address other than this machine's, open streams included.
    pub requests_per_address: usize,
    /// Requests at once of one device, or of one token other than the server's own.
    pub requests_per_device: usize,
    /// Requests at once of all who are not the owner: read-only devices and tokens other than the server's own.
    pub requests_restricted: usize,
    /// Event streams in all, and of programs at one address other than this machine's.
    pub streams: usize,
    pub streams_per_address: usize,
    pub streams_per_device: usize,
    pub streams_restricted: usize,
    /// The bodies of all requests that are being worked on, in bytes: the owner's, and those of programs that hand out work.
    pub bodies: usize,
    pub bodies_of_delegators: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections: 2048,
            connections_per_address: 64,
            connections_of_loopback: 1024,
            header_timeout: Duration::from_secs(10),
            handshake_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(75),
            body_timeout: Duration::from_secs(60),
            upload_timeout: Duration::from_secs(300),
            send_timeout: Duration::from_secs(60),
            requests_per_address: 128,
            requests_per_device: 64,
            requests_restricted: 512,
            streams: 1024,
            streams_per_address: 32,
            streams_per_device: 32,
            streams_restricted: 512,
            bodies: 128 * 1024 * 1024,
            bodies_of_delegators: 16 * 1024 * 1024,
        }
    }
}

impl Limits {
    /// With no more connections than half of the files that the system lets us open: the rest is for the store and the agents.
    pub(crate) fn within(&self, files: u64) -> Limits {
        let connections = usize::try_from(files / 2).unwrap_or(usize::MAX).min(self.connections);
        // Nobody's share is the whole.
        let share = |share: usize| share.min(connections / 2);
        // Each request at work holds a connection, and those of the owner may come from the same address.
        let reserving = |share: usize| share.min(connections / 4);
        Limits {
            connections,
            connections_per_address: share(self.connections_per_address),
            connections_of_loopback: share(self.connections_of_loopback),
            requests_per_device: reserving(self.requests_per_device),
            requests_restricted: reserving(self.requests_restricted),
            streams_per_device: reserving(self.streams_per_device),
            streams_restricted: reserving(self.streams_restricted),
            ..self.clone()
        }
    }
}

/// The limits and what is taken of them.
pub(crate) struct Ledger {
    pub(crate) limits: Limits,
    requests: Arc<Shares>,
    streams: Arc<Shares>,
    bodies: Arc<Pool>,
    bodies_of_delegators: Arc<Pool>,
}

impl Ledger {
    /// Of a server that may open so many files.
    pub(crate) fn new(limits: &Limits, files: u64) -> Ledger {
        let limits = limits.within(files);
        let requests = Shares::new(Sizes {
            all: usize::MAX,
            restricted: limits.requests_restricted,
            each_address: limits.requests_per_address,
            each_device: limits.requests_per_device,
        });
        let streams = Shares::new(Sizes {
            all: limits.streams,
            restricted: limits.streams_restricted,
            each_address: limits.streams_per_address,
            each_device: limits.streams_per_device,
        });
        let (bodies, delegators) = (Pool::new(limits.bodies), Pool::new(limits.bodies_of_delegators));
        Ledger {
            limits,
            requests: Arc::new(requests),
            streams: Arc::new(streams),
            bodies: Arc::new(bodies),
            bodies_of_delegators: Arc::new(delegators),
        }
    }

    /// What the body of this request may hold. Who makes it is found out before anything of it is read.
    fn body(&self, request: &Request) -> Share {
        let route = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
        match routes::find(request.method(), route, request.uri().path()).who {
            Who::Anybody => Share::new(&self.bodies, STRANGER_BODY_MAX),
            Who::Page | Who::Device | Who::Reader | Who::Scraper => Share::new(&self.bodies, READER_BODY_MAX),
            // What their calls may have each says so itself.
            Who::Owner => Share::new(&self.bodies, usize::MAX),
            Who::Delegator => Share::new(&self.bodies_of_delegators, usize::MAX),
        }
    }
}

pub(crate) async fn guard(State(app): State<App>, mut request: Request, next: Next) -> Response {
    if let Err(error) = check_head(&request) {
        return closing(error.into_response());
    }
    let ip = Peer::of(request.extensions()).ip;
    let slot = Slot::of_stranger(&app.ledger.requests, ip);
    request.extensions_mut().insert(slot.clone());
    let activity = request.extensions().get::<Arc<Activity>>().cloned().unwrap_or_default();
    let _handling = activity.handle();
    let body = Arc::new(app.ledger.body(&request));
    let response = next.run(watched(request, &app.ledger.limits, &activity, &body)).await;
    if let Some(failure) = body.failure() {
        return closing(refused_body(failure));
    }
    let streams = response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream");
    if !streams {
        return response.map(|body| Body::new(Sent::new(body, slot, activity, false)));
    }
    let Some(stream) = app.ledger.streams.take(slot.holder().unwrap_or(Holder::stranger(ip))) else {
        return too_many("too many event streams are open: close a page or a program that watches a session");
    };
    response.map(|body| Body::new(Sent::new(body, (slot, stream), activity, true)))
}

/// Counts a request against whoever asks, once that is known; nobody who is known counts against their address. Gives the refusal where
/// there is no share left.
pub(crate) fn refusal(request: &Request, holder: Option<Holder>) -> Option<Response> {
    let slot = request.extensions().get::<Slot>()?;
    match holder {
        Some(holder) if !slot.pass_to(holder) => Some(too_many("too many requests at once from you: wait for one of them to end")),
        None if slot.is_empty() => Some(too_many("too many requests at once from your address: wait for one of them to end")),
        _ => None,
    }
}

fn refused_body(failure: Failure) -> Response {
    let error = |status, code, message: &str| ApiError::new(status, code, message).into_response();
    match failure {
        Failure::Late => error(StatusCode::REQUEST_TIMEOUT, "too_slow", "the request's body took too long to arrive"),
        Failure::TooLarge => error(StatusCode::PAYLOAD_TOO_LARGE, "too_large", "the body is too large"),
        Failure::Crowded => too_many("too much is being sent to the server at once: try again when some of it has arrived"),
    }
}

fn check_head(request: &Request) -> Result<(), ApiError> {
    if request.extensions().get::<AmbiguousHost>().is_some() {
        return Err(ApiError::new(StatusCode::BAD_REQUEST, "invalid", "the request names more than one host"));
    }
    let url = request.uri().path_and_query().map_or(0, |text| text.as_str().len());
    if url > URL_MAX {
        return Err(ApiError::new(StatusCode::URI_TOO_LONG, "too_large", format!("the address may have {URL_MAX} bytes")));
    }
    let headers = request.headers();
    let bytes: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if headers.len() > HEADERS_MAX || bytes > HEADER_BYTES_MAX {
        let message = format!("a request may have {HEADERS_MAX} headers with {HEADER_BYTES_MAX} bytes together");
        return Err(ApiError::new(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "too_large", message));
    }
    Ok(())
}

/// The request with a body that has a deadline and tells when it is waited for.
fn watched(request: Request, limits: &Limits, activity: &Arc<Activity>, share: &Arc<Share>) -> Request {
    if request.body().is_end_stream() {
        return request;
    }
    let uploads = request.uri().path().ends_with("/messages");
    let within = if uploads { limits.upload_timeout } else { limits.body_timeout };
    request.map(|body| Body::new(Received::new(body, within, activity.clone(), share.clone())))
}

fn too_many(message: &str) -> Response {
    let mut response = ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too_many", message).into_response();
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
    response
}

/// What is still to come of the request is not wanted.
fn closing(mut response: Response) -> Response {
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_files_to_open_are_few_connections() {
        let of = |files| {
            let limits = Limits::default().within(files);
            (limits.connections, limits.connections_of_loopback, limits.connections_per_address)
        };
        assert_eq!(of(u64::MAX), (2048, 1024, 64));
        assert_eq!(of(1024), (512, 256, 64));
        assert_eq!(of(200), (100, 50, 50));
        let few = Limits::default().within(200);
        assert_eq!((few.requests_per_device, few.requests_restricted, few.streams_per_device, few.streams_restricted), (25, 25, 25, 25));
    }

    #[test]
    fn the_documented_numbers_are_those_of_the_code() {
        let limits = Limits::default();
        let table = include_str!("../../../docs/LIMITS.md");
        for (row, number) in [
            ("connections in all", limits.connections.to_string()),
            ("connections of one address", limits.connections_per_address.to_string()),
            ("connections of this machine", limits.connections_of_loopback.to_string()),
            ("the head of a request, from its first byte or from the connection", format!("{} s", limits.header_timeout.as_secs())),
            ("a TLS handshake", format!("{} s", limits.handshake_timeout.as_secs())),
            ("a connection without a request", format!("{} s", limits.idle_timeout.as_secs())),
            ("a response of which the peer takes nothing", format!("{} s", limits.send_timeout.as_secs())),
            ("path and query", format!("{} KiB", URL_MAX / 1024)),
            ("headers, and all of them together", format!("{HEADERS_MAX}, {} KiB", HEADER_BYTES_MAX / 1024)),
            ("time for a whole body", format!("{} s, {} s for a message", limits.body_timeout.as_secs(), limits.upload_timeout.as_secs())),
            (
                "requests at once of one address that nobody is signed in with, or of programs there",
                limits.requests_per_address.to_string(),
            ),
            ("event streams in all", limits.streams.to_string()),
            ("event streams of programs at one address", limits.streams_per_address.to_string()),
            ("requests at once of one device, or of the token for agents or metrics", limits.requests_per_device.to_string()),
            ("requests at once of all read-only devices and those tokens together", limits.requests_restricted.to_string()),
            ("event streams of one device", limits.streams_per_device.to_string()),
            ("event streams of all read-only devices together", limits.streams_restricted.to_string()),
            ("a body that anybody may send, or any device", format!("{} KiB, {} KiB", STRANGER_BODY_MAX / 1024, READER_BODY_MAX / 1024)),
            (
                "all bodies at once: of the owner, at `/mcp`",
                format!("{} MiB, {} MiB", limits.bodies >> 20, limits.bodies_of_delegators >> 20),
            ),
        ] {
            assert!(table.contains(&format!("| {row} | {number} |")), "{row}: {number}");
        }
    }
}
