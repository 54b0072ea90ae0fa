//! Which page a request comes from. A browser says so; programs do not, and need a secret anyway.

use axum::http::header::{self, HeaderMap};

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

fn names_own_origin(headers: &HeaderMap, host: &str, secure: bool) -> bool {
    headers.get(header::ORIGIN).is_none_or(|origin| {
        let origin = origin.to_str().unwrap_or_default();
        // Where we see no encryption, a proxy that we do not know of may have ended it.
        let plain = origin.strip_prefix("http://").filter(|_| !secure);
        plain.or_else(|| origin.strip_prefix("https://")).is_some_and(|name| name.eq_ignore_ascii_case(host))
    })
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
