//! What the commands say when they cannot.

use serde_json::json;
use testkit::server::Rig;

use crate::program::{run, run_with};

#[tokio::test]
async fn without_a_server_they_say_how_to_start_one() {
    let rig = Rig::default();
    for args in [vec!["sessions"], vec!["send", "--new", "hi"], vec!["attach"], vec!["approve"], vec!["export"]] {
        let ended = run_with(&rig, &args, &[], "").await;
        assert_eq!(ended.code, 1);
        assert!(ended.stderr.contains("no server runs on ") && ended.stderr.contains("voxpilot serve"), "{args:?} {ended:?}");
    }
    let ended = run_with(&rig, &["sessions", "--url", "http://127.0.0.1:1"], &[], "").await;
    assert!(ended.code == 1 && ended.stderr.contains("no server answers at http://127.0.0.1:1"), "{ended:?}");
}

#[tokio::test]
async fn a_refused_token_and_an_unknown_session_are_named() {
    let server = Rig::default().demo_agent().start().await;
    let ended = run_with(server.rig(), &["sessions", "--token", "not-the-right-one"], &[], "").await;
    assert!(ended.code == 1 && ended.stderr.contains("refused the token") && ended.stderr.contains("VOXPILOT_TOKEN"), "{ended:?}");
    assert!(!ended.stderr.contains("not-the-right-one"), "{ended:?}");

    let none = run(&server, &["attach"]).await;
    assert!(none.code == 1 && none.stderr.contains("there is no session yet"), "{none:?}");
    server.new_session(json!({ "title": "one" })).await;
    server.new_session(json!({ "title": "two" })).await;
    for args in [["attach", "zzz"].as_slice(), &["export", "zzz"], &["send", "-s", "zzz", "hi"], &["approve", "-s", "zzz"]] {
        let ended = run(&server, args).await;
        assert!(ended.code == 1 && ended.stderr.contains("no session matches zzz: `voxpilot sessions` lists them"), "{args:?} {ended:?}");
    }
    let both = run(&server, &["attach", ""]).await;
    assert!(both.code == 1 && both.stderr.contains("more than one"), "{both:?}");
    let nowhere = run(&server, &["send", "hi"]).await;
    assert!(nowhere.code == 1 && nowhere.stderr.contains("--session") && nowhere.stderr.contains("--new"), "{nowhere:?}");
    let nothing = run(&server, &["send", "--new"]).await;
    assert!(nothing.code == 1 && nothing.stderr.contains("nothing to send"), "{nothing:?}");
    let unanswered = run(&server, &["approve", "abc"]).await;
    assert!(unanswered.code == 1 && unanswered.stderr.contains("say the answer"), "{unanswered:?}");
    let unknown = run(&server, &["approve", "abc", "allow"]).await;
    assert!(unknown.code == 1 && unknown.stderr.contains("nothing pending has the id abc"), "{unknown:?}");
    server.end().await;
}
