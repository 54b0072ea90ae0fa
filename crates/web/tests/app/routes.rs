//! Every call, as everybody who may or may not make it.

use jiff::{SignedDuration, Timestamp};
use reqwest::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use store::DeviceRow;

use crate::browser::{Browser, with_code};
use crate::rig::{Answer, Options, Rig, answer};

const NOBODY: &str = "00000000-0000-0000-0000-000000000000";
const EXPIRED: &str = "the-secret-of-a-device-that-has-expired";
/// What a read-only device may not even see.
const OWNERS: [&str; 8] = [
    "/api/reach",
    "/api/reach/check",
    "/api/sessions/{id}/trace",
    "/api/sessions/{id}/trace/capture",
    "/api/sessions/{id}/trace/{runner}/{seq}",
    "/api/audit",
    "/api/settings",
    "/api/main-ai",
];
/// What a key is sent with: devices only, whatever programs may do.
const KEYS: [(Method, &str); 3] =
    [(Method::PUT, "/api/main-ai"), (Method::POST, "/api/main-ai/models"), (Method::POST, "/api/main-ai/test")];
/// What whoever watches may do for themselves: to be told.
const WATCHERS: [&str; 3] = ["/api/push", "/api/push/test", "/api/sessions/{id}/files/viewable"];
/// What a device does about itself.
const OWN: [&str; 2] = ["/api/devices/key", "/api/logout"];

struct Call {
    method: Method,
    /// As it is described.
    route: String,
    path: String,
}

/// All calls that are described, and those that are not: new ones come in by themselves.
fn calls() -> Vec<Call> {
    let document: Value = serde_json::from_str(&web::openapi_document()).unwrap();
    let paths = document["paths"].as_object().unwrap().clone();
    let described =
        paths.iter().flat_map(|(path, item)| item.as_object().unwrap().keys().map(move |method| (method.to_uppercase(), path.clone())));
    let others = [("GET", "/api/openapi.json"), ("GET", "/api/no-such-call"), ("PUT", "/api/sessions")];
    let others = others.map(|(method, path)| (method.to_owned(), path.to_owned()));
    let mut calls: Vec<_> =
        described.chain(others).map(|(method, route)| Call { method: method.parse().unwrap(), path: filled(&route), route }).collect();
    // It ends the device that is tried.
    calls.sort_by_key(|call| call.route == "/api/logout");
    assert!(calls.len() > 35, "{}", calls.len());
    calls
}

/// Likewise, for those who are let in elsewhere: method, route and path.
pub(crate) fn every_path() -> Vec<(Method, String, String)> {
    calls().into_iter().map(|call| (call.method, call.route, call.path)).collect()
}

fn filled(route: &str) -> String {
    // A stream that is opened has no end; one that is refused has.
    let filled = route.replace("{seq}", "1").replace("{name}", "main").replace("/api/stream", "/api/stream?s=nobody");
    filled.split('/').map(|part| if part.starts_with('{') { NOBODY } else { part }).collect::<Vec<_>>().join("/")
}

fn is_open(call: &Call) -> bool {
    call.route == "/api/health"
}

#[track_caller]
fn is_let_in(call: &Call, answer: &Answer) {
    let (method, path) = (&call.method, &call.path);
    assert!(![401, 403, 429].contains(&answer.status), "{method} {path}: {} {}", answer.status, answer.text);
}

/// A device whose last use is long ago.
fn expired() -> DeviceRow {
    let long_ago = Timestamp::now() - SignedDuration::from_hours(31 * 24);
    DeviceRow {
        id: NOBODY.parse().unwrap(),
        secret_hash: Sha256::digest(EXPIRED).iter().map(|byte| format!("{byte:02x}")).collect(),
        key_hash: Some("key".to_owned()),
        name: "old".to_owned(),
        kind: domain::device::DeviceKind::Full,
        address: "127.0.0.1".to_owned(),
        created_at: long_ago,
        last_used_at: long_ago,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_not_let_in_is_refused_at_every_route() {
    let rig = Rig::start(Options { devices: vec![expired()], ..Options::default() }).await;
    let revoked = Browser::sign_in(&rig, "full").await;
    let id = revoked.device().await["id"].as_str().unwrap().to_owned();
    assert_eq!(rig.delete(&format!("/api/devices/{id}")).await.status, 204);
    let strangers = [Browser::with_cookie(&rig, ""), revoked, Browser::with_cookie(&rig, EXPIRED)];
    for call in calls() {
        for stranger in &strangers {
            let answer = stranger.send(call.method.clone(), &call.path, None).await;
            match is_open(&call) {
                true => is_let_in(&call, &answer),
                false => answer.refuses(401, "unauthorized"),
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bound_device_without_its_key_is_refused_at_every_route() {
    let rig = Rig::replies([]).await;
    let browser = Browser::sign_in(&rig, "full").await;
    let elsewhere = Browser { key: None, ..browser.clone() };
    let guessing = Browser { key: Some("wrong".to_owned()), ..browser.clone() };
    for call in calls() {
        for thief in [&elsewhere, &guessing] {
            let answer = thief.send(call.method.clone(), &call.path, None).await;
            match is_open(&call) || OWN.contains(&call.route.as_str()) {
                true => is_let_in(&call, &answer),
                false => answer.refuses(401, "key_required"),
            }
        }
    }
    assert_eq!(browser.get("/api/sessions").await.status, 200, "it is not ended by whoever has only its cookie");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_only_device_is_refused_at_every_action() {
    let rig = Rig::replies([]).await;
    let browser = Browser::sign_in(&rig, "read-only").await;
    for call in calls() {
        let answer = browser.send(call.method.clone(), &call.path, None).await;
        let reads = call.method == Method::GET && !OWNERS.contains(&call.route.as_str()) && call.route != "/api/no-such-call";
        match reads || [&OWN[..], &WATCHERS[..]].concat().contains(&call.route.as_str()) {
            true => is_let_in(&call, &answer),
            false => answer.refuses(403, "read_only"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_device_and_the_token_are_let_in_at_every_route() {
    let rig = Rig::replies([]).await;
    let browser = Browser::sign_in(&rig, "full").await;
    for call in calls() {
        is_let_in(&call, &browser.send(call.method.clone(), &call.path, None).await);
        let answer = rig.send(call.method.clone(), &call.path, None).await;
        match KEYS.contains(&(call.method.clone(), call.route.as_str())) {
            true => answer.refuses(403, "unsafe_origin"),
            false => is_let_in(&call, &answer),
        }
    }
    browser.get("/api/sessions").await.refuses(401, "unauthorized");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_login_page_is_for_everybody_and_the_page_for_devices() {
    let rig = Rig::replies([]).await;
    let reader = Browser::sign_in(&rig, "read-only").await;
    let nobody = Browser::with_cookie(&rig, "");
    for path in ["/login", "/login.css", "/login.js", "/faces/inter", "/faces/jetbrains-mono"] {
        assert_eq!(nobody.get(path).await.status, 200, "{path}");
    }
    assert_eq!(answer(with_code(nobody.request(Method::POST, "/login"), "")).await.status, 401);
    for path in ["/", "/sessions/x"] {
        let refused = nobody.get(path).await;
        assert!(refused.status == 401 && refused.text.contains("Sign in to VoxPilot"), "{path}: {}", refused.text);
        // Built without its page, it says so with a 503.
        assert!([200, 503].contains(&reader.get(path).await.status), "{path}");
    }
    rig.post("/api/logout", json!({})).await.refuses(409, "conflict");
}
