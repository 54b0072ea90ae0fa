//! Knowing servers by the certificates of the system. They are some hundred files, and many a server never calls anybody: they are read
//! when the first certificate is to be checked, once for all clients. A system that has none fails that call, and nothing else.

use std::sync::{Arc, OnceLock};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, Error, SignatureScheme};
use rustls_platform_verifier::Verifier;

#[derive(Debug)]
pub(super) struct System {
    provider: Arc<CryptoProvider>,
}

impl System {
    pub(super) fn new(provider: Arc<CryptoProvider>) -> System {
        System { provider }
    }

    /// What could not be read is tried again next time: people install what was missing.
    fn verifier(&self) -> Result<&'static Verifier, Error> {
        static READ: OnceLock<Verifier> = OnceLock::new();
        if let Some(read) = READ.get() {
            return Ok(read);
        }
        let read = Verifier::new(self.provider.clone())?;
        Ok(READ.get_or_init(|| read))
    }
}

impl ServerCertVerifier for System {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        chain: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.verifier()?.verify_server_cert(shown, chain, name, ocsp, now)
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
