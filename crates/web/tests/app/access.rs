//! Who is let in, and what every response carries.

use reqwest::Method;
use serde_json::json;
use testkit::client::Client;
use testkit::model_server::Reply;

use crate::browser::with_code;
use crate::rig::{API_KEY, Answer, METRICS_TOKEN, Rig, SOON, TOKEN, answer, delegate};

const CALLS: [(Method, &str); 8] = [
    (Method::GET, "/api/sessions"),
    (Method::POST, "/api/sessions"),
    (Method::GET, "/api/sessions/00000000-0000-0000-0000-000000000000"),
    (Method::GET, "/api/sessions/00000000-0000-0000-0000-000000000000/stream"),
    (Method::POST, "/api/sessions/00000000-0000-0000-0000-000000000000/messages"),
    (Method::GET, "/api/agents"),
    (Method::GET, "/api/openapi.json"),
    (Method::GET, "/api/no-such-call"),
];

fn carries_the_headers(answer: &Answer) {
    for name in [
        "content-security-policy",
        "x-content-type-options",
        "referrer-policy",
        "x-frame-options",
        "cross-origin-resource-policy",
        "cache-control",
    ] {
        assert!(answer.headers.contains_key(name), "{name} is missing of a {}", answer.status);
    }
    let csp = answer.headers["content-security-policy"].to_str().unwrap();
    assert!(csp.contains("default-src 'self'") && !csp.contains("unsafe"), "{csp}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_secret_there_is_only_health_and_the_login_page() {
    let rig = Rig::replies([]).await;
    for (method, path) in CALLS {
        for token in [None, Some(&TOKEN[1..])] {
            let mut request = rig.http.request(method.clone(), format!("{}{path}", rig.base));
            if let Some(token) = token {
                request = request.bearer_auth(token);
            }
            let answer = answer(request).await;
            answer.refuses(401, "unauthorized");
            carries_the_headers(&answer);
        }
    }
    let page = answer(rig.http.get(&rig.base)).await;
    assert_eq!(page.status, 401);
    assert!(page.text.contains("<form method=\"post\" action=\"/login\">"), "{}", page.text);
    carries_the_headers(&page);
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_and_host_names_of_others_are_refused_even_with_the_secret() {
    let rig = Rig::replies([]).await;
    let foreign = [
        ("origin", "http://evil.example"),
        ("origin", "null"),
        ("origin", "http://localhost:1"),
        ("host", "evil.example"),
        ("host", "127.0.0.1.evil.example"),
        ("host", "192.0.2.7"),
        ("sec-fetch-site", "cross-site"),
        // Another port of this host, where an agent may have started something.
        ("sec-fetch-site", "same-site"),
    ];
    for (name, value) in foreign {
        for path in ["/api/sessions", "/api/health", "/login"] {
            let request = rig.http.get(format!("{}{path}", rig.base)).bearer_auth(TOKEN).header(name, value);
            let answer = answer(request).await;
            answer.refuses(403, "forbidden");
            carries_the_headers(&answer);
        }
    }
    let own = rig.http.get(format!("{}/api/sessions", rig.base)).bearer_auth(TOKEN).header("origin", &rig.base);
    assert_eq!(answer(own).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_from_elsewhere_opens_the_page_and_nothing_else() {
    let rig = Rig::replies([]).await;
    for site in ["cross-site", "same-site"] {
        let from_elsewhere = |method: Method, path: &str| {
            let request = rig.http.request(method, format!("{}{path}", rig.base)).bearer_auth(TOKEN);
            request.header("sec-fetch-site", site).header("sec-fetch-mode", "navigate").header("sec-fetch-dest", "document")
        };
        for path in ["/", "/sessions/x", "/login"] {
            assert_ne!(answer(from_elsewhere(Method::GET, path)).await.status, 403, "{path}");
        }
        for path in ["/api/sessions", "/api/agents", "/api/health"] {
            answer(from_elsewhere(Method::GET, path)).await.refuses(403, "forbidden");
        }
        answer(with_code(from_elsewhere(Method::POST, "/login"), "x")).await.refuses(403, "forbidden");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_framework_refuses_has_the_same_form() {
    let rig = Rig::replies([]).await;
    let session = rig.session().await;
    rig.get("/api/no-such-call").await.refuses(404, "not_found");
    rig.post("/api/no-such-call", json!({})).await.refuses(405, "method_not_allowed");
    rig.send(Method::PUT, "/api/sessions", None).await.refuses(405, "method_not_allowed");
    rig.send(Method::POST, "/api/agents/%ff/sessions", None).await.refuses(400, "invalid");
    rig.get("/api/sessions/%ff").await.refuses(404, "not_found");
    let cancel = rig.http.post(format!("{}/api/sessions/{session}/cancel", rig.base)).bearer_auth(TOKEN).body("x".repeat(2_100_000));
    answer(cancel).await.refuses(413, "too_large");
    for path in ["/api/health", "/", "/no-such.js", "/api/no-such-call"] {
        carries_the_headers(&rig.get(path).await);
    }
    let stream = rig.http.get(format!("{}/api/sessions/{session}/stream", rig.base)).bearer_auth(TOKEN).send().await.unwrap();
    assert!(stream.headers().contains_key("content-security-policy"));
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_are_in_no_response() {
    let rig = Rig::replies([Reply::status(401), delegate(&[("a", "echo_env VOXPILOT_TOKEN")]), Reply::text("done")]).await;
    let session = rig.session().await;
    let (state, _) = rig.turn(&session, "first").await;
    assert_eq!(state, "failed");
    let (state, client) = rig.turn(&session, "second").await;
    assert_eq!(state, "completed", "{}", client.seen.tail());
    let mut shown = String::new();
    let paths = ["", "/messages", "/queue", "/agents"].map(|path| format!("/api/sessions/{session}{path}"));
    for path in
        paths.iter().map(String::as_str).chain(["/api/sessions", "/api/agents", "/api/openapi.json", "/api/health", "/metrics", "/"])
    {
        let answer = rig.get(path).await;
        shown.push_str(&format!("{:?}\n{}\n", answer.headers, answer.text));
    }
    for cursor in [None, Some(0)] {
        let mut client: Client = rig.stream(&session, cursor).await;
        client.until("the end", SOON, |event| event.kind == "ready" || (event.kind == "turn" && event.data["state"] == "completed")).await;
        shown.push_str(&format!("{:?}", client.seen.events));
    }
    assert!(shown.contains("model_unauthorized") && shown.contains("unset"));
    for secret in [TOKEN, METRICS_TOKEN, API_KEY] {
        assert!(!shown.contains(secret), "{secret} is shown");
    }
}
