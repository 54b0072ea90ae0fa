//! The settings in the page, with the built server: all of them, where they came from, and what is chosen there.

use serde_json::{Value, json};
use testkit::server::{Rig, Server};

async fn setting(server: &Server, key: &str) -> Value {
    let (status, body) = server.call("GET", "/api/settings", None).await;
    assert_eq!(status, 200, "{body}");
    let settings = body["settings"].as_array().unwrap();
    settings.iter().find(|setting| setting["key"] == key).cloned().unwrap_or_else(|| panic!("no {key} in {body}"))
}

async fn change(server: &Server, values: Value) -> (u16, Value) {
    server.call("PATCH", "/api/settings", Some(values)).await
}

#[tokio::test]
async fn what_is_chosen_holds_at_once_and_outlives_the_server() {
    let mut server = Rig::default().demo_agent().start().await;
    let before = setting(&server, "title").await;
    assert_eq!((&before["value"], &before["origin"]["kind"], &before["changeable"]), (&json!(null), &json!("default"), &json!(true)));
    let values = json!({ "title": "The train", "suggestions": ["One; two", "Three"], "copilot_connection_ttl": 60 });
    assert_eq!(change(&server, values).await.0, 204);
    assert_eq!(server.call("GET", "/api/server", None).await.1["title"], "The train");
    server.kill().await;
    server.restart().await;
    assert_eq!(server.call("GET", "/api/server", None).await.1["suggestions"], json!(["One; two", "Three"]));
    let chosen = setting(&server, "suggestions").await;
    assert_eq!((&chosen["value"], &chosen["origin"]["kind"]), (&json!(["One; two", "Three"]), &json!("here")));
    assert_eq!(change(&server, json!({ "title": null })).await.0, 204);
    assert_eq!(setting(&server, "title").await, before);
    server.end().await;
}

#[tokio::test]
async fn a_setting_shows_what_applies_where_nothing_is_set() {
    let server = Rig::default().demo_agent().start().await;
    let policy = setting(&server, "permission_policy").await;
    assert_eq!((&policy["value"], &policy["effective"]), (&json!(null), &json!("auto")), "{policy}");
    let idle = setting(&server, "copilot_connection_ttl").await;
    assert_eq!((&idle["effective"], &idle["unit"], &idle["section"]), (&json!(1800), &json!("seconds"), &json!("Agents")));
    assert_eq!(setting(&server, "agent").await["effective"], "demo");
    let timeout = setting(&server, "permission_timeout").await;
    assert_eq!((&timeout["effective"], &timeout["variable"]), (&json!(null), &json!("VOXPILOT_PERMISSION_TIMEOUT")));
    server.end().await;
}

#[tokio::test]
async fn what_cannot_be_chosen_says_why_and_nothing_is_changed() {
    let server = Rig::default().demo_agent().env("VOXPILOT_DISK_QUOTA", "20G").start().await;
    let quota = setting(&server, "disk_quota").await;
    assert_eq!((&quota["locked"], &quota["origin"]["name"]), (&json!(true), &json!("VOXPILOT_DISK_QUOTA")));
    for (values, status, says) in [
        (json!({ "title": "x", "disk_quota": "1G" }), 409, "VOXPILOT_DISK_QUOTA"),
        (json!({ "token": "0123456789abcdef0123" }), 409, "cannot be changed here"),
        (json!({ "agent": "nobody" }), 409, "VOXPILOT_AGENT"),
        (json!({ "model": "gpt-x" }), 422, "no endpoint"),
        (json!({ "max_agent_iterations": 0 }), 422, "from 1 to 1000"),
        (json!({ "title": 7 }), 422, "one line"),
        (json!({ "nonsense": 1 }), 422, "no setting"),
    ] {
        let (refused, body) = change(&server, values.clone()).await;
        assert_eq!(refused, status, "{values}: {body}");
        assert!(body["error"]["message"].as_str().unwrap().contains(says), "{values}: {body}");
    }
    assert_eq!(setting(&server, "title").await["value"], Value::Null);
    let token = setting(&server, "token").await;
    assert!(token["kind"] == "secret" && matches!(token["value"].as_str(), None | Some("***")), "{token}");
    server.end().await;
}

#[tokio::test]
async fn a_policy_that_is_chosen_here_says_what_it_would_go_back_to() {
    let server = Rig::default().demo_agent().start().await;
    assert_eq!(change(&server, json!({ "permission_policy": "deny" })).await.0, 204);
    let chosen = setting(&server, "permission_policy").await;
    assert_eq!((&chosen["effective"], &chosen["default"]), (&json!("deny"), &json!("auto")));
}
