//! `GET /metrics`

use std::collections::BTreeMap;
use std::time::Duration;

use reqwest::Method;
use serde_json::json;
use testkit::model_server::Reply;

use crate::browser::Browser;
use crate::rig::{Answer, METRICS_TOKEN, Options, Rig, SOON, TOKEN, answer, delegate};
use crate::routes;

async fn with(rig: &Rig, method: Method, path: &str, token: &str) -> Answer {
    answer(rig.http.request(method, format!("{}{path}", rig.base)).bearer_auth(token)).await
}

/// Every sample by its name and labels.
async fn numbers(rig: &Rig) -> BTreeMap<String, f64> {
    let page = with(rig, Method::GET, "/metrics", METRICS_TOKEN).await;
    assert_eq!(page.status, 200, "{}", page.text);
    let samples = page.text.lines().filter(|line| !line.starts_with('#'));
    samples.map(|line| line.rsplit_once(' ').unwrap()).map(|(name, value)| (name.to_owned(), value.parse().unwrap())).collect()
}

/// The numbers once this one is as it should be: events are sent before they are counted.
async fn numbers_with(rig: &Rig, name: &str, value: f64) -> BTreeMap<String, f64> {
    let counted = async {
        loop {
            let numbers = numbers(rig).await;
            if numbers.get(name) == Some(&value) {
                return numbers;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(SOON, counted).await.unwrap_or_else(|_| panic!("{name} is not {value}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn its_own_token_opens_it_and_nothing_else() {
    let rig = Rig::replies([]).await;
    let page = with(&rig, Method::GET, "/metrics", METRICS_TOKEN).await;
    assert_eq!(page.status, 200, "{}", page.text);
    assert_eq!(page.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    assert!(page.text.contains("\nvoxpilot_build_info{version=\""), "{}", page.text);
    assert_eq!(with(&rig, Method::HEAD, "/metrics", METRICS_TOKEN).await.status, 200);
    for (method, route, path) in routes::every_path() {
        if route == "/metrics" || route == "/api/health" {
            continue;
        }
        with(&rig, method, &path, METRICS_TOKEN).await.refuses(403, "metrics_only");
    }
    for path in ["/", "/sessions/x", "/metrics/", "/metrics/x", "/api/metrics"] {
        with(&rig, Method::GET, path, METRICS_TOKEN).await.refuses(403, "metrics_only");
    }
    for method in [Method::POST, Method::PUT, Method::DELETE, Method::PATCH] {
        with(&rig, method.clone(), "/metrics", METRICS_TOKEN).await.refuses(403, "metrics_only");
        assert_eq!(with(&rig, method, "/metrics", TOKEN).await.status, 405);
    }
    // It is no way to become a device either.
    let login = rig.http.post(format!("{}/login", rig.base)).header("content-type", "application/x-www-form-urlencoded");
    let login = login.body(format!("token={METRICS_TOKEN}"));
    assert_eq!(answer(login).await.status, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_may_read_may_read_it_and_nobody_else() {
    let rig = Rig::replies([]).await;
    assert_eq!(rig.get("/metrics").await.status, 200);
    let reader = Browser::sign_in(&rig, "read-only").await;
    assert_eq!(reader.get("/metrics").await.status, 200);
    for path in [
        "/metrics".to_owned(),
        format!("/metrics?token={METRICS_TOKEN}"),
        format!("/metrics?key={METRICS_TOKEN}"),
        format!("/metrics?access_token={TOKEN}"),
    ] {
        answer(rig.http.get(format!("{}{path}", rig.base))).await.refuses(401, "unauthorized");
    }
    let agents = web::token_for_agents(TOKEN);
    with(&rig, Method::GET, "/metrics", &agents).await.refuses(403, "delegates_only");
    let foreign = rig.http.get(format!("{}/metrics", rig.base)).bearer_auth(METRICS_TOKEN).header("origin", "http://evil.example");
    answer(foreign).await.refuses(403, "forbidden");
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_tokens_are_slowed_down() {
    let rig = Rig::replies([]).await;
    for wrong in [&METRICS_TOKEN[1..], "", &format!("{METRICS_TOKEN}0")] {
        with(&rig, Method::GET, "/metrics", wrong).await.refuses(401, "unauthorized");
    }
    let mut held_up = false;
    for _ in 0..40 {
        held_up |= with(&rig, Method::GET, "/metrics", "a-guess-of-somebody").await.status == 429;
    }
    assert!(held_up, "guessing is not held up");
    assert_eq!(with(&rig, Method::GET, "/metrics", METRICS_TOKEN).await.status, 200, "the right one is not");
}

#[tokio::test(flavor = "multi_thread")]
async fn it_tells_of_turns_agents_the_model_and_streams() {
    let rig = Rig::replies([delegate(&[("main", "say hello")]), Reply::text("done").usage(30, 7)]).await;
    let before = numbers(&rig).await;
    let session = rig.session_with(json!({ "permission_policy": "auto" })).await;
    let (state, client) = rig.turn(&session, "go").await;
    assert_eq!(state, "completed", "{}", client.seen.tail());
    let of = |numbers: &BTreeMap<String, f64>, name: &str| numbers.get(name).copied().unwrap_or_else(|| panic!("{name} is not told"));
    // A client may see the end of a turn a moment before it is counted.
    let ended = "voxpilot_turns_ended_total{ending=\"completed\"}";
    let counted = async {
        loop {
            let now = numbers(&rig).await;
            if of(&now, ended) > of(&before, ended) {
                return now;
            }
        }
    };
    let after = tokio::time::timeout(SOON, counted).await.expect("the turn is counted");
    let grew = |name: &str| of(&after, name) - of(&before, name);
    for (name, expected) in [
        ("voxpilot_turns_ended_total{ending=\"completed\"}", 1.0),
        ("voxpilot_model_calls_total{outcome=\"completed\"}", 2.0),
        ("voxpilot_model_call_seconds_count", 2.0),
        ("voxpilot_agent_starts_total{agent=\"faulty\",outcome=\"started\"}", 1.0),
        ("voxpilot_agent_processes{agent=\"faulty\"}", 1.0),
        ("voxpilot_sessions_in_memory", 1.0),
        ("voxpilot_streams_open{kind=\"single\"}", 1.0),
        ("voxpilot_turns_running", 0.0),
        ("voxpilot_permissions_waiting{of=\"agent\"}", 0.0),
    ] {
        assert_eq!(grew(name), expected, "{name}");
    }
    for name in [
        "voxpilot_text_chunks_total{source=\"agent\"}",
        "voxpilot_text_bytes_total{source=\"model\"}",
        "voxpilot_writes_total",
        "voxpilot_events_total",
        "voxpilot_write_seconds_count",
        "voxpilot_stream_bytes_total",
        "voxpilot_stream_events_total",
        "voxpilot_stream_pieces_total",
        "voxpilot_http_requests_total{status=\"2xx\"}",
        "voxpilot_connections_total",
        "voxpilot_model_first_token_seconds_count",
    ] {
        assert!(grew(name) > 0.0, "{name}");
    }
    assert!(grew("voxpilot_model_tokens_total{direction=\"in\"}") >= 30.0 && grew("voxpilot_model_tokens_total{direction=\"out\"}") >= 7.0);
    assert!(!after.keys().any(|name| name.contains(&session)), "no label names a session");
}

#[tokio::test(flavor = "multi_thread")]
async fn it_tells_of_what_waits_and_of_what_went_wrong() {
    let rig = Rig::start(Options { tries: 2, ..Options::default() }).await;
    let session = rig.session_with(json!({ "model": "relay", "permission_policy": "ask" })).await;
    let mut client = rig.watch(&session).await;
    rig.say(&session, "ask").await;
    client.until("a question", SOON, |event| event.kind == "permission-request").await;
    let waiting = numbers_with(&rig, "voxpilot_permissions_waiting{of=\"agent\"}", 1.0).await;
    assert_eq!(waiting["voxpilot_turns_running"], 1.0);
    rig.post(&format!("/api/sessions/{session}/cancel"), json!({})).await;
    client.turn_end(SOON).await;
    rig.say(&session, "exit_zero").await;
    assert_eq!(client.turn_end(SOON).await, "failed", "{}", client.seen.tail());
    numbers_with(&rig, "voxpilot_turns_ended_total{ending=\"failed\"}", 1.0).await;
    let over = numbers_with(&rig, "voxpilot_agent_ends_total{agent=\"faulty\",how=\"died\"}", 1.0).await;
    assert_eq!((over["voxpilot_turns_running"], over["voxpilot_permissions_waiting{of=\"agent\"}"]), (0.0, 0.0));
    assert_eq!(over["voxpilot_turns_ended_total{ending=\"cancelled\"}"], 1.0);
    assert!(over.iter().any(|(name, count)| name.starts_with("voxpilot_errors_total{code=\"") && *count > 0.0), "{over:#?}");
    assert_eq!(rig.delete(&format!("/api/sessions/{session}")).await.status, 204);
    assert_eq!(numbers(&rig).await["voxpilot_sessions_in_memory"], 0.0);
}

#[tokio::test(flavor = "multi_thread")]
async fn labels_hold_nothing_that_somebody_chose_freely() {
    let rig = Rig::replies([]).await;
    for agent in ["x\"} 1\nfake_metric 2", "nobody"] {
        assert!(rig.post("/api/sessions", json!({ "agent": agent, "title": "a-free-title" })).await.status >= 400);
    }
    rig.session_with(json!({ "title": "a-free-title" })).await;
    let page = rig.get("/metrics").await.text;
    assert!(!page.contains("a-free-title") && !page.contains("fake_metric") && !page.contains("nobody"), "{page}");
}
