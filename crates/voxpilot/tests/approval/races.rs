//! A sandboxed agent that exchanges names while the server reads, writes and runs for it: what the server does stays in the work
//! directory, and in what was shown.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use testkit::server::Rig;

use super::Talk;

const INSIDE: &str = "inside\n";
const SECRET: &str = "SECRET of somebody else\n";
/// What every directory holds, inside and outside.
const NAMES: [&str; 2] = ["x", "deep/x"];

/// Held where this kernel can; elsewhere the agent could do itself what it tries to have done, and the server must not do it either.
fn rig() -> Rig {
    let rig = Rig::below(Path::new(env!("CARGO_TARGET_TMPDIR"))).faulty_agent();
    let mechanism = agents::Mechanism::find(&testkit::faulty_agent::voxpilot_path(), Some(OsStr::new("/usr/bin:/bin")), &[]);
    println!("the agent is held by {:?}", mechanism.as_ref().map(agents::Mechanism::name));
    if mechanism.is_some() { rig.config("sandbox = \"workdir\"\n") } else { rig }
}

fn write_all(directory: &Path, text: &str) {
    for name in NAMES {
        fs::create_dir_all(directory.join(name).parent().unwrap()).unwrap();
        fs::write(directory.join(name), text).unwrap();
    }
}

/// The directories that the links lead to: the server's own data, and one of the person's.
fn targets(talk: &Talk) -> [PathBuf; 2] {
    [talk.server.rig().data_dir(), talk.server.rig().home().join("home/other")]
}

/// Each name that is used, and a link that takes its place again and again.
const PAIRS: [(&str, &str); 5] = [("data", "to-data"), ("other", "to-other"), ("file", "to-file"), ("note", "to-note"), ("run", "to-run")];

fn set_up(talk: &Talk) {
    let work = talk.work();
    let [data, other] = targets(talk);
    for directory in [&data, &other] {
        write_all(directory, SECRET);
    }
    for directory in ["data", "other", "run"] {
        write_all(&work.join(directory), INSIDE);
    }
    for file in ["file", "note"] {
        fs::write(work.join(file), INSIDE).unwrap();
    }
    let file = other.join("x");
    for (link, target) in [("to-data", &data), ("to-other", &other), ("to-file", &file), ("to-note", &file), ("to-run", &other)] {
        symlink(target, work.join(link)).unwrap();
    }
}

fn rounds_of(rounds: usize, calls: &[Value]) -> Value {
    json!({ "pairs": PAIRS, "rounds": rounds, "calls": calls })
}

fn files(rounds: usize) -> Value {
    let paths = ["data/x", "data/deep/x", "other/x", "file"];
    let reads = paths.map(|path| json!(["fs/read_text_file", { "path": path }]));
    let writes = ["data/x", "data/new/file", "other/deep/x", "note"];
    let writes = writes.map(|path| json!(["fs/write_text_file", { "path": path, "content": "written\n" }]));
    rounds_of(rounds, &[&reads[..], &writes].concat())
}

fn commands(rounds: usize) -> Value {
    let run = |cwd: &str| {
        let script = "cat x; touch made; pwd -P";
        [
            json!(["terminal/create", { "command": "/bin/sh", "args": ["-c", script], "cwd": cwd }]),
            json!(["terminal/wait_for_exit", { "terminalId": "$terminal" }]),
            json!(["terminal/output", { "terminalId": "$terminal" }]),
            json!(["terminal/release", { "terminalId": "$terminal" }]),
        ]
    };
    rounds_of(rounds, &[run("run"), run("data/deep")].concat())
}

/// Lets the agent race, allows whatever is asked, and gives what it got.
async fn race(talk: &mut Talk, race: &Value) -> Vec<Value> {
    let before = talk.answers().len();
    talk.server.send(&talk.session, &format!("race {race}")).await;
    while let Some(question) = talk.question().await {
        talk.answer(&question, "allow_once").await;
    }
    let answers = talk.answers().split_off(before);
    let exchanges = answers.last().and_then(|last| last["exchanges"].as_u64()).unwrap_or_default();
    assert!(exchanges > 100, "{exchanges} exchanges prove nothing: {answers:?}");
    answers
}

/// What is outside is as it was, and nothing of it was given to the agent.
fn nothing_was_reached(talk: &Talk, answers: &[Value], when: &str) {
    let leaked: Vec<&Value> = answers.iter().filter(|answer| answer.to_string().contains("SECRET")).collect();
    assert!(leaked.is_empty(), "{when}: {} of {} answers: {}", leaked.len(), answers.len(), leaked[0]);
    for target in targets(talk) {
        for name in NAMES {
            assert_eq!(fs::read_to_string(target.join(name)).unwrap(), SECRET, "{when}: {name} in {}", target.display());
        }
        for name in ["new", "made", "deep/made"] {
            assert!(!target.join(name).exists(), "{when}: {name} in {}", target.display());
        }
    }
}

fn count(answers: &[Value], fits: impl Fn(&Value) -> bool) -> usize {
    answers.iter().filter(|answer| fits(answer)).count()
}

#[tokio::test]
async fn nothing_outside_is_reached_while_a_sandboxed_agent_exchanges_names() {
    for (policy, file_rounds, command_rounds) in [("auto", 60, 12), ("ask", 12, 6)] {
        let mut talk = Talk::configured(rig(), policy).await;
        set_up(&talk);
        let mut answers = race(&mut talk, &files(file_rounds)).await;
        answers.extend(race(&mut talk, &commands(command_rounds)).await);
        nothing_was_reached(&talk, &answers, policy);
        let read = count(&answers, |answer| answer["content"].is_string());
        let ran = count(&answers, |answer| answer["output"].as_str().is_some_and(|output| output.contains("/work/")));
        let written = count(&answers, |answer| *answer == json!({}));
        let refused = count(&answers, |answer| answer["code"].is_i64());
        println!("{policy}: {read} read, {written} written or released, {ran} ran, {refused} refused");
        assert!(read > 0 && written > 0 && refused > 0, "{policy}: one side never won: {answers:?}");
        talk.server.end().await;
    }
}

#[tokio::test]
async fn deny_holds_while_a_sandboxed_agent_exchanges_names() {
    let mut talk = Talk::configured(rig(), "deny").await;
    set_up(&talk);
    let mut answers = race(&mut talk, &files(40)).await;
    answers.extend(race(&mut talk, &commands(10)).await);
    nothing_was_reached(&talk, &answers, "deny");
    // What is inside may be read, and nothing else happens.
    assert_eq!(count(&answers, |answer| answer.get("content").is_some_and(|content| content != INSIDE)), 0, "{answers:?}");
    assert_eq!(count(&answers, |answer| *answer == json!({}) || answer.get("terminalId").is_some()), 0, "{answers:?}");
    for directory in ["data", "other", "run"] {
        for name in NAMES {
            assert_eq!(fs::read_to_string(talk.work().join(directory).join(name)).unwrap(), INSIDE);
        }
        for name in ["new", "made", "deep/made"] {
            assert!(!talk.work().join(directory).join(name).exists(), "{directory}/{name}");
        }
    }
    for file in ["file", "note"] {
        assert_eq!(fs::read_to_string(talk.work().join(file)).unwrap(), INSIDE);
    }
    assert!(talk.client.seen.of_kind("permission-request").next().is_none());
    talk.server.end().await;
}
