//! A browser's push service on loopback, together with the browser: it takes what it is sent and decrypts it with the browser's key.
//!
//! Who may send is checked as a real one does it: by the signature over its own address.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinSet;
use web_push_native::p256::ecdsa::signature::Verifier;
use web_push_native::p256::ecdsa::{Signature, VerifyingKey};
use web_push_native::p256::elliptic_curve::sec1::ToEncodedPoint;
use web_push_native::{Auth, p256};

use crate::loopback::{Answer, Loopback, Request};

const PATIENCE: Duration = Duration::from_secs(60);
const BODY_LIMIT: usize = 4096;

/// What came, as the page's worker would get it.
#[derive(Clone, Debug)]
pub struct Pushed {
    pub path: String,
    pub headers: Vec<(String, String)>,
    /// Of the sender's signature.
    pub claims: Value,
    /// Decrypted.
    pub payload: Value,
}

impl Pushed {
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(found, _)| found == name).map_or("", |(_, value)| value)
    }
}

/// Dropping it closes the socket and every connection.
pub struct PushService {
    shared: Arc<Shared>,
    _serving: JoinSet<()>,
}

struct Shared {
    origin: String,
    secret: p256::SecretKey,
    auth: [u8; 16],
    state: Mutex<State>,
    changes: watch::Sender<u64>,
}

#[derive(Default)]
struct State {
    pushed: Vec<Pushed>,
    /// Answers that are given instead of taking what comes: status and `Retry-After`.
    refusals: VecDeque<(u16, Option<u64>)>,
    refused: usize,
}

impl PushService {
    /// Must be called inside a tokio runtime.
    pub async fn start() -> PushService {
        let loopback = Loopback::bind().await;
        let seed = [uuid::Uuid::new_v4().into_bytes(), uuid::Uuid::new_v4().into_bytes()].concat();
        let shared = Arc::new(Shared {
            origin: format!("http://{}", loopback.address()),
            secret: p256::SecretKey::from_slice(&seed).expect("random bytes are a key"),
            auth: uuid::Uuid::new_v4().into_bytes(),
            state: Mutex::default(),
            changes: watch::channel(0).0,
        });
        let taking = Arc::clone(&shared);
        PushService { shared, _serving: loopback.serve(move |request| taking.answer(request)) }
    }

    /// What the browser tells its page when it has subscribed.
    pub fn subscription(&self, name: &str) -> Value {
        let key = self.shared.secret.public_key().to_encoded_point(false);
        json!({
            "endpoint": format!("{}/{name}", self.shared.origin),
            "keys": { "p256dh": URL_SAFE_NO_PAD.encode(key.as_bytes()), "auth": URL_SAFE_NO_PAD.encode(self.shared.auth) },
        })
    }

    /// The next one is answered with this status, and, where given, told to wait for so many seconds.
    pub fn refuse(&self, status: u16, retry_after_s: Option<u64>) {
        self.shared.state().refusals.push_back((status, retry_after_s));
    }

    pub fn pushed(&self) -> Vec<Pushed> {
        self.shared.state().pushed.clone()
    }

    /// Waits until so many were taken.
    pub async fn wait_for(&self, count: usize) -> Vec<Pushed> {
        self.wait(|state| state.pushed.len() >= count).await;
        self.pushed()
    }

    /// Waits until so many were refused.
    pub async fn wait_for_refused(&self, count: usize) {
        self.wait(|state| state.refused >= count).await;
    }

    async fn wait(&self, reached: impl Fn(&State) -> bool) {
        let mut changes = self.shared.changes.subscribe();
        let waiting = async {
            while !reached(&self.shared.state()) {
                changes.changed().await.expect("the sender lives as long as the service");
            }
        };
        let waited = tokio::time::timeout(PATIENCE, waiting).await;
        assert!(waited.is_ok(), "what was expected was not pushed; only {:#?}", self.pushed());
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, request: Request) -> Answer {
        let refusal = self.state().refusals.pop_front();
        let answer = match refusal {
            Some((status, wait)) => {
                self.state().refused += 1;
                Answer::Http(status, wait.map(|seconds| format!("retry-after: {seconds}\r\n")).unwrap_or_default(), String::new())
            }
            None => {
                let pushed = self.take(request);
                self.state().pushed.push(pushed);
                Answer::status(201)
            }
        };
        self.changes.send_modify(|count| *count += 1);
        answer
    }

    fn take(&self, Request { line, headers, body }: Request) -> Pushed {
        assert!(body.len() <= BODY_LIMIT, "no push service takes {} bytes", body.len());
        let path = line.split_once(' ').expect("a method and a path").1.to_owned();
        let header = |name: &str| headers.iter().find(|(found, _)| found == name).map_or("", |(_, value)| value.as_str());
        assert_eq!(header("content-encoding"), "aes128gcm");
        let claims = signed(header("authorization"));
        assert_eq!(claims["aud"], self.origin.as_str(), "signed for another push service");
        let plain = web_push_native::decrypt(body, &self.secret, &Auth::from(self.auth)).expect("encrypted for this browser");
        Pushed { path, claims, payload: serde_json::from_slice(&plain).expect("the payload is JSON"), headers }
    }
}

/// The claims, once the signature holds.
fn signed(authorization: &str) -> Value {
    let decoded = |text: &str| URL_SAFE_NO_PAD.decode(text).expect("base64url");
    let (token, key) = authorization.strip_prefix("vapid t=").and_then(|rest| rest.split_once(", k=")).expect("a VAPID header");
    let (text, signature) = token.rsplit_once('.').expect("a signature");
    let key = VerifyingKey::from_sec1_bytes(&decoded(key)).expect("a point");
    key.verify(text.as_bytes(), &Signature::from_slice(&decoded(signature)).expect("64 bytes")).expect("the signature holds");
    serde_json::from_slice(&decoded(text.split_once('.').expect("two parts").1)).expect("JSON")
}
