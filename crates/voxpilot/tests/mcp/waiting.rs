//! What waits for a person, and stopping.

use serde_json::{Value, json};

use crate::SOON;
use crate::program::{Program, server, token_for_agents};

const ASKS: &str = "run `echo yes >> made.txt`";

#[tokio::test]
async fn what_waits_is_shown_and_answered_by_the_rules_of_a_person() {
    let server = server().await;
    let program = Program::http(&server).await;
    let nothing = program.call("waiting", json!({})).await;
    assert_eq!(nothing["waiting"], json!([]));
    let job = program.call("delegate", json!({ "prompt": ASKS, "wait_seconds": 50 })).await;
    let session = job["session_id"].as_str().unwrap();
    let mut client = server.stream(session, None).await;
    let waiting = program.call("waiting", json!({ "session_id": session })).await["waiting"].clone();
    assert_eq!((waiting.as_array().unwrap().len(), &waiting[0]["command"]), (1, &json!("echo yes >> made.txt")), "{waiting}");
    let id = &waiting[0]["request_id"];
    for wrong in [json!({}), json!({ "option_id": "x" }), json!({ "option_id": "x", "approved": true })] {
        let mut wrong = wrong;
        wrong["request_id"] = id.clone();
        program.refused("answer", wrong).await;
    }
    assert!(!server.rig().work_dir().join("made.txt").exists());

    let option = waiting[0]["options"].as_array().unwrap().iter().find(|option| option["kind"] == "allow_once").unwrap();
    program.call("answer", json!({ "request_id": id, "option_id": option["option_id"] })).await;
    assert_eq!(program.end_of(&job).await["state"], "completed");
    let resolved = client.until("the answer", SOON, |event| event.kind == "permission-resolved").await;
    assert_eq!((&resolved.data["by"], &resolved.data["option_id"]), (&json!("mcp"), &option["option_id"]));
    let (_, audit) = server.call("GET", "/api/audit", None).await;
    assert!(audit.to_string().contains("permission-answered"), "{audit}");
    program.refused("answer", json!({ "request_id": id, "approved": true })).await;
    drop(client);
    program.close().await;
    server.end().await;
}

#[tokio::test]
async fn a_rejection_through_mcp_is_a_rejection() {
    let server = server().await;
    let program = Program::http(&server).await;
    let job = program.call("delegate", json!({ "prompt": ASKS, "wait_seconds": 50 })).await;
    program.call("answer", json!({ "request_id": job["waiting"][0]["request_id"], "approved": false })).await;
    let ended = program.end_of(&job).await;
    assert_eq!(ended["state"], "completed", "{ended}");
    assert!(!server.rig().work_dir().join("made.txt").exists());
    let (_, messages) = server.call("GET", &format!("/api/sessions/{}/messages", job["session_id"].as_str().unwrap()), None).await;
    let tool = messages["messages"].as_array().unwrap().iter().find(|message| message["role"] == "tool").unwrap().clone();
    assert_eq!(tool["delegation"]["stop_reason"], "denied", "{tool}");
    program.close().await;
    server.end().await;
}

#[tokio::test]
async fn an_agent_cannot_answer_what_it_asks_itself() {
    let server = server().await;
    let token = token_for_agents(&server).await;
    assert_ne!(token, server.token());
    let job = Program::http(&server).await.call("delegate", json!({ "prompt": ASKS, "wait_seconds": 50 })).await;
    let answer = json!({ "request_id": job["waiting"][0]["request_id"], "approved": true });
    for agent in [Program::try_http(&server.base, &token).await.unwrap(), Program::stdio(&server, &[]).await] {
        let names: Vec<Value> = agent.tools().await.iter().map(|tool| tool["name"].clone()).collect();
        assert!(names.contains(&json!("delegate")) && !names.contains(&json!("answer")), "{names:?}");
        assert!(agent.try_call("answer", answer.clone()).await.is_err());
        agent.close().await;
    }
    // The token is for that alone.
    let http = tls::client().no_proxy().build().unwrap();
    let id = answer["request_id"].as_str().unwrap();
    let url = format!("{}/api/sessions/{}/permissions/{id}", server.base, job["session_id"].as_str().unwrap());
    let direct = http.post(url).bearer_auth(&token).json(&json!({ "option_id": "allow_once" })).send().await.unwrap();
    assert_eq!(direct.status(), 403);
    assert_eq!(http.get(format!("{}/api/sessions", server.base)).bearer_auth(&token).send().await.unwrap().status(), 403);
    assert!(!server.rig().work_dir().join("made.txt").exists());

    // Nor may it send its work to where nobody is asked.
    let lenient = server.new_session(json!({ "permission_policy": "auto", "model": "relay" })).await;
    let agent = Program::try_http(&server.base, &token).await.unwrap();
    let why = agent.refused("delegate", json!({ "prompt": ASKS, "session": lenient })).await;
    assert!(why.contains("everything is allowed"), "{why}");
    agent.close().await;
    server.end().await;
}

#[tokio::test]
async fn what_runs_is_stopped_and_what_has_not_begun_is_withdrawn() {
    let server = server().await;
    let program = Program::http(&server).await;
    let job = program.call("delegate", json!({ "prompt": ASKS, "wait_seconds": 50 })).await;
    let behind = program.call("delegate", json!({ "prompt": "count to 4", "session": job["session_id"] })).await;
    let withdrawn = program.call("stop", json!({ "job_id": behind["job_id"] })).await;
    assert_eq!((&withdrawn["state"], &withdrawn["reason"]), (&json!("cancelled"), &json!("withdrawn before it began")), "{withdrawn}");
    program.call("stop", json!({ "session_id": job["session_id"] })).await;
    assert_eq!(program.end_of(&job).await["state"], "cancelled");
    assert_eq!(program.end_of(&behind).await["state"], "cancelled");
    let why = program.refused("stop", json!({ "job_id": job["job_id"] })).await;
    assert!(why.contains("is over"), "{why}");
    assert!(!server.rig().work_dir().join("made.txt").exists());
    program.close().await;
    server.end().await;
}

#[tokio::test]
async fn approved_goes_by_what_an_option_means_and_its_name_is_ours() {
    let server = testkit::server::Rig::default().faulty_agent().start().await;
    let program = Program::http(&server).await;
    let options = json!([{ "optionId": "reject_once", "name": "No", "kind": "allow_once" }, { "optionId": "allow_once", "name": "Yes", "kind": "reject_always" }]);
    let call = json!({ "toolCallId": "k", "title": "Run", "kind": "execute", "rawInput": { "command": ["touch", "a file"] } });
    let calls = json!([["session/request_permission", { "toolCall": call, "options": options }]]);
    for (approved, told) in [(false, "allow_once"), (true, "reject_once")] {
        let job = program.call("delegate", json!({ "prompt": format!("calls {calls}"), "wait_seconds": 50 })).await;
        let request = &job["waiting"][0];
        let names: Vec<_> = request["options"].as_array().unwrap().iter().map(|option| option["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["Allow", "Always deny"]);
        assert_eq!((&request["command"], &request["words"]), (&json!("touch 'a file'"), &json!(["touch", "a file"])));
        program.call("answer", json!({ "request_id": request["request_id"], "approved": approved })).await;
        let ended = program.end_of(&job).await;
        assert!(ended["result"].as_str().unwrap().contains(&format!("\"optionId\":\"{told}\"")), "{approved}: {ended}");
    }
    program.close().await;
    server.end().await;
}

#[tokio::test]
async fn approved_false_runs_nothing_also_where_two_options_share_an_id() {
    let server = testkit::server::Rig::default().faulty_agent().start().await;
    let program = Program::http(&server).await;
    let options =
        json!([{ "optionId": "x", "name": "No", "kind": "reject_once" }, { "optionId": "x", "name": "Yes", "kind": "allow_once" }]);
    let call = json!({ "toolCallId": "k", "title": "Run", "kind": "execute", "rawInput": { "command": "touch ran" } });
    let calls = json!([["session/request_permission", { "toolCall": call, "options": options }],
        ["terminal/create", { "command": "touch ran" }], ["terminal/wait_for_exit", { "terminalId": "$terminal" }]]);
    let mut job = program.call("delegate", json!({ "prompt": format!("calls {calls}"), "wait_seconds": 50 })).await;
    while let Some(request) = job["waiting"].as_array().and_then(|waiting| waiting.first()) {
        program.call("answer", json!({ "request_id": request["request_id"], "approved": false })).await;
        job = program.end_of(&job).await;
    }
    assert_eq!(job["state"], "completed", "{job}");
    assert!(!server.rig().work_dir().join("ran").exists(), "{job}");
    program.close().await;
    server.end().await;
}
