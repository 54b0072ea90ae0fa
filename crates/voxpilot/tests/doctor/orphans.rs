//! What a killed server and a killed runner leave.

use serde_json::json;
use testkit::processes;
use testkit::server::{Rig, Server};

use crate::{SOON, doctor, is, run, wait_for};

/// An agent whose program goes on when nobody listens to it any more.
async fn working(rig: Rig) -> Server {
    let exe = testkit::faulty_agent::voxpilot_path();
    let script = format!("'{}' demo-agent --pace fast; exec sleep 1000", exe.display());
    let server = rig.agent("clinging", "/bin/sh".as_ref(), &["-c".to_owned(), script]).start().await;
    let session = server.new_session(json!({ "permission_policy": "auto" })).await;
    let mut client = server.stream(&session, None).await;
    server.send(&session, "say hello").await;
    assert_eq!(client.turn_end(SOON).await, "completed");
    server
}

fn runners(server: &Server) -> Vec<i32> {
    let all = processes::of_dir(server.rig().home());
    all.into_iter().filter(|process| process.command.contains(" runner ")).map(|process| process.pid).collect()
}

#[tokio::test]
async fn an_agent_whose_runner_was_killed_is_named_and_ended_by_the_named_command() {
    let mut server = working(Rig::default()).await;
    server.kill().await;
    let [runner] = runners(&server)[..] else { panic!("one runner") };
    processes::signal(runner, "KILL");
    let sleeps = || processes::of_dir(server.rig().home()).iter().any(|process| process.command.starts_with("sleep 1000"));
    wait_for("the agent is alone", || runners(&server).is_empty() && sleeps()).await;

    let report = doctor(server.rig(), &["--agent", "demo"], &[]).await;
    let orphan = report.one(None, "orphans");
    is(orphan, "warn", &["was killed and its agent still runs", "agent clinging"], "voxpilot stop --all");
    let pid = processes::of_dir(server.rig().home())[0].pid.to_string();
    assert!(orphan["detail"].as_str().unwrap().contains(&pid), "{orphan}");
    report.is_complete();
    let output = run(server.rig(), &["stop", "--all"], &[]).await;
    assert!(output.status.success() && String::from_utf8_lossy(&output.stdout).contains("1 agent(s) ended"), "{output:?}");
    processes::none_left(server.rig().home(), SOON).await.unwrap();
    let report = doctor(server.rig(), &["--agent", "demo"], &[]).await;
    is(report.one(None, "orphans"), "ok", &["none"], "");
}

#[tokio::test]
async fn agents_of_a_killed_server_are_told_and_those_of_a_running_one_are_its_own_affair() {
    let mut server = working(Rig::default()).await;
    let report = doctor(server.rig(), &["--agent", "demo"], &[]).await;
    is(report.one(None, "orphans"), "ok", &["the server has 1 agent(s) running"], "");
    is(report.one(None, "server"), "ok", &["running on http://127.0.0.1:"], "");
    is(report.one(None, "database"), "ok", &["in use by a running server"], "");
    server.kill().await;
    let report = doctor(server.rig(), &["--agent", "demo"], &[]).await;
    is(report.one(None, "orphans"), "warn", &["1 agent(s) run without a server", "`voxpilot serve`"], "voxpilot stop --all");
    let output = run(server.rig(), &["stop", "--all"], &[]).await;
    assert!(output.status.success(), "{output:?}");
    processes::none_left(server.rig().home(), SOON).await.unwrap();
    let report = doctor(server.rig(), &["--agent", "demo"], &[]).await;
    is(report.one(None, "orphans"), "ok", &["none"], "");
    report.is_complete();
}
