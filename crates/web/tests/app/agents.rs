//! `/api/sessions/{id}/agents` and `/api/agents`

use serde_json::json;
use testkit::model_server::Reply;

use crate::rig::{Rig, SOON, delegate, of_kind};

#[tokio::test(flavor = "multi_thread")]
async fn the_catalogue_says_what_is_installed() {
    let rig = Rig::replies([]).await;
    let body = rig.get("/api/agents").await.json();
    assert_eq!(body["default"], "faulty");
    let installed = |id: &str| body["agents"].as_array().unwrap().iter().find(|agent| agent["id"] == id).unwrap()["installed"].clone();
    assert_eq!((installed("copilot"), installed("demo"), installed("faulty")), (json!(false), json!(true), json!(true)));
}

#[tokio::test(flavor = "multi_thread")]
async fn named_sessions_are_listed_with_their_state() {
    let rig = Rig::replies([]).await;
    let session = rig.relay().await;
    let path = format!("/api/sessions/{session}/agents");
    assert_eq!(rig.get(&path).await.json(), json!({ "agents": [] }));
    rig.turn(&session, "@docs say hello").await;
    let mut client = rig.watch(&session).await;
    rig.say(&session, "@api slow 100000").await;
    client.until("agent's text", SOON, |event| event.kind == "copilot-delta").await;
    let agents = rig.get(&path).await.json()["agents"].clone();
    let shown: Vec<_> =
        agents.as_array().unwrap().iter().map(|agent| (agent["name"].clone(), agent["state"].clone(), agent["restored"].clone())).collect();
    assert_eq!(shown, [(json!("api"), json!("running"), json!("new")), (json!("docs"), json!("idle"), json!("new"))]);
    assert_eq!(agents[0]["agent"], "faulty");
}

#[tokio::test(flavor = "multi_thread")]
async fn different_names_run_side_by_side_and_one_name_in_turn() {
    let calls = delegate(&[("a", "slow 40"), ("b", "slow 40"), ("a", "say second")]);
    let rig = Rig::replies([calls, Reply::text("done")]).await;
    let session = rig.session().await;
    let (state, client) = rig.turn(&session, "go").await;
    assert_eq!(state, "completed");
    let at = |kind: &str, wanted: &str| {
        let fits = |event: &testkit::client::Event| event.kind == kind && event.data["session_name"] == wanted;
        client.seen.events.iter().position(fits).unwrap()
    };
    let first_end = at("copilot-done", "a");
    assert!(at("copilot-delta", "b") < first_end, "{}", client.seen.tail());
    assert!(at("copilot-delta", "a") < at("copilot-done", "b"));
    let calls = of_kind(&client, "tool-call");
    let second = calls.iter().find(|event| event.data["arguments"].as_str().unwrap().contains("second")).unwrap().data["id"].clone();
    let began = client.seen.events.iter().position(|event| event.kind == "copilot-delta" && event.data["tool_call_id"] == second).unwrap();
    assert!(began > first_end);
    let log = std::fs::read_to_string(rig.dir.path().join("agent.log")).unwrap();
    let lines: Vec<serde_json::Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let asked = |method: &str| lines.iter().filter(|line| line["method"] == method).count();
    assert_eq!((asked("initialize"), asked("session/new")), (1, 2), "one process for all names, one agent session a name");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_name_goes_on_in_the_same_agent_session() {
    let rig = Rig::replies([]).await;
    let session = rig.relay().await;
    rig.turn(&session, "@docs say one").await;
    let (_, client) = rig.turn(&session, "@docs prompts").await;
    assert_eq!(client.seen.agent_text("docs"), r#"["say one","prompts"]"#);
    let (_, client) = rig.turn(&session, "@docs sessions").await;
    let ids: Vec<String> = serde_json::from_str(&client.seen.agent_text("docs")).unwrap();
    assert_eq!(ids.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_agent_takes_over_at_once_and_also_in_the_middle_of_a_turn() {
    let rig = Rig::replies([delegate(&[("a", "slow 20")]), delegate(&[("b", "list files")]), Reply::text("done")]).await;
    let relay = rig.relay().await;
    rig.turn(&relay, "say hello").await;
    let path = format!("/api/sessions/{relay}");
    assert_eq!(rig.patch(&path, json!({ "agent": "demo", "permission_policy": "auto" })).await.status, 200);
    let (state, client) = rig.turn(&relay, "list files").await;
    assert_eq!(state, "completed", "{}", client.seen.tail());
    assert_eq!(rig.get(&format!("{path}/agents")).await.json()["agents"][0]["agent"], "demo");

    let session = rig.session().await;
    let mut client = rig.watch(&session).await;
    rig.say(&session, "go").await;
    client.until("agent's text", SOON, |event| event.kind == "copilot-delta").await;
    rig.patch(&format!("/api/sessions/{session}"), json!({ "agent": "demo" })).await;
    assert_eq!(client.turn_end(SOON).await, "completed", "{}", client.seen.tail());
    assert!(client.seen.agent_text("a").ends_with("20 "), "the old agent finishes what it has");
    let agents = rig.get(&format!("/api/sessions/{session}/agents")).await.json()["agents"].clone();
    let of = |name: &str| agents.as_array().unwrap().iter().find(|agent| agent["name"] == name).unwrap()["agent"].clone();
    assert_eq!((of("a"), of("b")), (json!("faulty"), json!("demo")));
}
