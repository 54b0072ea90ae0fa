//! The one library that encrypts connections, and HTTP clients that use it.
//!
//! `reqwest` is built without a library of its own choice, so that no second one is compiled; a client that were made past this crate
//! would find none. Who is called, and which certificates are shown or trusted, is not known here.

use std::sync::Arc;

use rustls::crypto::{CryptoProvider, ring};

/// For whoever makes settings of `rustls`.
pub fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

/// In place of `reqwest::Client::builder()`. Servers are known by the certificates of the system.
#[allow(clippy::disallowed_methods, reason = "the one place where clients are made")]
pub fn client() -> reqwest::ClientBuilder {
    // An error says that it was done before.
    let _ = ring::default_provider().install_default();
    reqwest::Client::builder()
}
