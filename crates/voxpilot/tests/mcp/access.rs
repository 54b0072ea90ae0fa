//! Who is let in, and who is not.

use reqwest::header::ORIGIN;
use serde_json::{Value, json};
use testkit::browser::SignedIn;
use testkit::server::Server;

use crate::program::{Program, server};

fn ping() -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" })
}

fn post(server: &Server, message: &Value) -> reqwest::RequestBuilder {
    let http = tls::client().no_proxy().build().unwrap();
    http.post(format!("{}/mcp", server.base)).header("accept", "application/json, text/event-stream").json(message)
}

/// A new device, with the key of its page.
async fn device(server: &Server, kind: &str) -> SignedIn {
    let (status, link) = server.call("POST", "/api/devices/link", Some(json!({ "kind": kind }))).await;
    assert_eq!(status, 201, "{link}");
    let url = link["url"].as_str().unwrap();
    let http = tls::client().no_proxy().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    SignedIn::by_link(&http, url).await.unwrap()
}

#[tokio::test]
async fn without_the_token_nothing_is_answered() {
    let server = server().await;
    for token in [None, Some("wrong-token-0123456789"), Some("")] {
        let request = token.map_or_else(|| post(&server, &ping()), |token| post(&server, &ping()).bearer_auth(token));
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), 401);
        let body: Value = answer.json().await.unwrap();
        assert_eq!(body["error"]["code"], "unauthorized", "said to a program, not with a page");
    }
    let refused = Program::try_http(&server.base, "wrong-token-0123456789").await.err().unwrap();
    assert!(refused.contains("401") || refused.to_lowercase().contains("auth"), "{refused}");
    assert_eq!(post(&server, &ping()).bearer_auth(server.token()).send().await.unwrap().status(), 200);
    server.end().await;
}

#[tokio::test]
async fn a_read_only_device_may_not_delegate_and_a_page_from_elsewhere_may_use_no_cookie() {
    let server = server().await;
    let (full, watching) = (device(&server, "full").await, device(&server, "read-only").await);
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "delegate", "arguments": { "prompt": "count to 3" } } });
    let refused = watching.sends(post(&server, &call)).send().await.unwrap();
    assert_eq!(refused.status(), 403);
    assert_eq!(refused.json::<Value>().await.unwrap()["error"]["code"], "read_only");
    for headers in [[(ORIGIN.as_str(), "http://evil.example")], [("sec-fetch-site", "cross-site")], [(ORIGIN.as_str(), "null")]] {
        let mut request = full.sends(post(&server, &call));
        for (name, value) in headers {
            request = request.header(name, value);
        }
        assert_eq!(request.send().await.unwrap().status(), 403, "{headers:?}");
    }
    let (_, list) = server.call("GET", "/api/sessions", None).await;
    assert_eq!(list["sessions"], json!([]), "nothing was done");
    let done = full.sends(post(&server, &call)).send().await.unwrap();
    assert_eq!(done.status(), 200);
    server.end().await;
}
