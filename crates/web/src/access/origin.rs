//! Which page a request comes from. A browser says so; programs do not, and need a secret anyway.

use std::net::IpAddr;

use axum::http::header::{self, HeaderMap};

use crate::hosts;

/// Whether the request comes from a page of ours, or from no page at all. Another port of the same host is another page: an agent may
/// have started what listens there.
pub(crate) fn is_own(headers: &HeaderMap, host: &str, secure: bool) -> bool {
    let own_site = headers.get("sec-fetch-site").is_none_or(|site| site == "same-origin" || site == "none");
    own_site && names_own_origin(headers, host, secure)
}

/// Following a link from elsewhere is no attack where it shows a page and changes nothing.
pub(crate) fn is_navigation(headers: &HeaderMap, host: &str, secure: bool) -> bool {
    let navigates = headers.get("sec-fetch-mode").is_some_and(|mode| mode == "navigate");
    let whole_page = headers.get("sec-fetch-dest").is_none_or(|dest| dest == "document");
    navigates && whole_page && names_own_origin(headers, host, secure)
}

/// Whether nobody on the way can read what is asked and answered: the page is of this machine, or came encrypted. What came encrypted to a
/// proxy is known by its page alone.
pub(crate) fn is_safe(headers: &HeaderMap, host: &str, secure: bool) -> bool {
    let name = hosts::name(host).trim_matches(['[', ']']);
    let is_here = name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback());
    let from_https = headers.get(header::ORIGIN).is_some_and(|origin| origin.as_bytes().starts_with(b"https://"));
    secure || is_here || from_https
}

fn names_own_origin(headers: &HeaderMap, host: &str, secure: bool) -> bool {
    headers.get(header::ORIGIN).is_none_or(|origin| hosts::is_same_origin(origin.to_str().unwrap_or_default(), host, secure))
}

/// A page that a browser fetches before anybody asked for it uses up nothing.
pub(crate) fn is_prefetch(headers: &HeaderMap) -> bool {
    ["sec-purpose", "purpose", "x-moz"]
        .iter()
        .filter_map(|name| headers.get(*name)?.to_str().ok())
        .any(|purpose| purpose.split([';', ',']).any(|part| matches!(part.trim(), "prefetch" | "prerender" | "preview")))
}

#[cfg(test)]
mod tests {
    use axum::http::header::{HeaderName, HeaderValue};

    use super::*;

    const HOST: &str = "localhost:1";

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn a_foreign_page_is_told_by_its_origin_and_its_site() {
        let table = [
            (&[][..], true),
            (&[("origin", "http://localhost:1")], true),
            (&[("origin", "http://LOCALHOST:1"), ("sec-fetch-site", "same-origin")], true),
            (&[("sec-fetch-site", "none")], true),
            (&[("origin", "http://localhost:2")], false),
            (&[("origin", "null")], false),
            (&[("sec-fetch-site", "same-site")], false),
            (&[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors")], false),
            (&[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")], false),
        ];
        for (pairs, expected) in table {
            assert_eq!(is_own(&headers(pairs), HOST, false), expected, "{pairs:?}");
        }
    }

    #[test]
    fn where_there_is_encryption_an_origin_without_it_is_foreign() {
        assert!(is_own(&headers(&[("origin", "https://localhost:1")]), HOST, true));
        assert!(!is_own(&headers(&[("origin", "http://localhost:1")]), HOST, true));
    }

    #[test]
    fn safe_is_what_nobody_on_the_way_can_read() {
        for (pairs, host, secure, expected) in [
            (&[][..], "localhost:8000", false, true),
            (&[], "127.0.0.1:8000", false, true),
            (&[], "[::1]:8000", false, true),
            (&[], "192.0.2.7:8000", true, true),
            (&[("origin", "https://cockpit.example")], "cockpit.example", false, true),
            (&[], "192.0.2.7:8000", false, false),
            (&[("origin", "http://192.0.2.7:8000")], "192.0.2.7:8000", false, false),
            (&[], "localhost.evil.example", false, false),
        ] {
            assert_eq!(is_safe(&headers(pairs), host, secure), expected, "{pairs:?} {host}");
        }
    }

    #[test]
    fn a_navigation_is_a_whole_page_that_posts_nothing_from_elsewhere() {
        let table = [
            (&[("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")][..], true),
            (&[("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "iframe")], false),
            (&[("sec-fetch-mode", "no-cors"), ("sec-fetch-dest", "image")], false),
            (&[("sec-fetch-mode", "navigate"), ("origin", "http://evil.example")], false),
        ];
        for (pairs, expected) in table {
            assert_eq!(is_navigation(&headers(pairs), HOST, false), expected, "{pairs:?}");
        }
    }

    #[test]
    fn prefetches_are_told_from_visits() {
        for (name, value) in [("sec-purpose", "prefetch;prerender"), ("purpose", "prefetch"), ("x-moz", "prefetch")] {
            assert!(is_prefetch(&headers(&[(name, value)])), "{name}");
        }
        assert!(!is_prefetch(&headers(&[("accept", "prefetch")])));
    }
}
