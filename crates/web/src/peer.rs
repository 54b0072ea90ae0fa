//! Who is at the other end of a request.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::extract::ConnectInfo;
use axum::http::Extensions;

/// Where a request comes from and whether it came encrypted, the word of a trusted proxy included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Peer {
    pub(crate) ip: IpAddr,
    pub(crate) secure: bool,
}

impl Peer {
    pub(crate) fn of(extensions: &Extensions) -> Peer {
        let address = extensions.get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip());
        Peer { ip: address.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)), secure: false }
    }
}
