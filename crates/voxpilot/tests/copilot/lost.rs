//! Agent sessions whose state Copilot cannot read any more: each is replaced, said to be, and told what it was about.

use std::path::{Path, PathBuf};

use domain::host::AgentSession;
use domain::ids::SessionId;
use store::{Row, Store, Write};
use testkit::model_server::{Reply, Request, Script};

use crate::replies::delegate_all;
use crate::setup::{Setup, journal_of, kill_idle_agent, said, start, start_with};

const BANNER: &str =
    "The previous Copilot session could not be restored. A new session has been started. Your conversation history in VoxPilot is intact.";

/// What happens to a session's journal, and the code that Copilot (or its list) gives for it.
struct Damage {
    name: &'static str,
    code: i64,
    apply: fn(&Path),
}

const DAMAGES: [Damage; 5] = [
    Damage { name: "deleted", code: -32002, apply: |journal| std::fs::remove_dir_all(journal.parent().unwrap()).unwrap() },
    Damage { name: "emptied", code: -32002, apply: |journal| std::fs::write(journal, "").unwrap() },
    Damage { name: "garbled", code: -32603, apply: |journal| rewrite(journal, |lines| lines.insert(1, "this is no event".to_owned())) },
    Damage { name: "beheaded", code: -32603, apply: |journal| rewrite(journal, |lines| drop(lines.remove(0))) },
    Damage { name: "binary", code: -32603, apply: |journal| std::fs::write(journal, [0xff, 0x00, 0x9d, 0x0a, 0xfe, 0x01]).unwrap() },
];
const TORN: &str = "torn";

fn rewrite(journal: &Path, change: impl FnOnce(&mut Vec<String>)) {
    let mut lines: Vec<String> = std::fs::read_to_string(journal).unwrap().lines().map(str::to_owned).collect();
    change(&mut lines);
    std::fs::write(journal, lines.join("\n") + "\n").unwrap();
}

fn tear(journal: &Path) {
    let mut text = std::fs::read(journal).unwrap();
    text.extend_from_slice(br#"{"type":"assistant.message","data":{"content":"half of a li"#);
    std::fs::write(journal, text).unwrap();
}

fn names() -> Vec<&'static str> {
    DAMAGES.iter().map(|damage| damage.name).chain([TORN]).collect()
}

fn id_of(journal: &Path) -> String {
    journal.parent().unwrap().file_name().unwrap().to_str().unwrap().to_owned()
}

/// One answer of the main AI delegates the same request to every name at once.
async fn delegate_to_all(setup: &mut Setup, request: &str) {
    let tasks: Vec<(String, String)> = names().iter().map(|name| ((*name).to_owned(), format!("{request} of {name}"))).collect();
    setup.main([delegate_all(tasks.iter().map(|(name, prompt)| (name.as_str(), prompt.as_str()))), Reply::text("Done.")]);
    assert_eq!(setup.turn(request).await, "completed", "{}", setup.client.seen.tail());
}

fn asked<'a>(requests: &'a [Request], prompt: &str) -> Vec<&'a Request> {
    requests.iter().filter(|request| request.last_user().contains(prompt)).collect()
}

/// S2-59, S2-61: a session that Copilot does not know (-32002) or cannot read (-32603) is replaced, and said to be.
/// Holds S0-44, S0-47, S0-49, S0-50, C13, C37, C38.
#[tokio::test]
async fn every_kind_of_unreadable_state_ends_in_a_new_session_with_banner_recap_and_log_line() {
    let script = Script::new()
        .otherwise(|request| Reply::text(if request.last_user().contains("the first task") { "Half done." } else { "Going on." }));
    let mut setup = start_with(script, serde_json::json!({}), |rig| rig).await;
    delegate_to_all(&mut setup, "the first task").await;
    let journals: Vec<PathBuf> = names().iter().map(|name| journal_of(&setup, &format!("the first task of {name}")).unwrap()).collect();
    kill_idle_agent(&setup).await;
    for (damage, journal) in DAMAGES.iter().zip(&journals) {
        (damage.apply)(journal);
    }
    tear(&journals[DAMAGES.len()]);
    delegate_to_all(&mut setup, "the second task").await;

    let lost = setup.notices("session_lost");
    assert_eq!(lost.len(), DAMAGES.len(), "{lost:?}");
    let requests = setup.coder_requests();
    for (Damage { name, code, .. }, journal) in DAMAGES.iter().zip(&journals) {
        let notice = lost.iter().find(|notice| notice["session_name"] == *name).unwrap_or_else(|| panic!("no banner for {name}"));
        assert_eq!((notice["text"].as_str(), notice["title"].as_str()), (Some(BANNER), Some("Session history lost")));
        let id = id_of(journal);
        let log = setup.server.log();
        let line = log
            .lines()
            .find(|line| line.contains("could not be restored") && line.contains(&id))
            .unwrap_or_else(|| panic!("{name}: {log}"));
        assert!(line.contains(&code.to_string()), "{name}: {line}");
        recapped_once(&requests, name);
    }
    repair_is_named(&setup, &journals);
    torn_loads(&setup, &requests);
    assert_eq!(requests.len(), 2 * names().len(), "nothing is tried over and over");

    // The new sessions are sessions like any other.
    delegate_to_all(&mut setup, "the third task").await;
    assert_eq!(setup.notices("session_lost").len(), DAMAGES.len());
    let requests = setup.coder_requests();
    let third = asked(&requests, "the third task");
    assert_eq!(third.len(), names().len());
    assert!(third.iter().all(|request| said(request).contains("the second task")));
    setup.processes().native();
    setup.end().await;
}

/// The recap stands in front of the next prompt, says what was asked and what came of it, and is not the whole conversation.
fn recapped_once(requests: &[Request], name: &str) {
    let prompt = format!("the second task of {name}");
    let [request] = asked(requests, &prompt)[..] else { panic!("{name} was not asked exactly once") };
    let said = request.last_user();
    let recap = said.find("[Recap:").unwrap_or_else(|| panic!("no recap for {name}: {said}"));
    assert!(recap < said.find(&prompt).unwrap());
    assert!(said.contains(&format!("Request: the first task of {name}")) && said.contains("Half done."), "{said}");
    assert_eq!(request.roles().iter().filter(|role| **role == "user").count(), 1, "nothing else is replayed into it");
}

/// What Copilot cannot read is not lost for good, and the person is told what repairs it; what it does not have cannot be repaired.
fn repair_is_named(setup: &Setup, journals: &[PathBuf]) {
    let told = setup.notices("session_damaged");
    let unreadable: Vec<_> = DAMAGES.iter().zip(journals).filter(|(damage, _)| damage.code == -32603).collect();
    assert_eq!(told.len(), unreadable.len(), "{told:?}");
    for (damage, journal) in unreadable {
        let notice = told.iter().find(|notice| notice["session_name"] == damage.name).unwrap();
        assert!(notice["text"].as_str().unwrap().contains(&format!("`voxpilot repair {}`", id_of(journal))), "{notice}");
    }
}

/// A half-written last line is what every hard kill may leave: Copilot drops it and goes on.
fn torn_loads(setup: &Setup, requests: &[Request]) {
    let restored = setup.notices("session_restored");
    assert_eq!(restored.iter().map(|notice| notice["session_name"].as_str().unwrap()).collect::<Vec<_>>(), [TORN]);
    let [request] = asked(requests, "the second task of torn")[..] else { panic!("asked more than once") };
    assert!(!request.last_user().contains("[Recap:"));
    assert!(said(request).contains("the first task of torn") && said(request).contains("Half done."));
}

/// Holds C14.
#[tokio::test]
async fn a_session_that_was_never_prompted_is_made_anew_in_silence() {
    let mut setup = start().await;
    setup.exchange("other", "something", "Something.").await;
    setup.server.terminate().await;
    never_prompted(&setup, "quiet").await;
    setup.restart_server().await;
    setup.exchange("quiet", "the first prompt", "The first answer.").await;
    assert!(["session_lost", "session_restored"].iter().all(|code| setup.notices(code).is_empty()), "{}", setup.client.seen.tail());
    assert!(!said(setup.coder_requests().last().unwrap()).contains("[Recap:"));
    setup.end().await;
}

/// Stores what a server leaves that dies between opening a session and prompting it.
async fn never_prompted(setup: &Setup, name: &str) {
    let session: SessionId = setup.session.parse().unwrap();
    let store = Store::open(&setup.server.rig().data_dir().join("voxpilot.db"), false).await.unwrap();
    let mut row: AgentSession = store.agent_sessions(session).await.unwrap().pop().unwrap();
    row.id = uuid::Uuid::now_v7();
    row.name = name.to_owned();
    row.agent_session = uuid::Uuid::new_v4().to_string();
    row.prompted_at = None;
    store.commit(Write { session, events: vec![], rows: vec![Row::AgentSession(row)] }).await.unwrap();
    store.close().await;
}
