//! Who is let in: devices by their own secret, programs by the token; and what keeps strangers from guessing either.

pub(crate) mod audit;
pub(crate) mod device;
pub(crate) mod guard;
pub(crate) mod link;
pub(crate) mod login;
pub(crate) mod name;
pub(crate) mod origin;
pub(crate) mod secret;
mod throttle;

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use axum::http::Method;
use axum::http::header::{self, HeaderMap};
use domain::device::DeviceKind;
use domain::ids::DeviceId;
use store::{DeviceRow, Store, StoreError};
use tokio_util::task::TaskTracker;

use crate::peer::Peer;
use crate::routes::{Call, Who};
use crate::{hosts, machine};
use device::{Device, Devices, NewDevice};
use link::{Links, TakenLink};
use throttle::Throttle;

/// As long as the oldest device lives; the server decides when it ends before.
const COOKIE_AGE_S: u32 = 90 * 24 * 3600;
/// What the audit log calls a program that has the token.
const TOKEN: &str = "token";
const AGENTS_TOKEN: &str = "token for agents";
const METRICS_TOKEN: &str = "token for metrics";
const KEY_HEADER: &str = "x-voxpilot-key";

pub(crate) struct Access {
    store: Store,
    token: String,
    /// Who is called by which bearer, by its hash.
    bearers: Vec<(String, Caller)>,
    cookie: String,
    address: SocketAddr,
    pub(crate) devices: Arc<Devices>,
    pub(crate) links: Links,
    /// Wrong bearers and wrong codes are counted apart: a program with an old token must not keep a person from typing a code.
    wrong_tokens: Mutex<Throttle>,
    wrong_codes: Mutex<Throttle>,
    /// What is being done for people, until the audit log knows of it.
    pub(crate) acting: TaskTracker,
}

/// Who makes a request.
#[derive(Clone, Debug)]
pub(crate) enum Caller {
    Token,
    /// Whoever has the token that is handed to agents: it may delegate, and never answer for a person.
    Agent,
    /// Whoever has the token for the numbers alone.
    Scraper,
    Device {
        device: Device,
        /// Its page has shown its key.
        proven: bool,
    },
}

/// A device that was just signed in; the only time that its secrets are known.
pub(crate) struct SignedIn {
    /// For the browser.
    cookie: String,
    /// For its page.
    key: String,
    row: DeviceRow,
}

/// Why a request is not let in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refused {
    Unknown,
    KeyRequired,
    ReadOnly,
    DelegatesOnly,
    MetricsOnly,
    TooManyTries { wait: Duration },
}

impl Caller {
    pub(crate) fn device(&self) -> Option<&DeviceRow> {
        match self {
            Caller::Token | Caller::Agent | Caller::Scraper => None,
            Caller::Device { device, .. } => Some(&device.row),
        }
    }

    pub(crate) fn who(&self, peer: Peer) -> audit::Who {
        let row = self.device();
        let token = match self {
            Caller::Agent => AGENTS_TOKEN,
            Caller::Scraper => METRICS_TOKEN,
            Caller::Token | Caller::Device { .. } => TOKEN,
        };
        let name = row.map_or_else(|| token.to_owned(), |row| row.name.clone());
        audit::Who { device_id: row.map(|row| row.id), name, address: peer.ip }
    }
}

impl Access {
    pub(crate) async fn open(token: String, metrics_token: Option<&str>, address: SocketAddr, store: Store) -> Result<Access, StoreError> {
        Ok(Access {
            bearers: bearers(&token, metrics_token),
            token,
            // Browsers share cookies between the ports of a host, so two servers on one machine need two names.
            cookie: format!("voxpilot_{}", address.port()),
            address,
            devices: Arc::new(Devices::open(store.clone()).await?),
            links: Links::open(store.clone()).await?,
            wrong_tokens: Mutex::new(Throttle::new(Instant::now())),
            wrong_codes: Mutex::new(Throttle::new(Instant::now())),
            acting: TaskTracker::new(),
            store,
        })
    }

    /// For whoever must keep it out of what is shown.
    pub(crate) fn secret(&self) -> &str {
        &self.token
    }

    /// Whether the caller may make this call; nobody is asked who they are where anybody may.
    fn admit(&self, call: Call, peer: Peer, method: &Method, query: Option<&str>, headers: &HeaderMap) -> Result<Option<Caller>, Refused> {
        if call.who == Who::Anybody {
            return Ok(None);
        }
        match self.by_token(peer, headers)? {
            Some(Caller::Agent) if call.who != Who::Delegator => return Err(Refused::DelegatesOnly),
            Some(Caller::Scraper) if call.who != Who::Scraper => return Err(Refused::MetricsOnly),
            Some(caller) => return Ok(Some(caller)),
            None => {}
        }
        let device = self.by_cookie(peer, headers).ok_or(Refused::Unknown)?;
        let shown = shown_key(method, query, headers);
        let proven = shown.is_some_and(|key| device::is_key_of(&device.row, key));
        match call.who {
            Who::Reader | Who::Owner | Who::Delegator | Who::Scraper if !proven => Err(Refused::KeyRequired),
            Who::Owner | Who::Delegator if device.row.kind == DeviceKind::ReadOnly => Err(Refused::ReadOnly),
            _ => Ok(Some(Caller::Device { device, proven })),
        }
    }

    fn is_token(&self, offered: &str) -> bool {
        matches!(self.bearer(offered), Some(Caller::Token))
    }

    /// Who has this bearer. Every one is compared, and each to its end.
    fn bearer(&self, offered: &str) -> Option<Caller> {
        let offered = secret::hash(offered);
        let mut found = None;
        for (hash, caller) in &self.bearers {
            if secret::same(hash, &offered) {
                found = Some(caller.clone());
            }
        }
        found
    }

    /// A right bearer is never held up: whoever sends wrong ones, from this machine too, must not lock the owner out.
    fn by_token(&self, peer: Peer, headers: &HeaderMap) -> Result<Option<Caller>, Refused> {
        let bearer =
            headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).and_then(|value| value.strip_prefix("Bearer "));
        let Some(offered) = bearer else { return Ok(None) };
        match self.bearer(offered.trim()) {
            Some(caller) => Ok(Some(caller)),
            None => self.wrong_token(peer).map(|()| None),
        }
    }

    /// The device that the browser is, whether or not its page can show its key.
    fn by_cookie(&self, peer: Peer, headers: &HeaderMap) -> Option<Device> {
        let name = self.cookie_name(peer);
        let values = headers.get_all(header::COOKIE).into_iter().filter_map(|value| value.to_str().ok());
        let mut pairs = values.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.find_map(|(found, secret)| (found == name).then(|| self.devices.find(secret)).flatten())
    }

    /// Signs in the device for which the link was taken.
    async fn sign_in(&self, peer: Peer, link: TakenLink, name: String, before: Option<DeviceId>) -> Result<SignedIn, StoreError> {
        let new = NewDevice { name: link.row.name.clone().unwrap_or(name), kind: link.row.kind, address: peer.ip };
        let id = link.row.id;
        let added = self.devices.add(new, link, before).await.inspect_err(|_| self.links.give_back(id));
        added.map(|added| SignedIn { cookie: self.set_cookie(peer, &added.secret, COOKIE_AGE_S), key: added.key, row: added.row })
    }

    /// Takes the cookie out of the browser.
    pub(crate) fn clear_cookie(&self, peer: Peer) -> String {
        self.set_cookie(peer, "", 0)
    }

    fn set_cookie(&self, peer: Peer, value: &str, age_s: u32) -> String {
        let secure = if peer.secure { "; Secure" } else { "" };
        format!("{}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={age_s}{secure}", self.cookie_name(peer))
    }

    /// With this prefix a browser takes the cookie from nobody else, not even from another port without encryption.
    fn cookie_name(&self, peer: Peer) -> String {
        if peer.secure { format!("__Host-{}", self.cookie) } else { self.cookie.clone() }
    }

    /// Counts a wrong token; an error where there were too many before.
    fn wrong_token(&self, peer: Peer) -> Result<(), Refused> {
        let mut throttle = counting(&self.wrong_tokens);
        may_try(&throttle, peer)?;
        throttle.wrong(peer.ip, Instant::now());
        Ok(())
    }

    /// A code is short enough to be guessed, so it is not even looked at after too many wrong ones.
    fn may_try_code(&self, peer: Peer) -> Result<(), Refused> {
        may_try(&counting(&self.wrong_codes), peer)
    }

    fn wrong_code(&self, peer: Peer) {
        counting(&self.wrong_codes).wrong(peer.ip, Instant::now());
    }

    /// Writes down what the caller did.
    pub(crate) async fn tell(&self, caller: &Caller, peer: Peer, action: &str) {
        audit::write(&self.store, caller.who(peer), action, None).await;
    }

    /// Tells people that somebody has tried too often, but not each time.
    async fn tell_of_tries(&self, peer: Peer) {
        let telling = counting(&self.wrong_tokens).is_worth_telling(Instant::now());
        if telling {
            tracing::warn!(address = %peer.ip, "somebody tries to sign in too often and is held up");
            let who = audit::Who { device_id: None, name: "unknown".to_owned(), address: peer.ip };
            audit::write(&self.store, who, "sign-in-refused", Some("too many tries")).await;
        }
    }

    /// Where another device reaches this server, going by how it was asked itself.
    pub(crate) fn url_for_others(&self, peer: Peer, host: &str) -> String {
        let scheme = if peer.secure { "https" } else { "http" };
        let is_here = hosts::name(host).trim_matches(['[', ']']).parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        match machine::outside().filter(|_| is_here && self.address.ip().is_unspecified()) {
            Some(address) => format!("{scheme}://{}", SocketAddr::new(address, self.address.port())),
            None => format!("{scheme}://{host}"),
        }
    }
}

fn bearers(token: &str, metrics_token: Option<&str>) -> Vec<(String, Caller)> {
    let own = [(secret::hash(token), Caller::Token), (secret::hash(&secret::for_agents(token)), Caller::Agent)];
    own.into_iter().chain(metrics_token.map(|token| (secret::hash(token), Caller::Scraper))).collect()
}

fn counting(throttle: &Mutex<Throttle>) -> MutexGuard<'_, Throttle> {
    throttle.lock().expect("no code panics while it counts tries")
}

fn may_try(throttle: &Throttle, peer: Peer) -> Result<(), Refused> {
    match throttle.wait(peer.ip, Instant::now()) {
        Some(wait) => Err(Refused::TooManyTries { wait }),
        None => Ok(()),
    }
}

/// The key that the page shows: as a header, or in the address of what cannot send one (streams, images, downloads).
fn shown_key<'a>(method: &Method, query: Option<&'a str>, headers: &'a HeaderMap) -> Option<&'a str> {
    let header = headers.get(KEY_HEADER).and_then(|value| value.to_str().ok());
    let query = query.filter(|_| matches!(*method, Method::GET | Method::HEAD));
    header.or_else(|| query?.split('&').find_map(|pair| pair.strip_prefix("key=")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Peer = Peer { ip: IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), secure: false };
    const SECURE: Peer = Peer { secure: true, ..PLAIN };

    async fn access(bind: &str) -> (tempfile::TempDir, Access) {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("log.db"), false).await.unwrap();
        (dir, Access::open("a-token-of-programs".to_owned(), None, bind.parse().unwrap(), store).await.unwrap())
    }

    #[tokio::test]
    async fn under_encryption_the_cookie_never_leaves_it_and_no_other_counts() {
        let (_dir, access) = access("127.0.0.1:8000").await;
        let made = access.links.make(DeviceKind::Full, None).await.unwrap();
        let link = access.links.take_by_secret(&made.secret).unwrap();
        let set = access.sign_in(SECURE, link, "x".to_owned(), None).await.unwrap().cookie;
        assert!(set.starts_with("__Host-voxpilot_8000=") && set.ends_with("; Secure"), "{set}");
        let pair = set.split(';').next().unwrap();
        let sent = |pair: &str| HeaderMap::from_iter([(header::COOKIE, pair.parse().unwrap())]);
        assert!(access.by_cookie(SECURE, &sent(pair)).is_some());
        let plain = pair.strip_prefix("__Host-").unwrap();
        assert!(access.by_cookie(SECURE, &sent(plain)).is_none());
        assert!(access.by_cookie(PLAIN, &sent(plain)).is_some());
    }

    #[tokio::test]
    async fn a_link_leads_to_where_it_was_asked_for() {
        let (_dir, access) = access("127.0.0.1:8000").await;
        assert_eq!(access.url_for_others(PLAIN, "127.0.0.1:8000"), "http://127.0.0.1:8000");
        assert_eq!(access.url_for_others(SECURE, "box.example"), "https://box.example");
    }
}
