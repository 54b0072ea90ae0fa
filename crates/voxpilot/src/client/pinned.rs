//! The server of the data directory is known by the certificate that it left there, whatever names stand in it and whoever signed it.

use std::path::PathBuf;

use rustls::{CertificateError, ClientConfig, Error};

/// Settings that let in the server with this certificate and no other.
pub(super) fn only(path: PathBuf) -> ClientConfig {
    tls::config(move |shown| {
        // Read at each handshake: a server that was started again may have another.
        let kept = std::fs::read(&path).unwrap_or_default();
        if kept == shown.certificate.as_ref() {
            return Ok(());
        }
        Err(Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure))
    })
}
