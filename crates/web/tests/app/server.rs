//! `/api/server`: what the page knows of the server, and the policy that people choose for delegated work.

use serde_json::json;

use crate::rig::{Rig, SOON, delegate, of_kind};
use testkit::model_server::Reply;

/// With a main AI and nothing configured delegated work is approved by itself, and that is a choice which people see and change.
#[tokio::test(flavor = "multi_thread")]
async fn the_default_policy_is_shown_chosen_and_kept() {
    let rig = Rig::replies([]).await;
    let server = rig.get("/api/server").await.json();
    assert_eq!((&server["permission_policy"], &server["relay_policy"]), (&json!("auto"), &json!("ask")));
    assert_eq!((&server["policy_chosen"], &server["work_dir_name"]), (&json!(false), &json!("work")));
    assert_eq!((&server["agent"], &server["model"], &server["suggestions"]), (&json!("faulty"), &json!("main"), &json!([])));

    rig.patch("/api/server", json!({ "permission_policy": "whatever" })).await.refuses(422, "invalid");
    rig.patch("/api/server", json!({ "permission_policy": "ask", "token": "x" })).await.refuses(422, "invalid");
    assert_eq!(rig.patch("/api/server", json!({ "permission_policy": "auto" })).await.status, 204);
    let server = rig.get("/api/server").await.json();
    assert_eq!((&server["permission_policy"], &server["relay_policy"]), (&json!("auto"), &json!("ask")), "a direct chat still asks");
    assert_eq!(server["policy_chosen"], true);
    assert_eq!(rig.engine.store().preference("permission_policy").await.unwrap().as_deref(), Some("auto"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chosen_policy_holds_in_sessions_that_have_none_of_their_own() {
    let rig = Rig::replies([delegate(&[("one", "ask")]), Reply::text("done"), delegate(&[("one", "ask")]), Reply::text("done")]).await;
    let session = rig.session().await;
    let (state, client) = rig.turn(&session, "go").await;
    assert_eq!((state.as_str(), of_kind(&client, "permission-request").len()), ("completed", 0));
    assert_eq!(rig.patch("/api/server", json!({ "permission_policy": "ask" })).await.status, 204);
    let mut client = rig.watch(&session).await;
    rig.say(&session, "go").await;
    let request = client.until("permission", SOON, |event| event.kind == "permission-request").await.data;
    let path = format!("/api/sessions/{session}/permissions/{}", request["request_id"].as_str().unwrap());
    assert_eq!(rig.post(&path, json!({ "option_id": "no" })).await.status, 202);
    client.turn_end(SOON).await;
}
