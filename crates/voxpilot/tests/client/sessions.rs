//! `voxpilot sessions`

use serde_json::json;
use testkit::server::Rig;

use crate::program::{run, run_with};

#[tokio::test]
async fn sessions_are_listed_for_people_and_for_programs() {
    let server = Rig::default().demo_agent().start().await;
    let empty = run(&server, &["sessions", "--format", "text"]).await;
    assert_eq!((empty.code, empty.stdout.contains("no sessions yet")), (0, true), "{empty:?}");
    let older = server.new_session(json!({ "title": "the older" })).await;
    let newer = server.new_session(json!({ "title": "the \u{1b}[31mnewer" })).await;
    let listed = run(&server, &["sessions"]).await.lines();
    assert_eq!(listed.iter().map(|session| session["id"].as_str().unwrap()).collect::<Vec<_>>(), [&newer, &older]);
    let shown = run(&server, &["sessions", "--format", "text"]).await.stdout;
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines.len() == 2 && lines[0].starts_with(&newer) && lines[1].contains("idle      the older  (relay, demo)"), "{shown}");
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
    server.end().await;
}

#[tokio::test]
async fn the_server_is_found_by_its_address_and_its_own_token() {
    let rig = Rig::default().demo_agent().env("VOXPILOT_TOKEN", "another-token-9876543210");
    let server = rig.start().await;
    let url = server.base.clone();
    let token = [("VOXPILOT_TOKEN", "another-token-9876543210")];
    for args in [vec!["sessions"], vec!["sessions", "--url", &url], vec!["sessions", "--url", &url, "--data-dir", "/nowhere"]] {
        let ended = run_with(server.rig(), &args, &token, "").await;
        assert_eq!((ended.code, ended.stdout.as_str()), (0, ""), "{args:?} {ended:?}");
    }
    let file = server.rig().data_dir().join("server.url");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), url);
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&file.metadata().unwrap().permissions()) & 0o777, 0o600);
}
