//! Who is let in: the secret as bearer or cookie, the server's own hosts and origins, and the headers that keep a page in bounds.

use std::net::SocketAddr;

use axum::Form;
use axum::Router;
use axum::extract::{Query, Request, State};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use serde::Deserialize;

use crate::App;
use crate::error::{self, ApiError};
use crate::hosts;
use crate::peer::Peer;

const CSP: &str = "default-src 'self'; img-src 'self' data: blob:; style-src 'self'; script-src 'self'; connect-src 'self'; \
                   object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
/// Thirty days; the link that the server prints renews it.
const COOKIE_AGE_S: u32 = 30 * 24 * 3600;

pub(crate) struct Access {
    token: String,
    cookie: String,
}

impl Access {
    pub(crate) fn new(token: String, address: SocketAddr) -> Access {
        // Browsers share cookies between the ports of a host, so two servers on one machine need two names.
        Access { token, cookie: format!("voxpilot_{}", address.port()) }
    }

    /// For whoever must keep it out of what is shown.
    pub(crate) fn secret(&self) -> &str {
        &self.token
    }

    fn accepts(&self, offered: &str) -> bool {
        // Every byte is looked at, whatever came before: the time taken tells nothing about where they differ.
        let (ours, theirs) = (self.token.as_bytes(), offered.as_bytes());
        let differing = ours.iter().zip(theirs).fold(0, |all, (a, b)| all | (a ^ b));
        ours.len() == theirs.len() && differing == 0
    }

    fn is_let_in(&self, headers: &HeaderMap) -> bool {
        let bearer =
            headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).and_then(|value| value.strip_prefix("Bearer "));
        bearer.is_some_and(|token| self.accepts(token.trim())) || self.cookies(headers).any(|token| self.accepts(token))
    }

    fn cookies<'a>(&'a self, headers: &'a HeaderMap) -> impl Iterator<Item = &'a str> {
        let values = headers.get_all(header::COOKIE).into_iter().filter_map(|value| value.to_str().ok());
        let pairs = values.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.filter(|(name, _)| *name == self.cookie).map(|(_, value)| value)
    }

    fn set_cookie(&self) -> String {
        format!("{}={}; Path=/; HttpOnly; SameSite=Strict; Max-Age={COOKIE_AGE_S}", self.cookie, self.token)
    }
}

pub(crate) async fn guard(State(app): State<App>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let host = headers.get(header::HOST).and_then(|value| value.to_str().ok()).or(request.uri().authority().map(|name| name.as_str()));
    let Some(host) = host.filter(|host| app.hosts.is_own(host)) else {
        return forbidden(&hosts::refusal(host.unwrap_or_default()));
    };
    if !is_own_origin(headers, host, Peer::of(request.extensions()).secure) {
        return forbidden("this page may not talk to the server");
    }
    let path = request.uri().path();
    let open = path == "/api/health" || path == "/login";
    let api = path.starts_with("/api/");
    if open || app.access.is_let_in(headers) {
        let response = next.run(request).await;
        return if api { error::shaped(response) } else { response };
    }
    if api {
        let message = "access denied: open the link that the server printed, or send its token as a bearer";
        return ApiError::new(StatusCode::UNAUTHORIZED, "unauthorized", message).into_response();
    }
    (StatusCode::UNAUTHORIZED, Html(login_page(None))).into_response()
}

/// A browser names the page that a request comes from; programs do not, and need the token anyway.
fn is_own_origin(headers: &HeaderMap, host: &str, secure: bool) -> bool {
    let own_site = headers.get("sec-fetch-site").is_none_or(|site| site != "cross-site" || is_navigation(headers));
    let own_origin =
        headers.get(header::ORIGIN).is_none_or(|origin| hosts::is_same_origin(origin.to_str().unwrap_or_default(), host, secure));
    own_site && own_origin
}

/// Following a link from elsewhere is no attack: it shows a page and changes nothing.
fn is_navigation(headers: &HeaderMap) -> bool {
    headers.get("sec-fetch-mode").is_some_and(|mode| mode == "navigate")
}

fn forbidden(message: &str) -> Response {
    ApiError::new(StatusCode::FORBIDDEN, "forbidden", message).into_response()
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

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/login", get(login_by_link).post(login_by_form))
}

#[derive(Deserialize)]
struct Login {
    token: Option<String>,
}

async fn login_by_link(State(app): State<App>, Query(login): Query<Login>) -> Response {
    login_with(&app, login.token.as_deref())
}

async fn login_by_form(State(app): State<App>, method: Method, Form(login): Form<Login>) -> Response {
    tracing::debug!(%method, "login form");
    login_with(&app, login.token.as_deref())
}

fn login_with(app: &App, token: Option<&str>) -> Response {
    match token.map(str::trim) {
        Some(token) if app.access.accepts(token) => {
            // A redirect would still count as coming from the page that held the link, and a strict cookie would not be sent
            // along; a page of our own that moves on does not have that trouble.
            let page = page(
                "Signed in",
                "<p>Signed in. <a href=\"/\">Go to VoxPilot</a></p>",
                "<meta http-equiv=\"refresh\" content=\"0; url=/\">",
            );
            ([(header::SET_COOKIE, app.access.set_cookie())], Html(page)).into_response()
        }
        Some(_) => (StatusCode::UNAUTHORIZED, Html(login_page(Some("That token is not the right one.")))).into_response(),
        None => Html(login_page(None)).into_response(),
    }
}

fn login_page(error: Option<&str>) -> String {
    let error = error.map(|text| format!("<p role=\"alert\"><strong>{text}</strong></p>")).unwrap_or_default();
    let body = format!(
        "<h1>VoxPilot</h1>{error}<p>Open the link that <code>voxpilot serve</code> printed when it started, or paste its token here.</p>\
         <form method=\"post\" action=\"/login\"><p><label>Token <input name=\"token\" type=\"password\" autocomplete=\"current-password\" \
         required autofocus></label> <button>Sign in</button></p></form>"
    );
    page("Sign in", &body, "")
}

fn page(title: &str, body: &str, head: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><title>{title} · VoxPilot</title>{head}</head><body><main>{body}</main></body></html>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(bind: &str) -> Access {
        Access::new("secret".to_owned(), bind.parse().unwrap())
    }

    #[test]
    fn the_secret_counts_whole() {
        let access = access("127.0.0.1:1");
        assert!(access.accepts("secret"));
        for wrong in ["", "secre", "secrets", "Secret"] {
            assert!(!access.accepts(wrong), "{wrong}");
        }
    }

    #[test]
    fn a_foreign_page_is_told_by_its_origin() {
        let headers = |pairs: &[(&'static str, &'static str)]| -> HeaderMap {
            pairs.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
        };
        assert!(is_own_origin(&headers(&[]), "localhost:1", false));
        assert!(is_own_origin(&headers(&[("origin", "http://localhost:1")]), "localhost:1", false));
        assert!(!is_own_origin(&headers(&[("origin", "http://localhost:2")]), "localhost:1", false));
        assert!(!is_own_origin(&headers(&[("origin", "null")]), "localhost:1", false));
        assert!(!is_own_origin(&headers(&[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors")]), "localhost:1", false));
        assert!(is_own_origin(&headers(&[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")]), "localhost:1", false));
    }
}
