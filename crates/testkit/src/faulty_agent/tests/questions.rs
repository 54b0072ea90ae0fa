//! What it does with the answers to its questions.

use serde_json::{Value, json};

use super::{Agent, path};

/// Answers the next question, and gives the id under which it was asked.
fn answer(agent: &mut Agent, option: &str) -> Value {
    loop {
        let message = agent.message();
        if message["method"] == "session/request_permission" {
            let result = json!({ "outcome": { "outcome": "selected", "optionId": option } });
            agent.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }));
            return message["id"].clone();
        }
    }
}

#[test]
fn one_id_is_used_again_and_only_what_is_allowed_is_run() {
    let dir = tempfile::tempdir().unwrap();
    let args = ["-c".to_owned(), format!("cd {}; exec {}", dir.path().display(), path().display())];
    let mut agent = Agent::start_with("/bin/sh".as_ref(), &args, &[]);
    agent.make_session();
    let mut ids = Vec::new();
    for options in [["no", "yes"], ["yes", "no"]] {
        let prompt = agent.start_prompt("reuse-id");
        ids.extend(options.map(|option| answer(&mut agent, option)));
        agent.finish(prompt);
    }
    assert!(ids.len() == 4 && ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    assert_eq!(std::fs::read_to_string(dir.path().join("ran.txt")).unwrap(), "2\n3\n");
}

#[test]
fn a_rejection_ends_the_turn_in_one_way_or_the_other() {
    let mut agent = Agent::with_session();
    let prompt = agent.start_prompt("cancelled-after-rejection");
    answer(&mut agent, "no");
    assert_eq!(agent.finish(prompt).1["result"]["stopReason"], "cancelled");
    let prompt = agent.start_prompt("rejected-then-done");
    answer(&mut agent, "no");
    let (said, ended) = agent.finish(prompt);
    assert_eq!((said.as_str(), &ended["result"]["stopReason"]), ("Then I leave it as it is.", &json!("end_turn")));
}

#[test]
fn large_files_are_asked_for_and_nothing_is_read_before_the_marker() {
    let dir = tempfile::tempdir().unwrap();
    let marker = dir.path().join("marker");
    let mut agent = Agent::with_session();
    let prompt = agent.start_prompt(&format!("big-reads /large {}", marker.display()));
    let mut requests = Vec::new();
    while requests.len() < 60 {
        let message = agent.message();
        requests.extend((message["method"] == "fs/read_text_file").then(|| message["id"].clone()));
    }
    std::fs::write(&marker, "").unwrap();
    for id in requests {
        agent.send(&json!({ "jsonrpc": "2.0", "id": id, "result": { "content": "x" } }));
    }
    assert!(agent.finish(prompt).0.ends_with("answers 60 results 60"));
}
