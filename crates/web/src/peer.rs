//! Who is at the other end of a request. Headers of a proxy count only where it is a trusted one.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::extract::Request;
use axum::http::{Extensions, HeaderMap, HeaderValue, header};

use crate::hosts::{self, AmbiguousHost};

/// Where a request comes from and whether it came encrypted, the word of a trusted proxy included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Peer {
    pub(crate) ip: IpAddr,
    pub(crate) secure: bool,
}

impl Peer {
    pub(crate) fn of(extensions: &Extensions) -> Peer {
        extensions.get().copied().unwrap_or(Peer { ip: IpAddr::V4(Ipv4Addr::UNSPECIFIED), secure: false })
    }
}

/// Networks whose `X-Forwarded-*` headers count.
pub(crate) struct Proxies(Vec<(IpAddr, u8)>);

impl Proxies {
    pub(crate) fn new(networks: &[(IpAddr, u8)]) -> Proxies {
        Proxies(networks.to_vec())
    }

    /// Makes the request look as it did where it came from: its peer is told in its extensions, and its host is the one that
    /// the person asked for.
    pub(crate) fn receive(&self, request: &mut Request, remote: SocketAddr, encrypted: bool) {
        let remote = remote.ip().to_canonical();
        let mut peer = Peer { ip: remote, secure: encrypted };
        if hosts::is_ambiguous(request.headers(), request.uri()) {
            request.extensions_mut().insert(AmbiguousHost);
        }
        if self.trusts(remote) {
            let headers = request.headers();
            peer.ip = self.origin(headers, remote);
            peer.secure |= last(headers, "x-forwarded-proto").is_some_and(|scheme| scheme.eq_ignore_ascii_case("https"));
            if let Some(host) = last(headers, "x-forwarded-host").and_then(|host| HeaderValue::from_str(host).ok()) {
                request.headers_mut().insert(header::HOST, host);
            }
        }
        request.extensions_mut().insert(peer);
    }

    pub(crate) fn trusts(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|(network, bits)| contains(*network, *bits, address))
    }

    /// The right-most address that is no trusted proxy: whatever is left of it could have been made up by whoever is there.
    fn origin(&self, headers: &HeaderMap, remote: IpAddr) -> IpAddr {
        let values: Vec<_> = headers.get_all("x-forwarded-for").iter().filter_map(|value| value.to_str().ok()).collect();
        let mut nearest = remote;
        for text in values.iter().rev().flat_map(|value| value.rsplit(',')) {
            let Some(address) = address(text.trim()) else { break };
            nearest = address;
            if !self.trusts(address) {
                break;
            }
        }
        nearest
    }
}

/// What the nearest proxy said.
fn last<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let value = headers.get_all(name).iter().next_back()?.to_str().ok()?;
    value.rsplit(',').next().map(str::trim).filter(|value| !value.is_empty())
}

/// An address as proxies write it, with or without a port.
fn address(text: &str) -> Option<IpAddr> {
    let address = text.parse().or_else(|_| text.parse::<SocketAddr>().map(|address| address.ip()));
    let address = address.or_else(|_| text.trim_matches(['[', ']']).parse::<IpAddr>());
    address.ok().map(|address| address.to_canonical())
}

fn contains(network: IpAddr, bits: u8, address: IpAddr) -> bool {
    let (network, address, width) = match (network, address) {
        (IpAddr::V4(network), IpAddr::V4(address)) => (network.to_bits().into(), address.to_bits().into(), 32),
        (IpAddr::V6(network), IpAddr::V6(address)) => (network.to_bits(), address.to_bits(), 128),
        // An IPv4 network may be written in the IPv6 form.
        (IpAddr::V6(network), IpAddr::V4(address)) => (network.to_bits(), address.to_ipv6_mapped().to_bits(), 128),
        (IpAddr::V4(_), IpAddr::V6(_)) => return false,
    };
    let ignored = u32::from(width - bits.min(width));
    let kept = |bits: u128| bits.checked_shr(ignored).unwrap_or(0);
    kept(network) == kept(address)
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    fn received(trusted: &[(&str, u8)], remote: &str, headers: &[(&str, &str)]) -> (Peer, String) {
        let networks: Vec<_> = trusted.iter().map(|(network, bits)| (network.parse().unwrap(), *bits)).collect();
        let mut request = Request::builder().header("host", "inside:8000");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut request = request.body(Body::empty()).unwrap();
        Proxies::new(&networks).receive(&mut request, SocketAddr::new(remote.parse().unwrap(), 1), false);
        (Peer::of(request.extensions()), request.headers()["host"].to_str().unwrap().to_owned())
    }

    const FORWARDED: [(&str, &str); 3] =
        [("x-forwarded-for", "6.6.6.6, 203.0.113.5"), ("x-forwarded-proto", "https"), ("x-forwarded-host", "cockpit.example")];

    #[test]
    fn a_stranger_cannot_say_where_he_comes_from() {
        for trusted in [&[][..], &[("10.0.0.0", 8)]] {
            let (peer, host) = received(trusted, "203.0.113.9", &FORWARDED);
            assert_eq!(peer, Peer { ip: "203.0.113.9".parse().unwrap(), secure: false });
            assert_eq!(host, "inside:8000");
        }
    }

    #[test]
    fn a_trusted_proxy_says_who_asks_for_what_host_and_how() {
        for (network, bits, remote) in [("10.0.0.0", 8, "10.1.2.3"), ("10.1.2.3", 32, "::ffff:10.1.2.3"), ("fd00::", 8, "fd00::7")] {
            let (peer, host) = received(&[(network, bits)], remote, &FORWARDED);
            assert_eq!(peer, Peer { ip: "203.0.113.5".parse().unwrap(), secure: true }, "{remote}");
            assert_eq!(host, "cockpit.example");
        }
    }

    #[test]
    fn of_the_forwarded_addresses_the_right_most_untrusted_one_counts() {
        let trusted = &[("127.0.0.1", 32), ("10.0.0.0", 8)];
        for (chain, expected) in [
            ("203.0.113.5", "203.0.113.5"),
            ("203.0.113.5, 10.0.0.9", "203.0.113.5"),
            ("1.1.1.1, 203.0.113.5:4711, 10.0.0.9", "203.0.113.5"),
            ("10.0.0.8, 10.0.0.9", "10.0.0.8"),
            ("[2001:db8::1]:443", "2001:db8::1"),
            ("1.1.1.1, unknown, 10.0.0.9", "10.0.0.9"),
            ("", "127.0.0.1"),
        ] {
            assert_eq!(received(trusted, "127.0.0.1", &[("x-forwarded-for", chain)]).0.ip.to_string(), expected, "{chain}");
        }
        let lines = [("x-forwarded-for", "203.0.113.5"), ("x-forwarded-for", "10.0.0.9")];
        assert_eq!(received(trusted, "127.0.0.1", &lines).0.ip.to_string(), "203.0.113.5");
    }

    #[test]
    fn a_network_is_its_first_bits() {
        for (network, bits, address, expected) in [
            ("10.0.0.0", 8, "10.255.0.1", true),
            ("10.0.0.0", 8, "11.0.0.1", false),
            ("0.0.0.0", 0, "8.8.8.8", true),
            ("::", 0, "2001:db8::1", true),
            ("192.0.2.1", 32, "192.0.2.1", true),
            ("192.0.2.1", 32, "192.0.2.2", false),
            ("::ffff:10.0.0.0", 104, "10.1.1.1", true),
            ("10.0.0.0", 8, "fd00::1", false),
        ] {
            assert_eq!(contains(network.parse().unwrap(), bits, address.parse().unwrap()), expected, "{address} in {network}/{bits}");
        }
    }
}
