//! `/api/push`, and what a device is told: against a push service that decrypts what it gets.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::push_service::{PushService, Pushed};

use crate::browser::Browser;
use crate::rig::{CONTACT, Options, Rig, SOON};

async fn subscribe(browser: &Browser<'_>, service: &PushService, name: &str) {
    let answer = browser.send(Method::PUT, "/api/push", Some(service.subscription(name))).await;
    assert_eq!(answer.status, 204, "{}", answer.text);
}

async fn is_subscribed(browser: &Browser<'_>) -> Value {
    browser.get("/api/push").await.json()["subscribed"].clone()
}

fn kinds(pushed: &[Pushed]) -> Vec<&str> {
    pushed.iter().map(|pushed| pushed.payload["kind"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_is_asked_and_told_that_it_is_answered_and_done() {
    let rig = Rig::replies([]).await;
    let service = PushService::start().await;
    let browser = Browser::sign_in(&rig, "full").await;
    assert_eq!(is_subscribed(&browser).await, false);
    subscribe(&browser, &service, "desk").await;
    assert_eq!(is_subscribed(&browser).await, true);
    let session = rig.relay().await;
    rig.say(&session, "ask").await;

    let asked = service.wait_for(1).await.remove(0);
    let payload = &asked.payload;
    assert_eq!((&payload["kind"], &payload["session_id"], &payload["title"]), (&json!("needs-you"), &json!(session), &json!("ask")));
    assert_eq!(payload["text"], "Say 1\necho 1");
    let options: Vec<_> = payload["options"].as_array().unwrap().iter().map(|option| option["kind"].as_str().unwrap()).collect();
    assert_eq!(options, ["allow_once", "reject_once"], "never for always");
    assert_eq!((asked.path.as_str(), asked.header("urgency"), asked.header("ttl")), ("/desk", "high", "43200"));
    assert_eq!((asked.header("topic"), &asked.claims["sub"]), (session.replace('-', "").as_str(), &json!(CONTACT)));

    let path = format!("/api/sessions/{session}/permissions/{}", payload["request_id"].as_str().unwrap());
    assert_eq!(browser.post(&path, json!({ "option_id": payload["options"][0]["option_id"] })).await.status, 202);
    let pushed = service.wait_for(2).await;
    // The end of the turn may overtake the word that the question is answered, which it says as well.
    let done = if kinds(&pushed)[1] == "closed" { service.wait_for(3).await.remove(2) } else { pushed[1].clone() };
    assert_eq!((&done.payload["kind"], done.header("urgency")), (&json!("done"), "normal"));
    assert!(done.payload["text"].as_str().unwrap().contains("yes"), "{}", done.payload);
    assert_eq!(done.payload["request_id"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_may_only_watch_is_told_but_offered_no_answer() {
    let rig = Rig::replies([]).await;
    let service = PushService::start().await;
    let watching = Browser::sign_in(&rig, "read-only").await;
    subscribe(&watching, &service, "phone").await;
    let session = rig.relay().await;
    rig.say(&session, "ask").await;
    let asked = service.wait_for(1).await.remove(0).payload;
    assert_eq!((&asked["kind"], &asked["options"]), (&json!("needs-you"), &Value::Null));
}

#[tokio::test(flavor = "multi_thread")]
async fn no_device_makes_the_server_knock_at_its_own_network() {
    let rig = Rig::start(Options { push_hosts: Vec::new(), ..Options::default() }).await;
    let service = PushService::start().await;
    let own = service.subscription("desk")["endpoint"].as_str().unwrap().to_owned();
    for kind in ["full", "read-only"] {
        let browser = Browser::sign_in(&rig, kind).await;
        for endpoint in
            [own.as_str(), &own.replace("http:", "https:"), "https://localhost:9/x", "https://10.0.0.1/x", "https://box.local/x"]
        {
            let mut wanted = service.subscription("desk");
            wanted["endpoint"] = json!(endpoint);
            browser.send(Method::PUT, "/api/push", Some(wanted)).await.refuses(422, "invalid");
        }
        assert_eq!(is_subscribed(&browser).await, false);
    }
}

/// An earlier server took it; this one sends nothing there.
#[tokio::test(flavor = "multi_thread")]
async fn a_stored_subscription_is_checked_again_when_it_is_used() {
    let rig = Rig::start(Options { push_hosts: Vec::new(), ..Options::default() }).await;
    let service = PushService::start().await;
    let browser = Browser::sign_in(&rig, "full").await;
    let subscription = service.subscription("desk");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let row = store::PushRow {
        device: browser.device().await["id"].as_str().unwrap().parse().unwrap(),
        endpoint: text(&subscription["endpoint"]),
        p256dh: text(&subscription["keys"]["p256dh"]),
        auth: text(&subscription["keys"]["auth"]),
        created_at: jiff::Timestamp::now(),
    };
    rig.engine.store().save(vec![store::ServerRow::Push(row)]).await.unwrap();
    browser.send(Method::POST, "/api/push/test", None).await.refuses(502, "push_failed");
    assert!(service.pushed().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_turn_is_told_and_a_stopped_one_is_not() {
    let rig = Rig::replies([]).await;
    let service = PushService::start().await;
    let browser = Browser::sign_in(&rig, "full").await;
    subscribe(&browser, &service, "desk").await;
    let stopped = rig.relay().await;
    let mut client = rig.watch(&stopped).await;
    rig.say(&stopped, "ask").await;
    client.until("permission", SOON, |event| event.kind == "permission-request").await;
    service.wait_for(1).await;
    assert_eq!(rig.post(&format!("/api/sessions/{stopped}/cancel"), json!({})).await.status, 202);
    client.turn_end(SOON).await;
    assert_eq!(kinds(&service.wait_for(2).await), ["needs-you", "closed"], "what is asked no longer is not shown");
    let failing = rig.session().await;
    rig.say(&failing, "the script has no answer for it").await;
    let failed = service.wait_for(3).await.remove(2).payload;
    assert_eq!((&failed["kind"], &failed["session_id"]), (&json!("failed"), &json!(failing)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_muted_session_calls_nobody() {
    let rig = Rig::replies([]).await;
    let service = PushService::start().await;
    let browser = Browser::sign_in(&rig, "full").await;
    subscribe(&browser, &service, "desk").await;
    let (muted, other) = (rig.relay().await, rig.relay().await);
    assert_eq!(rig.patch(&format!("/api/sessions/{muted}"), json!({ "muted": true })).await.status, 200);
    let mut client = rig.watch(&muted).await;
    rig.say(&muted, "ask").await;
    client.until("permission", SOON, |event| event.kind == "permission-request").await;
    rig.say(&other, "ask").await;
    // What happened first would be told first.
    assert_eq!(service.wait_for(1).await[0].payload["session_id"], json!(other));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_service_is_asked_again_and_one_that_knows_nobody_never() {
    let rig = Rig::replies([]).await;
    let service = PushService::start().await;
    let browser = Browser::sign_in(&rig, "full").await;
    subscribe(&browser, &service, "desk").await;
    service.refuse(429, Some(0));
    service.refuse(503, Some(0));
    let session = rig.relay().await;
    rig.say(&session, "ask").await;
    assert_eq!(kinds(&service.wait_for(1).await), ["needs-you"]);
    service.refuse(410, None);
    assert_eq!(rig.post(&format!("/api/sessions/{session}/cancel"), json!({})).await.status, 202);
    service.wait_for_refused(3).await;
    let gone = async {
        while is_subscribed(&browser).await == true {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(SOON, gone).await.expect("it is forgotten");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_tries_it_and_turns_it_off() {
    let rig = Rig::replies([]).await;
    let service = PushService::start().await;
    let browser = Browser::sign_in(&rig, "full").await;
    browser.send(Method::POST, "/api/push/test", None).await.refuses(409, "conflict");
    rig.send(Method::PUT, "/api/push", Some(service.subscription("desk"))).await.refuses(409, "conflict");
    for (field, value) in [("endpoint", json!("http://192.0.2.1/x")), ("keys", json!({ "p256dh": "x", "auth": "y" })), ("more", json!(1))] {
        let mut wanted = service.subscription("desk");
        wanted[field] = value;
        browser.send(Method::PUT, "/api/push", Some(wanted)).await.refuses(422, "invalid");
    }
    subscribe(&browser, &service, "desk").await;
    assert_eq!(browser.send(Method::POST, "/api/push/test", None).await.status, 202);
    assert_eq!(kinds(&service.wait_for(1).await), ["test"]);
    service.refuse(400, None);
    browser.send(Method::POST, "/api/push/test", None).await.refuses(502, "push_failed");
    service.refuse(404, None);
    browser.send(Method::POST, "/api/push/test", None).await.refuses(409, "conflict");
    assert_eq!(is_subscribed(&browser).await, false, "the push service has forgotten it, and so do we");
    subscribe(&browser, &service, "desk").await;
    assert_eq!(browser.send(Method::DELETE, "/api/push", None).await.status, 204);
    assert_eq!(is_subscribed(&browser).await, false);
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_is_revoked_is_told_nothing_more() {
    let rig = Rig::replies([]).await;
    let service = PushService::start().await;
    let browser = Browser::sign_in(&rig, "full").await;
    subscribe(&browser, &service, "desk").await;
    let id = browser.device().await["id"].as_str().unwrap().to_owned();
    assert_eq!(rig.delete(&format!("/api/devices/{id}")).await.status, 204);
    assert_eq!(rig.engine.store().pushes().await.unwrap(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_browser_needs_to_install_the_page_is_anybodys() {
    let rig = Rig::replies([]).await;
    for path in ["/manifest.webmanifest", "/sw.js", "/favicon.ico", "/icons/icon-192.png"] {
        let answer = crate::rig::answer(rig.http.get(format!("{}{path}", rig.base))).await;
        // A binary that was built without its page has none of them; nobody is asked to sign in for it either way.
        assert!(matches!(answer.status, 200 | 404), "{path}: {}", answer.status);
    }
}
