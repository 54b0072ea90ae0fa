//! `/api/devices`, `/login`, `/api/logout` and `/api/audit`

use domain::device::DeviceKind;
use jiff::{SignedDuration, Timestamp};
use reqwest::Method;
use serde_json::{Value, json};
use store::{DeviceRow, LinkRow};
use uuid::Uuid;

use crate::browser::{Browser, asked, cookie, ends, with_code, with_token};
use crate::rig::{Answer, METRICS_TOKEN, Options, Rig, SOON, TOKEN, answer};

async fn link(rig: &Rig, body: Value) -> Value {
    let answer = rig.post("/api/devices/link", body).await;
    assert_eq!(answer.status, 201, "{}", answer.text);
    answer.json()
}

async fn open(rig: &Rig, url: &Value) -> Answer {
    answer(rig.http.get(url.as_str().unwrap())).await
}

async fn type_code(rig: &Rig, code: &str) -> Answer {
    answer(with_code(rig.http.post(format!("{}/login", rig.base)), code)).await
}

/// A device that an earlier server has let in, and that was last used so many hours ago.
fn used_before(index: i64, hours: i64) -> DeviceRow {
    let now = Timestamp::now();
    DeviceRow {
        id: Uuid::from_u128(index as u128 + 1).to_string().parse().unwrap(),
        secret_hash: format!("hash-{index}"),
        key_hash: Some("key".to_owned()),
        name: format!("device {index}"),
        kind: DeviceKind::Full,
        address: "127.0.0.1".to_owned(),
        created_at: now - SignedDuration::from_hours(1000),
        last_used_at: now - SignedDuration::from_hours(hours),
    }
}

fn sign_in_is_refused(answer: &Answer, status: u16, says: &str) {
    assert_eq!(answer.status, status, "{}", answer.text);
    assert!(answer.text.contains(says) && answer.text.contains("role=\"alert\""), "{}", answer.text);
    assert!(!answer.headers.contains_key("set-cookie"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_lets_in_one_device_once() {
    let rig = Rig::replies([]).await;
    let link = link(&rig, json!({})).await;
    assert_eq!(link["kind"], "full");
    assert!(link["url"].as_str().unwrap().starts_with(&format!("{}/login?link=", rig.base)), "{link}");
    assert!(link["qr_svg"].as_str().unwrap().contains("<svg"));
    let left = link["expires_at"].as_str().unwrap().parse::<Timestamp>().unwrap().duration_since(Timestamp::now());
    assert!(left > SignedDuration::from_mins(5) && left <= SignedDuration::from_mins(10), "{left}");

    let opened = open(&rig, &link["url"]).await;
    assert_eq!(opened.status, 200);
    assert!(opened.text.contains("<script src=\"/login.js\">"), "{}", opened.text);
    assert!(opened.headers["cache-control"] == "no-store", "the key of the page is in it");
    let set = opened.headers["set-cookie"].to_str().unwrap();
    assert!(["HttpOnly", "SameSite=Strict", "Path=/"].iter().all(|part| set.contains(part)) && !set.contains("Secure"), "{set}");
    assert!(!set.contains(TOKEN) && !link["url"].as_str().unwrap().contains(set.split(['=', ';']).nth(1).unwrap()), "its own secret");
    sign_in_is_refused(&open(&rig, &link["url"]).await, 401, "already used");
    sign_in_is_refused(&type_code(&rig, link["code"].as_str().unwrap()).await, 401, "already used");
    let unknown = json!(format!("{}/login?link=no-such-link", rig.base));
    sign_in_is_refused(&open(&rig, &unknown).await, 401, "valid here");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_token_lets_in_a_browser_and_what_is_none_says_so_beneath_its_field() {
    let rig = Rig::replies([]).await;
    let typed = async |body: String| {
        let request = rig.http.post(format!("{}/login", rig.base)).header("content-type", "application/x-www-form-urlencoded");
        answer(request.body(body)).await
    };
    let wrong = typed("code=&token=no-token-of-this-server".to_owned()).await;
    sign_in_is_refused(&wrong, 401, "Wrong token");
    let beneath = wrong.text.find("id=\"token\"").unwrap() < wrong.text.find("role=\"alert\"").unwrap();
    assert!(beneath && !wrong.text.contains("no-token-of-this-server"), "{}", wrong.text);
    let right = typed(format!("code=&token=+{TOKEN}+")).await;
    assert_eq!(right.status, 200, "{}", right.text);
    let browser = Browser::signed_in(&rig, &right).unwrap();
    assert_eq!(browser.device().await["kind"], "full");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_lets_in_one_device_once_however_it_is_typed() {
    let rig = Rig::replies([]).await;
    let link = link(&rig, json!({ "kind": "read-only", "name": "Ada's phone" })).await;
    let code = link["code"].as_str().unwrap();
    assert!(code.len() == 9 && code.as_bytes()[4] == b'-', "{code}");
    sign_in_is_refused(&type_code(&rig, "AAAA-AAAA").await, 401, "Wrong code");
    let typed = type_code(&rig, &format!(" {} ", code.to_lowercase().replace('-', " "))).await;
    assert_eq!(typed.status, 200, "{}", typed.text);
    let browser = Browser::signed_in(&rig, &typed).unwrap();
    let device = browser.device().await;
    assert_eq!((&device["kind"], &device["name"]), (&json!("read-only"), &json!("Ada's phone")));
    sign_in_is_refused(&type_code(&rig, code).await, 401, "already used");
    sign_in_is_refused(&open(&rig, &link["url"]).await, 401, "already used");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_is_not_used_up_by_looking_at_it() {
    let rig = Rig::replies([]).await;
    let link = link(&rig, json!({})).await;
    let url = link["url"].as_str().unwrap();
    assert_eq!(answer(rig.http.head(url)).await.status, 200);
    for (name, value) in [("sec-purpose", "prefetch;prerender"), ("purpose", "prefetch"), ("x-moz", "prefetch")] {
        let looked = answer(rig.http.get(url).header(name, value)).await;
        assert!(looked.status == 503 && !looked.headers.contains_key("set-cookie"), "{name}");
    }
    let full = Browser::sign_in(&rig, "full").await;
    let again = full.get(url.strip_prefix(&rig.base).unwrap()).await;
    assert!(again.status == 200 && !again.headers.contains_key("set-cookie") && again.text.contains("url=/"), "{}", again.text);
    assert!(cookie(&open(&rig, &link["url"]).await).is_some(), "it still works");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_only_browser_that_opens_a_full_link_becomes_another_device() {
    let rig = Rig::replies([]).await;
    let reader = Browser::sign_in(&rig, "read-only").await;
    let link = link(&rig, json!({})).await;
    let opened = reader.get(link["url"].as_str().unwrap().strip_prefix(&rig.base).unwrap()).await;
    assert!(cookie(&opened).is_some(), "{}", opened.text);
    reader.get("/api/sessions").await.refuses(401, "unauthorized");
    assert_eq!(rig.get("/api/devices").await.json()["devices"].as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_link_says_so() {
    let expired = LinkRow {
        id: Uuid::nil(),
        secret_hash: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad".to_owned(),
        code_hash: String::new(),
        kind: DeviceKind::Full,
        name: None,
        expires_at: Timestamp::now(),
        used: false,
    };
    let rig = Rig::start(Options { links: vec![expired], ..Options::default() }).await;
    sign_in_is_refused(&open(&rig, &json!(format!("{}/login?link=abc", rig.base))).await, 401, "has expired");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_token_is_no_way_to_sign_in() {
    let rig = Rig::replies([]).await;
    for answer in [
        answer(rig.http.get(format!("{}/login?token={TOKEN}", rig.base))).await,
        answer(rig.http.get(format!("{}/login?link={TOKEN}", rig.base))).await,
        type_code(&rig, TOKEN).await,
    ] {
        assert!(!answer.headers.contains_key("set-cookie"), "{}", answer.text);
    }
    Browser::with_cookie(&rig, TOKEN).get("/api/sessions").await.refuses(401, "unauthorized");
}

#[tokio::test(flavor = "multi_thread")]
async fn devices_are_listed_renamed_and_revoked_and_their_streams_end() {
    let rig = Rig::replies([]).await;
    let session = rig.session().await;
    let owner = Browser::sign_in(&rig, "full").await;
    let reader = Browser::sign_in(&rig, "read-only").await;
    let id = reader.device().await["id"].as_str().unwrap().to_owned();
    let path = format!("/api/devices/{id}");
    let renamed = owner.send(Method::PATCH, &path, Some(json!({ "name": " Kitchen\u{202e} " }))).await;
    assert_eq!((renamed.status, &renamed.json()["name"]), (200, &json!("Kitchen⟨U+202E⟩")));
    owner.send(Method::PATCH, &path, Some(json!({ "name": " " }))).await.refuses(422, "invalid");
    let list = owner.get("/api/devices").await.json();
    let devices = list["devices"].as_array().unwrap();
    assert_eq!(devices.len(), 2, "{list}");
    let found = devices.iter().find(|device| device["id"] == *id).unwrap();
    assert_eq!((&found["current"], &found["kind"], &found["address"]), (&json!(false), &json!("read-only"), &json!("127.0.0.1")));
    assert!(!list.to_string().contains("hash") && !list.to_string().contains(reader.cookie.split_once('=').unwrap().1));

    let (stream, kept) = (reader.stream(&session).await, owner.stream(&session).await);
    assert_eq!(owner.send(Method::DELETE, &path, None).await.status, 204);
    ends(stream).await;
    reader.get("/api/sessions").await.refuses(401, "unauthorized");
    owner.send(Method::DELETE, &path, None).await.refuses(404, "not_found");
    assert_eq!(owner.get("/api/sessions").await.status, 200);
    // Those of others go on; the server's end ends them.
    rig.stopping.cancel();
    ends(kept).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn logging_out_ends_the_device_and_its_streams() {
    let rig = Rig::replies([]).await;
    let session = rig.session().await;
    let browser = Browser::sign_in(&rig, "read-only").await;
    let stream = browser.stream(&session).await;
    let thief = Browser { key: None, ..browser.clone() };
    assert_eq!(thief.post("/api/logout", json!({})).await.status, 204);
    assert_eq!(browser.get("/api/sessions").await.status, 200, "who has only the cookie ends nothing");
    let out = browser.post("/api/logout", json!({})).await;
    assert_eq!(out.status, 204);
    assert!(out.headers["set-cookie"].to_str().unwrap().contains("Max-Age=0"));
    ends(stream).await;
    browser.get("/api/sessions").await.refuses(401, "unauthorized");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_needs_the_key_of_its_page_along_with_the_cookie_from_the_start() {
    let rig = Rig::replies([]).await;
    let session = rig.session().await;
    let browser = Browser::sign_in(&rig, "full").await;
    let key = browser.key.clone().unwrap();
    assert!(key.len() == 43 && !browser.cookie.contains(&key), "a secret of its own");
    // What another port of the host gets of the sign-in is the cookie.
    let thief = Browser { key: None, ..browser.clone() };
    thief.get("/api/sessions").await.refuses(401, "key_required");
    for claimed in ["y".repeat(43), String::new(), format!("{key}=")] {
        thief.post("/api/devices/key", json!({ "key": claimed })).await.refuses(409, "conflict");
        let claiming = Browser { key: Some(claimed), ..browser.clone() };
        claiming.get("/api/sessions").await.refuses(401, "key_required");
    }
    assert!([200, 503].contains(&thief.get("/").await.status), "the page itself cannot show it yet");
    assert_eq!(thief.get(&format!("/api/sessions?key={key}")).await.status, 200);
    thief.post(&format!("/api/sessions/{session}/cancel?key={key}"), json!({})).await.refuses(401, "key_required");
    thief.get("/api/sessions?key=wrong").await.refuses(401, "key_required");
    // The page asks whether it has the right key before anything else.
    assert_eq!(browser.post("/api/devices/key", json!({ "key": key })).await.status, 204);
    assert_eq!(browser.get("/api/sessions").await.status, 200);
}

/// It could be bound by whoever has the cookie, so an earlier version's device that never was is signed out.
#[tokio::test(flavor = "multi_thread")]
async fn a_device_without_a_key_has_to_sign_in_again() {
    // The hash is that of "abc".
    let secret_hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad".to_owned();
    let unbound = DeviceRow { secret_hash, key_hash: None, ..used_before(1, 1) };
    let rig = Rig::start(Options { devices: vec![unbound], ..Options::default() }).await;
    let thief = Browser::with_cookie(&rig, "abc");
    thief.get("/api/sessions").await.refuses(401, "unauthorized");
    thief.post("/api/devices/key", json!({ "key": "y".repeat(43) })).await.refuses(401, "unauthorized");
    assert_eq!(rig.get("/api/devices").await.json()["devices"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_guesses_too_often_waits_and_who_has_a_link_does_not() {
    let rig = Rig::replies([]).await;
    let (first, second) = (link(&rig, json!({})).await, link(&rig, json!({})).await);
    let browser = Browser::signed_in(&rig, &open(&rig, &first["url"]).await).unwrap();
    let mut tries = 0;
    let slowed = loop {
        let answer = type_code(&rig, "WRON-GWRN").await;
        if answer.status != 401 {
            break answer;
        }
        tries += 1;
        assert!(tries < 1000, "nobody is slowed");
    };
    sign_in_is_refused(&slowed, 429, "Too many failed attempts");
    assert!(slowed.headers["retry-after"].to_str().unwrap().parse::<u64>().unwrap() >= 1);
    let right = answer(with_token(rig.http.post(format!("{}/login", rig.base)), TOKEN)).await;
    assert!(cookie(&right).is_some(), "the token cannot be guessed: {}", right.text);
    let code = link(&rig, json!({})).await["code"].as_str().unwrap().to_owned();
    sign_in_is_refused(&type_code(&rig, &code).await, 429, "Too many failed attempts");
    assert_eq!(browser.get("/api/sessions").await.status, 200, "a device is not concerned");
    assert_eq!(rig.get("/api/sessions").await.status, 200, "nor is the token");
    assert!(cookie(&open(&rig, &second["url"]).await).is_some(), "a link cannot be guessed");
    let told = browser.get("/api/audit").await.json();
    let refusals = told["entries"].as_array().unwrap().iter().filter(|entry| entry["action"] == "sign-in-refused").count();
    assert_eq!(refusals, 1, "once, not for each try: {told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_right_token_is_not_held_up_by_wrong_ones() {
    let rig = Rig::replies([]).await;
    let code = link(&rig, json!({})).await["code"].as_str().unwrap().to_owned();
    let by = |token: &str, path: &str| answer(rig.http.get(format!("{}{path}", rig.base)).bearer_auth(token));
    let tries = async { while by("a-wrong-token-of-a-guesser", "/api/sessions").await.status != 429 {} };
    tokio::time::timeout(SOON, tries).await.expect("who guesses is slowed");
    by("another-wrong-token", "/metrics").await.refuses(429, "too_many_tries");
    for (token, path) in [(TOKEN, "/api/sessions"), (METRICS_TOKEN, "/metrics")] {
        assert_eq!(by(token, path).await.status, 200, "{path}");
    }
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    let agent = rig.http.post(format!("{}/mcp", rig.base)).bearer_auth(web::token_for_agents(TOKEN));
    assert_eq!(answer(agent.header("accept", "application/json, text/event-stream").json(&ping)).await.status, 200);
    let login = || rig.http.post(format!("{}/login", rig.base));
    sign_in_is_refused(&answer(with_token(login(), "a-wrong-token-of-a-guesser")).await, 429, "Too many failed attempts");
    assert!(cookie(&answer(with_token(login(), TOKEN)).await).is_some());
    assert!(cookie(&type_code(&rig, &code).await).is_some(), "wrong tokens do not keep anybody from typing a code");
}

#[tokio::test(flavor = "multi_thread")]
async fn so_many_devices_are_kept_and_the_longest_unused_makes_room() {
    let rig =
        Rig::start(Options { devices: (0..100).map(|index| used_before(index, 1 + (index + 50) % 100)).collect(), ..Options::default() })
            .await;
    let browser = Browser::sign_in(&rig, "full").await;
    let list = browser.get("/api/devices").await.json();
    let names: Vec<_> = list["devices"].as_array().unwrap().iter().map(|device| device["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 100);
    assert!(!names.contains(&"device 49") && names.contains(&"device 48"), "{names:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_audit_log_says_who_did_what_from_which_device() {
    let rig = Rig::replies([]).await;
    let owner = Browser::sign_in(&rig, "full").await;
    let key = owner.key.clone().unwrap();
    let body = json!({ "title": "Herons\u{202e}", "model": "relay", "permission_policy": "ask" });
    let session = owner.post("/api/sessions", body).await.json()["id"].as_str().unwrap().to_owned();
    let path = format!("/api/sessions/{session}");
    let mut client = rig.watch(&session).await;
    assert_eq!(owner.post(&format!("{path}/messages"), json!({ "content": "ask" })).await.status, 202);
    let event = client.until("the question", SOON, |event| event.kind == "permission-request").await;
    let (request, option) = asked(&event);
    assert_eq!(owner.post(&format!("{path}/permissions/{request}"), json!({ "option_id": option })).await.status, 202);
    client.turn_end(SOON).await;
    assert_eq!(owner.send(Method::PATCH, &path, Some(json!({ "permission_policy": "auto" }))).await.status, 200);
    owner.send(Method::PATCH, &path, Some(json!({ "agent": "nobody" }))).await.refuses(422, "invalid");
    let log = owner.get("/api/audit").await.json();
    let entries = log["entries"].as_array().unwrap();
    let actions: Vec<_> = entries.iter().rev().map(|entry| entry["action"].as_str().unwrap()).collect();
    let expected = ["link-made", "sign-in", "session-created", "prompt", "permission-answered", "session-changed"];
    assert_eq!(actions, expected, "what was refused is not in it");
    let entry = |action: &str| entries.iter().find(|entry| entry["action"] == action).unwrap();
    assert_eq!((&entry("link-made")["device"], entry("link-made").get("device_id")), (&json!("token"), None));
    let own = owner.device().await;
    assert_eq!((&entry("prompt")["device_id"], &entry("prompt")["device"]), (&own["id"], &own["name"]));
    assert_eq!(entry("prompt")["address"], "127.0.0.1");
    assert_eq!(entry("prompt")["detail"], "“Herons⟨U+202E⟩”");
    let answered = entry("permission-answered")["detail"].as_str().unwrap();
    assert!(answered.contains(event.data["title"].as_str().unwrap()), "{answered}");
    assert!(entry("session-changed")["detail"].as_str().unwrap().contains("permission_policy auto"));
    assert!(!log.to_string().contains(&key) && !log.to_string().contains(TOKEN));

    let first = owner.get("/api/audit?limit=3").await.json();
    assert_eq!(first["entries"].as_array().unwrap().len(), 3);
    let rest = owner.get(&format!("/api/audit?limit=200&before={}", first["next"])).await.json();
    assert_eq!((rest["entries"].as_array().unwrap().len(), rest.get("next")), (3, None), "{rest}");

    assert_eq!(owner.send(Method::DELETE, &path, None).await.status, 204);
    let after = owner.get("/api/audit").await.json();
    assert_eq!((after["entries"].as_array().unwrap().len(), &after["entries"][0]["action"]), (7, &json!("session-deleted")));
    assert!(!after.to_string().contains("Herons"), "what it says of a session goes with the session: {after}");
}
