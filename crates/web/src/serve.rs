//! The sockets: connections are taken, given a place, encrypted where that is wanted, and served until they end or are overdue.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::rt::Executor;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use rustix::process::{Resource, getrlimit};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::App;
use crate::connections::{Connections, Place};
use crate::limits::HEADER_BYTES_MAX;
use crate::notify;
use crate::reach::Door;
use crate::tls::Certificates;
use watched::Watched;

mod watched;

/// How often the certificate's files are looked at.
const CERTIFICATE_CHECK: Duration = Duration::from_secs(2);
/// How long to wait when the system has no more connections to give.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);
/// What HTTP/1 keeps at hand of a request and a response: the check of the headers is stricter, and answers in our form.
const BUFFER: usize = 4 * HEADER_BYTES_MAX;
/// How long requests may take that came through the second listener when it is closed.
const CLOSING: Duration = Duration::from_secs(1);
const HTTP2_STREAMS: u32 = 100;
const HTTP2_RESETS: usize = 20;
const HTTP2_PING: Duration = Duration::from_secs(30);
const HTTP2_PONG: Duration = Duration::from_secs(20);
const HTTP2_SEND_BUFFER: usize = 256 * 1024;
/// The first byte of every TLS connection: a handshake record.
const TLS_HANDSHAKE: u8 = 0x16;
const WRONG_SCHEME: &str = "this is an HTTPS address: write https:// instead of http://\n";

/// Through which listener a connection came.
#[derive(Clone)]
struct Entrance {
    /// `None` where it speaks in the clear.
    certificates: Option<Arc<Certificates>>,
    closed: CancellationToken,
}

impl Entrance {
    fn of(door: &Door) -> Entrance {
        Entrance { certificates: Some(door.certificates.clone()), closed: door.closed.clone() }
    }
}

/// Serves until the app is told to stop; then takes no more connections and lets open requests end.
pub async fn serve(listener: TcpListener, app: App) -> io::Result<()> {
    let router = app.router();
    let connections = Connections::default();
    let limits = app.ledger.limits.clone();
    let mut tasks = JoinSet::new();
    let mut check = tokio::time::interval(CERTIFICATE_CHECK);
    let main = Entrance { certificates: app.certificates.clone(), closed: CancellationToken::new() };
    let mut doors = app.reach.door();
    let mut notifying = pin!(notify::run(app.clone()));
    loop {
        let door = doors.borrow_and_update().clone();
        let (accepted, entrance) = tokio::select! {
            () = app.stopping.cancelled() => break,
            never = &mut notifying => match never {},
            Some(_ended) = tasks.join_next() => continue,
            _ = doors.changed() => continue,
            _ = check.tick() => {
                let shown = [&app.certificates, &door.map(|door| door.certificates.clone())];
                shown.into_iter().flatten().for_each(|certificates| certificates.refresh());
                // Its address may be back; that it is not is known.
                let _still_away = app.reach.retry().await;
                continue;
            }
            accepted = listener.accept() => (accepted, main.clone()),
            (accepted, entrance) = accept(door.as_deref()) => (accepted, entrance),
        };
        match accepted {
            Ok((stream, remote)) => {
                let is_proxy = app.proxies.trusts(remote.ip());
                if let Some(place) = connections.admit(remote.ip(), is_proxy, &limits) {
                    tasks.spawn(connection(app.clone(), router.clone(), stream, remote, place, entrance));
                } else {
                    tracing::debug!(%remote, "a connection is refused: all of them are at work");
                }
            }
            Err(error) if is_the_peers(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "no connection can be taken");
                connections.make_room();
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    while tasks.join_next().await.is_some() {}
    app.access.acting.close();
    app.access.acting.wait().await;
    Ok(())
}

/// Waits for a connection; for ever where there is no second listener.
async fn accept(door: Option<&Door>) -> (io::Result<(TcpStream, SocketAddr)>, Entrance) {
    let Some(door) = door else { return std::future::pending().await };
    (door.listener.accept().await, Entrance::of(door))
}

/// How many files the system lets the server open.
pub(crate) fn open_files() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// The peer has gone before it was taken.
fn is_the_peers(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

async fn connection(app: App, router: Router, stream: TcpStream, remote: SocketAddr, place: Place, entrance: Entrance) {
    // Events are small, and each of them is to go out at once.
    let _delayed = stream.set_nodelay(true);
    let limits = app.ledger.limits.clone();
    let _counted = app.engine.metrics().connections.hold();
    app.engine.metrics().connections_taken.increment();
    tokio::select! {
        served = Box::pin(speak(&app, router, stream, remote, &place, &entrance)) => {
            if let Err(error) = served {
                tracing::debug!(%remote, %error, "a connection failed");
            }
        }
        () = place.activity.overdue(&limits) => tracing::debug!(%remote, "a connection is closed: its peer let it wait"),
        () = place.evicted.cancelled() => tracing::debug!(%remote, "a connection made room for another"),
        () = cut_off(&entrance) => tracing::debug!(%remote, "a connection is closed with the address that it came to"),
    }
}

/// Whoever closes an address by which they came still gets the answer; streams would go on for ever.
async fn cut_off(entrance: &Entrance) {
    entrance.closed.cancelled().await;
    tokio::time::sleep(CLOSING).await;
}

async fn speak(
    app: &App,
    router: Router,
    stream: TcpStream,
    remote: SocketAddr,
    place: &Place,
    entrance: &Entrance,
) -> Result<(), axum::BoxError> {
    let Some(certificates) = &entrance.certificates else { return http(app, router, Box::new(stream), remote, place, None).await };
    let acceptor = TlsAcceptor::from(certificates.config());
    let handshake = async {
        let mut first = [0];
        if stream.peek(&mut first).await? == 1 && first[0] != TLS_HANDSHAKE {
            tell_scheme(stream).await?;
            return Ok(None);
        }
        acceptor.accept(stream).await.map(Some)
    };
    let Some(stream) = tokio::time::timeout(app.ledger.limits.handshake_timeout, handshake).await?? else { return Ok(()) };
    let http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
    http(app, router, Box::new(stream), remote, place, Some(http2)).await
}

/// Answers a request that came in the clear. What it says is read too: a socket that is closed with something unread takes the
/// answer with it.
async fn tell_scheme(mut stream: TcpStream) -> io::Result<()> {
    let length = WRONG_SCHEME.len();
    let head = format!(
        "HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(format!("{head}{WRONG_SCHEME}").as_bytes()).await?;
    stream.shutdown().await?;
    let mut unread = [0; 1024];
    while stream.read(&mut unread).await? > 0 {}
    Ok(())
}

/// A connection in the clear or an encrypted one. Not a type parameter: all of HTTP would be compiled for each of the two.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// `encrypted` says whether it is HTTP/2 then.
async fn http(
    app: &App,
    router: Router,
    stream: Box<dyn Stream>,
    remote: SocketAddr,
    place: &Place,
    encrypted: Option<bool>,
) -> Result<(), axum::BoxError> {
    let (proxies, activity) = (app.proxies.clone(), place.activity.clone());
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let mut request = request.map(Body::new);
        proxies.receive(&mut request, remote, encrypted.is_some());
        request.extensions_mut().insert(activity.clone());
        router.clone().oneshot(request)
    });
    let builder = builder();
    let builder = if encrypted == Some(true) { builder.http2_only() } else { builder.http1_only() };
    if encrypted == Some(true) {
        place.activity.is_http2();
    }
    let mut served = pin!(builder.serve_connection(TokioIo::new(Watched::new(stream, place.activity.clone())), service));
    tokio::select! {
        ended = served.as_mut() => return ended,
        () = app.stopping.cancelled() => {}
    }
    if place.activity.is_quiet() {
        return Ok(());
    }
    served.as_mut().graceful_shutdown();
    served.await
}

fn builder() -> auto::Builder<Streams> {
    let mut builder = auto::Builder::new(Streams::default());
    // Our own watch over the connection knows a half-sent head from an idle connection.
    builder.http1().timer(TokioTimer::new()).header_read_timeout(None).max_buf_size(BUFFER);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(HTTP2_STREAMS)
        .max_header_list_size(u32::try_from(BUFFER).unwrap_or(u32::MAX))
        .max_pending_accept_reset_streams(HTTP2_RESETS)
        .max_local_error_reset_streams(HTTP2_RESETS)
        .max_send_buf_size(HTTP2_SEND_BUFFER)
        .keep_alive_interval(HTTP2_PING)
        .keep_alive_timeout(HTTP2_PONG);
    builder
}

/// The tasks of the streams of one HTTP/2 connection. They end with it.
#[derive(Clone, Default)]
struct Streams(Arc<Mutex<JoinSet<()>>>);

impl<Task: Future + Send + 'static> Executor<Task> for Streams {
    fn execute(&self, task: Task) {
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(async {
            let _result = task.await;
        });
    }
}
