//! `/api/reach`: the addresses for other devices, and the one in the network that is opened and closed in the page.

use reqwest::Method;
use serde_json::{Value, json};

use crate::rig::{Options, Rig, SOON, TOKEN, answer};

async fn open(rig: &Rig, address: &str) -> Value {
    let answer = rig.send(Method::PUT, "/api/reach/network", Some(json!({ "address": address }))).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()
}

async fn checked(rig: &Rig, url: &str) -> Value {
    let answer = rig.get(&format!("/api/reach/check?url={url}")).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()
}

/// A phone: it has accepted the warning.
fn phone() -> reqwest::Client {
    tls::client_trusting().no_proxy().tls_danger_accept_invalid_certs(true).pool_max_idle_per_host(0).build().unwrap()
}

fn port(rig: &Rig) -> &str {
    rig.base.rsplit_once(':').unwrap().1
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_on_loopback_is_reached_by_nobody_else_until_an_address_is_opened() {
    let rig = Rig::replies([]).await;
    let before = rig.get("/api/reach").await.json();
    assert_eq!(before["listens"], format!("127.0.0.1:{}", port(&rig)));
    assert_eq!((&before["local_only"], &before["addresses"]), (&json!(true), &json!([])));
    assert_eq!(before["network"], json!({ "candidates": [{ "address": "127.0.0.2", "private": true }] }));
    assert_eq!((&before["tailscale"]["state"], &before["command"]), (&json!("missing"), &json!("voxpilot serve")));

    let url = format!("https://127.0.0.2:{}", port(&rig));
    assert!(phone().get(&url).send().await.is_err(), "nothing listens there");
    let after = open(&rig, "127.0.0.2").await;
    assert_eq!(after["network"]["url"], url);
    let fingerprint = &after["addresses"][0]["fingerprint"];
    assert_eq!(after["addresses"], json!([{ "url": url, "kind": "network", "fingerprint": fingerprint }]));
    assert_eq!(checked(&rig, &url).await, json!({ "answers": true }));
    assert_eq!(open(&rig, "127.0.0.2").await, after, "again changes nothing");

    let there = answer(phone().get(format!("{url}/api/server")).bearer_auth(TOKEN)).await;
    assert_eq!((there.status, rig.get("/api/server").await.status), (200, 200), "both addresses serve: {}", there.text);
    assert_eq!(answer(phone().get(format!("{url}/api/server"))).await.status, 401, "and neither without signing in");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_leads_to_the_address_that_was_chosen_with_the_fingerprint_shown_there() {
    let rig = Rig::replies([]).await;
    let url = open(&rig, "127.0.0.2").await["network"]["url"].as_str().unwrap().to_owned();
    let link = rig.post("/api/devices/link", json!({ "address": url })).await.json();
    assert!(link["url"].as_str().unwrap().starts_with(&format!("{url}/login?link=")), "{link}");
    assert!(link["fingerprint"].is_string(), "{link}");
    let signing_in = answer(phone().get(link["url"].as_str().unwrap())).await;
    assert_eq!(signing_in.status, 200, "{}", signing_in.text);
    let here = rig.post("/api/devices/link", json!({})).await.json();
    assert!(here["url"].as_str().unwrap().starts_with(&rig.base) && here["fingerprint"].is_null(), "{here}");
    rig.post("/api/devices/link", json!({ "address": "https://evil.example" })).await.refuses(422, "invalid");
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_it_ends_whatever_came_through_it_and_nothing_else() {
    let rig = Rig::replies([]).await;
    let session = rig.session().await;
    let url = open(&rig, "127.0.0.2").await["network"]["url"].as_str().unwrap().to_owned();
    let stream = |base: &str| phone().get(format!("{base}/api/sessions/{session}/stream")).bearer_auth(TOKEN).send();
    let (mut through_it, mut beside_it) = (stream(&url).await.unwrap(), stream(&rig.base).await.unwrap());
    assert_eq!((through_it.status().as_u16(), beside_it.status().as_u16()), (200, 200));

    assert_eq!(rig.delete("/api/reach/network").await.status, 204);
    let ended = async { while through_it.chunk().await.is_ok_and(|chunk| chunk.is_some()) {} };
    tokio::time::timeout(SOON, ended).await.expect("what came through it ends");
    assert!(phone().get(&url).send().await.is_err(), "nothing listens there");
    assert!(beside_it.chunk().await.unwrap().is_some(), "what came otherwise goes on");
    let after = rig.get("/api/reach").await.json();
    assert_eq!((&after["addresses"], &after["network"]["url"]), (&json!([]), &Value::Null));
    rig.get(&format!("/api/reach/check?url={url}")).await.refuses(422, "invalid");
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_opened_only_where_nobody_reads_along_and_only_at_this_machines_address() {
    let rig = Rig::start(Options { allowed_hosts: vec!["cockpit.example".to_owned()], ..Options::default() }).await;
    let ask = |method: Method, origin: &str| {
        let request = rig.http.request(method, format!("{}/api/reach/network", rig.base)).bearer_auth(TOKEN);
        request.header("host", "cockpit.example").header("origin", origin.to_owned()).json(&json!({ "address": "127.0.0.2" }))
    };
    answer(ask(Method::PUT, "http://cockpit.example")).await.refuses(403, "unsafe_origin");
    answer(ask(Method::DELETE, "http://cockpit.example")).await.refuses(403, "unsafe_origin");
    for other in ["192.0.2.9", "0.0.0.0", "127.0.0.2:80", "evil.example", ""] {
        rig.send(Method::PUT, "/api/reach/network", Some(json!({ "address": other }))).await.refuses(422, "invalid");
    }
    assert_eq!(rig.get("/api/reach").await.json()["network"]["url"], Value::Null);
    assert_eq!(answer(ask(Method::PUT, "https://cockpit.example")).await.status, 200, "what a proxy encrypts is safe");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_else_listens_there_is_named() {
    let rig = Rig::replies([]).await;
    let _other = tokio::net::TcpListener::bind(format!("127.0.0.2:{}", port(&rig))).await.unwrap();
    let answer = rig.send(Method::PUT, "/api/reach/network", Some(json!({ "address": "127.0.0.2" }))).await;
    answer.refuses(409, "conflict");
    assert!(answer.text.contains(&format!("127.0.0.2:{} is in use", port(&rig))), "{}", answer.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_open_is_open_again_after_a_restart_and_what_cannot_be_is_named() {
    let was_open = |address: &str| Options { preferences: vec![("network_address", address.to_owned())], ..Options::default() };
    let rig = Rig::start(was_open("127.0.0.2")).await;
    let url = format!("https://127.0.0.2:{}", port(&rig));
    assert_eq!(checked(&rig, &url).await, json!({ "answers": true }));
    let moved = Rig::start(was_open("192.0.2.9")).await;
    let view = moved.get("/api/reach").await.json();
    assert_eq!((&view["network"]["missing"], &view["network"]["url"]), (&json!("192.0.2.9"), &Value::Null));
    assert_eq!(view["addresses"], json!([]), "an address that is not open is given to nobody");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_leads_elsewhere_does_not_answer() {
    let rig = Rig::start(Options { allowed_hosts: vec!["127.0.0.9".to_owned()], ..Options::default() }).await;
    let named = &rig.get("/api/reach").await.json()["addresses"][0];
    assert_eq!(named, &json!({ "url": "https://127.0.0.9", "kind": "name" }));
    let answered = checked(&rig, "https://127.0.0.9").await;
    assert_eq!(answered["answers"], false);
    assert!(answered["problem"].as_str().unwrap().starts_with("127.0.0.9 can't be reached"), "{answered}");
    for other in ["https://evil.example", "http://169.254.169.254/", "", "file:///etc/passwd"] {
        rig.get(&format!("/api/reach/check?url={other}")).await.refuses(422, "invalid");
    }
}
