//! Names of endpoints become addresses here. Those of the local link are left out: no model is there, but clouds hand out the credentials
//! of a machine on such an address, and a name can be pointed at it.

use std::net::{IpAddr, SocketAddr};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Nothing that an endpoint of a model has.
pub(crate) fn is_refused(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => address.is_link_local() || address.is_multicast() || address.is_broadcast(),
        IpAddr::V6(address) => address.is_unicast_link_local() || address.is_multicast(),
    }
}

pub(crate) struct CheckedResolver;

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let allowed: Vec<SocketAddr> = found.filter(|address| !is_refused(address.ip())).collect();
            if allowed.is_empty() {
                return Err("the name leads to no address that a model can have".into());
            }
            let addresses: Addrs = Box::new(allowed.into_iter());
            Ok(addresses)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_addresses_of_the_local_link() {
        for refused in ["169.254.169.254", "::ffff:169.254.169.254", "fe80::1", "224.0.0.1", "ff02::1"] {
            assert!(is_refused(refused.parse().unwrap()), "{refused}");
        }
        for allowed in ["127.0.0.1", "::1", "192.168.1.2", "10.0.0.3", "fd00::1", "1.1.1.1"] {
            assert!(!is_refused(allowed.parse().unwrap()), "{allowed}");
        }
    }
}
