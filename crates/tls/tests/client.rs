//! What a client needs is there, and the same for all of them.

#![allow(clippy::unwrap_used)]

use rustls::ProtocolVersion;

#[test]
fn clients_can_be_made_any_number_of_times() {
    for _ in 0..3 {
        tls::client().build().unwrap();
    }
}

#[test]
fn both_versions_of_the_protocol_are_spoken() {
    let provider = tls::provider();
    for version in [ProtocolVersion::TLSv1_2, ProtocolVersion::TLSv1_3] {
        assert!(provider.cipher_suites.iter().any(|suite| suite.version().version == version), "{version:?}");
    }
}

/// A name that is not ASCII is asked for in the form that name servers know.
#[test]
fn international_host_names_are_understood() {
    for (written, asked) in [("https://bücher.example/", "xn--bcher-kva.example"), ("https://例え.テスト/", "xn--r8jz45g.xn--zckzah")]
    {
        assert_eq!(reqwest::Url::parse(written).unwrap().host_str(), Some(asked));
    }
}
