//! Stopping: with open streams, with agents that will not go, in the middle of a turn, and for good.

use std::collections::BTreeSet;
use std::fs::DirEntry;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::server::{Rig, Server};
use testkit::{faulty_agent, processes};

use crate::SOON;

async fn finished_turn(server: &Server, prompt: &str) -> String {
    let session = server.new_session(json!({ "permission_policy": "auto" })).await;
    let mut client = server.stream(&session, None).await;
    server.send(&session, prompt).await;
    assert_eq!(client.turn_end(SOON).await, "completed");
    session
}

#[tokio::test]
async fn a_stop_ends_open_streams_and_idle_agents() {
    let mut server = Rig::default().demo_agent().start().await;
    let session = finished_turn(&server, "say hello").await;
    let mut open = server.stream(&session, None).await;
    let status = server.terminate().await;
    assert_eq!(status.code(), Some(0), "{}", server.log());
    while open.next().await.is_some() {}
    processes::none_left(server.rig().home(), SOON).await.unwrap();
}

#[tokio::test]
async fn an_agent_that_ignores_every_polite_signal_is_ended() {
    let (command, args) = faulty_agent::deaf();
    let mut server = Rig::default().agent("deaf", &command, &args).start().await;
    finished_turn(&server, "ignore_sigterm").await;
    assert_eq!(server.terminate().await.code(), Some(0));
    processes::none_left(server.rig().home(), SOON).await.unwrap();
}

#[tokio::test]
async fn a_second_signal_ends_at_once() {
    let (command, args) = faulty_agent::deaf();
    let mut server = Rig::default().agent("deaf", &command, &args).start().await;
    finished_turn(&server, "ignore_sigterm").await;
    processes::signal(server.pid(), "TERM");
    wait_for(|| server.log().contains("press Ctrl-C again to force") && server.log().contains("ending an agent")).await;
    let status = server.terminate().await;
    assert_eq!(status.code(), Some(130), "{}", server.log());
    // The runner was told already, and finishes the job alone.
    processes::none_left(server.rig().home(), SOON).await.unwrap();
}

#[tokio::test]
async fn a_turn_outlives_the_server_and_stop_all_ends_everything() {
    let mut server = Rig::default().faulty_agent().start().await;
    let session = server.new_session(json!({ "permission_policy": "auto" })).await;
    let mut client = server.stream(&session, None).await;
    server.send(&session, "slow 200").await;
    client.until("delta", SOON, |event| event.kind == "copilot-delta").await;
    assert_eq!(server.terminate().await.code(), Some(0));
    let left = processes::of_dir(server.rig().home());
    assert!(left.iter().any(|process| process.command.contains(" runner ")), "{left:?}");
    server.restart().await;
    let mut client = server.stream(&session, client.seen.cursor).await.continuing(client.seen);
    client.until("more", SOON, |event| event.kind == "copilot-delta").await;
    let stop = Command::new(faulty_agent::voxpilot_path())
        .args(["stop", "--all", "--data-dir"])
        .arg(server.rig().data_dir())
        .current_dir(server.rig().work_dir())
        .output()
        .unwrap();
    assert!(stop.status.success(), "{}", String::from_utf8_lossy(&stop.stderr));
    processes::none_left(server.rig().home(), SOON).await.unwrap();
}

/// Holds S3-V3.
#[tokio::test]
async fn an_agent_that_nobody_needs_is_ended_after_its_time_to_live() {
    let server = Rig::default().demo_agent().env("COPILOT_CONNECTION_TTL", "1").start().await;
    finished_turn(&server, "say hello").await;
    wait_for(|| processes::of_dir(server.rig().home()).len() == 1).await;
    server.end().await;
}

/// Agents that were idle, working or asking for longer than one that has been ended for it in the meantime.
/// Holds C21.
#[tokio::test]
async fn keeps_an_agent_that_is_watched_working_or_asking_beyond_its_time_to_live() {
    let server = Rig::default().faulty_agent().env("COPILOT_CONNECTION_TTL", "1").start().await;
    let begin = async |prompt: &str, policy: &str, until: &str| {
        let session = server.new_session(json!({ "permission_policy": policy })).await;
        let mut client = server.stream(&session, None).await;
        server.send(&session, prompt).await;
        client.until(until, SOON, |event| event.kind == until).await;
        (session, client)
    };
    let (_, watching) = begin("say hello", "auto", "done").await;
    let (working, gone) = begin("no_answer", "auto", "tool-call").await;
    drop(gone);
    let (asking, gone) = begin("ask", "ask", "permission-request").await;
    drop(gone);
    let dir = server.rig().data_dir().join("runners");
    wait_for(|| runners_up(&dir).len() == 3).await;
    let kept = runners_up(&dir);
    // Twice the time to live of an agent that nobody needs: the first may have begun while the others were being started.
    for _ in 0..2 {
        finished_turn(&server, "say hello").await;
        wait_for(|| runners_up(&dir).is_subset(&kept)).await;
    }
    assert_eq!(runners_up(&dir), kept, "{}", server.log());
    for (session, waiting) in [(&working, 0), (&asking, 1)] {
        let (_, seen) = server.call("GET", &format!("/api/sessions/{session}"), None).await;
        assert_eq!((seen["running"].as_bool(), seen["waiting"].as_u64()), (Some(true), Some(waiting)), "{seen}");
        server.call("POST", &format!("/api/sessions/{session}/cancel"), Some(json!({}))).await;
    }
    drop(watching);
    server.end().await;
}

/// The runners that are up, by pid. A starting one is for a moment two processes, of which the first leaves.
fn runners_up(dir: &Path) -> BTreeSet<u64> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let pid = |entry: DirEntry| {
        let identity: Value = serde_json::from_slice(&std::fs::read(entry.path().join("identity.json")).ok()?).ok()?;
        identity["runner"]["pid"].as_u64()
    };
    let lives = |pid: &u64| processes::of_dir(dir).iter().any(|process| u64::try_from(process.pid) == Ok(*pid));
    entries.filter_map(pid).filter(lives).collect()
}

async fn wait_for(condition: impl Fn() -> bool) {
    let deadline = Instant::now() + SOON;
    while !condition() {
        assert!(Instant::now() < deadline, "it did not happen in time");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// At whatever moment of its start that is: what is on its way does not come up, and what is up is ended.
#[tokio::test]
async fn a_session_deleted_while_its_agent_starts_leaves_nothing_running() {
    let server = Rig::default().demo_agent().start().await;
    for step in 0..40 {
        let session = server.new_session(json!({})).await;
        server.send(&session, "count to 3").await;
        tokio::time::sleep(Duration::from_micros(500 * step)).await;
        assert_eq!(server.call("DELETE", &format!("/api/sessions/{session}"), None).await.0, 204);
    }
    let runners = server.rig().data_dir().join("runners");
    processes::none_left(&runners, SOON).await.unwrap_or_else(|left| panic!("{left:?}\n{}", server.log()));
    assert_eq!(std::fs::read_dir(&runners).unwrap().count(), 0, "and nothing on the disk");
    server.end().await;
}

/// An agent that is told "cancelled" before it hears of the stop takes it for a rejection, and works on or ends by itself.
/// Holds S2-39.
#[tokio::test]
async fn a_stop_reaches_the_agent_before_the_answer_to_what_it_asked() {
    let log = tempfile::NamedTempFile::new().unwrap();
    let server = Rig::default().faulty_agent().config(&format!("[agents.faulty.env]\nFAULTY_LOG = {:?}\n", log.path())).start().await;
    let session = server.new_session(json!({ "permission_policy": "ask" })).await;
    let mut client = server.stream(&session, None).await;
    for _ in 0..40 {
        server.send(&session, "ask3").await;
        client.until("a question", SOON, |event| event.kind == "permission-request").await;
        assert_eq!(server.call("POST", &format!("/api/sessions/{session}/cancel"), Some(json!({}))).await.0, 202);
        client.turn_end(SOON).await;
    }
    server.end().await;
    let heard = std::fs::read_to_string(log.path()).unwrap();
    let heard: Vec<Value> = heard.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    // Answers to what a turn before asked may come late; none to what this turn asked comes early.
    let (mut stops, mut answers) = (0, 0);
    for line in &heard {
        match line["method"].as_str() {
            Some("session/cancel") => stops += 1,
            None => answers += 1,
            Some(_) => {}
        }
        assert!(answers <= 3 * stops, "{answers} answers and {stops} stops: {line}");
    }
    assert_eq!(stops, 40);
}
