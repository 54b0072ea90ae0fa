//! Who a server is, is the caller's affair; that it has the key of the certificate which it shows is checked here, in one way for all.

use std::fmt;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, SignatureScheme};

/// What a server shows of itself.
pub struct Shown<'a> {
    pub certificate: &'a CertificateDer<'a>,
    pub chain: &'a [CertificateDer<'a>],
    pub name: &'a ServerName<'a>,
    pub ocsp: &'a [u8],
    pub now: UnixTime,
}

/// Settings that let in the servers that `check` lets in.
pub fn config(check: impl Fn(Shown<'_>) -> Result<(), Error> + Send + Sync + 'static) -> ClientConfig {
    let provider = crate::provider();
    let config = ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions();
    let config = config.expect("the library speaks the usual versions").dangerous();
    config.with_custom_certificate_verifier(Arc::new(Checked { check, provider })).with_no_client_auth()
}

struct Checked<F> {
    check: F,
    provider: Arc<CryptoProvider>,
}

impl<F> fmt::Debug for Checked<F> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Checked")
    }
}

impl<F: Fn(Shown<'_>) -> Result<(), Error> + Send + Sync> ServerCertVerifier for Checked<F> {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        chain: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        (self.check)(Shown { certificate, chain, name, ocsp, now })?;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
