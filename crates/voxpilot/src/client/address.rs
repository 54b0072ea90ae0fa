//! The address of the running server, which leaves it in the data directory with its certificate, and the secret that lets one in.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::Result;
use web::Certificate;

use super::http::CallError;
use crate::config::{Config, Secret};
use crate::{stop, token};

const FILE_NAME: &str = "server.url";
/// The certificate that the server shows, where it speaks HTTPS.
const CERTIFICATE: &str = "server.der";

/// What is known of the server without asking it.
#[derive(Clone)]
pub struct Address {
    /// Given on the command line; else the data directory tells.
    url: Option<String>,
    token: Option<Secret>,
    data_dir: PathBuf,
    /// It goes by the token that is made for agents.
    as_agent: bool,
}

/// Leaves the address of this server for the commands that talk to it. An encrypted one leaves its certificate first.
pub fn announce(data_dir: &Path, address: SocketAddr, certificate: Option<&Certificate>) -> std::io::Result<()> {
    if let Some(certificate) = certificate {
        keep(data_dir, certificate)?;
    }
    token::write_private(&data_dir.join(FILE_NAME), format!("{}://{}", scheme(certificate.is_some()), reachable(address)))
}

/// Leaves the certificate that the server shows from now on.
pub fn keep(data_dir: &Path, certificate: &Certificate) -> std::io::Result<()> {
    token::write_private(&data_dir.join(CERTIFICATE), &certificate.der)
}

pub fn scheme(encrypted: bool) -> &'static str {
    if encrypted { "https" } else { "http" }
}

/// A wildcard is no address to go to; this machine itself is.
pub fn reachable(address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() { SocketAddr::new([127, 0, 0, 1].into(), address.port()) } else { address }
}

impl Address {
    pub fn new(url: Option<String>, config: &Config) -> Address {
        let url = url.map(|url| url.trim_end_matches('/').to_owned());
        Address { url, token: config.token.clone(), data_dir: config.data_dir.clone(), as_agent: false }
    }

    /// The same server, with no more rights than an agent is given: to delegate.
    pub fn as_agent(self) -> Address {
        Address { as_agent: true, ..self }
    }

    /// Looked up anew each time: a server that was started again may be elsewhere.
    pub fn url(&self) -> Result<String, CallError> {
        if let Some(url) = &self.url {
            return Ok(url.clone());
        }
        let away = || CallError::NoServer { data_dir: self.data_dir.clone() };
        if !store::in_use(&self.data_dir.join(stop::DATABASE)) {
            return Err(away());
        }
        // One that has just been started has not written it yet.
        let url = std::fs::read_to_string(self.data_dir.join(FILE_NAME)).unwrap_or_default();
        if url.is_empty() { Err(away()) } else { Ok(url) }
    }

    /// Where the certificate of the data directory's server lies, if it has one.
    pub fn certificate(&self) -> PathBuf {
        self.data_dir.join(CERTIFICATE)
    }

    /// Somebody said which server is meant; it need not be the data directory's.
    pub fn is_given(&self) -> bool {
        self.url.is_some()
    }

    /// The configured secret, or the one that the server made for itself. Without any, the server says no.
    pub fn token(&self) -> String {
        let token = self.token.clone().or_else(|| token::stored(&self.data_dir)).map(|token| token.expose().to_owned()).unwrap_or_default();
        if self.as_agent { web::token_for_agents(&token) } else { token }
    }
}
