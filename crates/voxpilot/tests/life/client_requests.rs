//! What a server does for an agent, when it is killed while it does it.

use std::time::{Duration, Instant};

use serde_json::json;
use testkit::processes;
use testkit::server::Rig;

use crate::SOON;

#[tokio::test]
async fn a_killed_server_takes_its_terminals_along_and_the_next_answers_what_is_owed() {
    let mut server = Rig::default().faulty_agent().start().await;
    let session = server.new_session(json!({ "permission_policy": "auto" })).await;
    let mut client = server.stream(&session, None).await;
    let marker = server.rig().home().join("marker").display().to_string();
    let script = format!("setsid sh -c 'sleep 1000 #{marker}' & echo running; sleep 1000 #{marker}");
    let calls = json!([
        ["terminal/create", { "command": "sh", "args": ["-c", script] }],
        ["terminal/wait_for_exit", { "terminalId": "$terminal" }],
        ["fs/write_text_file", { "path": "after.txt", "content": "done" }],
    ]);
    server.send(&session, &format!("calls {calls}")).await;
    client.until("output", SOON, |event| event.data.to_string().contains("running\\n")).await;
    let mine = || processes::of_dir(std::path::Path::new(&marker));
    assert!(!mine().is_empty(), "the command runs");
    server.kill().await;
    let deadline = Instant::now() + SOON;
    while !mine().is_empty() {
        assert!(Instant::now() < deadline, "left behind: {:?}", mine());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    server.restart().await;
    let mut client = server.stream(&session, client.seen.cursor).await.continuing(client.seen);
    assert_eq!(client.turn_end(SOON).await, "completed", "{}", client.seen.tail());
    let text = client.seen.agent_text("main");
    assert_eq!(text.lines().count(), 3, "one answer each: {text}");
    assert!(text.contains("-32002"), "{text}");
    assert_eq!(std::fs::read_to_string(server.rig().work_dir().join("after.txt")).unwrap(), "done");
    server.end().await;
}
