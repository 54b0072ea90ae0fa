//! Where a browser is reached, and for whom what is sent there is encrypted.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reqwest::Url;

use crate::encryption::{POINT_BYTES, Recipient, is_point};

/// Far more than any push service has.
const ENDPOINT_BYTES: usize = 2048;

#[derive(Clone, Debug)]
pub struct Subscription {
    pub(crate) endpoint: Url,
    pub(crate) recipient: Recipient,
}

/// What is wrong with one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadSubscription {
    #[error("the endpoint is not an https address of a push service")]
    Endpoint,
    #[error("the key p256dh is no point of P-256 in base64url")]
    Key,
    #[error("the secret auth is not 16 bytes in base64url")]
    Auth,
}

impl Subscription {
    /// Of what a browser says when it subscribes.
    ///
    /// # Errors
    /// Where nothing could be sent to it.
    pub fn new(endpoint: &str, key: &str, auth: &str) -> Result<Subscription, BadSubscription> {
        let decoded = |text: &str| URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok();
        let endpoint = address(endpoint).ok_or(BadSubscription::Endpoint)?;
        let key: Option<[u8; POINT_BYTES]> = decoded(key).and_then(|bytes| bytes.try_into().ok());
        let key = key.filter(is_point).ok_or(BadSubscription::Key)?;
        let auth = decoded(auth).and_then(|bytes| bytes.try_into().ok()).ok_or(BadSubscription::Auth)?;
        Ok(Subscription { endpoint, recipient: Recipient { key, auth } })
    }

    pub(crate) fn origin(&self) -> String {
        self.endpoint.origin().ascii_serialization()
    }
}

/// Where it leads is not looked at here: [`crate::Sender::check`] does, and every send again.
fn address(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok().filter(|_| text.len() <= ENDPOINT_BYTES)?;
    let plain = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
    let reachable = matches!(url.scheme(), "https" | "http") && url.host_str().is_some();
    (plain && reachable).then_some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Made up for this test: the point is the base point of the curve.
    const KEY: &str = "BGsX0fLhLEJH-Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWT-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU";
    const AUTH: &str = "AAAAAAAAAAAAAAAAAAAAAA";

    #[test]
    fn an_endpoint_is_an_address_of_the_web_without_a_password() {
        for endpoint in ["https://push.example/send/abc", "http://127.0.0.1:9/x"] {
            assert!(Subscription::new(endpoint, KEY, AUTH).is_ok(), "{endpoint}");
        }
        let long = format!("https://push.example/{}", "x".repeat(ENDPOINT_BYTES));
        for endpoint in
            ["", "push.example", "file:///etc/passwd", "wss://push.example/x", "https://me:secret@push.example/", "https:///x#", &long]
        {
            assert_eq!(Subscription::new(endpoint, KEY, AUTH).unwrap_err(), BadSubscription::Endpoint, "{endpoint}");
        }
    }

    #[test]
    fn keys_that_are_none_are_named() {
        let of = |key, auth| Subscription::new("https://push.example/x", key, auth).unwrap_err();
        assert_eq!((of("AAAA", AUTH), of("ä", AUTH), of("", AUTH)), (BadSubscription::Key, BadSubscription::Key, BadSubscription::Key));
        assert_eq!((of(KEY, "AAAA"), of(KEY, "*")), (BadSubscription::Auth, BadSubscription::Auth));
        let beside_the_curve = KEY.replace("_UfU", "_UfQ");
        assert_eq!(of(&beside_the_curve, AUTH), BadSubscription::Key);
        let padded = format!("{AUTH}==");
        assert!(Subscription::new("https://push.example/x", KEY, &padded).is_ok());
    }
}
