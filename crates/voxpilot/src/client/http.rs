//! Calls to the server, and how they fail.

use std::error::Error;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use reqwest::header::HeaderMap;
use reqwest::{Certificate, Client, Method, RequestBuilder, Response, StatusCode};
use serde_json::Value;
use thiserror::Error as ThisError;

use super::address::Address;
use super::pinned;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const CALL_TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Debug, ThisError)]
pub enum CallError {
    #[error("no server runs on {}: start one with `voxpilot serve`, or say where it is with --url", .data_dir.display())]
    NoServer { data_dir: PathBuf },
    #[error("no server answers at {url}: start it with `voxpilot serve`, or say where it is with --url")]
    Away {
        url: String,
        #[source]
        source: reqwest::Error,
    },
    #[error(
        "the server at {url} shows a certificate that is not known here: copy it from `tls/certificate.pem` of that server's data directory \
         and name the copy with SSL_CERT_FILE"
    )]
    Certificate {
        url: String,
        #[source]
        source: reqwest::Error,
    },
    #[error("the server refused the token: give the one it was started with, as --token or VOXPILOT_TOKEN")]
    Token,
    #[error("the server refused: {message}")]
    Refused { status: StatusCode, message: String },
    #[error("the server has not come back within {0} s")]
    GivenUp(u64),
}

impl CallError {
    /// The server may be there again in a moment.
    pub fn is_away(&self) -> bool {
        match self {
            CallError::NoServer { .. } | CallError::Away { .. } | CallError::Certificate { .. } => true,
            CallError::Refused { status, .. } => *status == StatusCode::SERVICE_UNAVAILABLE,
            CallError::Token | CallError::GivenUp(_) => false,
        }
    }
}

#[derive(Clone)]
pub(super) struct Api {
    http: Client,
    server: Address,
}

impl Api {
    pub(super) fn new(server: Address) -> anyhow::Result<Api> {
        // One that is given may be the data directory's or any other: the certificate of the first counts beside those of the system.
        let own = if server.is_given() { std::fs::read(server.certificate()).ok() } else { None };
        let http = match own.and_then(|own| Certificate::from_der(&own).ok()) {
            Some(own) => tls::client_trusting().tls_certs_merge([own]),
            None if server.is_given() => tls::client(),
            None => tls::client_trusting().tls_backend_preconfigured(pinned::only(server.certificate())),
        };
        // The server is this machine's or given by its address: a proxy could only be in the way.
        let http = http.no_proxy().connect_timeout(CONNECT_TIMEOUT);
        Ok(Api { http: http.build().context("preparing to call the server")?, server })
    }

    pub(super) async fn get(&self, path: &str) -> Result<Value, CallError> {
        self.call(Method::GET, path, None).await
    }

    pub(super) async fn post(&self, path: &str, body: &Value) -> Result<Value, CallError> {
        self.call(Method::POST, path, Some(body)).await
    }

    async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, CallError> {
        let (url, mut request) = self.request(method, path)?;
        if let Some(body) = body {
            request = request.json(body);
        }
        let response = self.send(&url, request.timeout(CALL_TIMEOUT)).await?;
        let text = response.text().await.map_err(|source| CallError::Away { url, source })?;
        Ok(serde_json::from_str(&text).unwrap_or_default())
    }

    /// Opens the event stream of a session, after `cursor` or with a snapshot.
    pub(super) async fn stream(&self, session: &str, cursor: Option<u64>) -> Result<Response, CallError> {
        let (url, mut request) = self.request(Method::GET, &format!("/api/sessions/{session}/stream"))?;
        if let Some(cursor) = cursor {
            request = request.header("Last-Event-ID", cursor);
        }
        self.send(&url, request).await
    }

    /// Sends one message of MCP. Whether it succeeded stands in the answer, whatever its status.
    pub(super) async fn mcp(&self, headers: HeaderMap, message: String) -> Result<Response, CallError> {
        let (url, request) = self.request(Method::POST, "/mcp")?;
        let request = request.header("content-type", "application/json").header("accept", "application/json, text/event-stream");
        let response = request.headers(headers).body(message).send().await.map_err(|source| unsent(&url, source))?;
        if response.status() == StatusCode::UNAUTHORIZED { Err(CallError::Token) } else { Ok(response) }
    }

    fn request(&self, method: Method, path: &str) -> Result<(String, RequestBuilder), CallError> {
        let url = self.server.url()?;
        let request = self.http.request(method, format!("{url}{path}")).bearer_auth(self.server.token());
        Ok((url, request))
    }

    async fn send(&self, url: &str, request: RequestBuilder) -> Result<Response, CallError> {
        let response = request.send().await.map_err(|source| unsent(url, source))?;
        let status = response.status();
        if status == StatusCode::UNAUTHORIZED {
            return Err(CallError::Token);
        }
        if status.is_success() {
            return Ok(response);
        }
        let text = response.text().await.unwrap_or_default();
        let body: Value = serde_json::from_str(&text).unwrap_or_default();
        let message = body["error"]["message"].as_str().map_or_else(|| status.to_string(), str::to_owned);
        Err(CallError::Refused { status, message })
    }
}

fn unsent(url: &str, source: reqwest::Error) -> CallError {
    let url = url.to_owned();
    if is_about_the_certificate(&source) { CallError::Certificate { url, source } } else { CallError::Away { url, source } }
}

fn is_about_the_certificate(error: &(dyn Error + 'static)) -> bool {
    if let Some(error) = error.downcast_ref::<rustls::Error>() {
        return matches!(error, rustls::Error::InvalidCertificate(_));
    }
    // An error of the system holds its cause apart from its source.
    let held = error.downcast_ref::<io::Error>().and_then(|error| error.get_ref());
    held.is_some_and(|held| is_about_the_certificate(held)) || error.source().is_some_and(is_about_the_certificate)
}
