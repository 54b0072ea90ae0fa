//! More than one directory in which sessions may work.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};
use testkit::server::Rig;

use crate::SOON;

#[tokio::test]
async fn a_session_works_in_any_directory_that_was_allowed_and_in_no_other() {
    let rig = Rig::default().demo_agent();
    let (allowed, other) = (rig.home().join("allowed"), rig.home().join("other"));
    for dir in [allowed.join("deep"), other.clone()] {
        fs::create_dir_all(dir).unwrap();
    }
    symlink(&other, allowed.join("out")).unwrap();
    let server = rig.env("VOXPILOT_WORK_DIRS", allowed.to_str().unwrap()).start().await;
    for refused in [other.clone(), allowed.join("out"), allowed.join("../other")] {
        let (status, answer) = server.call("POST", "/api/sessions", Some(json!({ "work_dir": refused }))).await;
        assert_eq!(status, 422, "{refused:?}: {answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains("VOXPILOT_WORK_DIRS"), "{answer}");
    }
    let session = server.new_session(json!({ "work_dir": allowed.join("deep"), "permission_policy": "auto" })).await;
    let mut client = server.stream(&session, None).await;
    server.send(&session, "run `touch made`").await;
    assert_eq!(client.turn_end(SOON).await, "completed", "{}", client.seen.tail());
    assert!(allowed.join("deep/made").exists());

    let (_, listed) = server.call("POST", "/api/conversations", Some(json!({ "agents": ["demo"] }))).await;
    let directories: Vec<&Value> = listed["directories"].as_array().unwrap().iter().map(|directory| &directory["work_dir"]).collect();
    assert_eq!(directories, [&json!(allowed.join("deep").canonicalize().unwrap())], "{listed:#}");
    server.end().await;
}
