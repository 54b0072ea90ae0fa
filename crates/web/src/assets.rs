//! The embedded page.

use axum::Router;
use axum::extract::Path;
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use rust_embed::RustEmbed;

use crate::App;

#[derive(RustEmbed)]
#[folder = "../../ui/dist"]
#[allow_missing = true]
struct Page;

const NOT_BUILT: &str =
    "<!doctype html><title>VoxPilot</title><p>This binary was built without its page: run <code>make ui</code>, then build again.</p>";

pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/", get(index))
        .route("/sw.js", get(worker))
        .route("/manifest.webmanifest", get(async || public("manifest.webmanifest")))
        .route("/favicon.ico", get(async || public("icons/favicon.ico")))
        .route("/icons/{*path}", get(async |Path(path): Path<String>| public(&format!("icons/{path}"))))
        .route("/faces/{name}", get(async |Path(name): Path<String>| face(&name)))
        .route("/{*path}", get(asset))
}

/// What a browser fetches without saying who it is. It changes with the server at most.
fn public(path: &str) -> Response {
    match Page::get(path) {
        Some(file) => {
            let kind = if path.ends_with(".webmanifest") { "application/manifest+json" } else { file.metadata.mimetype() };
            ([(header::CONTENT_TYPE, kind.to_owned()), (header::CACHE_CONTROL, "public, max-age=3600".to_owned())], file.data.into_owned())
                .into_response()
        }
        None => crate::error::not_found("page").into_response(),
    }
}

/// A face of the page's, for whoever is not let in yet: the page's own name for it holds a hash.
fn face(name: &str) -> Response {
    let start = format!("assets/{name}-latin-wght-normal-");
    match Page::iter().find(|path| path.starts_with(&start)) {
        Some(path) => public(&path),
        None => crate::error::not_found("page").into_response(),
    }
}

/// The service worker: asked for anew each time, so that a browser is never left with an old one.
async fn worker() -> Response {
    let Some(file) = Page::get("sw.js") else { return crate::error::not_found("page").into_response() };
    let headers = [
        (header::CONTENT_TYPE, "text/javascript; charset=utf-8"),
        (header::CACHE_CONTROL, "no-cache"),
        (HeaderName::from_static("service-worker-allowed"), "/"),
    ];
    (headers, file.data.into_owned()).into_response()
}

async fn index() -> Response {
    match Page::get("index.html") {
        Some(file) => Html(file.data.into_owned()).into_response(),
        None => (StatusCode::SERVICE_UNAVAILABLE, Html(NOT_BUILT)).into_response(),
    }
}

/// Files whose name holds a hash of their content never change; all else is asked for anew.
async fn asset(Path(path): Path<String>) -> Response {
    match Page::get(&path) {
        Some(file) => {
            let cache = if path.starts_with("assets/") { "private, max-age=31536000, immutable" } else { "no-cache" };
            let kind = file.metadata.mimetype().to_owned();
            ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, cache.to_owned())], file.data.into_owned()).into_response()
        }
        // The page finds its way by the address, so a reload of any of its addresses gets the page.
        None if !path.starts_with("api/") && !path.contains('.') => index().await,
        None => crate::error::not_found("page").into_response(),
    }
}
