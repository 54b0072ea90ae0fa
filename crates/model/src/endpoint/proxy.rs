//! An HTTP proxy inside this process that bounds what an endpoint sends.
//!
//! The model library reads an error, a list and each event of a stream to its end before anybody can look at it, and builds a tree of every
//! value in it. It takes no client but its own kind. So for each request it is given one that reaches nothing but a socket of this process;
//! from there the request goes on to the endpoint, and of the answer comes back only what fits.
//!
//! Owns that socket and the one request that goes through it. What an endpoint that cannot be reached or sends too much comes to is a fault
//! of its own, which overrides whatever the library makes of it.

mod calls;
mod events;
mod values;

use std::convert::Infallible;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use genai::Client;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::header::HeaderMap;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use reqwest::redirect::Policy;
use tokio::net::{UnixListener, UnixStream};
use uuid::Uuid;

use super::classify;
use crate::fault::Fault;
use crate::settings::Target;
use events::Events;

/// One event of a stream, or a list of models.
const MAX_EVENT_MIB: usize = 4;
/// Everything that comes over the wire for one answer; each word of the text has an event around it.
const MAX_WIRE_MIB: usize = 128;
/// An error is a sentence; endpoints put whole pages around it.
const MAX_ERROR_BYTES: usize = 64 * 1024;
/// Headers that are about one connection.
const HOP_HEADERS: [&str; 6] = ["connection", "host", "keep-alive", "proxy-connection", "transfer-encoding", "content-length"];

type Body = StreamBody<BoxStream<'static, Result<Frame<Bytes>, Infallible>>>;

pub(super) struct Proxy {
    listener: UnixListener,
    /// Reaches nothing but the listener.
    pub(super) client: Client,
    exchange: Arc<Exchange>,
}

/// One request and its answer.
struct Exchange {
    endpoint: reqwest::Client,
    target: Arc<Target>,
    fault: Mutex<Option<Fault>>,
}

impl Proxy {
    pub(super) fn open(endpoint: reqwest::Client, target: Arc<Target>) -> Result<Proxy, Fault> {
        let failed = |reason: String| Fault::Refused { host: target.host.clone(), reason };
        // In no directory, so that nothing of it can be left behind.
        let socket = PathBuf::from(OsString::from_vec(format!("\0voxpilot-model-{}", Uuid::new_v4()).into_bytes()));
        let listener = UnixListener::bind(&socket).map_err(|error| failed(error.to_string()))?;
        let client = tls::client().unix_socket(socket).redirect(Policy::none()).build().map_err(|error| failed(error.to_string()))?;
        let client = Client::builder().with_reqwest(client).build().map_err(|error| failed(error.to_string()))?;
        Ok(Proxy { listener, client, exchange: Arc::new(Exchange { endpoint, target, fault: Mutex::default() }) })
    }

    /// The address that the library is told in place of the endpoint's.
    pub(super) fn address(base_url: &str) -> String {
        match base_url.strip_prefix("https:") {
            Some(rest) => format!("http:{rest}"),
            None => base_url.to_owned(),
        }
    }

    /// What the request comes to that `asking` makes with this proxy's client.
    pub(super) async fn run<T>(&self, asking: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
        let outcome = tokio::select! {
            outcome = asking => outcome,
            fault = self.serve() => Err(fault),
        };
        outcome.map_err(|fault| self.exchange.take_fault().unwrap_or(fault))
    }

    /// Ends only where no connection can be accepted.
    async fn serve(&self) -> Fault {
        loop {
            match self.listener.accept().await {
                Ok((stream, _)) if is_own(&stream) => self.serve_connection(stream).await,
                // Another process has found the name of the socket.
                Ok(_) => {}
                Err(error) => return Fault::Refused { host: self.exchange.target.host.clone(), reason: error.to_string() },
            }
        }
    }

    async fn serve_connection(&self, stream: UnixStream) {
        let service = service_fn(|request| self.exchange.clone().pass_on(request));
        let served = http1::Builder::new().keep_alive(false).serve_connection(TokioIo::new(stream), service).await;
        if let Err(error) = served {
            // The library has hung up, or sees for itself that the answer ended.
            tracing::debug!(%error, "a request to the model was given up");
        }
    }
}

fn is_own(stream: &UnixStream) -> bool {
    let pid = stream.peer_cred().ok().and_then(|peer| peer.pid());
    pid.and_then(|pid| u32::try_from(pid).ok()) == Some(std::process::id())
}

impl Exchange {
    async fn pass_on(self: Arc<Self>, request: Request<Incoming>) -> Result<Response<Body>, hyper::Error> {
        let (parts, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        let mut request = self.endpoint.request(parts.method.clone(), format!("{}{path}", origin(&self.target.base_url)));
        request = request.headers(end_to_end(&parts.headers));
        if !body.is_empty() {
            request = request.body(body);
        }
        let answer = match request.send().await {
            Ok(response) => self.answer(&parts.method, response).await,
            Err(error) => Err(classify::transport(&error, &self.target, 0)),
        };
        Ok(answer.unwrap_or_else(|fault| {
            self.fail(fault);
            let mut answer = Response::new(whole(Bytes::new()));
            *answer.status_mut() = StatusCode::BAD_GATEWAY;
            answer
        }))
    }

    async fn answer(self: &Arc<Self>, method: &Method, response: reqwest::Response) -> Result<Response<Body>, Fault> {
        let (status, headers) = (response.status(), end_to_end(response.headers()));
        let body = match status.is_success() {
            false => whole(beginning(response).await),
            true if method == Method::GET => whole(self.list(response).await?),
            true => self.clone().events(response),
        };
        let mut answer = Response::new(body);
        (*answer.status_mut(), *answer.headers_mut()) = (status, headers);
        Ok(answer)
    }

    async fn list(&self, response: reqwest::Response) -> Result<Bytes, Fault> {
        let too_long = || Fault::Malformed { host: self.target.host.clone(), detail: "its list of models is too long".to_owned() };
        let mut pieces = response.bytes_stream();
        let mut list = Vec::new();
        while let Some(piece) = pieces.next().await {
            list.extend_from_slice(&piece.map_err(|error| classify::transport(&error, &self.target, 0))?);
            if list.len() > MAX_EVENT_MIB << 20 {
                return Err(too_long());
            }
        }
        if values::are_few(&list) { Ok(list.into()) } else { Err(too_long()) }
    }

    /// Whole events as they come. Where one does not fit, or the connection breaks, the body ends, and the fault is noted.
    fn events(self: Arc<Self>, response: reqwest::Response) -> Body {
        let pieces = response.bytes_stream().boxed();
        let state = (self.clone(), Events::of(self.target.adapter, &self.target.host), Some(pieces));
        let frames = stream::unfold(state, |(exchange, mut events, mut pieces)| async move {
            let passed = match pieces.as_mut()?.next().await {
                Some(Ok(piece)) => events.take(&piece),
                Some(Err(error)) => Err(classify::transport(&error, &exchange.target, 0)),
                None => {
                    pieces = None;
                    events.rest()
                }
            };
            match passed {
                Ok(bytes) => Some((Ok(Frame::data(bytes)), (exchange, events, pieces))),
                Err(fault) => {
                    exchange.fail(fault);
                    None
                }
            }
        });
        StreamBody::new(frames.boxed())
    }

    fn fail(&self, fault: Fault) {
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(fault);
    }

    fn take_fault(&self) -> Option<Fault> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Of an error, what somebody may read. A connection that breaks ends it too.
async fn beginning(response: reqwest::Response) -> Bytes {
    let mut pieces = response.bytes_stream();
    let mut body = Vec::new();
    while let Some(Ok(piece)) = pieces.next().await {
        body.extend_from_slice(&piece);
        if body.len() >= MAX_ERROR_BYTES {
            body.truncate(MAX_ERROR_BYTES);
            break;
        }
    }
    body.into()
}

fn whole(body: Bytes) -> Body {
    StreamBody::new(stream::iter([Ok(Frame::data(body))]).boxed())
}

/// Scheme, host and port of an address.
fn origin(address: &str) -> &str {
    let host = address.find("://").map_or(0, |at| at + 3);
    let end = address[host..].find('/').map_or(address.len(), |at| host + at);
    &address[..end]
}

fn end_to_end(headers: &HeaderMap) -> HeaderMap {
    let mut headers = headers.clone();
    HOP_HEADERS.iter().for_each(|name| _ = headers.remove(*name));
    headers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_is_told_the_same_path_in_this_process() {
        for (base, address, from) in [
            ("https://api.example.org/v1/", "http://api.example.org/v1/", "https://api.example.org"),
            ("http://127.0.0.1:11434/", "http://127.0.0.1:11434/", "http://127.0.0.1:11434"),
            ("https://u:p@https.example.org:1/v1/x/", "http://u:p@https.example.org:1/v1/x/", "https://u:p@https.example.org:1"),
        ] {
            assert_eq!((Proxy::address(base).as_str(), origin(base)), (address, from));
        }
    }
}
