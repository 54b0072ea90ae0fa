//! Many readers and many sessions, on the built server. What is checked are counts, which do not depend on how busy the machine is.

#![allow(clippy::unwrap_used)]

use std::time::Duration;

use futures::future::join_all;
use serde_json::json;
use testkit::client::Client;
use testkit::counts::{open_files, thread_count};
use testkit::faulty_agent::fast_agent_path;
use testkit::server::{Rig, Server};

/// Generous: a deadline only ends a test that has failed anyway.
const SOON: Duration = Duration::from_secs(180);
const SIZE: usize = 60;

async fn server() -> Server {
    let rig = Rig::default().agent("fast", &fast_agent_path(), &[]);
    rig.env("VOXPILOT_MODEL", "relay").env("VOXPILOT_PERMISSION_POLICY", "auto").start().await
}

/// One number of `/metrics`.
async fn metric(server: &Server, name: &str) -> u64 {
    let page = server.text("GET", "/metrics").await;
    let found = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok());
    found.unwrap_or_else(|| panic!("{name} is not told:\n{page}"))
}

async fn readers(server: &Server, session: &str, count: usize) -> Vec<Client> {
    let mut readers = Vec::new();
    for _ in 0..count {
        let mut reader = server.stream(session, None).await;
        reader.until("the snapshot", SOON, |event| event.kind == "ready").await;
        readers.push(reader);
    }
    readers
}

/// Reads to the end of the turn, and gives the agent's text.
async fn text(reader: &mut Client) -> String {
    assert_eq!(reader.turn_end(SOON).await, "completed");
    reader.seen.agent_text("main")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_readers_ask_the_database_no_more_than_one() {
    const CHUNKS: usize = 2000;
    let server = server().await;
    let mut reads = Vec::new();
    for count in [1, 50] {
        let session = server.new_session(json!({ "title": "fan-out" })).await;
        // The agent is started by a turn of its own.
        let mut first = readers(&server, &session, 1).await;
        server.send(&session, "flood 1 60").await;
        text(&mut first[0]).await;
        drop(first);
        let mut readers = readers(&server, &session, count).await;
        let before = metric(&server, "voxpilot_reads_total").await;
        server.send(&session, &format!("flood {CHUNKS} {SIZE}")).await;
        let texts = join_all(readers.iter_mut().map(text)).await;
        for read in &texts {
            assert_eq!(read.len(), CHUNKS * SIZE, "every reader has everything, once");
            assert_eq!(read, &texts[0]);
        }
        reads.push(metric(&server, "voxpilot_reads_total").await - before);
    }
    assert!(reads[1] < reads[0] + 10, "with one reader and with fifty the database was read so often: {reads:?}");
    server.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_sessions_at_work_share_commits_and_take_what_they_may() {
    const SESSIONS: usize = 40;
    const CHUNKS: usize = 200;
    let server = server().await;
    let files_before = open_files(server.pid()).unwrap();
    let mut sessions = Vec::new();
    for n in 0..SESSIONS {
        let session = server.new_session(json!({ "title": format!("session {n}") })).await;
        let reader = readers(&server, &session, 1).await.pop().unwrap();
        sessions.push((session, reader));
    }
    // Quiet ones take nothing but their rows.
    for n in 0..100 {
        server.new_session(json!({ "title": format!("quiet {n}") })).await;
    }
    let begun = metric(&server, "voxpilot_sessions_in_memory").await;
    let (writes, commits) = (metric(&server, "voxpilot_writes_total").await, metric(&server, "voxpilot_commits_total").await);
    join_all(sessions.iter().map(|(session, _)| server.send(session, "paced 200 60 5000"))).await;
    let work = join_all(sessions.iter_mut().map(|(_, reader)| text(reader)));
    let (texts, (threads, files)) = tokio::join!(work, most_taken(&server, SESSIONS as u64));
    for read in texts {
        assert_eq!(read.len(), CHUNKS * SIZE, "nothing is lost and nothing comes twice");
    }
    let writes = metric(&server, "voxpilot_writes_total").await - writes;
    let commits = metric(&server, "voxpilot_commits_total").await - commits;
    assert!(commits < writes, "{writes} writes took {commits} commits");
    assert!(threads <= 80, "{threads} threads");
    // Of each session the connections of its reader and its message, two to its runner, and a few pipes while that is started.
    assert!(files <= files_before + 8 * SESSIONS + 32, "{files} files, {files_before} before");
    assert!(begun <= SESSIONS as u64, "{begun} sessions had a task before anybody spoke to them");
    server.end().await;
}

/// The most threads and open files that the server had while so many turns ran.
async fn most_taken(server: &Server, turns: u64) -> (usize, usize) {
    let (mut threads, mut files) = (0, 0);
    loop {
        let running = metric(server, "voxpilot_turns_running").await;
        (threads, files) = (threads.max(thread_count(server.pid()).unwrap()), files.max(open_files(server.pid()).unwrap()));
        if running < turns && files > 0 && metric(server, "voxpilot_turns_ended_total{ending=\"completed\"}").await > 0 {
            return (threads, files);
        }
    }
}
