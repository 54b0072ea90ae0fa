//! Signing in: by a link that works once, or by a code that is typed.

use axum::extract::{Query, State};
use axum::http::header;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Form, Router};
use domain::device::DeviceKind;
use serde::Deserialize;

use super::link::{TakenLink, Unusable};
use super::{Refused, SignedIn, audit, guard, name, origin, secret};
use crate::App;
use crate::error::ApiError;
use crate::peer::Peer;

const STYLE: &str = include_str!("login.css");
const SCRIPT: &str = include_str!("login.js");

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/login", get(by_link).post(by_typing)).route("/login.css", get(style)).route("/login.js", get(script))
}

async fn style() -> Response {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8"), (header::CACHE_CONTROL, "no-cache")], STYLE).into_response()
}

async fn script() -> Response {
    ([(header::CONTENT_TYPE, "text/javascript; charset=utf-8"), (header::CACHE_CONTROL, "no-cache")], SCRIPT).into_response()
}

#[derive(Deserialize)]
struct Link {
    link: Option<String>,
}

/// One of the two is filled in; where both are, the code counts.
#[derive(Deserialize)]
struct Typed {
    #[serde(default)]
    code: String,
    #[serde(default)]
    token: String,
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
        return Html(moving_on(None)).into_response();
    }
    if method == Method::HEAD {
        return Html(page(None)).into_response();
    }
    match app.access.links.take_by_secret(&secret) {
        Ok(link) => sign_in(&app, peer, &headers, link, "by link").await,
        Err(unusable) => refuse(Problem::Link(unusable)),
    }
}

async fn by_typing(State(app): State<App>, Extension(peer): Extension<Peer>, headers: HeaderMap, Form(typed): Form<Typed>) -> Response {
    if typed.code.trim().is_empty() && !typed.token.trim().is_empty() {
        return by_token(&app, peer, &headers, typed.token.trim()).await;
    }
    if let Err(refused) = app.access.may_try_code(peer) {
        return held_up(&app, peer, refused).await;
    }
    match app.access.links.take_by_code(&secret::typed_code(&typed.code)) {
        Ok(link) => sign_in(&app, peer, &headers, link, "by code").await,
        Err(unusable) => {
            app.access.wrong_code(peer);
            refuse(Problem::Code(unusable))
        }
    }
}

/// Whoever has the token may make links, so it lets a browser in as one would.
async fn by_token(app: &App, peer: Peer, headers: &HeaderMap, token: &str) -> Response {
    if !app.access.is_token(token) {
        return match app.access.wrong_token(peer) {
            Ok(()) => refuse(Problem::Token),
            Err(refused) => held_up(app, peer, refused).await,
        };
    }
    let made = app.access.links.make_even_unstored(DeviceKind::Full).await;
    match app.access.links.take_by_secret(&made.secret) {
        Ok(link) => sign_in(app, peer, headers, link, "by token").await,
        Err(unusable) => refuse(Problem::Link(unusable)),
    }
}

async fn held_up(app: &App, peer: Peer, refused: Refused) -> Response {
    app.access.tell_of_tries(peer).await;
    guard::refuse(refused, false)
}

async fn sign_in(app: &App, peer: Peer, headers: &HeaderMap, link: TakenLink, how: &str) -> Response {
    let access = &app.access;
    let before = access.by_cookie(peer, headers).map(|device| device.row.id);
    let named = name::of(headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok()));
    match access.sign_in(peer, link, named, before).await {
        Ok(SignedIn { cookie, key, row }) => {
            let kind = if row.kind == DeviceKind::Full { "full" } else { "read-only" };
            let who = audit::Who { device_id: Some(row.id), name: row.name, address: peer.ip };
            audit::write(&access.store, who, "sign-in", Some(&format!("{how}, {kind}"))).await;
            ([(header::SET_COOKIE, cookie)], Html(moving_on(Some(&key)))).into_response()
        }
        Err(error) => ApiError::from(error).into_response(),
    }
}

/// Why somebody is not signed in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Problem {
    Link(Unusable),
    Code(Unusable),
    Token,
    TooManyTries { seconds: u64 },
}

/// Beneath which field a problem stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    None,
    Code,
    Token,
}

impl Problem {
    fn field(self) -> Field {
        match self {
            Problem::Link(_) | Problem::TooManyTries { .. } => Field::None,
            Problem::Code(_) => Field::Code,
            Problem::Token => Field::Token,
        }
    }

    fn text(self) -> String {
        const NEW: &str = "Run <code>voxpilot link</code> for a new one, or add this device in VoxPilot on another one.";
        match self {
            Problem::Link(Unusable::Used) => format!("This link was already used. {NEW}"),
            Problem::Link(Unusable::Expired) => format!("This link has expired. Links are valid for ten minutes. {NEW}"),
            Problem::Link(Unusable::Unknown) => format!("This link isn’t valid here. {NEW}"),
            Problem::Code(Unusable::Used) => format!("This code was already used. {NEW}"),
            Problem::Code(Unusable::Expired) => format!("This code has expired. Codes are valid for ten minutes. {NEW}"),
            Problem::Code(Unusable::Unknown) => "Wrong code. Check it and try again.".to_owned(),
            Problem::Token => "Wrong token. Check it and try again.".to_owned(),
            Problem::TooManyTries { seconds } => format!("Too many failed attempts. Try again in {seconds} s, or open a link."),
        }
    }
}

fn refuse(problem: Problem) -> Response {
    (StatusCode::UNAUTHORIZED, Html(page(Some(problem)))).into_response()
}

/// A redirect would still count as coming from the page that held the link, and a strict cookie would not be sent along; a page of
/// our own that moves on does not have that trouble. A new device's page gets its key here, along with the cookie: the script stores it.
fn moving_on(key: Option<&str>) -> String {
    let script = if key.is_some() { "<script src=\"/login.js\"></script>" } else { "" };
    let body = format!("<h1>Signed in</h1><p class=\"lead\"><a href=\"/\">Open VoxPilot</a></p>{script}");
    let head = match key {
        Some(key) => format!("<meta name=\"voxpilot-key\" content=\"{key}\">"),
        None => "<meta http-equiv=\"refresh\" content=\"0; url=/\">".to_owned(),
    };
    document("Signed in", &body, &head)
}

pub(super) fn page(problem: Option<Problem>) -> String {
    let field = problem.map(Problem::field);
    let text =
        problem.map(|problem| format!("<p class=\"problem\" id=\"problem\" role=\"alert\">{WARNING}<span>{}</span></p>", problem.text()));
    let beneath = |here: Field| text.as_deref().filter(|_| field == Some(here)).unwrap_or_default();
    let wrong = |here: Field| if field == Some(here) { " aria-invalid=\"true\" aria-describedby=\"problem\"" } else { "" };
    let body = format!(
        "<h1>Sign in to VoxPilot</h1>\
         <p class=\"lead\">On a signed-in device, choose Devices, then Add a device. Or run <code>voxpilot link</code> on the \
         server’s machine.</p>{above}\
         <form method=\"post\" action=\"/login\">\
         <label for=\"code\">Pairing code</label>\
         <input id=\"code\" name=\"code\" class=\"code\" placeholder=\"XXXX-XXXX\" autocomplete=\"one-time-code\" \
         autocapitalize=\"characters\" spellcheck=\"false\" maxlength=\"20\"{code_wrong} autofocus>{code_problem}\
         <div class=\"or\"><span>or</span></div>\
         <label for=\"token\">Access token</label>\
         <input id=\"token\" name=\"token\" type=\"password\" placeholder=\"Paste the token\" autocomplete=\"off\" \
         maxlength=\"512\"{token_wrong}>{token_problem}\
         <p class=\"hint\">It is in the file <code>token</code> of the server’s data directory, or set by <code>VOXPILOT_TOKEN</code>.</p>\
         <button>Sign in</button></form>",
        above = beneath(Field::None),
        code_wrong = wrong(Field::Code),
        code_problem = beneath(Field::Code),
        token_wrong = wrong(Field::Token),
        token_problem = beneath(Field::Token),
    );
    document("Sign in", &body, "")
}

const MARK: &str = "<svg class=\"mark\" viewBox=\"0 0 20 20\" width=\"32\" height=\"32\" aria-hidden=\"true\">\
    <path d=\"M2.5 6v4M6.25 3.5v9M10 8v9.5M13.75 3.5v9M17.5 6v4\"/></svg>";
const WARNING: &str = "<svg viewBox=\"0 0 16 16\" width=\"16\" height=\"16\" aria-hidden=\"true\">\
    <path d=\"M8 2.5l6 10.75H2zM8 6.75v3M8 11.5h.01\"/></svg>";

fn document(title: &str, body: &str, head: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><link rel=\"icon\" href=\"/favicon.ico\" sizes=\"32x32\">\
         <link rel=\"icon\" href=\"/icons/icon.svg\" type=\"image/svg+xml\"><link rel=\"manifest\" href=\"/manifest.webmanifest\">\
         <link rel=\"stylesheet\" href=\"/login.css\"><title>{title} · VoxPilot</title>{head}\
         </head><body><main>{MARK}{body}</main></body></html>"
    )
}
