//! Calls as a client makes them: over a connection that may break at any moment, repeated until they are answered.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::reader::Address;

const AGAIN: Duration = Duration::from_millis(30);
const PATIENCE: Duration = Duration::from_secs(60);

impl Address {
    /// One call below the session; an error means that there was no answer.
    pub(super) async fn call(&self, method: &str, path: &str, body: Option<Value>) -> Result<(u16, Value), String> {
        let method = method.parse().map_err(|_| format!("{method} is no method"))?;
        let mut request = self.http.request(method, format!("{}/api/sessions/{}{path}", self.base, self.session)).bearer_auth(&self.token);
        if let Some(body) = body {
            request = request.json(&body);
        }
        let response = request.send().await.map_err(|error| format!("{path}: {error}"))?;
        let status = response.status().as_u16();
        let text = response.text().await.map_err(|error| format!("{path}: {error}"))?;
        Ok((status, serde_json::from_str(&text).unwrap_or(Value::Null)))
    }

    /// Posts a message until it is acknowledged, under one client id, and gives the acknowledgement.
    pub(super) async fn post(&self, content: &str) -> Result<Value, String> {
        let body = json!({ "content": content, "client_id": format!("client {content}") });
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.call("POST", "/messages", Some(body.clone())).await {
                Ok((202, answer)) => return Ok(answer),
                // A server that is stopping or starting says so with 5xx; anything else is an answer for good.
                Ok((status, answer)) if status < 500 => return Err(format!("{content} was refused with {status}: {answer}")),
                _ if Instant::now() > deadline => return Err(format!("lost: {content} was never acknowledged")),
                _ => tokio::time::sleep(AGAIN).await,
            }
        }
    }

    pub(super) async fn get(&self, path: &str) -> Result<Value, String> {
        match self.call("GET", path, None).await? {
            (200, answer) => Ok(answer),
            (status, answer) => Err(format!("{path}: {status} {answer}")),
        }
    }
}
