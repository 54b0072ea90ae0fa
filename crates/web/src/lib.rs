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
mod peer;
mod routes;
mod snapshot;
mod sse;
mod trust;

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use domain::device::DeviceKind;
use engine::Engine;
use store::StoreError;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate, SizeAbove};

pub use openapi::document as openapi_document;
pub use trust::{ProjectFile, Trust, TrustLine, TrustRefusal, TrustState};

/// The largest request body. A message is text; files come by path.
const BODY_MAX: usize = 2 * 1024 * 1024;

/// Where the server is reached, and what lets one in.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where it listens: this decides which hosts are its own.
    pub address: SocketAddr,
    /// The bearer of programs.
    pub token: String,
    /// More host names that are its own, in small letters.
    pub allowed_hosts: Vec<String>,
    /// Networks whose `X-Forwarded-*` headers count: an address and how many of its bits.
    pub trusted_proxies: Vec<(IpAddr, u8)>,
    pub tls: Tls,
    /// The work directory's own settings.
    pub trust: Trust,
}

/// How connections are encrypted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Tls {
    #[default]
    Off,
    Files {
        cert: PathBuf,
        key: PathBuf,
    },
    /// A certificate of our own making, kept in this directory.
    SelfSigned {
        dir: PathBuf,
    },
}

/// What every handler can see. Cloning shares.
#[derive(Clone)]
pub struct App {
    engine: Engine,
    access: Arc<access::Access>,
    html: html::Cache,
    trust: Trust,
    /// Ends the event streams, so that they do not hold up a shutdown.
    stopping: CancellationToken,
}

impl App {
    /// Knows the devices that an earlier server let in.
    pub async fn new(engine: Engine, settings: Settings, stopping: CancellationToken) -> Result<App, StoreError> {
        let access = access::Access::open(settings.token, settings.address, engine.store().clone()).await?;
        Ok(App { engine, access: Arc::new(access), html: html::Cache::default(), trust: settings.trust, stopping })
    }

    /// A new link that lets in one device, once: its path and query.
    pub async fn login_link(&self) -> Result<String, StoreError> {
        let made = self.access.links.make(DeviceKind::Full, None).await?;
        Ok(format!("/login?link={}", made.secret))
    }

    pub fn router(&self) -> Router {
        let (api, document) = openapi::router();
        let compression = CompressionLayer::new().compress_when(
            SizeAbove::new(1024).and(NotForContentType::const_new("text/event-stream")).and(NotForContentType::const_new("text/plain")),
        );
        api.merge(openapi::route(document))
            .merge(access::login::routes())
            .merge(assets::routes())
            .layer(axum::middleware::from_fn_with_state(self.clone(), access::guard::guard))
            .layer(axum::middleware::map_response(access::guard::secure_headers))
            .layer(DefaultBodyLimit::max(BODY_MAX))
            .layer(compression)
            .with_state(self.clone())
    }
}

/// Serves until `stopping`; then takes no more connections and lets open requests end.
pub async fn serve(listener: TcpListener, app: App) -> std::io::Result<()> {
    let stopping = app.stopping.clone();
    let service = app.router().into_make_service_with_connect_info::<SocketAddr>();
    axum::serve(listener, service).with_graceful_shutdown(async move { stopping.cancelled().await }).await
}
