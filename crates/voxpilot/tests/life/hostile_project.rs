//! A project that was made to do harm to whoever opens it.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::json;
use testkit::model_server::{ModelServer, Reply, Script};
use testkit::server::Rig;

use crate::SOON;

/// What the scripted model was sent, all of it, when a person said hello.
async fn what_the_model_sees(prepare: impl FnOnce(&Rig)) -> String {
    let model = ModelServer::start(Script::replies([Reply::text("hello")]));
    let rig = Rig::default().demo_agent().model(&model.base_url());
    prepare(&rig);
    let server = rig.start().await;
    let session = server.new_session(json!({})).await;
    let mut client = server.stream(&session, None).await;
    server.send(&session, "hello").await;
    assert_eq!(client.turn_end(SOON).await, "completed", "{}", client.seen.tail());
    server.end().await;
    model.requests().iter().map(|request| format!("{request:?}")).collect()
}

#[tokio::test]
async fn instructions_that_lead_out_of_the_project_are_not_sent() {
    let seen = what_the_model_sees(|rig| {
        fs::create_dir_all(rig.home().join("home/.ssh")).unwrap();
        fs::write(rig.home().join("home/.ssh/id"), "the private key").unwrap();
        symlink(rig.home().join("home/.ssh/id"), rig.work_dir().join("VOXPILOT.md")).unwrap();
        fs::write(rig.work_dir().join("AGENTS.md"), "the honest instructions").unwrap();
    })
    .await;
    assert!(seen.contains("the honest instructions") && !seen.contains("the private key"));
}

#[tokio::test]
async fn instructions_without_an_end_are_not_waited_for() {
    let seen = what_the_model_sees(|rig| {
        symlink("/dev/zero", rig.work_dir().join("VOXPILOT.md")).unwrap();
        assert!(Command::new("mkfifo").arg(rig.work_dir().join("AGENTS.md")).status().unwrap().success());
    })
    .await;
    assert!(!seen.contains("project's own instructions"));
    let seen = what_the_model_sees(|rig| {
        let file = fs::File::create(rig.work_dir().join("AGENTS.md")).unwrap();
        file.set_len(1 << 30).unwrap();
    })
    .await;
    assert!(seen.contains("(cut: the file is longer)") && seen.len() < 1024 * 1024, "{}", seen.len());
}

#[tokio::test]
async fn looking_at_a_repository_runs_nothing_of_it() {
    let look = ["git_diff", "git_show"].map(|tool| Reply::tool_call(tool, json!({ "commit": "HEAD" })));
    let model = ModelServer::start(Script::replies(look.into_iter().chain([Reply::text("done")])));
    let rig = Rig::default().demo_agent().model(&model.base_url());
    let (work, mark) = (rig.work_dir(), rig.home().join("ran"));
    let git = |arguments: &[&str]| {
        let settings = ["-c", "user.name=T", "-c", "user.email=t@example.org"];
        assert!(Command::new("git").args(settings).args(arguments).current_dir(&work).status().unwrap().success(), "{arguments:?}");
    };
    git(&["init", "--quiet"]);
    fs::write(work.join("a"), "1\n").unwrap();
    fs::write(work.join(".gitattributes"), "a filter=evil diff=evil\n").unwrap();
    git(&["add", "--all"]);
    git(&["commit", "--quiet", "-m", "first"]);
    fs::write(work.join("a"), "2\n").unwrap();
    let payload = format!("touch {}", mark.display());
    for key in ["filter.evil.clean", "filter.evil.process", "diff.evil.textconv", "diff.external", "core.fsmonitor"] {
        git(&["config", key, &payload]);
    }
    let _ = fs::remove_file(&mark);
    let server = rig.start().await;
    let session = server.new_session(json!({})).await;
    let mut client = server.stream(&session, None).await;
    server.send(&session, "look").await;
    assert_eq!(client.turn_end(SOON).await, "completed", "{}", client.seen.tail());
    let results: Vec<_> = client.seen.of_kind("tool-result").map(|event| event.data["content"].to_string()).collect();
    assert!(results.len() == 2 && results[0].contains("-1\\n+2"), "{results:?}");
    assert!(!mark.exists());
    server.end().await;
}
