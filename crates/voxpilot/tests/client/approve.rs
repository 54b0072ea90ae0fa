//! `voxpilot approve`

use serde_json::json;
use testkit::model_server::{ModelServer, Reply, Script};
use testkit::server::{Rig, Server};

use crate::SOON;
use crate::program::{on_terminal, run};

async fn asking() -> (Server, String) {
    let server = Rig::default().demo_agent().start().await;
    let session = server.new_session(json!({ "permission_policy": "ask", "title": "x" })).await;
    (server, session)
}

#[tokio::test]
async fn what_waits_is_listed_and_answered_by_its_kind() {
    let (server, session) = asking().await;
    let nothing = run(&server, &["approve", "--format", "text"]).await;
    assert_eq!((nothing.code, nothing.stdout.as_str()), (0, "nothing is pending\n"), "{nothing:?}");
    let mut client = server.stream(&session, None).await;
    server.send(&session, "run `echo yes > made.txt`").await;
    client.until("the question", SOON, |event| event.kind == "permission-request").await;

    let listed = run(&server, &["approve"]).await.lines();
    assert_eq!(
        (listed.len(), &listed[0]["session_id"], &listed[0]["data"]["command"]),
        (1, &json!(session), &json!("echo yes > made.txt"))
    );
    let shown = run(&server, &["approve", "--format", "text", "-s", &session]).await.stdout;
    assert!(shown.contains("    echo yes > made.txt\n") && shown.contains("1) "), "{shown}");
    let id = listed[0]["data"]["request_id"].as_str().unwrap();
    let wrong = run(&server, &["approve", id, "perhaps"]).await;
    assert!(wrong.code == 1 && wrong.stderr.contains("`perhaps` is not offered: there is "), "{wrong:?}");
    assert!(!server.rig().work_dir().join("made.txt").exists());

    let answered = run(&server, &["approve", &id[..8], "allow"]).await;
    assert_eq!(answered.code, 0, "{answered:?}");
    assert_eq!(client.turn_end(SOON).await, "completed");
    assert_eq!(std::fs::read_to_string(server.rig().work_dir().join("made.txt")).unwrap(), "yes\n");
    let resolved = client.seen.of_kind("permission-resolved").next().unwrap();
    assert_eq!(resolved.data["option_id"], answered.lines()[0]["answer"]);
    let again = run(&server, &["approve", id, "allow"]).await;
    assert!(again.code == 1 && again.stderr.contains("nothing pending"), "{again:?}");
    server.end().await;
}

#[tokio::test]
async fn a_rejected_command_does_not_run_also_after_a_restart() {
    let (mut server, session) = asking().await;
    let mut client = server.stream(&session, None).await;
    server.send(&session, "run `echo yes > made.txt`").await;
    client.until("the question", SOON, |event| event.kind == "permission-request").await;
    server.kill().await;
    server.restart().await;
    let id = run(&server, &["approve"]).await.lines()[0]["data"]["request_id"].as_str().unwrap().to_owned();
    let answered = run(&server, &["approve", &id, "reject"]).await;
    assert_eq!(answered.code, 0, "{answered:?}");
    let mut client = server.stream(&session, client.seen.cursor).await;
    client.turn_end(SOON).await;
    assert!(!server.rig().work_dir().join("made.txt").exists());
    server.end().await;
}

#[tokio::test]
async fn a_tool_of_the_main_ai_is_confirmed_in_the_same_way() {
    let model = ModelServer::start(Script::new());
    model.push("main", Reply::tool_call("read_file_external", json!({ "path": "/etc/hostname" })));
    model.push("main", Reply::text("Read."));
    let server = Rig::default().model(&model.base_url()).demo_agent().start().await;
    let session = server.new_session(json!({ "title": "x" })).await;
    let mut client = server.stream(&session, None).await;
    server.send(&session, "read it").await;
    client.until("the question", SOON, |event| event.kind == "tool-confirm").await;
    let listed = run(&server, &["approve"]).await.lines();
    assert_eq!(listed[0]["event"], "tool-confirm");
    let answered = run(&server, &["approve", listed[0]["data"]["id"].as_str().unwrap(), "reject"]).await;
    assert_eq!(answered.code, 0, "{answered:?}");
    assert_eq!(client.turn_end(SOON).await, "completed");
    assert!(client.seen.of_kind("tool-result").next().unwrap().data["is_error"].as_bool().unwrap());
    server.end().await;
}

#[tokio::test]
async fn on_a_terminal_a_person_is_asked() {
    let (server, session) = asking().await;
    let mut client = server.stream(&session, None).await;
    server.send(&session, "run `echo yes > made.txt`").await;
    client.until("the question", SOON, |event| event.kind == "permission-request").await;
    let left = on_terminal(&server, &["approve"], "\n").await;
    assert!(left.contains("echo yes > made.txt") && left.contains("1) Allow ["), "{left}");
    assert!(!left.contains("answered"), "Enter leaves it: {left}");
    let answered = on_terminal(&server, &["approve"], "9\n1\n").await;
    assert!(answered.contains("there is no such number") && answered.contains("answered"), "{answered}");
    assert_eq!(client.turn_end(SOON).await, "completed");
    assert_eq!(std::fs::read_to_string(server.rig().work_dir().join("made.txt")).unwrap(), "yes\n");
    server.end().await;
}
