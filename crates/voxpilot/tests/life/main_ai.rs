//! A main AI that is set up while the server runs: from the key to the first answer, and who may not.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::browser::SignedIn;
use testkit::model_server::{ModelServer, Reply, Rules, Script};
use testkit::server::{Rig, Server};

use crate::SOON;

const KEY: &str = "sk-a-key-that-nobody-may-see";
const FILE: &str = "main-ai.json";

/// A page of this server, signed in.
struct Page {
    http: reqwest::Client,
    device: SignedIn,
    base: String,
}

impl Page {
    async fn of(server: &Server) -> Page {
        let http = tls::client().no_proxy().build().unwrap();
        let line = server.printed("open ").await;
        let device = SignedIn::by_link(&http, line.strip_prefix("open ").unwrap()).await.expect("the link signs in");
        Page { http, device, base: server.base.clone() }
    }

    fn request(&self, method: &str, path: &str, body: Option<&Value>) -> reqwest::RequestBuilder {
        let request = self.http.request(method.parse().unwrap(), format!("{}{path}", self.base)).timeout(SOON);
        let request = self.device.sends(request);
        body.map_or_else(|| request.try_clone().unwrap(), |body| request.try_clone().unwrap().json(body))
    }

    async fn call(&self, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
        let answer = self.request(method, path, body).send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap_or_default())
    }
}

fn wanted(model: &ModelServer) -> Value {
    json!({ "base_url": model.base_url(), "api_key": KEY, "model": "main" })
}

/// Uses the tool of the test call, and answers everything else.
fn willing() -> ModelServer {
    let rules = r#"[
        { "when": { "last_user_contains": "Call the tool" }, "reply": { "tool_calls": [{ "name": "ready", "arguments": {} }] } },
        { "when": {}, "reply": { "text": "I am the main AI." } }
    ]"#;
    ModelServer::start(Script::from(Rules::from_json(rules).unwrap()))
}

#[tokio::test(flavor = "multi_thread")]
async fn is_set_up_while_the_server_runs_and_outlives_it_without_showing_its_key() {
    let model = willing();
    let mut server = Rig::default().demo_agent().start().await;
    let page = Page::of(&server).await;
    let (_, before) = page.call("GET", "/api/main-ai", None).await;
    assert!(before["current"].is_null() && before["refused"].is_null() && before["locked"].is_null(), "{before}");
    assert!(before["providers"].as_array().unwrap().iter().any(|provider| provider["id"] == "openai" && provider["needs_key"] == true));

    let body = wanted(&model);
    assert_eq!(page.call("POST", "/api/main-ai/models", Some(&body)).await, (200, json!({ "models": ["main", "coder"] })));
    let (status, tried) = page.call("POST", "/api/main-ai/test", Some(&body)).await;
    assert_eq!((status, &tried["uses_tools"]), (200, &json!(true)), "{tried}");
    assert_eq!(page.call("GET", "/api/main-ai", None).await.1["current"], Value::Null, "nothing is kept by trying");
    assert_eq!(page.call("PUT", "/api/main-ai", Some(&body)).await.0, 204);

    assert_eq!(page.call("GET", "/api/models", None).await.1["has_provider"], true);
    let file = server.rig().data_dir().join(FILE);
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    for _ in 0..2 {
        let (_, current) = page.call("GET", "/api/main-ai", None).await;
        assert_eq!((&current["current"]["has_key"], &current["current"]["base_url"]), (&json!(true), &json!(model.base_url())));
        let session = server.new_session(json!({})).await;
        let mut watching = server.stream(&session, None).await;
        server.send(&session, "say who you are").await;
        assert_eq!(watching.turn_end(SOON).await, "completed");
        let asked = model.requests().pop().unwrap();
        assert!(asked.headers.iter().any(|(name, value)| name == "authorization" && value == &format!("Bearer {KEY}")));
        assert!(!format!("{:?}", watching.seen.events).contains(KEY));
        server.kill().await;
        server.restart().await;
    }
    for path in ["/api/main-ai", "/api/settings", "/api/models", "/api/audit?limit=50", "/api/server"] {
        let (status, answer) = page.call("GET", path, None).await;
        assert!(status == 200 && !answer.to_string().contains(KEY), "{path}: {status} {answer}");
    }
    assert!(!server.log().contains(KEY));
    let told = page.call("GET", "/api/audit?limit=50", None).await.1.to_string();
    assert!(told.contains("main-ai-set") && told.contains("main at 127.0.0.1"), "{told}");

    assert_eq!(page.call("DELETE", "/api/main-ai", None).await.0, 204);
    assert!(!file.exists());
    assert_eq!(server.call("GET", "/api/server", None).await.1["model"], "relay");
    let (status, refused) = server.call("POST", "/api/sessions", Some(json!({ "model": "main" }))).await;
    assert_eq!((status, &refused["error"]["code"]), (422, &json!("no_provider")), "{refused}");
    server.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_taken_from_a_device_on_a_safe_origin_only() {
    let model = willing();
    let server = Rig::default().demo_agent().env("VOXPILOT_ALLOWED_HOSTS", "cockpit.example").start().await;
    let page = Page::of(&server).await;
    let body = wanted(&model);
    for (method, path) in [("POST", "/api/main-ai/models"), ("POST", "/api/main-ai/test"), ("PUT", "/api/main-ai")] {
        let (status, refused) = server.call(method, path, Some(body.clone())).await;
        assert_eq!((status, &refused["error"]["code"]), (403, &json!("unsafe_origin")), "a program: {refused}");
        let elsewhere = page.request(method, path, Some(&body)).header("host", "cockpit.example").send().await.unwrap();
        assert_eq!(elsewhere.status().as_u16(), 403, "plain HTTP under another name");
    }
    let seen = page.request("GET", "/api/main-ai", None).header("host", "cockpit.example").send().await.unwrap();
    assert_eq!(seen.json::<Value>().await.unwrap()["refused"], "insecure");
    assert!(model.requests().is_empty() && model.other_requests().is_empty());
    assert!(!server.rig().data_dir().join(FILE).exists());
    server.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_configuration_sets_overrides_it() {
    let model = willing();
    let server = Rig::default().demo_agent().model(&model.base_url()).start().await;
    let page = Page::of(&server).await;
    assert_eq!(page.call("GET", "/api/main-ai", None).await.1["locked"], "VOXPILOT_MODEL_BASE_URL");
    let (status, refused) = page.call("PUT", "/api/main-ai", Some(&wanted(&model))).await;
    assert_eq!(status, 409, "{refused}");
    assert!(!server.rig().data_dir().join(FILE).exists());
    server.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_that_fails_says_why_keeps_nothing_and_sends_the_key_nowhere_else() {
    let (thief, silent) = (willing(), ModelServer::start([Reply::new().stall()]));
    let redirect = Reply::status(307).header("location", &format!("{}/models", thief.base_url()));
    let model = ModelServer::start([]);
    model.push("/v1/models", Reply::status(401));
    model.push("/v1/models", redirect);
    let server = Rig::default().demo_agent().start().await;
    let page = Page::of(&server).await;
    let body = wanted(&model);
    let (_, refused) = page.call("POST", "/api/main-ai/models", Some(&body)).await;
    assert_eq!(refused["error"]["code"], "model_unauthorized", "{refused}");
    let (_, redirected) = page.call("POST", "/api/main-ai/models", Some(&body)).await;
    assert_eq!(redirected["error"]["code"], "model_redirected", "{redirected}");
    assert!(thief.other_requests().is_empty() && thief.requests().is_empty());
    for answer in [&refused, &redirected] {
        assert!(!answer.to_string().contains(KEY), "{answer}");
    }
    let nowhere = json!({ "base_url": "http://127.0.0.1:1/v1", "api_key": KEY, "model": "main" });
    let (_, unreachable) = page.call("POST", "/api/main-ai/models", Some(&nowhere)).await;
    assert_eq!(unreachable["error"]["code"], "model_unreachable", "{unreachable}");
    let (status, inside) = page.call("POST", "/api/main-ai/models", Some(&json!({ "base_url": "http://169.254.169.254/v1" }))).await;
    assert_eq!((status, &inside["error"]["code"]), (422, &json!("invalid")), "{inside}");

    // Whoever asked is gone: the request to the provider ends with them.
    let asking = page.request("POST", "/api/main-ai/test", Some(&wanted(&silent)));
    let stopped = asking.timeout(Duration::from_millis(500)).send().await;
    assert!(stopped.is_err_and(|error| error.is_timeout()));
    silent.wait_for_hang_ups(1).await;
    assert!(!server.rig().data_dir().join(FILE).exists());
    assert!(!server.log().contains(KEY));
    server.end().await;
}
