//! HTTP: the contract's calls, the event stream, access, and the embedded page.
//!
//! The only crate that names axum. It decides nothing about sessions: it lets people in, asks the engine or reads the store, and
//! shapes the answer.

mod access;
mod assets;
mod error;
mod html;
mod id;
mod openapi;
mod routes;
mod snapshot;
mod sse;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use engine::Engine;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate, SizeAbove};

pub use openapi::document as openapi_document;

/// The largest request body. A message is text; files come by path.
const BODY_MAX: usize = 2 * 1024 * 1024;

/// What every handler can see. Cloning shares.
#[derive(Clone)]
pub struct App {
    engine: Engine,
    access: Arc<access::Access>,
    html: html::Cache,
    /// Ends the event streams, so that they do not hold up a shutdown.
    stopping: CancellationToken,
}

impl App {
    /// `address` is where the server listens: it decides which hosts are its own.
    pub fn new(engine: Engine, token: String, address: SocketAddr, stopping: CancellationToken) -> App {
        App { engine, access: Arc::new(access::Access::new(token, address)), html: html::Cache::default(), stopping }
    }

    pub fn router(&self) -> Router {
        let (api, document) = openapi::router();
        let compression = CompressionLayer::new().compress_when(
            SizeAbove::new(1024).and(NotForContentType::const_new("text/event-stream")).and(NotForContentType::const_new("text/plain")),
        );
        api.merge(openapi::route(document))
            .merge(access::routes())
            .merge(assets::routes())
            .layer(axum::middleware::from_fn_with_state(self.clone(), access::guard))
            .layer(axum::middleware::map_response(access::secure_headers))
            .layer(DefaultBodyLimit::max(BODY_MAX))
            .layer(compression)
            .with_state(self.clone())
    }
}

/// Serves until `stopping`; then takes no more connections and lets open requests end.
pub async fn serve(listener: TcpListener, app: App) -> std::io::Result<()> {
    let stopping = app.stopping.clone();
    axum::serve(listener, app.router()).with_graceful_shutdown(async move { stopping.cancelled().await }).await
}
