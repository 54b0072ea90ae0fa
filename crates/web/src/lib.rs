//! HTTP: the contract's calls, the event stream, access, and the embedded page.
//!
//! The only crate that names axum. It decides nothing about sessions: it lets people in, asks the engine or reads the store, and
//! shapes the answer.

mod access;
mod assets;
mod configuration;
mod connections;
mod error;
mod hosts;
mod html;
mod hunks;
mod id;
mod limits;
mod machine;
mod mcp;
mod notify;
mod openapi;
mod peer;
mod reach;
mod routes;
mod serve;
mod snapshot;
mod sse;
mod tls;
mod trust;

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use domain::device::DeviceKind;
use engine::Engine;
use store::StoreError;
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate, SizeAbove};

pub use self::tls::{Certificate, TlsError};
pub use access::secret::for_agents as token_for_agents;
pub use configuration::{
    Configuration, Here, MainAiState, NewMainAi, OriginKind, SettingKind, SettingOrigin, SettingRefusal, SettingUnit, SettingView,
};
pub use limits::Limits;
pub use machine::addresses;
pub use openapi::document as openapi_document;
pub use reach::{ReachSettings, TailscaleState, TailscaleView};
pub use serve::serve;
pub use trust::{ProjectFile, Trust, TrustLine, TrustRefusal, TrustScript, TrustState};

/// The largest request body. A message is text; files come by path.
const BODY_MAX: usize = 2 * 1024 * 1024;

/// Where the server is reached, and what lets one in.
#[derive(Clone)]
pub struct Settings {
    /// Where it listens: this decides which hosts are its own.
    pub address: SocketAddr,
    /// The bearer of programs.
    pub token: String,
    /// What lets one read `/metrics` and nothing else.
    pub metrics_token: Option<String>,
    /// More host names that are its own, in small letters.
    pub allowed_hosts: Vec<String>,
    /// Networks whose `X-Forwarded-*` headers count: an address and how many of its bits.
    pub trusted_proxies: Vec<(IpAddr, u8)>,
    pub tls: Tls,
    /// The work directory's own settings.
    pub trust: Trust,
    pub configuration: Configuration,
    pub reach: ReachSettings,
    /// What sends notifications to devices.
    pub push: Arc<push::Sender>,
}

/// A link for the owner.
#[derive(Clone, Debug)]
pub struct LoginLink {
    /// Path and query.
    pub path: String,
    /// Without it the store took nothing: the link, and the device that it makes, last until the server ends.
    pub stored: bool,
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

/// Why there is no app.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error("who is let in cannot be read")]
    Store(#[from] StoreError),
}

/// What every handler can see. Cloning shares.
#[derive(Clone)]
pub struct App {
    engine: Engine,
    access: Arc<access::Access>,
    hosts: Arc<hosts::Hosts>,
    proxies: Arc<peer::Proxies>,
    ledger: Arc<limits::Ledger>,
    /// `None` where it speaks in the clear.
    certificates: Option<Arc<tls::Certificates>>,
    html: html::Cache,
    trust: Trust,
    configuration: Configuration,
    reach: Arc<reach::Reach>,
    push: Arc<push::Sender>,
    /// One at a time changes the settings.
    choosing: Arc<Semaphore>,
    /// One at a time finds or makes the session that a program hands work to, so that one name makes one session.
    delegating: Arc<Semaphore>,
    /// Ends the event streams, so that they do not hold up a shutdown.
    stopping: CancellationToken,
}

impl App {
    /// Knows the devices that an earlier server let in.
    ///
    /// # Errors
    /// Where the certificate cannot be used, or who is let in cannot be read.
    pub async fn new(engine: Engine, settings: Settings, stopping: CancellationToken) -> Result<App, AppError> {
        let (hosts, proxies) =
            (hosts::Hosts::new(settings.address, &settings.allowed_hosts), peer::Proxies::new(&settings.trusted_proxies));
        let certificates = tls::Certificates::load(&settings)?.map(Arc::new);
        let metrics_token = settings.metrics_token.as_deref();
        let hosts = Arc::new(hosts);
        let reach = reach::Reach::open(settings.address, settings.allowed_hosts, hosts.clone(), settings.reach, engine.store()).await?;
        let access = access::Access::open(settings.token, metrics_token, settings.address, engine.store().clone()).await?;
        Ok(App {
            engine,
            hosts,
            proxies: Arc::new(proxies),
            ledger: Arc::new(limits::Ledger::new(&Limits::default(), serve::open_files())),
            certificates,
            access: Arc::new(access),
            html: html::Cache::default(),
            trust: settings.trust,
            configuration: settings.configuration,
            reach: Arc::new(reach),
            push: settings.push,
            choosing: Arc::new(Semaphore::new(1)),
            delegating: Arc::new(Semaphore::new(1)),
            stopping,
        })
    }

    /// A new link that signs in one device, once.
    pub async fn login_link(&self) -> LoginLink {
        let made = self.access.links.make_even_unstored(DeviceKind::Full).await;
        LoginLink { path: format!("/login?link={}", made.secret), stored: made.stored }
    }

    /// With other limits than those of `docs/LIMITS.md`.
    pub fn limited(self, limits: Limits) -> App {
        App { ledger: Arc::new(limits::Ledger::new(&limits, serve::open_files())), ..self }
    }

    /// The certificate that it shows, and those that follow it; `None` where it speaks in the clear.
    pub fn certificate(&self) -> Option<watch::Receiver<Certificate>> {
        self.certificates.as_ref().map(|certificates| certificates.current())
    }

    /// What people compare when they open the page for the first time.
    pub fn fingerprint(&self) -> Option<String> {
        self.certificate().map(|certificate| certificate.borrow().fingerprint.clone())
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
            .layer(axum::middleware::from_fn_with_state(self.clone(), limits::guard))
            .layer(axum::middleware::map_response(access::guard::secure_headers))
            .layer(DefaultBodyLimit::max(BODY_MAX))
            .layer(compression)
            .layer(axum::middleware::map_response_with_state(self.clone(), error::count))
            .with_state(self.clone())
    }
}
