//! Where notifications may be sent: to public addresses over https, and to the hosts that the operator names.
//!
//! The address of a subscription comes from a browser. Without this check whoever is signed in, read-only too, could make the server
//! send requests to this machine and to its network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::str::FromStr;

use reqwest::Url;

/// A push service that the operator has named: it may be anywhere, and is talked to without encryption too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedHost {
    /// As [`normal`] writes it.
    name: String,
    /// `None` for every port.
    port: Option<u16>,
}

/// Push services of the browsers. Their names are nobody else's, so a proxy may resolve them.
const KNOWN_SERVICES: [&str; 5] =
    ["fcm.googleapis.com", "push.services.mozilla.com", "push.apple.com", "notify.windows.com", "wns.windows.com"];

/// Names that never lead to the public network, by their last parts.
const PRIVATE_NAMES: [&str; 8] = ["localhost", "local", "internal", "home.arpa", "lan", "home", "corp", "onion"];

/// The destination is not allowed. There is one text for all reasons: a caller must not learn which names and addresses exist here.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "the endpoint is not a public https address of a push service; for a service in your own network, set VOXPILOT_PUSH_HOSTS=HOST:PORT"
)]
pub struct DestinationRefused;

/// How much is known of a destination before its name is resolved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Destination {
    /// The operator has named it.
    Allowed,
    /// A browser's own push service.
    Known,
    /// A public address.
    Address,
    /// A name: allowed if everything it resolves to is public.
    Name,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Destinations {
    allowed: Vec<AllowedHost>,
}

impl FromStr for AllowedHost {
    type Err = ();

    /// `host:port`, or `host:*` for every port. An IPv6 address is in brackets.
    fn from_str(text: &str) -> Result<AllowedHost, ()> {
        let (host, port) = text.rsplit_once(':').ok_or(())?;
        let port = if port == "*" { None } else { Some(port.parse().map_err(|_| ())?) };
        let url = Url::parse(&format!("https://{host}/")).map_err(|_| ())?;
        let plain = url.path() == "/" && url.username().is_empty() && url.password().is_none() && url.port().is_none();
        let name = url.host_str().filter(|_| plain && url.query().is_none() && url.fragment().is_none()).ok_or(())?;
        Ok(AllowedHost { name: normal(name), port })
    }
}

impl Destinations {
    pub(crate) fn new(allowed: Vec<AllowedHost>) -> Destinations {
        Destinations { allowed }
    }

    /// What can be decided without resolving a name.
    pub(crate) fn check(&self, endpoint: &Url) -> Result<Destination, DestinationRefused> {
        let name = normal(endpoint.host_str().ok_or(DestinationRefused)?);
        let port = endpoint.port_or_known_default();
        if self.allowed.iter().any(|allowed| allowed.name == name && allowed.port.is_none_or(|wanted| Some(wanted) == port)) {
            return Ok(Destination::Allowed);
        }
        if endpoint.scheme() != "https" {
            return Err(DestinationRefused);
        }
        if let Ok(address) = name.parse::<IpAddr>() {
            return is_reachable(address).then_some(Destination::Address).ok_or(DestinationRefused);
        }
        if is_below(&name, &KNOWN_SERVICES) {
            return Ok(Destination::Known);
        }
        let private = !name.contains('.') || is_below(&name, &PRIVATE_NAMES);
        if private { Err(DestinationRefused) } else { Ok(Destination::Name) }
    }

    /// Whether what a name resolves to may be connected to. One private address among public ones is enough to refuse.
    pub(crate) fn check_resolved(&self, name: &str, addresses: &[IpAddr]) -> Result<(), DestinationRefused> {
        let name = normal(name);
        let allowed = self.allowed.iter().any(|allowed| allowed.name == name);
        let public = !addresses.is_empty() && addresses.iter().all(|address| is_reachable(*address));
        if allowed || public { Ok(()) } else { Err(DestinationRefused) }
    }
}

/// The one way to write a host: small letters, no dot at the end, no brackets.
fn normal(host: &str) -> String {
    host.trim_matches(['[', ']']).trim_end_matches('.').to_ascii_lowercase()
}

fn is_below(name: &str, parents: &[&str]) -> bool {
    parents.iter().any(|parent| name.strip_suffix(parent).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
}

fn is_reachable(address: IpAddr) -> bool {
    is_public(address) && !is_own(address)
}

/// An address of this machine that the whole world can reach still is this machine. Nothing is sent: a datagram socket only chooses
/// where it would send from, and that is the destination itself where it is our own.
fn is_own(address: IpAddr) -> bool {
    let any: IpAddr = if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let source = || {
        let socket = UdpSocket::bind(SocketAddr::new(any, 0)).ok()?;
        socket.connect(SocketAddr::new(address, 9)).ok()?;
        socket.local_addr().ok()
    };
    source().is_some_and(|source| source.ip() == address)
}

/// Whether an address belongs to the public network, an IPv4 address in an IPv6 one included.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(four) => is_public_v4(four),
        IpAddr::V6(six) => match (six.to_ipv4_mapped(), six.segments()) {
            (Some(four), _) => is_public_v4(four),
            // Networks without IPv4 reach it by this prefix (NAT64).
            (None, [0x64, 0xff9b, 0, 0, 0, 0, high, low]) => is_public_v4(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low))),
            // Protocol assignments (Teredo among them), documentation, 6to4, which hides an IPv4 address.
            (None, [0x2001, second, ..]) if second < 0x200 || second == 0xdb8 => false,
            (None, [0x2002, ..] | [0x3fff, 0..=0xfff, ..]) => false,
            (None, [first, ..]) => first & 0xe000 == 0x2000,
        },
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let special = match address.octets() {
        // This network, private, loopback, multicast and reserved.
        [0 | 10 | 127 | 224.., ..] => true,
        // Shared by providers, link-local, private.
        [100, 64..=127, ..] | [169, 254, ..] | [172, 16..=31, ..] | [192, 168, ..] => true,
        // Protocol assignments, 6to4 relays, benchmarks, documentation.
        [192, 0, 0 | 2, _] | [192, 88, 99, _] | [198, 18 | 19, ..] | [198, 51, 100, _] | [203, 0, 113, _] => true,
        _ => false,
    };
    !special
}

#[cfg(test)]
mod tests;
