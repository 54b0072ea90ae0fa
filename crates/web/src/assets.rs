//! The embedded page.

use axum::Router;
use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use rust_embed::RustEmbed;

use crate::App;

#[derive(RustEmbed)]
#[folder = "$CARGO_MANIFEST_DIR/../../ui/dist"]
#[allow_missing = true]
struct Page;

const NOT_BUILT: &str =
    "<!doctype html><title>VoxPilot</title><p>This binary was built without its page: run <code>make ui</code>, then build again.</p>";

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/", get(index)).route("/highlight.css", get(highlight)).route("/{*path}", get(asset))
}

async fn index() -> Response {
    match Page::get("index.html") {
        Some(file) => Html(file.data.into_owned()).into_response(),
        None => (StatusCode::SERVICE_UNAVAILABLE, Html(NOT_BUILT)).into_response(),
    }
}

async fn highlight() -> Response {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8"), (header::CACHE_CONTROL, "private, max-age=3600")], render::HIGHLIGHT_CSS)
        .into_response()
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
