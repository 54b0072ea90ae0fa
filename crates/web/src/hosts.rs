//! Which host names are the server's own. A name could be pointed at this machine by anybody, so only known ones count.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, PoisonError};

use axum::http::Uri;
use axum::http::header::{self, HeaderMap, HeaderValue};

pub(crate) struct Hosts {
    /// Bound to loopback only: then no other address can be ours, unless it is allowed by name.
    loopback: bool,
    allowed: Vec<String>,
    /// The address that was opened beside the first one.
    opened: Mutex<Option<IpAddr>>,
}

impl Hosts {
    /// Of a server that listens there.
    pub(crate) fn new(address: SocketAddr, allowed: &[String]) -> Hosts {
        Hosts { loopback: address.ip().is_loopback(), allowed: allowed.iter().map(|host| normal(host)).collect(), opened: Mutex::new(None) }
    }

    /// From now on this address is the server's own too, and no other that was opened before.
    pub(crate) fn open(&self, address: Option<IpAddr>) {
        *self.opened.lock().unwrap_or_else(PoisonError::into_inner) = address;
    }

    /// Whether a request for this authority, with or without a port, is meant for this server.
    pub(crate) fn is_own(&self, authority: &str) -> bool {
        let name = normal(self::name(authority));
        if self.allowed.contains(&name) {
            return true;
        }
        match name.parse::<IpAddr>() {
            Ok(address) => !self.loopback || address.to_canonical().is_loopback() || self.is_opened(address),
            Err(_) => name == "localhost",
        }
    }

    fn is_opened(&self, address: IpAddr) -> bool {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|opened| opened == address.to_canonical())
    }
}

/// Marks a request that names two hosts: whoever stands before us may have looked at the other one.
#[derive(Clone, Copy)]
pub(crate) struct AmbiguousHost;

/// Whether a request names more than one host: in two headers, or in its address and in a header that says something else.
pub(crate) fn is_ambiguous(headers: &HeaderMap, address: &Uri) -> bool {
    let mut hosts = headers.get_all(header::HOST).iter();
    let header = hosts.next();
    let Some(authority) = address.authority() else { return hosts.next().is_some() };
    let default_port = match address.scheme_str() {
        Some("https") => ":443",
        _ => ":80",
    };
    let plain = |host: &str| host.strip_suffix(default_port).unwrap_or(host).to_ascii_lowercase();
    let differs = |header: &HeaderValue| header.to_str().map_or(true, |host| plain(host) != plain(authority.as_str()));
    authority.as_str().contains('@') || hosts.next().is_some() || header.is_some_and(differs)
}

/// What to say to a request for a host that is not ours. The name comes from outside: only what can be one is repeated.
pub(crate) fn refusal(authority: &str) -> String {
    let name = name(authority);
    let is_name =
        !name.is_empty() && name.len() <= 253 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_[]:".contains(&byte));
    if is_name {
        format!("`{name}` is not the server's own host name: if it should be, start the server with VOXPILOT_ALLOWED_HOSTS={name}")
    } else {
        "this host name is not the server's own: VOXPILOT_ALLOWED_HOSTS names more of them".to_owned()
    }
}

/// Whether a page of `origin` is a page of the host that was asked for. What came encrypted comes from an encrypted page; whether a
/// request that came in the clear was encrypted before, on its way to a proxy, cannot be known.
pub(crate) fn is_same_origin(origin: &str, authority: &str, secure: bool) -> bool {
    let (name, port) = match (origin.strip_prefix("https://"), origin.strip_prefix("http://")) {
        (Some(rest), _) => (rest, ":443"),
        (None, Some(rest)) if !secure => (rest, ":80"),
        _ => return false,
    };
    let plain = |authority: &str| authority.strip_suffix(port).unwrap_or(authority).to_ascii_lowercase();
    plain(name) == plain(authority)
}

/// The host of an authority, without its port.
pub(crate) fn name(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && (!name.contains(':') || name.ends_with(']')) => name,
        _ => authority,
    }
}

/// The machine that the browser itself runs on.
pub(crate) fn is_loopback(authority: &str) -> bool {
    let name = normal(self::name(authority));
    name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}

/// The one way to write a name: small letters, no dot at the end, no brackets.
fn normal(name: &str) -> String {
    let name = name.strip_suffix('.').unwrap_or(name);
    name.trim_matches(['[', ']']).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(bind: &str, allowed: &[&str]) -> Hosts {
        let allowed: Vec<_> = allowed.iter().map(|host| (*host).to_owned()).collect();
        Hosts::new(bind.parse().unwrap(), &allowed)
    }

    #[test]
    fn only_own_hosts_are_accepted() {
        let table = [
            ("127.0.0.1:8000", "127.0.0.1:8000", true),
            ("127.0.0.1:8000", "localhost:8000", true),
            ("127.0.0.1:8000", "LOCALHOST", true),
            ("127.0.0.1:8000", "localhost.:8000", true),
            ("127.0.0.1:8000", "[::1]:8000", true),
            ("127.0.0.1:8000", "evil.example:8000", false),
            ("127.0.0.1:8000", "127.0.0.1.evil.example", false),
            ("127.0.0.1:8000", "192.0.2.7:8000", false),
            ("127.0.0.1:8000", "", false),
            ("0.0.0.0:8000", "192.0.2.7:8000", true),
            ("0.0.0.0:8000", "evil.example", false),
        ];
        for (bind, host, expected) in table {
            assert_eq!(hosts(bind, &[]).is_own(host), expected, "bound to {bind}, asked as {host}");
        }
    }

    #[test]
    fn an_opened_address_is_own_until_it_is_closed_and_no_name_is() {
        let hosts = hosts("127.0.0.1:8000", &[]);
        hosts.open(Some("192.0.2.7".parse().unwrap()));
        assert!(hosts.is_own("192.0.2.7:8000") && hosts.is_own("localhost:8000"));
        for foreign in ["192.0.2.8:8000", "192.0.2.7.evil.example", "evil.example:8000"] {
            assert!(!hosts.is_own(foreign), "{foreign}");
        }
        hosts.open(None);
        assert!(!hosts.is_own("192.0.2.7:8000"));
    }

    #[test]
    fn an_allowed_host_is_exact_whatever_its_port_letters_and_last_dot() {
        let hosts = hosts("127.0.0.1:8000", &["cockpit.example", "192.0.2.9"]);
        for own in ["cockpit.example", "cockpit.example:443", "Cockpit.EXAMPLE:8443", "cockpit.example.", "192.0.2.9:80", "localhost"] {
            assert!(hosts.is_own(own), "{own}");
        }
        for foreign in ["example", "a.cockpit.example", "cockpit.example.evil", "xcockpit.example", "192.0.2.8", "cockpit.example:x"] {
            assert!(!hosts.is_own(foreign), "{foreign}");
        }
    }

    #[test]
    fn a_refusal_names_the_host_and_the_setting_and_repeats_no_markup() {
        assert!(refusal("vox.lan:8000").contains("VOXPILOT_ALLOWED_HOSTS=vox.lan"));
        let odd = refusal("<script>");
        assert!(odd.contains("VOXPILOT_ALLOWED_HOSTS") && !odd.contains("script"), "{odd}");
    }

    #[test]
    fn a_request_names_one_host() {
        let check = |address: &str, hosts: &[&'static str]| {
            let headers = hosts.iter().map(|host| (header::HOST, HeaderValue::from_static(host))).collect();
            is_ambiguous(&headers, &address.parse().unwrap())
        };
        for (address, hosts) in [
            ("/", &["localhost"][..]),
            ("/", &[]),
            ("http://localhost/", &["localhost"]),
            ("http://localhost:80/", &["LOCALHOST"]),
            ("http://localhost:8000/x", &["localhost:8000"]),
            ("https://localhost/", &["localhost:443"]),
            ("https://localhost:443/", &[]),
        ] {
            assert!(!check(address, hosts), "{address} {hosts:?}");
        }
        for (address, hosts) in [
            ("/", &["localhost", "localhost"][..]),
            ("/", &["localhost", "evil.example"]),
            ("/", &["evil.example", "localhost"]),
            ("/", &["localhost", ""]),
            ("http://evil.example/", &["localhost"]),
            ("http://localhost/", &["evil.example"]),
            ("http://localhost/", &[""]),
            ("http://localhost:8000/", &["localhost"]),
            ("http://localhost/", &["localhost:443"]),
            ("https://localhost/", &["localhost:80"]),
            ("http://localhost@evil.example/", &["localhost"]),
            ("http://evil.example@localhost/", &[]),
            ("http://localhost/", &["localhost", "localhost"]),
        ] {
            assert!(check(address, hosts), "{address} {hosts:?}");
        }
    }

    #[test]
    fn an_origin_is_the_host_that_was_asked_for() {
        for (origin, authority, secure, expected) in [
            ("http://localhost:1", "localhost:1", false, true),
            ("https://cockpit.example", "cockpit.example", true, true),
            ("https://Cockpit.example", "cockpit.example:443", true, true),
            ("https://cockpit.example:8443", "cockpit.example:8443", true, true),
            ("https://cockpit.example", "cockpit.example", false, true),
            ("http://localhost", "localhost:80", false, true),
            ("http://cockpit.example", "cockpit.example", true, false),
            ("https://cockpit.example:8443", "cockpit.example", true, false),
            ("http://localhost:2", "localhost:1", false, false),
            ("null", "localhost:1", false, false),
            ("", "", false, false),
        ] {
            assert_eq!(is_same_origin(origin, authority, secure), expected, "{origin} at {authority}");
        }
    }
}
