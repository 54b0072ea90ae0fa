//! One note to one browser: encrypted, signed, handed to its push service, tried again where that is busy.

use std::sync::Arc;
use std::time::Duration;

use hyper_util::client::proxy::matcher::Matcher;
use jiff::Timestamp;
use reqwest::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode};

use crate::destination::{Destination, Destinations};
use crate::resolve::{self, CheckedResolver, Lookup};
use crate::{AllowedHost, DestinationRefused, Keys, Subscription, encryption};

const DEADLINE: Duration = Duration::from_secs(20);
/// How often a push service is asked in all.
const TRIES: u32 = 4;
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// One that wants longer is not waited for.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// What is sent.
#[derive(Clone, Debug)]
pub struct Note {
    /// At most what a push service takes: about 3,900 bytes.
    pub payload: Vec<u8>,
    /// For how long the push service keeps it for a browser that is not there.
    pub ttl: Duration,
    pub urgency: Urgency,
    /// At most 32 characters of base64url: of the notes with one topic that wait, only the last is delivered.
    pub topic: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Urgency {
    Normal,
    High,
}

/// What became of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    Accepted,
    /// The browser has unsubscribed: nothing will ever reach it there again.
    Gone,
    /// What happened, for people.
    Failed(String),
}

pub struct Sender {
    destinations: Arc<Destinations>,
    resolver: CheckedResolver,
    /// Connects to what the resolver has checked, and never through a proxy.
    direct: Client,
    /// The proxy resolves names itself, so only destinations that need no check go through it.
    proxied: Client,
    proxies: Matcher,
    keys: Keys,
    contact: String,
}

impl Sender {
    /// `contact` is a `mailto:` or `https:` address for those who run push services. `allowed` are the push services that need not be
    /// public.
    ///
    /// # Errors
    /// Where no HTTP client can be made.
    pub fn new(keys: Keys, contact: String, allowed: Vec<AllowedHost>) -> reqwest::Result<Sender> {
        Sender::with_lookup(keys, contact, allowed, resolve::by_system())
    }

    fn with_lookup(keys: Keys, contact: String, allowed: Vec<AllowedHost>, lookup: Lookup) -> reqwest::Result<Sender> {
        let destinations = Arc::new(Destinations::new(allowed));
        let resolver = CheckedResolver::new(destinations.clone(), lookup);
        // Nobody is sent on to an address that was not checked.
        let client = || tls::client().redirect(Policy::none()).timeout(DEADLINE);
        let direct = client().no_proxy().dns_resolver(Arc::new(resolver.clone())).build()?;
        Ok(Sender { destinations, resolver, direct, proxied: client().build()?, proxies: Matcher::from_env(), keys, contact })
    }

    /// Whether notifications may be sent there, by what its name resolves to now. Each later send checks it again.
    ///
    /// # Errors
    /// Where they may not.
    pub async fn check(&self, to: &Subscription) -> Result<(), DestinationRefused> {
        let (destination, _) = self.client_for(to)?;
        if destination == Destination::Name {
            self.resolver.addresses(to.endpoint.host_str().ok_or(DestinationRefused)?).await?;
        }
        Ok(())
    }

    /// By which client it is reached.
    fn client_for(&self, to: &Subscription) -> Result<(Destination, &Client), DestinationRefused> {
        let destination = self.destinations.check(&to.endpoint)?;
        let uri = to.endpoint.as_str().parse().map_err(|_| DestinationRefused)?;
        match destination {
            _ if self.proxies.intercept(&uri).is_none() => Ok((destination, &self.direct)),
            Destination::Allowed | Destination::Known => Ok((destination, &self.proxied)),
            Destination::Address | Destination::Name => Err(DestinationRefused),
        }
    }

    pub fn public_key(&self) -> String {
        self.keys.public()
    }

    /// Tries a few times where the service is busy, which may take minutes.
    pub async fn send(&self, to: &Subscription, note: &Note) -> Outcome {
        let mut pause = FIRST_PAUSE;
        for _ in 1..TRIES {
            match self.attempt(to, note).await {
                Tried::Over(outcome) => return outcome,
                Tried::Busy { wait, .. } => {
                    let wait = wait.unwrap_or(pause);
                    if wait > LONGEST_PAUSE {
                        return Outcome::Failed("the push service wants to be left alone for more than a minute".to_owned());
                    }
                    tokio::time::sleep(wait).await;
                    pause *= 2;
                }
            }
        }
        self.send_once(to, note).await
    }

    pub async fn send_once(&self, to: &Subscription, note: &Note) -> Outcome {
        match self.attempt(to, note).await {
            Tried::Over(outcome) => outcome,
            Tried::Busy { why, .. } => Outcome::Failed(why),
        }
    }

    async fn attempt(&self, to: &Subscription, note: &Note) -> Tried {
        let body = match encryption::encrypt(&note.payload, &to.recipient) {
            Ok(body) => body,
            Err(_) => return Tried::Over(Outcome::Failed("it could not be encrypted".to_owned())),
        };
        let authorization = self.keys.authorization(&to.origin(), &self.contact, Timestamp::now());
        let client = match self.client_for(to) {
            Ok((_, client)) => client,
            Err(refused) => return Tried::Over(Outcome::Failed(refused.to_string())),
        };
        let request = client.post(to.endpoint.clone()).header(AUTHORIZATION, authorization).header(CONTENT_ENCODING, "aes128gcm");
        let request = request.header(CONTENT_TYPE, "application/octet-stream").header("ttl", note.ttl.as_secs());
        let request = request.header("urgency", note.urgency.as_str()).header("topic", &note.topic).body(body);
        // What the service answers with is not read: its status says all there is to know.
        let response = match request.send().await {
            Ok(response) => response,
            // The address of a subscription is a secret: whoever has it can reach the device.
            Err(error) => return Tried::Busy { why: format!("the push service cannot be reached: {}", error.without_url()), wait: None },
        };
        judge(response.status(), response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()))
    }
}

enum Tried {
    Over(Outcome),
    Busy { why: String, wait: Option<Duration> },
}

fn judge(status: StatusCode, retry_after: Option<&str>) -> Tried {
    match status {
        _ if status.is_success() => Tried::Over(Outcome::Accepted),
        StatusCode::NOT_FOUND | StatusCode::GONE => Tried::Over(Outcome::Gone),
        StatusCode::TOO_MANY_REQUESTS => {
            Tried::Busy { why: "the push service has had too much of us".to_owned(), wait: seconds(retry_after) }
        }
        _ if status.is_server_error() => {
            Tried::Busy { why: format!("the push service has trouble of its own ({})", status.as_u16()), wait: seconds(retry_after) }
        }
        _ => Tried::Over(Outcome::Failed(format!("the push service refuses it ({})", status.as_u16()))),
    }
}

/// A date instead of seconds is rare, and counts as nothing said.
fn seconds(retry_after: Option<&str>) -> Option<Duration> {
    retry_after?.trim().parse().ok().map(Duration::from_secs)
}

impl Urgency {
    fn as_str(self) -> &'static str {
        match self {
            Urgency::Normal => "normal",
            Urgency::High => "high",
        }
    }
}

#[cfg(test)]
mod tests;
