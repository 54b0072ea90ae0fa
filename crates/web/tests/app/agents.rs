//! `/api/sessions/{id}/agents` and `/api/agents`

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::model_server::{Reply, ToolCall};
use testkit::processes;

use crate::rig::{Options, Rig, SOON, delegate, of_kind};

#[tokio::test(flavor = "multi_thread")]
async fn the_catalogue_says_what_is_installed() {
    let rig = Rig::replies([]).await;
    let body = rig.get("/api/agents").await.json();
    assert_eq!(body["default"], "faulty");
    let installed = |id: &str| body["agents"].as_array().unwrap().iter().find(|agent| agent["id"] == id).unwrap()["installed"].clone();
    assert_eq!((installed("copilot"), installed("demo"), installed("faulty")), (json!(false), json!(true), json!(true)));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_cannot_be_sandboxed_is_not_started_and_that_is_said() {
    let rig = Rig::start(Options { confined: true, ..Options::default() }).await;
    let body = rig.get("/api/agents").await.json();
    let faulty = body["agents"].as_array().unwrap().iter().find(|agent| agent["id"] == "faulty").unwrap().clone();
    assert_eq!((&faulty["sandbox"], &faulty["health"]), (&json!("unavailable"), &json!("failing")));
    assert!(faulty["problem"].as_str().unwrap().contains("cannot be sandboxed"), "{faulty}");
    let demo = body["agents"].as_array().unwrap().iter().find(|agent| agent["id"] == "demo").unwrap();
    assert_eq!(demo["sandbox"], Value::Null);
    let session = rig.relay().await;
    let (state, client) = rig.turn(&session, "say hello").await;
    assert_eq!(state, "failed");
    let said = of_kind(&client, "error")[0].data["message"].as_str().unwrap().to_owned();
    assert!(said.contains("cannot be sandboxed, so it is not started"), "{said}");
    assert!(!rig.dir.path().join("agent.log").exists(), "it was started");
}

/// Holds S1-23.
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

/// The view of the only named session.
async fn view(rig: &Rig, session: &str) -> Value {
    rig.get(&format!("/api/sessions/{session}/agents")).await.json()["agents"][0].clone()
}

fn current(view: &Value, id: &str) -> Value {
    view["options"].as_array().unwrap().iter().find(|option| option["id"] == id).unwrap()["currentValue"].clone()
}

/// Kills the agent's process and waits until the server knows.
async fn kill_agent(rig: &Rig, session: &str) {
    for process in processes::of_dir(rig.dir.path()).iter().filter(|process| process.command.contains("demo-agent")) {
        processes::signal(process.pid, "KILL");
    }
    let deadline = Instant::now() + SOON;
    while view(rig, session).await["state"] != "stored" {
        assert!(Instant::now() < deadline, "the server did not notice");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn mode_and_options_of_an_open_session_are_set_at_once() {
    let rig = Rig::replies([]).await;
    let session = rig.session_with(json!({ "model": "relay", "agent": "demo", "permission_policy": "auto" })).await;
    rig.turn(&session, "list files").await;
    let path = format!("/api/sessions/{session}/agents/main");
    let set = rig.patch(&path, json!({ "mode": "plan", "options": { "pace": "fast" } })).await;
    assert_eq!(set.status, 200, "{}", set.text);
    for view in [set.json(), view(&rig, &session).await] {
        assert_eq!((&view["mode"], &view["wanted"]), (&json!("plan"), &Value::Null), "{view}");
        assert_eq!((current(&view, "mode"), current(&view, "pace")), (json!("plan"), json!("fast")));
        assert!(view["usage"]["size"].is_u64(), "{view}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_set_is_refused_by_name() {
    let rig = Rig::replies([]).await;
    let session = rig.session_with(json!({ "model": "relay", "agent": "demo", "permission_policy": "auto" })).await;
    rig.turn(&session, "list files").await;
    let path = format!("/api/sessions/{session}/agents/main");
    let cases = [
        (json!({ "options": { "speed": "x" } }), "speed"),
        (json!({ "mode": "dream" }), "dream"),
        (json!({ "model": "gpt" }), "model"),
        (json!({ "options": { "pace": true } }), "pace"),
        (json!({}), "nothing"),
    ];
    for (patch, named) in cases {
        let refused = rig.patch(&path, patch).await;
        refused.refuses(422, "invalid");
        assert!(refused.text.contains(named), "{}", refused.text);
    }
    rig.patch(&path, json!({ "modes": "plan" })).await.refuses(422, "invalid");
    rig.patch(&format!("/api/sessions/{session}/agents/nobody"), json!({ "mode": "plan" })).await.refuses(404, "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_set_on_a_stored_session_waits_for_its_next_prompt_and_outlives_the_agent() {
    let rig = Rig::replies([]).await;
    let session = rig.session_with(json!({ "model": "relay", "agent": "demo", "permission_policy": "auto" })).await;
    rig.turn(&session, "list files").await;
    kill_agent(&rig, &session).await;
    let set = rig.patch(&format!("/api/sessions/{session}/agents/main"), json!({ "options": { "pace": "fast" } })).await.json();
    assert_eq!((&set["wanted"], &set["state"]), (&json!({ "pace": "fast" }), &json!("stored")), "{set}");
    for _ in 0..2 {
        let (state, client) = rig.turn(&session, "list files").await;
        assert_eq!(state, "completed", "{}", client.seen.tail());
        let view = view(&rig, &session).await;
        assert_eq!(
            (current(&view, "pace"), &view["wanted"], &view["restored"]),
            (json!("fast"), &Value::Null, &json!("resumed")),
            "{view}"
        );
        kill_agent(&rig, &session).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_knows_only_modes_is_set_by_its_own_method() {
    let rig = Rig::start(Options { agent_env: vec![("FAULTY_MODES", "1")], ..Options::default() }).await;
    let session = rig.relay().await;
    rig.turn(&session, "say hello").await;
    assert_eq!(current(&view(&rig, &session).await, "mode"), "careful");
    let set = rig.patch(&format!("/api/sessions/{session}/agents/main"), json!({ "mode": "Bold" })).await.json();
    assert_eq!((&set["mode"], current(&set, "mode")), (&json!("bold"), json!("bold")), "{set}");
    let log = std::fs::read_to_string(rig.dir.path().join("agent.log")).unwrap();
    assert!(log.contains(r#""method":"session/set_mode""#) && !log.contains("set_config_option"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_catalogue_says_what_was_learned_of_an_agent() {
    let rig = Rig::replies([]).await;
    let of = |body: Value, id: &str| body["agents"].as_array().unwrap().iter().find(|agent| agent["id"] == id).unwrap().clone();
    let before = rig.get("/api/agents").await.json();
    assert_eq!((&of(before.clone(), "faulty")["health"], &of(before.clone(), "copilot")["health"]), (&json!("unknown"), &json!("missing")));
    assert_eq!((&of(before.clone(), "faulty")["logged_in"], &of(before, "faulty")["capabilities"]), (&Value::Null, &Value::Null));
    rig.turn(&rig.relay().await, "say hello").await;
    let after = of(rig.get("/api/agents").await.json(), "faulty");
    assert_eq!(
        (&after["health"], &after["logged_in"], &after["capabilities"]["close"]),
        (&json!("ok"), &json!(true), &json!(true)),
        "{after}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_catalogue_names_an_agent_that_needs_a_login_or_does_not_start() {
    for (env, health) in
        [(("FAULTY_AUTH", "1"), "login_required"), (("FAULTY_LOGIN_AT", "prompt"), "login_required"), (("FAULTY_INIT", "exit"), "failing")]
    {
        let rig = Rig::start(Options { agent_env: vec![env], ..Options::default() }).await;
        let session = rig.relay().await;
        let mut client = rig.watch(&session).await;
        rig.say(&session, "say hello").await;
        client.until("the trouble", SOON, |event| event.kind == "error" || event.data["code"] == "auth_required").await;
        let body = rig.get("/api/agents").await.json();
        let agent = body["agents"].as_array().unwrap().iter().find(|agent| agent["id"] == "faulty").unwrap().clone();
        assert_eq!(agent["health"], health, "{agent}");
        assert_eq!(agent["problem"].is_string(), health == "failing", "{agent}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_agent_is_told_with_how_to_have_it() {
    let rig = Rig::replies([]).await;
    let body = rig.get("/api/agents").await.json();
    let of = |id: &str| body["agents"].as_array().unwrap().iter().find(|agent| agent["id"] == id).unwrap().clone();
    for id in ["copilot", "codex", "claude", "gemini", "opencode", "qwen", "goose", "codex-acp", "demo"] {
        assert!(!of(id)["about"].as_str().unwrap().is_empty(), "{id}");
        assert_eq!(of(id)["installed"], json!(!of(id)["found"].is_null()), "{id}");
    }
    let copilot = of("copilot");
    assert_eq!((&copilot["found"], &copilot["health"]), (&Value::Null, &json!("missing")));
    assert_eq!(copilot["install"], json!({ "command": "npm install -g @github/copilot", "npx": false }));
    assert_eq!(copilot["login"], json!({ "command": "copilot login" }));
    assert_eq!((&of("demo")["found"], &of("faulty")["found"]), (&json!("built_in"), &json!("path")));
    assert_eq!((&of("faulty")["install"], &of("faulty")["login"]), (&Value::Null, &Value::Null));
    rig.post("/api/agents/copilot/npx", json!({ "allowed": true })).await.refuses(409, "conflict");
}

/// The main AI is offered the agents that are there, each with its line, and can choose again where it was wrong.
#[tokio::test(flavor = "multi_thread")]
async fn a_delegation_to_an_agent_that_is_not_there_names_those_that_are() {
    for (agent, said) in [("nobody", "no agent is called `nobody`"), ("copilot", "GitHub Copilot is not installed")] {
        let call = ToolCall::new("delegate", json!({ "agent": agent, "session_name": "a", "prompt": "say hello" }));
        let rig = Rig::replies([Reply::tool_calls([call]), Reply::text("I see.")]).await;
        let session = rig.session().await;
        rig.turn(&session, "go").await;
        let requests = rig.model.requests();
        let tools = requests[0].body["tools"].as_array().unwrap();
        let delegate = tools.iter().map(|tool| &tool["function"]).find(|tool| tool["name"] == "delegate").unwrap();
        let offered = &delegate["parameters"]["properties"]["agent"];
        let ids: Vec<_> = offered["enum"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
        assert!(ids.contains(&"demo") && ids.contains(&"faulty") && !ids.contains(&"copilot"), "{ids:?}");
        assert!(offered["description"].as_str().unwrap().contains("demo (Demo agent): trying VoxPilot out"), "{offered}");
        let result = requests[1].body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned();
        assert!(result.contains(said) && result.contains("available: ") && result.contains("faulty"), "{result}");
    }
}
