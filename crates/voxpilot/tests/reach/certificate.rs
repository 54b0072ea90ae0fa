//! Certificates for tests, and clients that let in one of them and no other.

use std::path::{Path, PathBuf};

use rcgen::{CertificateParams, KeyPair};

pub(crate) struct Made {
    pub pem: String,
    pub key: String,
}

/// A new certificate for these names.
pub(crate) fn make(names: &[&str]) -> Made {
    let key = KeyPair::generate().unwrap();
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let certificate = CertificateParams::new(names).unwrap().self_signed(&key).unwrap();
    Made { pem: certificate.pem(), key: key.serialize_pem() }
}

impl Made {
    pub(crate) fn write(&self, dir: &Path) -> (PathBuf, PathBuf) {
        let (cert, key) = (dir.join("cert.pem"), dir.join("key.pem"));
        std::fs::write(&cert, &self.pem).unwrap();
        std::fs::write(&key, &self.key).unwrap();
        (cert, key)
    }
}

/// A client that checks names and lets in this certificate alone.
pub(crate) fn client(pem: &str) -> reqwest::ClientBuilder {
    let root = reqwest::Certificate::from_pem(pem.as_bytes()).unwrap();
    tls::client_trusting().no_proxy().pool_max_idle_per_host(0).tls_certs_only([root])
}
