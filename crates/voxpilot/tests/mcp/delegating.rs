//! Handshake, tools, and handing out work over HTTP.

use serde_json::{Value, json};

use crate::program::{Program, server};

#[tokio::test]
async fn the_tools_describe_themselves() {
    let server = server().await;
    let program = Program::http(&server).await;
    let info = program.info();
    assert_eq!(info["serverInfo"]["name"], "voxpilot", "{info}");
    assert!(info["instructions"].as_str().unwrap().contains("job_id"), "{info}");
    let tools = program.tools().await;
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["delegate", "job", "list_sessions", "read_session", "waiting", "answer", "stop"]);
    for tool in &tools {
        assert!(tool["description"].as_str().is_some_and(|text| text.len() > 20), "{tool}");
        assert_eq!((&tool["inputSchema"]["type"], &tool["outputSchema"]["type"]), (&json!("object"), &json!("object")), "{tool}");
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{tool}");
    }
    assert_eq!(tools[0]["inputSchema"]["required"], json!(["prompt"]));
    program.close().await;
    server.end().await;
}

#[tokio::test]
async fn work_is_handed_out_and_its_result_comes_with_the_answer() {
    let server = server().await;
    let program = Program::http(&server).await;
    let job = program.call("delegate", json!({ "prompt": "count to 7", "wait_seconds": 50 })).await;
    assert_eq!(job["state"], "completed", "{job}");
    assert!(job["result"].as_str().unwrap().contains('7'), "{job}");
    assert!(!job["result"].as_str().unwrap().contains("stop reason"), "the agent's own words: {job}");
    let heard = program.heard();
    assert!(heard.first().is_some_and(|first| first.contains(job["job_id"].as_str().unwrap())), "{heard:?}");

    // The session is one like any other.
    let session = job["session_id"].as_str().unwrap();
    let (_, row) = server.call("GET", &format!("/api/sessions/{session}"), None).await;
    assert_eq!((&row["model"], &row["agent"], &row["permission_policy"]), (&json!("relay"), &json!("demo"), &Value::Null), "{row}");
    let listed = program.call("list_sessions", json!({})).await;
    assert_eq!((&listed["sessions"][0]["session_id"], &listed["sessions"][0]["job_id"]), (&job["session_id"], &job["job_id"]), "{listed}");
    let read = program.call("read_session", json!({ "session_id": session, "limit": 2 })).await;
    assert_eq!((read["messages"].as_array().unwrap().len(), &read["more"]), (2, &json!(true)), "{read}");
    let oldest = &read["messages"][0]["id"];
    let before = program.call("read_session", json!({ "session_id": session, "before": oldest })).await;
    assert_eq!(before["messages"][0]["text"], "count to 7", "{before}");
    // Who did it stands in the audit log.
    let (_, audit) = server.call("GET", "/api/audit", None).await;
    assert!(audit.to_string().contains(&format!("MCP: job {}", job["job_id"].as_str().unwrap())), "{audit}");
    program.close().await;
    server.end().await;
}

#[tokio::test]
async fn a_session_is_gone_on_with_by_its_id_or_its_title_and_its_names_are_kept_apart() {
    let server = server().await;
    let program = Program::http(&server).await;
    let first = program.call("delegate", json!({ "prompt": "say one", "session": "Chores", "name": "docs", "wait_seconds": 50 })).await;
    assert_eq!((&first["session_title"], &first["state"]), (&json!("Chores"), &json!("completed")), "{first}");
    let by_title = json!({ "prompt": "what was my first message?", "session": "Chores", "name": "docs", "wait_seconds": 50 });
    let second = program.call("delegate", by_title).await;
    assert_eq!(second["session_id"], first["session_id"]);
    assert!(second["result"].as_str().unwrap().contains("say one"), "the same conversation: {second}");
    let by_id = json!({ "prompt": "@docs is no address here", "session": first["session_id"], "wait_seconds": 50 });
    let third = program.call("delegate", by_id).await;
    assert_eq!(third["session_id"], first["session_id"]);
    let (_, agents) = server.call("GET", &format!("/api/sessions/{}/agents", first["session_id"].as_str().unwrap()), None).await;
    let mut names: Vec<&str> = agents["agents"].as_array().unwrap().iter().map(|agent| agent["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["docs", "main"]);
    program.close().await;
    server.end().await;
}

#[tokio::test]
async fn a_call_that_is_repeated_gives_the_same_job() {
    let server = server().await;
    let program = Program::http(&server).await;
    let call = json!({ "prompt": "count to 3", "client_id": "task-1", "work_dir": ".", "wait_seconds": 50 });
    let first = program.call("delegate", call.clone()).await;
    let again = Program::http(&server).await.call("delegate", call).await;
    assert_eq!((&again["job_id"], &again["result"]), (&first["job_id"], &first["result"]));
    let titled = json!({ "prompt": "count to 3", "client_id": "task-2", "session": "T", "work_dir": ".", "wait_seconds": 50 });
    let (one, two) = (program.call("delegate", titled.clone()).await, program.call("delegate", titled).await);
    assert_eq!(one["job_id"], two["job_id"]);
    let listed = program.call("list_sessions", json!({})).await;
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 2, "{listed}");
    program.close().await;
    server.end().await;
}

#[tokio::test]
async fn what_makes_no_sense_is_refused_with_what_to_do() {
    let server = server().await;
    let program = Program::http(&server).await;
    let main = server.new_session(json!({ "title": "twin" })).await;
    server.new_session(json!({ "title": "twin" })).await;
    let (job, other) = (format!("{main}.{main}"), "0198a0de-0000-7000-8000-000000000000");
    let table = [
        ("delegate", json!({ "prompt": " " }), "the prompt is empty"),
        ("delegate", json!({}), "missing field `prompt`"),
        ("delegate", json!({ "prompt": "x", "policy": "auto" }), "unknown field `policy`"),
        ("delegate", json!({ "prompt": "x", "agent": "nobody" }), "no agent is called `nobody`: there is "),
        ("delegate", json!({ "prompt": "x", "name": "a b" }), "`name` has"),
        ("delegate", json!({ "prompt": "x", "session": "twin" }), "more than one session"),
        ("delegate", json!({ "prompt": "x", "session": other }), "session not found"),
        ("delegate", json!({ "prompt": "x", "session": main, "work_dir": "." }), "leave `work_dir` out"),
        ("delegate", json!({ "prompt": "x", "session": main, "agent": "copilot" }), "leave `agent` out"),
        ("delegate", json!({ "prompt": "x", "work_dir": "/" }), "work directory"),
        ("delegate", json!({ "prompt": "x", "client_id": "" }), "`client_id` must have"),
        ("job", json!({ "job_id": "7" }), "this is no job_id"),
        ("job", json!({ "job_id": job }), "job not found"),
        ("stop", json!({}), "say either"),
        ("stop", json!({ "session_id": main }), "nothing runs"),
        ("read_session", json!({ "session_id": other }), "session not found"),
        ("answer", json!({ "request_id": "x", "approved": true }), "nothing of that request_id waits"),
    ];
    for (tool, arguments, expected) in table {
        let why = program.refused(tool, arguments.clone()).await;
        assert!(why.contains(expected), "{tool} {arguments}: {why}");
        assert!(!why.contains(&server.rig().home().display().to_string()), "no path of the server: {why}");
    }
    assert!(program.try_call("nothing", json!({})).await.is_err());
    program.close().await;
    server.end().await;
}
