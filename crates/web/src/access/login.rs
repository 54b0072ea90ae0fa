//! Signing in: by a link that works once, or by a code that is typed.

use axum::extract::{Query, State};
use axum::http::header;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Form, Router};
use domain::device::DeviceKind;
use serde::Deserialize;
use store::LinkRow;

use super::link::Unusable;
use super::{Refused, audit, guard, name, origin, secret};
use crate::App;
use crate::error::ApiError;
use crate::peer::Peer;

const STYLE: &str = include_str!("login.css");

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/login", get(by_link).post(by_code)).route("/login.css", get(style))
}

async fn style() -> Response {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8"), (header::CACHE_CONTROL, "no-cache")], STYLE).into_response()
}

#[derive(Deserialize)]
struct Link {
    link: Option<String>,
}

#[derive(Deserialize)]
struct Code {
    #[serde(default)]
    code: String,
}

async fn by_link(
    State(app): State<App>,
    Extension(peer): Extension<Peer>,
    method: Method,
    headers: HeaderMap,
    Query(link): Query<Link>,
) -> Response {
    let Some(secret) = link.link else { return Html(page(None)).into_response() };
    if origin::is_prefetch(&headers) {
        return (StatusCode::SERVICE_UNAVAILABLE, Html(page(None))).into_response();
    }
    let is_full = app.access.by_cookie(peer, &headers).is_some_and(|device| device.row.kind == DeviceKind::Full);
    if is_full {
        return Html(moving_on()).into_response();
    }
    if method == Method::HEAD {
        return Html(page(None)).into_response();
    }
    match app.access.links.take_by_secret(&secret) {
        Ok(link) => sign_in(&app, peer, &headers, link, "by link").await,
        Err(unusable) => refuse(Problem::Link(unusable)),
    }
}

async fn by_code(State(app): State<App>, Extension(peer): Extension<Peer>, headers: HeaderMap, Form(form): Form<Code>) -> Response {
    if let Err(Refused::TooManyTries { wait }) = app.access.may_try(peer) {
        app.access.tell_of_tries(peer).await;
        return guard::too_many_tries(wait, false);
    }
    match app.access.links.take_by_code(&secret::typed_code(&form.code)) {
        Ok(link) => sign_in(&app, peer, &headers, link, "by code").await,
        Err(unusable) => {
            app.access.was_wrong(peer);
            refuse(Problem::Code(unusable))
        }
    }
}

async fn sign_in(app: &App, peer: Peer, headers: &HeaderMap, link: LinkRow, how: &str) -> Response {
    let access = &app.access;
    let before = access.by_cookie(peer, headers).map(|device| device.row.id);
    let named = name::of(headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok()));
    match access.sign_in(peer, link, named, before).await {
        Ok((cookie, row)) => {
            let kind = if row.kind == DeviceKind::Full { "full" } else { "read-only" };
            let who = audit::Who { device_id: Some(row.id), name: row.name, address: peer.ip };
            audit::write(&access.store, who, "sign-in", Some(&format!("{how}, {kind}"))).await;
            ([(header::SET_COOKIE, cookie)], Html(moving_on())).into_response()
        }
        Err(error) => ApiError::from(error).into_response(),
    }
}

/// Why somebody is not signed in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Problem {
    Link(Unusable),
    Code(Unusable),
    TooManyTries { seconds: u64 },
}

impl Problem {
    fn text(self) -> String {
        const NEW: &str = "Run <code>voxpilot link</code> for a new one, or add this device in VoxPilot on another one.";
        match self {
            Problem::Link(Unusable::Used) => format!("This link was used already: it works once. {NEW}"),
            Problem::Link(Unusable::Expired) => format!("This link has expired: it works for ten minutes. {NEW}"),
            Problem::Link(Unusable::Unknown) => format!("This link is not known here. {NEW}"),
            Problem::Code(Unusable::Used) => format!("This code was used already: it works once. {NEW}"),
            Problem::Code(Unusable::Expired) => format!("This code has expired: it works for ten minutes. {NEW}"),
            Problem::Code(Unusable::Unknown) => "That code is not the right one.".to_owned(),
            Problem::TooManyTries { seconds } => format!("Too many wrong tries. Try again in {seconds} s, or open a link."),
        }
    }
}

fn refuse(problem: Problem) -> Response {
    (StatusCode::UNAUTHORIZED, Html(page(Some(problem)))).into_response()
}

/// A redirect would still count as coming from the page that held the link, and a strict cookie would not be sent along; a page of
/// our own that moves on does not have that trouble.
fn moving_on() -> String {
    let body = "<h1>Signed in</h1><p><a href=\"/\">Go to VoxPilot</a></p>";
    document("Signed in", body, "<meta http-equiv=\"refresh\" content=\"0; url=/\">")
}

pub(super) fn page(problem: Option<Problem>) -> String {
    let problem = problem.map(|problem| format!("<p class=\"problem\" role=\"alert\">{}</p>", problem.text())).unwrap_or_default();
    let body = format!(
        "<h1>Sign in to VoxPilot</h1>{problem}\
         <form method=\"post\" action=\"/login\"><label for=\"code\">Pairing code</label>\
         <input id=\"code\" name=\"code\" placeholder=\"XXXX-XXXX\" autocomplete=\"one-time-code\" autocapitalize=\"characters\" \
         spellcheck=\"false\" maxlength=\"20\" required autofocus><button>Sign in</button></form>\
         <p class=\"hint\">Run <code>voxpilot link</code> where the server runs: it prints a link to open and a code to type here. \
         Or choose “Add a device” in VoxPilot on a device that is signed in.</p>"
    );
    document("Sign in", &body, "")
}

fn document(title: &str, body: &str, head: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><link rel=\"stylesheet\" href=\"/login.css\"><title>{title} · VoxPilot</title>{head}\
         </head><body><main>{body}</main></body></html>"
    )
}
