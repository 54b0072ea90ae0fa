//! What is handed out survives whoever handed it out, and the server.

use serde_json::json;
use testkit::server::{Rig, Server};

use crate::program::{Program, server};

const HELD: &str = "run `echo yes >> made.txt`";

#[tokio::test]
async fn a_client_that_is_killed_leaves_its_job_to_whoever_has_the_id() {
    let server = server().await;
    let program = Program::stdio(&server, &[]).await;
    let job = program.call("delegate", json!({ "prompt": HELD, "wait_seconds": 50 })).await;
    assert_eq!(job["state"], "waiting", "a person is needed: {job}");
    program.kill();
    drop(program);

    let program = Program::stdio(&server, &["--answer"]).await;
    let found = program.call("job", json!({ "job_id": job["job_id"] })).await;
    assert_eq!(found["waiting"], job["waiting"], "{found}");
    program.call("answer", json!({ "request_id": found["waiting"][0]["request_id"], "approved": true })).await;
    let ended = program.end_of(&job).await;
    assert_eq!(ended["state"], "completed", "{ended}");
    assert_eq!(std::fs::read_to_string(server.rig().work_dir().join("made.txt")).unwrap(), "yes\n");
    program.close().await;
    server.end().await;
}

#[tokio::test]
async fn a_client_that_dies_while_it_waits_loses_nothing_and_its_next_life_gets_the_same_job() {
    let server = Rig::default().demo_agent().env("VOXPILOT_PERMISSION_POLICY", "auto").start().await;
    let program = Program::stdio(&server, &[]).await;
    let prompt = "run `until [ -e go ]; do sleep 0.05; done; echo went on`";
    let mut call = json!({ "prompt": prompt, "client_id": "again", "wait_seconds": 600 });
    tokio::select! {
        answer = program.try_call("delegate", call.clone()) => panic!("it is held: {answer:?}"),
        () = until_begun(&server) => program.kill(),
    }
    drop(program);
    let program = Program::stdio(&server, &[]).await;
    call["wait_seconds"] = json!(0);
    let job = program.call("delegate", call).await;
    assert_eq!(job["state"], "running", "{job}");
    let listed = program.call("list_sessions", json!({})).await;
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 1, "{listed}");
    std::fs::write(server.rig().work_dir().join("go"), "").unwrap();
    let ended = program.end_of(&job).await;
    assert_eq!(ended["state"], "completed", "{ended}");
    program.close().await;
    server.end().await;
}

async fn until_begun(server: &Server) {
    loop {
        let (_, list) = server.call("GET", "/api/sessions", None).await;
        if list["sessions"].as_array().is_some_and(|sessions| sessions.iter().any(|session| session["running"] == true)) {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_server_that_is_killed_still_has_the_job_and_its_true_end() {
    let mut server = server().await;
    let (web, command) = (Program::http(&server).await, Program::stdio(&server, &["--answer"]).await);
    let job = web.call("delegate", json!({ "prompt": HELD, "wait_seconds": 50 })).await;
    let behind = web.call("delegate", json!({ "prompt": "count to 4", "session": job["session_id"] })).await;
    assert_eq!((&job["state"], &behind["state"]), (&json!("waiting"), &json!("queued")), "{job} {behind}");
    server.kill().await;
    // The command says that there is no server, and lives.
    let gone = command.try_call("job", json!({ "job_id": job["job_id"] })).await.unwrap_err().to_string();
    assert!(gone.contains("`voxpilot serve`"), "{gone}");
    server.restart().await;

    // No client had to be started again: nothing is kept for it.
    let found = web.call("job", json!({ "job_id": job["job_id"] })).await;
    assert_eq!(found["state"], "waiting", "{found}");
    let request = &command.call("waiting", json!({})).await["waiting"][0]["request_id"];
    command.call("answer", json!({ "request_id": request, "approved": true })).await;
    let (ended, next) = (web.end_of(&job).await, command.end_of(&behind).await);
    assert_eq!((&ended["state"], &next["state"]), (&json!("completed"), &json!("completed")), "{ended} {next}");
    assert_eq!(std::fs::read_to_string(server.rig().work_dir().join("made.txt")).unwrap(), "yes\n", "once");
    web.close().await;
    command.close().await;
    server.end().await;
}

#[tokio::test]
async fn a_client_that_waits_when_the_server_is_killed_is_told_how_to_come_back() {
    let mut server = server().await;
    let command = Program::stdio(&server, &["--answer"]).await;
    let job = command.call("delegate", json!({ "prompt": HELD, "wait_seconds": 50 })).await;
    let waits = json!({ "job_id": job["job_id"], "wait_seconds": 600 });
    let (lost, ()) = tokio::join!(command.try_call("job", waits), async {
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        server.kill().await;
    });
    let lost = lost.unwrap_err().to_string();
    assert!(lost.contains("goes on when it is back") || lost.contains("`voxpilot serve`"), "{lost}");
    server.restart().await;
    let found = command.call("job", json!({ "job_id": job["job_id"] })).await;
    assert_eq!(found["state"], "waiting", "{found}");
    command.call("stop", json!({ "job_id": job["job_id"] })).await;
    assert_eq!(command.end_of(&job).await["state"], "cancelled");
    command.close().await;
    server.end().await;
}
