//! Knowing servers by the certificates of the system. They are some hundred files, and many a server never calls anybody: they are read
//! when the first certificate is to be checked, once for all clients. A system that has none fails that call, and nothing else.

use std::sync::OnceLock;

use rustls::Error;
use rustls::client::danger::ServerCertVerifier;
use rustls_platform_verifier::Verifier;

use crate::Shown;

pub(super) fn check(shown: Shown<'_>) -> Result<(), Error> {
    verifier()?.verify_server_cert(shown.certificate, shown.chain, shown.name, shown.ocsp, shown.now).map(|_| ())
}

/// What could not be read is tried again next time: people install what was missing.
fn verifier() -> Result<&'static Verifier, Error> {
    static READ: OnceLock<Verifier> = OnceLock::new();
    if let Some(read) = READ.get() {
        return Ok(read);
    }
    let read = Verifier::new(crate::provider())?;
    Ok(READ.get_or_init(|| read))
}
