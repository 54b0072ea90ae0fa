//! What every request passes: the server's own hosts and pages, who is let in, and what is told of it; and the headers that keep a
//! page in bounds.

use std::time::Duration;

use axum::RequestExt;
use axum::body::{Body, HttpBody};
use axum::extract::{MatchedPath, RawPathParams, Request, State};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};
use domain::ids::SessionId;
use futures::StreamExt;

use super::audit::{self, Detail, Untold};
use super::{Caller, Refused, login, origin};
use crate::App;
use crate::error::{self, ApiError};
use crate::hosts::{self, Hosts};
use crate::limits::{self, Holder};
use crate::peer::Peer;
use crate::routes::{self, Call, Who};

const CSP: &str = "default-src 'self'; img-src 'self' data: blob:; style-src 'self'; script-src 'self'; connect-src 'self'; \
                   worker-src 'self'; manifest-src 'self'; \
                   object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

pub(crate) async fn guard(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let peer = Peer::of(request.extensions());
    let route = request.extensions().get::<MatchedPath>().map(|route| route.as_str().to_owned());
    let path = request.uri().path();
    let api = path.starts_with("/api/");
    let for_programs = api || matches!(path, "/mcp" | "/metrics");
    let call = routes::find(request.method(), route.as_deref(), path);
    if let Err(message) = is_ours(&app.hosts, call, &request, peer) {
        return ApiError::new(StatusCode::FORBIDDEN, "forbidden", message).into_response();
    }
    let caller = match app.access.admit(call, peer, request.method(), request.uri().query(), request.headers()) {
        Ok(caller) => caller,
        Err(refused) => {
            if let Refused::TooManyTries { .. } = refused {
                app.access.tell_of_tries(peer).await;
            }
            return limits::refusal(&request, None).unwrap_or_else(|| refuse(refused, for_programs));
        }
    };
    if let Some(too_many) = limits::refusal(&request, caller.as_ref().and_then(|caller| Holder::of(caller, peer))) {
        return too_many;
    }
    request.extensions_mut().insert(peer);
    let Some(caller) = caller else { return run(api, request, next).await };
    request.extensions_mut().insert(caller.clone());
    let response = match call.action {
        None => run(api, request, next).await,
        Some(action) => {
            // Whoever hangs up in the middle has still done it: it goes on without them, and is told.
            let acting = act(app.clone(), caller.who(peer), action, request, next);
            app.access.acting.spawn(acting).await.unwrap_or_else(|error| ApiError::internal(error).into_response())
        }
    };
    match caller {
        Caller::Token | Caller::Agent | Caller::Scraper => response,
        Caller::Device { device, .. } => {
            app.access.devices.used(&device, peer.ip).await;
            let ended = app.access.devices.clone().until_ended(device);
            ending(response, ended)
        }
    }
}

async fn run(api: bool, request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    if api { error::shaped(response) } else { response }
}

/// Does what is asked, and tells the audit log once it has worked.
async fn act(app: App, who: audit::Who, action: &'static str, mut request: Request, next: Next) -> Response {
    let about = subject(&app, &mut request).await;
    let response = run(true, request, next).await;
    if response.status().is_success() && response.extensions().get::<Untold>().is_none() {
        let said = response.extensions().get::<Detail>().map(|Detail(text)| text.clone());
        let (session, title) = about.unzip();
        let detail = [title, said].into_iter().flatten().collect::<Vec<_>>().join(": ");
        audit::write_of(&app.access.store, who, action, session, Some(&detail)).await;
    }
    response
}

/// Whether the request names us as its host, and comes from a page of ours or from none. From elsewhere one may only open a page.
fn is_ours(hosts: &Hosts, call: Call, request: &Request, peer: Peer) -> Result<(), String> {
    let headers = request.headers();
    let named = host(headers, request.uri());
    let host = named.filter(|host| hosts.is_own(host)).ok_or_else(|| hosts::refusal(named.unwrap_or_default()))?;
    let page = !request.uri().path().starts_with("/api/") && matches!(call.who, Who::Page | Who::Anybody);
    let opens = page && matches!(*request.method(), Method::GET | Method::HEAD) && origin::is_navigation(headers, host, peer.secure);
    if opens || origin::is_own(headers, host, peer.secure) { Ok(()) } else { Err("this page may not talk to the server".to_owned()) }
}

/// The host that a request names: HTTP/2 has it in the address, not in a header.
pub(crate) fn host<'a>(headers: &'a HeaderMap, address: &'a Uri) -> Option<&'a str> {
    headers.get(header::HOST).and_then(|value| value.to_str().ok()).or(address.authority().map(|name| name.as_str()))
}

/// The session that a call is about and its title, for the audit log: read before, since the call may change it.
async fn subject(app: &App, request: &mut Request) -> Option<(SessionId, String)> {
    let segments = request.extract_parts::<RawPathParams>().await.ok()?;
    let in_session = request.uri().path().starts_with("/api/sessions/");
    let id: SessionId = segments.iter().find(|(name, _)| *name == "id" && in_session)?.1.parse().ok()?;
    let row = app.engine.store().session(id).await.ok()??;
    Some((id, if row.title.is_empty() { format!("session {id}") } else { format!("“{}”", row.title) }))
}

pub(super) fn refuse(refused: Refused, api: bool) -> Response {
    let unauthorized = |code, message: &str| ApiError::new(StatusCode::UNAUTHORIZED, code, message).into_response();
    match refused {
        Refused::Unknown if !api => (StatusCode::UNAUTHORIZED, Html(login::page(None))).into_response(),
        Refused::Unknown => {
            unauthorized("unauthorized", "access denied: sign in with a link of `voxpilot link`, or send the token as a bearer")
        }
        Refused::KeyRequired => {
            unauthorized("key_required", "this device belongs to a page that shows its key: sign in again with a link of `voxpilot link`")
        }
        Refused::ReadOnly => {
            ApiError::new(StatusCode::FORBIDDEN, "read_only", "this device may only watch: use one with full access").into_response()
        }
        Refused::DelegatesOnly => {
            let message = "this token lets agents delegate at /mcp and no more: use the server's own for anything else";
            ApiError::new(StatusCode::FORBIDDEN, "delegates_only", message).into_response()
        }
        Refused::MetricsOnly => {
            let message = "this token opens /metrics and no more: use the server's own for anything else";
            ApiError::new(StatusCode::FORBIDDEN, "metrics_only", message).into_response()
        }
        Refused::TooManyTries { wait } => too_many_tries(wait, api),
    }
}

fn too_many_tries(wait: Duration, api: bool) -> Response {
    let seconds = wait.as_secs().max(1);
    let text = format!("too many failed attempts: try again in {seconds} s");
    let mut response = match api {
        true => ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too_many_tries", text).into_response(),
        false => (StatusCode::TOO_MANY_REQUESTS, Html(login::page(Some(login::Problem::TooManyTries { seconds })))).into_response(),
    };
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    response
}

/// A response that is still being written ends when its reader is let in no more. One that is all there is not cut.
fn ending(response: Response, ended: impl Future<Output = ()> + Send + 'static) -> Response {
    if response.body().size_hint().exact().is_some() {
        return response;
    }
    response.map(|body| Body::from_stream(body.into_data_stream().take_until(Box::pin(ended))))
}

pub(crate) async fn secure_headers(mut response: Response) -> Response {
    let fixed = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "same-origin"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ];
    let headers = response.headers_mut();
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // What people have uploaded is served with a stricter one, and may be kept by the browser.
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(CSP));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}
