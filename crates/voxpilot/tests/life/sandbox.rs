//! An agent that is held to its work directory, on the kernel that is here.

mod escapes;

use std::ffi::OsStr;
use std::fs;

use serde_json::json;
use testkit::server::Rig;

use crate::SOON;

/// What holds agents here. The runner's own tests fail where this kernel could hold one and does not.
fn mechanism() -> Option<agents::Mechanism> {
    let found = agents::Mechanism::find(&testkit::faulty_agent::voxpilot_path(), Some(OsStr::new("/usr/bin:/bin")), &[]);
    if found.is_none() {
        println!("skipped: neither Landlock nor bubblewrap works here");
    }
    found
}

fn can_hold() -> bool {
    mechanism().is_some()
}

#[tokio::test]
async fn a_sandboxed_agent_writes_in_its_work_directory_and_reads_nothing_of_ours() {
    if !can_hold() {
        return;
    }
    let server = Rig::default().demo_agent().config("sandbox = \"workdir\"\n").start().await;
    let agents = server.call("GET", "/api/agents", None).await.1;
    let demo = agents["agents"].as_array().unwrap().iter().find(|agent| agent["id"] == "demo").unwrap().clone();
    let Some(mechanism) = mechanism() else { return };
    assert_eq!(demo["sandbox"], mechanism.name());
    let open: Vec<_> = mechanism.open.iter().map(|open| open.as_str()).collect();
    assert_eq!(demo["sandbox_open"], json!(open));
    let home = server.rig().home().to_owned();
    fs::write(server.rig().data_dir().join("secret"), "the secret").unwrap();
    let session = server.new_session(json!({ "permission_policy": "auto" })).await;
    let mut client = server.stream(&session, None).await;
    let script = format!(
        "echo made > made.txt; echo x > {0}/home/outside; cat {0}/data/secret; cat {0}/home/.config/voxpilot/voxpilot.toml; ls {0}/data; true",
        home.display()
    );
    server.send(&session, &format!("run `{script}`")).await;
    assert_eq!(client.turn_end(SOON).await, "completed", "{}", client.seen.tail());
    let seen = format!("{:?}", client.seen.events.iter().map(|event| event.data.to_string()).collect::<Vec<_>>());
    assert_eq!(fs::read_to_string(server.rig().work_dir().join("made.txt")).unwrap(), "made\n", "{seen}");
    assert!(!home.join("home/outside").exists());
    assert!(seen.contains("data/secret: "), "it was tried: {seen}");
    assert!(!seen.contains("the secret") && !seen.contains("voxpilot.db"), "{seen}");
    server.end().await;
}

#[tokio::test]
async fn what_runs_for_a_sandboxed_agent_is_held_like_it() {
    if !can_hold() {
        return;
    }
    let server = Rig::default().faulty_agent().config("sandbox = \"workdir\"\n").start().await;
    let home = server.rig().home().to_owned();
    let session = server.new_session(json!({ "permission_policy": "auto" })).await;
    let mut client = server.stream(&session, None).await;
    let script = format!("echo x > inside; echo x > {0}/home/outside; cat {0}/data/*.db | head -c 9; echo end", home.display());
    let calls = json!([
        ["terminal/create", { "command": "sh", "args": ["-c", script] }],
        ["terminal/wait_for_exit", { "terminalId": "$terminal" }],
        ["terminal/output", { "terminalId": "$terminal" }],
        ["fs/write_text_file", { "path": "written", "content": "done" }],
    ]);
    server.send(&session, &format!("calls {calls}")).await;
    assert_eq!(client.turn_end(SOON).await, "completed", "{}", client.seen.tail());
    let text = client.seen.agent_text("main");
    assert!(text.contains("end") && !text.contains("SQLite"), "{text}");
    assert!(server.rig().work_dir().join("inside").exists() && server.rig().work_dir().join("written").exists(), "{text}");
    assert!(!home.join("home/outside").exists());
    server.end().await;
}
