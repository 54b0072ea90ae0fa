//! Encryption: which certificate is shown, and that a new one is taken up while the server runs.

mod own;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use sha2::{Digest, Sha256};
use thiserror::Error;
use tokio::sync::watch;

use crate::{Settings, Tls};

#[derive(Debug, Error)]
pub enum TlsError {
    #[error("the {what} {} cannot be used: {reason}", .path.display())]
    File { what: &'static str, path: PathBuf, reason: String },
    #[error("the certificate {} and the key {} cannot be used together: {source}", .cert.display(), .key.display())]
    Pair { cert: PathBuf, key: PathBuf, source: rustls::Error },
    #[error("a certificate cannot be made in {}: {reason}", .dir.display())]
    Make { dir: PathBuf, reason: String },
}

/// What a server shows of itself: for people, and for programs that want to know it again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Certificate {
    /// SHA-256 over the certificate, as browsers show it.
    pub fingerprint: String,
    pub der: Vec<u8>,
}

/// The certificate that is in use, and where the next one comes from.
pub(crate) struct Certificates {
    cert: PathBuf,
    key: PathBuf,
    /// We make it ourselves.
    own: Option<own::Maker>,
    config: Mutex<Arc<ServerConfig>>,
    /// Of the files that were last looked at, whether they were any good or not.
    seen: Mutex<Stamp>,
    current: watch::Sender<Certificate>,
}

/// What changes with a file.
type Stamp = [Option<(SystemTime, u64)>; 2];

impl Certificates {
    /// `None` where the server speaks in the clear.
    pub(crate) fn load(settings: &Settings) -> Result<Option<Certificates>, TlsError> {
        match &settings.tls {
            Tls::Off => Ok(None),
            Tls::Files { cert, key } => Certificates::of(cert.clone(), key.clone(), None).map(Some),
            Tls::SelfSigned { dir } => Certificates::self_signed(dir, &settings.allowed_hosts).map(Some),
        }
    }

    /// One of our own making, which has these names among others.
    pub(crate) fn self_signed(dir: &Path, names: &[String]) -> Result<Certificates, TlsError> {
        let maker = own::Maker::new(dir, names);
        maker.make_if_due()?;
        Certificates::of(maker.cert(), maker.key(), Some(maker))
    }

    fn of(cert: PathBuf, key: PathBuf, own: Option<own::Maker>) -> Result<Certificates, TlsError> {
        let seen = Mutex::new(stamp(&cert, &key));
        let (config, certificate) = read(&cert, &key)?;
        Ok(Certificates { cert, key, own, config: Mutex::new(config), seen, current: watch::Sender::new(certificate) })
    }

    pub(crate) fn config(&self) -> Arc<ServerConfig> {
        self.config.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The certificate, and those that follow it.
    pub(crate) fn current(&self) -> watch::Receiver<Certificate> {
        self.current.subscribe()
    }

    /// Takes up what has changed on the disk. What cannot be used changes nothing, and is told once.
    pub(crate) fn refresh(&self) {
        if let Some(own) = &self.own
            && let Err(error) = own.make_if_due()
        {
            tracing::warn!(%error, "the certificate is not renewed");
        }
        let stamp = stamp(&self.cert, &self.key);
        if std::mem::replace(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner), stamp) == stamp {
            return;
        }
        match read(&self.cert, &self.key) {
            Ok((config, certificate)) => {
                tracing::info!(fingerprint = certificate.fingerprint, "the certificate has changed");
                *self.config.lock().unwrap_or_else(PoisonError::into_inner) = config;
                self.current.send_replace(certificate);
            }
            Err(error) => tracing::warn!(%error, "the new certificate is not used; the old one stays"),
        }
    }
}

fn stamp(cert: &Path, key: &Path) -> Stamp {
    [cert, key].map(|path| {
        let about = path.metadata().ok()?;
        Some((about.modified().ok()?, about.len()))
    })
}

fn read(cert: &Path, key: &Path) -> Result<(Arc<ServerConfig>, Certificate), TlsError> {
    let unusable = |what, path: &Path, reason: String| TlsError::File { what, path: path.to_owned(), reason };
    let text = std::fs::read(cert).map_err(|error| unusable("certificate", cert, error.to_string()))?;
    let chain: Result<Vec<CertificateDer<'static>>, _> = CertificateDer::pem_slice_iter(&text).collect();
    let chain = chain.map_err(|error| unusable("certificate", cert, error.to_string()))?;
    let Some(leaf) = chain.first() else {
        return Err(unusable("certificate", cert, "there is none in it; it must be PEM, with the whole chain".to_owned()));
    };
    let certificate = Certificate { fingerprint: fingerprint(leaf), der: leaf.to_vec() };
    let text = std::fs::read(key).map_err(|error| unusable("key", key, error.to_string()))?;
    let private =
        PrivateKeyDer::from_pem_slice(&text).map_err(|_| unusable("key", key, "there is no private key in PEM in it".to_owned()))?;
    let pair = |source| TlsError::Pair { cert: cert.to_owned(), key: key.to_owned(), source };
    let versions = &[&rustls::version::TLS13, &rustls::version::TLS12];
    let config = ServerConfig::builder_with_provider(::tls::provider()).with_protocol_versions(versions).map_err(pair)?;
    let mut config = config.with_no_client_auth().with_single_cert(chain, private).map_err(pair)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok((Arc::new(config), certificate))
}

fn fingerprint(certificate: &CertificateDer<'_>) -> String {
    let digest = Sha256::digest(certificate);
    digest.iter().map(|byte| format!("{byte:02X}")).collect::<Vec<_>>().join(":")
}
