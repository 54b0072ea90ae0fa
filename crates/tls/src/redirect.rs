//! Redirects: followed within one origin and nowhere else. Requests carry keys in headers of many names and conversations in their
//! bodies, so another origin must get none of it.

use std::error::Error;

use reqwest::Url;
use reqwest::redirect::{Action, Attempt, Policy};

/// In one chain.
const MAX_REDIRECTS: usize = 5;

/// A redirect that was not followed. Its text names the host and never the path, the query or a password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedirectRefused {
    /// Host and port that the redirect leads to.
    pub to: String,
    pub reason: RefusalReason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalReason {
    /// Scheme, host or port differ.
    OtherOrigin,
    /// The address holds a user name or a password.
    Credentials,
    TooMany,
}

impl RedirectRefused {
    /// The refusal behind an error of a client made here, if that is what failed.
    pub fn of(error: &reqwest::Error) -> Option<&RedirectRefused> {
        let mut inner = error.source();
        while let Some(source) = inner {
            if let Some(refused) = source.downcast_ref() {
                return Some(refused);
            }
            inner = source.source();
        }
        None
    }
}

impl std::fmt::Display for RedirectRefused {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.reason {
            RefusalReason::OtherOrigin => write!(out, "redirected to another origin, {}", self.to),
            RefusalReason::Credentials => write!(out, "redirected to {} with a password in the address", self.to),
            RefusalReason::TooMany => write!(out, "redirected more than {MAX_REDIRECTS} times"),
        }
    }
}

impl Error for RedirectRefused {}

pub(super) fn same_origin() -> Policy {
    Policy::custom(decide)
}

fn decide(attempt: Attempt<'_>) -> Action {
    match check(attempt.previous(), attempt.url()) {
        Ok(()) => attempt.follow(),
        Err(refused) => attempt.error(refused),
    }
}

/// `previous` begins with the address that was asked for.
fn check(previous: &[Url], next: &Url) -> Result<(), RedirectRefused> {
    let refused = |reason| Err(RedirectRefused { to: place(next), reason });
    // An opaque origin equals no other, not even itself.
    if previous.iter().any(|url| url.origin() != next.origin()) {
        return refused(RefusalReason::OtherOrigin);
    }
    if !next.username().is_empty() || next.password().is_some() {
        return refused(RefusalReason::Credentials);
    }
    if previous.len() > MAX_REDIRECTS { refused(RefusalReason::TooMany) } else { Ok(()) }
}

fn place(url: &Url) -> String {
    match (url.host_str(), url.port()) {
        (Some(host), Some(port)) => format!("{host}:{port}"),
        (Some(host), None) => host.to_owned(),
        (None, _) => format!("a {} address", url.scheme()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "https://api.example/v1/messages";

    /// What `location` in an answer of `base` comes to.
    fn judged(base: &str, location: &str) -> Result<(), RefusalReason> {
        let base = Url::parse(base).unwrap();
        let next = base.join(location).unwrap_or_else(|error| panic!("{location}: {error}"));
        check(&[base], &next).map_err(|refused| refused.reason)
    }

    #[test]
    fn only_the_same_scheme_host_and_port_are_followed() {
        for (base, location) in [
            (BASE, "/v2/messages"),
            (BASE, "messages/"),
            (BASE, "?beta=1"),
            (BASE, "../v2/x"),
            (BASE, "https://api.example/v2"),
            (BASE, "https://api.example:443/v2"),
            (BASE, "https://API.EXAMPLE/v2"),
            (BASE, "//api.example/v2"),
            (BASE, "https:\\\\api.example\\v2"),
            ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v2"),
            ("http://127.0.0.1:8080/v1", "http://0x7f.1:8080/v2"),
        ] {
            assert_eq!(judged(base, location), Ok(()), "{location}");
        }
        for (base, location) in [
            (BASE, "https://evil.example/v1/messages"),
            (BASE, "http://api.example/v1/messages"),
            (BASE, "http://api.example:443/v1/messages"),
            (BASE, "https://api.example:8443/v1"),
            (BASE, "//evil.example/v1"),
            (BASE, "\\\\evil.example\\v1"),
            (BASE, "/\\evil.example/v1"),
            (BASE, "https://api.example.evil.example/"),
            (BASE, "https://sub.api.example/"),
            (BASE, "https://example/"),
            (BASE, "https://api.example./v1"),
            (BASE, "https://api.example@evil.example/"),
            (BASE, "https://api.example:443@evil.example/"),
            (BASE, "https://evil.example#@api.example/"),
            (BASE, "https://evil.example\\@api.example/"),
            (BASE, "https://api%2eexample.evil.example/"),
            (BASE, "https://аpi.example/"),
            (BASE, "ftp://api.example/v1"),
            (BASE, "file:///etc/passwd"),
            (BASE, "data:text/plain,x"),
            (BASE, "wss://api.example/v1"),
            ("http://127.0.0.1:8080/", "http://localhost:8080/"),
            ("http://127.0.0.1:8080/", "http://[::1]:8080/"),
            ("http://127.0.0.1:8080/", "http://[::ffff:127.0.0.1]:8080/"),
            ("http://127.0.0.1:8080/", "http://127.0.0.1/"),
        ] {
            assert_eq!(judged(base, location), Err(RefusalReason::OtherOrigin), "{location}");
        }
        for location in ["https://me@api.example/", "https://me:secret@api.example/", "//:secret@api.example/v1"] {
            assert_eq!(judged(BASE, location), Err(RefusalReason::Credentials), "{location}");
        }
    }

    #[test]
    fn every_step_of_a_chain_is_compared_and_a_chain_ends() {
        let there_and_back = [url(BASE), url("https://evil.example/")];
        assert!(check(&there_and_back, &url(BASE)).is_err());
        let steps = vec![url(BASE); MAX_REDIRECTS];
        assert_eq!(check(&steps, &url(BASE)), Ok(()));
        let steps = vec![url(BASE); MAX_REDIRECTS + 1];
        assert_eq!(check(&steps, &url(BASE)).unwrap_err().reason, RefusalReason::TooMany);
    }

    #[test]
    fn a_refusal_names_the_host_and_nothing_secret() {
        let next = url("https://me:hunter2@evil.example:8443/path?key=hunter2");
        let told = check(&[url(BASE)], &next).unwrap_err();
        assert_eq!(told.to, "evil.example:8443");
        assert!(!told.to_string().contains("hunter2"), "{told}");
        assert_eq!(check(&[url(BASE)], &url("data:text/plain,hunter2")).unwrap_err().to, "a data address");
    }

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }
}
