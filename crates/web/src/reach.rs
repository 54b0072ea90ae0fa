//! How other devices reach this server: under which addresses, and a second one, in the network, that people open and close in the page.
//!
//! That one is opened only at the address that a person agreed to, always encrypted, beside the first one: nothing has to start again.

mod check;

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};

use serde::Serialize;
use store::{ServerRow, Store, StoreError};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use utoipa::ToSchema;

use crate::hosts::Hosts;
use crate::tls::{Certificates, TlsError};
use crate::{access, machine};

pub(crate) use check::answers;

/// Under this key the store has the address that was opened in the page.
const PREFERENCE: &str = "network_address";
const TAILNET: &str = ".ts.net";

type Looking = Pin<Box<dyn Future<Output = TailscaleView> + Send>>;

/// What is known of the machine and of how the server was started.
#[derive(Clone)]
pub struct ReachSettings {
    /// Where the certificate for the network is kept.
    pub certificates: PathBuf,
    /// This machine's addresses in its networks.
    pub addresses: Arc<dyn Fn() -> Vec<IpAddr> + Send + Sync>,
    /// Asks Tailscale, for a bounded time.
    pub tailscale: Arc<dyn Fn() -> Looking + Send + Sync>,
    /// The command that starts this server, without its address and encryption.
    pub command: String,
}

impl fmt::Debug for ReachSettings {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("ReachSettings")
    }
}

/// Tailscale on this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct TailscaleView {
    pub state: TailscaleState,
    /// What the machine is called in its network, while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum TailscaleState {
    #[default]
    Missing,
    /// Installed, but stopped or signed out.
    Stopped,
    Running,
}

/// An address that other devices may open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct ReachAddress {
    pub url: String,
    pub kind: ReachKind,
    /// Of the server's own certificate, where it is that which is shown there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ReachKind {
    /// One of this machine's own addresses.
    Network,
    Tailscale,
    /// Another name that was allowed: a proxy stands before the server.
    Name,
}

/// The second listener.
pub(crate) struct Door {
    pub(crate) listener: TcpListener,
    pub(crate) certificates: Arc<Certificates>,
    address: SocketAddr,
    /// Whoever came through it is to go.
    pub(crate) closed: CancellationToken,
}

impl Door {
    pub(crate) fn url(&self) -> String {
        format!("https://{}", self.address)
    }
}

/// Why the network address was not opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenError {
    #[error("{0} is in use: stop what listens there")]
    InUse(SocketAddr),
    #[error("{0} is not an address of this machine just now")]
    NotHere(IpAddr),
    #[error("{0} cannot be opened: {1}")]
    Failed(SocketAddr, io::Error),
    #[error(transparent)]
    Tls(#[from] TlsError),
}

pub(crate) struct Reach {
    main: SocketAddr,
    settings: ReachSettings,
    allowed_hosts: Vec<String>,
    hosts: Arc<Hosts>,
    /// What a person opened; it is there again when the machine has that address again.
    wanted: Mutex<Option<IpAddr>>,
    /// One at a time opens or closes it.
    changing: tokio::sync::Mutex<()>,
    door: watch::Sender<Option<Arc<Door>>>,
    /// What tells this server from any other.
    instance: String,
}

impl Reach {
    /// Opens again what was open. What cannot be opened is tried again while the server runs, and keeps it from nothing.
    pub(crate) async fn open(
        main: SocketAddr,
        allowed_hosts: Vec<String>,
        hosts: Arc<Hosts>,
        settings: ReachSettings,
        store: &Store,
    ) -> Result<Reach, StoreError> {
        let chosen = store.preference(PREFERENCE).await?.and_then(|text| text.parse().ok());
        let wanted = Mutex::new(chosen.filter(|_| main.ip().is_loopback()));
        let instance = access::secret::random();
        let (changing, door) = (tokio::sync::Mutex::default(), watch::Sender::new(None));
        let reach = Reach { main, settings, allowed_hosts, hosts, wanted, changing, door, instance };
        if let (Some(address), Err(error)) = (reach.wanted(), reach.retry().await) {
            tracing::warn!(%address, %error, "the address that was opened in the page is not open; it is tried again");
        }
        Ok(reach)
    }

    fn locked(&self) -> MutexGuard<'_, Option<IpAddr>> {
        self.wanted.lock().expect("no code panics while it holds the address")
    }

    pub(crate) fn wanted(&self) -> Option<IpAddr> {
        *self.locked()
    }

    pub(crate) fn door(&self) -> watch::Receiver<Option<Arc<Door>>> {
        self.door.subscribe()
    }

    pub(crate) fn now(&self) -> Option<Arc<Door>> {
        self.door.borrow().clone()
    }

    pub(crate) fn instance(&self) -> &str {
        &self.instance
    }

    pub(crate) fn main(&self) -> SocketAddr {
        self.main
    }

    pub(crate) fn command(&self) -> &str {
        &self.settings.command
    }

    pub(crate) async fn tailscale(&self) -> TailscaleView {
        (self.settings.tailscale)().await
    }

    /// Only this machine can open it.
    pub(crate) fn is_local(&self) -> bool {
        self.main.ip().is_loopback()
    }

    /// This machine's addresses, the one by which it goes out first.
    pub(crate) fn own(&self) -> Vec<IpAddr> {
        let mut own = (self.settings.addresses)();
        let out = machine::outside();
        own.sort_by_key(|address| (Some(*address) != out, address.is_ipv6()));
        own
    }

    /// Where other devices may come in; `certificate` is the first listener's.
    pub(crate) fn addresses(&self, certificate: Option<&str>) -> Vec<ReachAddress> {
        let mut found = Vec::new();
        if let Some(door) = self.now() {
            let fingerprint = Some(door.certificates.current().borrow().fingerprint.clone());
            found.push(ReachAddress { url: door.url(), kind: ReachKind::Network, fingerprint });
        }
        let scheme = if certificate.is_some() { "https" } else { "http" };
        let listening = match self.main.ip() {
            ip if ip.is_loopback() => Vec::new(),
            ip if ip.is_unspecified() => self.own().into_iter().filter(|own| own.is_ipv4() || ip.is_ipv6()).collect(),
            ip => vec![ip],
        };
        found.extend(listening.into_iter().map(|ip| ReachAddress {
            url: format!("{scheme}://{}", SocketAddr::new(ip, self.main.port())),
            kind: ReachKind::Network,
            fingerprint: certificate.map(str::to_owned),
        }));
        found.extend(self.allowed_hosts.iter().map(|host| ReachAddress {
            url: format!("https://{host}"),
            kind: if host.ends_with(TAILNET) { ReachKind::Tailscale } else { ReachKind::Name },
            fingerprint: None,
        }));
        found
    }

    /// Opens what is wanted and not open, unless somebody changes that just now.
    pub(crate) async fn retry(&self) -> Result<(), OpenError> {
        let Ok(_alone) = self.changing.try_lock() else { return Ok(()) };
        match self.wanted() {
            Some(address) if self.now().is_none() => self.listen(address).await,
            _ => Ok(()),
        }
    }

    async fn listen(&self, ip: IpAddr) -> Result<(), OpenError> {
        if !self.own().contains(&ip) {
            return Err(OpenError::NotHere(ip));
        }
        let address = SocketAddr::new(ip, self.main.port());
        let names: Vec<String> = self.allowed_hosts.iter().cloned().chain([ip.to_string()]).collect();
        let certificates = Arc::new(Certificates::self_signed(&self.settings.certificates, &names)?);
        let listener = TcpListener::bind(address).await.map_err(|error| match error.kind() {
            io::ErrorKind::AddrInUse => OpenError::InUse(address),
            io::ErrorKind::AddrNotAvailable => OpenError::NotHere(ip),
            _ => OpenError::Failed(address, error),
        })?;
        self.hosts.open(Some(ip));
        self.put(Some(Door { listener, certificates, address, closed: CancellationToken::new() }));
        Ok(())
    }

    fn put(&self, door: Option<Door>) {
        if let Some(before) = self.door.send_replace(door.map(Arc::new)) {
            before.closed.cancel();
        }
    }

    /// Opens this address, in place of one that is open. Only what can be opened and stored is.
    pub(crate) async fn turn_on(&self, address: IpAddr, store: &Store) -> Result<(), TurnOnError> {
        let _alone = self.changing.lock().await;
        if self.now().is_some_and(|door| door.address.ip() == address) {
            return Ok(());
        }
        self.listen(address).await?;
        let row = ServerRow::Preference { key: PREFERENCE.to_owned(), value: address.to_string() };
        if let Err(error) = store.save(vec![row]).await {
            self.close();
            return Err(error.into());
        }
        *self.locked() = Some(address);
        Ok(())
    }

    /// Closed first: an address that cannot be forgotten must not stay open.
    pub(crate) async fn turn_off(&self, store: &Store) -> Result<(), StoreError> {
        let _alone = self.changing.lock().await;
        self.close();
        store.save(vec![ServerRow::RemovePreference { key: PREFERENCE.to_owned() }]).await
    }

    fn close(&self) {
        *self.locked() = None;
        self.hosts.open(None);
        self.put(None);
    }
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum TurnOnError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Store(#[from] StoreError),
}
