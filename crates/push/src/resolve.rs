//! Names of push services become addresses here, once for each connection: what was checked is what is connected to, so a name that
//! is pointed elsewhere in between (DNS rebinding) leads nowhere.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::destination::{DestinationRefused, Destinations};

const LOOKUP_TIMEOUT: Duration = Duration::from_secs(10);

type Looking = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>>;
/// How a name is looked up; a test has its own.
pub(crate) type Lookup = Arc<dyn Fn(String) -> Looking + Send + Sync>;

#[derive(Clone)]
pub(crate) struct CheckedResolver {
    destinations: Arc<Destinations>,
    lookup: Lookup,
}

impl CheckedResolver {
    pub(crate) fn new(destinations: Arc<Destinations>, lookup: Lookup) -> CheckedResolver {
        CheckedResolver { destinations, lookup }
    }

    pub(crate) async fn addresses(&self, name: &str) -> Result<Vec<IpAddr>, DestinationRefused> {
        let looked = tokio::time::timeout(LOOKUP_TIMEOUT, (self.lookup)(name.to_owned())).await;
        let addresses = looked.ok().and_then(Result::ok).ok_or(DestinationRefused)?;
        self.destinations.check_resolved(name, &addresses)?;
        Ok(addresses)
    }
}

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let resolver = self.clone();
        Box::pin(async move {
            let addresses = resolver.addresses(name.as_str()).await?;
            let addresses: Addrs = Box::new(addresses.into_iter().map(|address| SocketAddr::new(address, 0)));
            Ok(addresses)
        })
    }
}

/// As the system resolves names.
pub(crate) fn by_system() -> Lookup {
    Arc::new(|name| Box::pin(async move { Ok(tokio::net::lookup_host((name.as_str(), 0)).await?.map(|address| address.ip()).collect()) }))
}
