//! Which session a change is credited with, where several work in one directory: real git, real commands.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::changes::{changes, counted, git, meanwhile, names, repository};
use crate::rig::{Rig, SOON};

async fn demo(rig: &Rig, policy: &str) -> String {
    rig.session_with(json!({ "model": "relay", "agent": "demo", "permission_policy": policy })).await
}

async fn run(rig: &Rig, session: &str, command: &str) {
    let (state, client) = rig.turn(session, &format!("run `{command}`")).await;
    assert_eq!(state, "completed", "{}", client.seen.tail());
}

fn write(work: &Path, path: &str) {
    std::fs::write(work.join(path), "by hand\n").unwrap();
}

/// What changed in the session, as its own and meanwhile.
async fn of(rig: &Rig, session: &str, query: &str) -> (Vec<String>, Vec<String>) {
    let changes = changes(rig, session, query).await;
    let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
    (owned(names(&changes)), owned(meanwhile(&changes)))
}

fn parts(own: &[&str], meanwhile: &[&str]) -> (Vec<String>, Vec<String>) {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    (owned(own), owned(meanwhile))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_wrote_nothing_is_not_credited_with_what_another_one_wrote_while_it_waited() {
    let rig = Rig::replies([]).await;
    let work = repository(&rig);
    let (waiting, writing) = (demo(&rig, "ask").await, demo(&rig, "auto").await);
    let mut client = rig.watch(&waiting).await;
    rig.say(&waiting, "run `echo one`").await;
    let asked = client.until("the question", SOON, |event| event.kind == "permission-request").await;
    // Longer than the slack on both sides of a window.
    tokio::time::sleep(Duration::from_millis(150)).await;
    run(&rig, &writing, "echo two > two.txt").await;
    write(&work, "hand.txt");
    tokio::time::sleep(Duration::from_millis(150)).await;
    let path = format!("/api/sessions/{waiting}/permissions/{}", asked.data["request_id"].as_str().unwrap());
    assert!(rig.post(&path, json!({ "option_id": "allow_once" })).await.status < 300);
    assert_eq!(client.turn_end(SOON).await, "completed", "{}", client.seen.tail());

    counted(&rig, &waiting, json!({ "files": 0, "additions": 0, "deletions": 0 })).await;
    let told = changes(&rig, &waiting, "since=turn").await;
    assert_eq!((names(&told), meanwhile(&told)), (vec![], vec!["hand.txt", "two.txt"]));
    assert_eq!((&told["total_files"], &told["total_additions"]), (&json!(0), &json!(0)));
    assert_eq!(told["meanwhile"][1]["hunks"], json!([]));
    let by = |at: usize| told["meanwhile"][at]["by"].as_array().unwrap().iter().map(|session| session["id"].clone()).collect::<Vec<_>>();
    assert_eq!((by(0), by(1)), (vec![], vec![json!(writing)]), "who wrote it is named where that is known");
    let lines = rig.get(&format!("/api/sessions/{waiting}/changes/file?since=turn&path=two.txt")).await.json();
    assert_eq!(lines["hunks"][0]["lines"][0]["text"], "two", "the lines may be asked for");
    assert_eq!(of(&rig, &writing, "since=session").await, parts(&["two.txt"], &["hand.txt"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_two_sessions_wrote_is_credited_to_both() {
    let rig = Rig::replies([]).await;
    let work = repository(&rig);
    let (first, second) = (demo(&rig, "auto").await, demo(&rig, "auto").await);
    run(&rig, &first, "echo one >> both.txt").await;
    counted(&rig, &first, json!({ "files": 1, "additions": 1, "deletions": 0 })).await;
    tokio::time::sleep(Duration::from_millis(150)).await;
    let (state, _) = rig.turn(&second, "append two to both.txt").await;
    assert_eq!(state, "completed");
    assert_eq!(of(&rig, &first, "since=session").await, parts(&["both.txt"], &[]));
    assert_eq!(of(&rig, &second, "since=turn").await, parts(&["both.txt"], &[]));
    assert_eq!(std::fs::read_to_string(work.join("both.txt")).unwrap().lines().count(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_session_reports_to_have_written_during_a_command_is_its_own() {
    let rig = Rig::replies([]).await;
    let work = repository(&rig);
    let (running, editing) = (demo(&rig, "auto").await, demo(&rig, "auto").await);
    let mut client = rig.watch(&running).await;
    rig.say(&running, "run `echo begun > begun.txt; until test -e edited.txt; do sleep 0.05; done; sleep 0.3`").await;
    while !work.join("begun.txt").exists() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(rig.turn(&editing, "create edited.txt with hello").await.0, "completed");
    assert_eq!(of(&rig, &running, "since=turn").await, parts(&["begun.txt"], &["edited.txt"]), "also while it runs");
    assert_eq!(client.turn_end(SOON).await, "completed");
    assert_eq!(of(&rig, &running, "since=turn").await, parts(&["begun.txt"], &["edited.txt"]));
    assert_eq!(of(&rig, &editing, "since=turn").await.0, ["edited.txt"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_are_credited_with_what_they_delete_move_and_commit() {
    let rig = Rig::replies([]).await;
    let work = repository(&rig);
    for name in ["deleted", "moved"] {
        std::fs::create_dir(work.join(name)).unwrap();
        std::fs::write(work.join(name).join("file"), format!("{name}\n").repeat(20)).unwrap();
    }
    git(&work, &["add", "."]);
    git(&work, &["commit", "-qm", "more"]);
    let session = demo(&rig, "auto").await;
    run(&rig, &session, "rm -r deleted; mv moved elsewhere; echo x > committed; git add -A; git commit -qm work").await;
    tokio::time::sleep(Duration::from_millis(150)).await;
    write(&work, "hand.txt");
    assert_eq!(of(&rig, &session, "since=turn").await, parts(&["committed", "deleted/file", "elsewhere/file"], &["hand.txt"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_command_wrote_stays_credited_when_it_is_changed_by_hand_before_the_turn_ends() {
    let rig = Rig::replies([]).await;
    let work = repository(&rig);
    let session = demo(&rig, "ask").await;
    let mut client = rig.watch(&session).await;
    rig.say(&session, "run `echo one > one.txt`\nrun `echo two > two.txt`").await;
    let answer = async |request: &Value| {
        let path = format!("/api/sessions/{session}/permissions/{}", request["request_id"].as_str().unwrap());
        assert!(rig.post(&path, json!({ "option_id": "allow_once" })).await.status < 300);
    };
    let first = client.until("a question", SOON, |event| event.kind == "permission-request").await;
    answer(&first.data).await;
    let second = client.until("the next question", SOON, |event| event.kind == "permission-request").await;
    // The look that follows the command has seen the file when the session has a credit for it.
    let store = rig.engine.store();
    let credits = async || store.credits(session.parse().unwrap(), None).await.unwrap();
    while credits().await.is_empty() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    tokio::time::sleep(Duration::from_millis(150)).await;
    write(&work, "one.txt");
    write(&work, "hand.txt");
    tokio::time::sleep(Duration::from_millis(150)).await;
    answer(&second.data).await;
    assert_eq!(client.turn_end(SOON).await, "completed");
    assert_eq!(of(&rig, &session, "since=turn").await, parts(&["one.txt", "two.txt"], &["hand.txt"]));

    let path = format!("/api/sessions/{session}/changes");
    let committed = rig.post(&format!("{path}/commit"), json!({ "message": "Only its own" })).await;
    assert_eq!(committed.status, 200, "{}", committed.text);
    assert_eq!(git(&work, &["show", "--name-only", "--format=", "HEAD"]), "one.txt\ntwo.txt\n");
    assert_eq!(of(&rig, &session, "since=head").await, parts(&[], &["hand.txt", "mine"]));
    write(&work, "two.txt");
    assert_eq!(of(&rig, &session, "since=head").await, parts(&[], &["hand.txt", "mine", "two.txt"]), "what it wrote is committed");
    assert_eq!(of(&rig, &session, "since=turn").await.0, ["one.txt", "two.txt"]);
}
