//! Whether an address leads to this very server.

use std::time::Duration;

use rustls::Error;
use serde::Deserialize;

use super::{ReachAddress, ReachKind};

const TIMEOUT: Duration = Duration::from_secs(5);
const ANSWER_BYTES_MAX: usize = 4096;

#[derive(Deserialize)]
struct Health {
    instance: String,
}

/// Asks it, for a bounded time; an error says in a sentence what happened. `own` are the certificates that the server shows itself.
pub(crate) async fn answers(address: &ReachAddress, own: Vec<Vec<u8>>, instance: &str) -> Result<(), String> {
    let host = address.url.split_once("://").map_or(address.url.as_str(), |(_, host)| host);
    match tokio::time::timeout(TIMEOUT, instance_at(address, own)).await {
        Ok(Ok(Some(found))) if found == instance => Ok(()),
        Ok(Ok(_)) => Err(format!("Another server answers at {host}.")),
        Ok(Err(error)) if error.is_connect() => Err(format!("{host} can't be reached: {}.", innermost(&error))),
        Ok(Err(error)) => Err(format!("{host} doesn't answer as it should: {}.", innermost(&error))),
        Err(_) => Err(format!("{host} didn't answer within {} s.", TIMEOUT.as_secs())),
    }
}

async fn instance_at(address: &ReachAddress, own: Vec<Vec<u8>>) -> Result<Option<String>, ::tls::ClientError> {
    let client = match address.kind {
        ReachKind::Network => {
            let known = ::tls::config(move |shown| match own.iter().any(|der| der.as_slice() == shown.certificate.as_ref()) {
                true => Ok(()),
                false => Err(Error::General("it shows another certificate".to_owned())),
            });
            ::tls::client_trusting().tls_backend_preconfigured(known).no_proxy()
        }
        ReachKind::Tailscale | ReachKind::Name => ::tls::client(),
    };
    let mut response = client.build()?.get(format!("{}/api/health", address.url)).send().await?;
    let mut text = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        text.extend_from_slice(&chunk);
        if text.len() > ANSWER_BYTES_MAX {
            return Ok(None);
        }
    }
    Ok(serde_json::from_slice::<Health>(&text).ok().map(|health| health.instance))
}

/// What it comes down to: the outer ones only say that a request failed.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}
