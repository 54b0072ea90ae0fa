//! The one library that encrypts connections, and HTTP clients that use it.
//!
//! `reqwest` is built without a library of its own choice, so that no second one is compiled; a client that were made past this crate
//! would find none.

mod redirect;
mod system;
mod verify;

use std::sync::Arc;

use rustls::crypto::{CryptoProvider, ring};

/// What went wrong with a request, for whoever has no other use for the library.
pub use reqwest::Error as ClientError;

pub use redirect::{RedirectRefused, RefusalReason};
pub use verify::{Shown, config};

/// For whoever makes settings of `rustls`.
pub fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

/// In place of `reqwest::Client::builder()`. Servers are known by the certificates of the system, and nothing that the builder is told
/// of certificates changes that. Redirects are followed within one origin only ([`RedirectRefused`]).
pub fn client() -> reqwest::ClientBuilder {
    let mut config = config(system::check);
    config.alpn_protocols = ["h2", "http/1.1"].map(Into::into).to_vec();
    client_trusting().tls_backend_preconfigured(config)
}

/// Likewise, for whoever tells the builder which certificates are trusted; those of the system are read when it is built, unless they
/// are not asked for.
#[allow(clippy::disallowed_methods, reason = "the one place where clients are made")]
pub fn client_trusting() -> reqwest::ClientBuilder {
    // An error says that it was done before.
    let _ = ring::default_provider().install_default();
    reqwest::Client::builder().redirect(redirect::same_origin())
}
