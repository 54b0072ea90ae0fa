//! `GET /api/search`

use serde_json::{Value, json};
use testkit::model_server::Reply;

use crate::rig::{Rig, delegate};

#[tokio::test(flavor = "multi_thread")]
async fn titles_messages_and_what_agents_said_are_found() {
    let rig = Rig::replies([delegate(&[("x", "say the Needle is here")]), Reply::text("done"), Reply::text("no such thing")]).await;
    let (first, second) = (rig.session().await, rig.session().await);
    rig.turn(&first, "look for it").await;
    rig.turn(&second, "100%_sure").await;
    let found = async |query: &str| rig.get(&format!("/api/search?query={query}")).await.json();
    let needle = found("nEEDLE").await;
    let hits = needle["hits"].as_array().unwrap();
    assert_eq!((hits.len(), &needle["more"]), (1, &json!(false)), "{needle}");
    assert_eq!((&hits[0]["session_id"], &hits[0]["title"], &hits[0]["role"]), (&json!(first), &json!("look for it"), &json!("tool")));
    assert!(hits[0]["excerpt"].as_str().unwrap().contains("the Needle is here") && hits[0]["at"].is_string(), "{needle}");
    assert!(hits[0]["tool_call_id"].is_string(), "where people see it: {needle}");
    let message = hits[0]["message_id"].as_str().unwrap();
    assert_eq!(rig.get(&format!("/api/sessions/{first}/messages/{message}")).await.status, 200);
    let sure = found("0%25_s").await;
    let roles: Vec<_> = sure["hits"].as_array().unwrap().iter().map(|hit| hit["role"].clone()).collect();
    assert_eq!(roles, [Value::Null, json!("user")], "its title and its message: {sure}");
    assert_eq!(found("0__s").await["hits"], json!([]), "wildcards are letters");
    let one = rig.get("/api/search?query=sure&limit=1").await.json();
    assert_eq!((one["hits"].as_array().unwrap().len(), &one["more"]), (1, &json!(true)));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_makes_no_sense_is_refused() {
    let rig = Rig::replies([]).await;
    for query in ["", "?query=", "?query=a", "?query=%20a%20", "?query=ab&limit=many"] {
        rig.get(&format!("/api/search{query}")).await.refuses(400, "invalid");
    }
    rig.get(&format!("/api/search?query={}", "x".repeat(201))).await.refuses(400, "invalid");
    assert_eq!(rig.get(&format!("/api/search?query={}", "x".repeat(200))).await.json(), json!({ "hits": [], "more": false }));
}
