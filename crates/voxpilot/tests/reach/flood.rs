//! Strangers who open connections and send half of something.

use std::process::Stdio;

use serde_json::json;
use testkit::faulty_agent;
use testkit::server::Rig;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::SOON;

const TOKEN: &str = "test-token-0123456789";

/// Six hundred connections: half of them with half a head, half of them with half a body.
async fn half_sent(address: &str) -> Vec<TcpStream> {
    let mut streams = Vec::new();
    for number in 0..600 {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let half = match number % 2 {
            0 => &b"POST /login HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\ncode="[..],
            _ => b"GET / HTTP/1.1\r\nhost: local",
        };
        // One that has made room already cannot be written to any more.
        let _closed = stream.write_all(half).await;
        streams.push(stream);
    }
    streams
}

#[tokio::test]
async fn three_hundred_half_sent_requests_do_not_lock_the_owner_out() {
    let server = Rig::default().demo_agent().start().await;
    let session = server.new_session(json!({ "permission_policy": "auto" })).await;
    let mut watching = server.stream(&session, None).await;
    let half_sent = half_sent(server.base.trim_start_matches("http://")).await;
    server.send(&session, "say hello").await;
    assert_eq!(watching.turn_end(SOON).await, "completed");
    let (status, _) = server.call("GET", "/api/sessions", None).await;
    assert_eq!(status, 200);
    drop(half_sent);
    server.end().await;
}

/// A server that may open 200 files, and its address.
async fn with_few_files(dir: &std::path::Path) -> (Child, String) {
    let work = dir.join("work");
    std::fs::create_dir(&work).unwrap();
    let mut server = Command::new("/bin/sh")
        .args(["-c", "ulimit -S -n 200 && ulimit -H -n 200 && exec \"$0\" serve --bind 127.0.0.1:0"])
        .arg(faulty_agent::voxpilot_path())
        .env_clear()
        .env("HOME", dir)
        .env("VOXPILOT_DATA_DIR", dir.join("data"))
        .env("VOXPILOT_AGENT", "demo")
        .env("VOXPILOT_TOKEN", TOKEN)
        .current_dir(work)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let first = timeout(SOON, lines.next_line()).await.expect("the server starts").unwrap().unwrap();
    (server, first.strip_prefix("listening on http://").unwrap().to_owned())
}

#[tokio::test]
async fn with_few_files_to_open_the_owner_is_not_locked_out_either() {
    let dir = tempfile::tempdir().unwrap();
    let (mut server, address) = with_few_files(dir.path()).await;
    let half_sent = half_sent(&address).await;
    let http = tls::client().no_proxy().timeout(SOON).build().unwrap();
    let answer = http.get(format!("http://{address}/api/sessions")).bearer_auth(TOKEN).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    drop(half_sent);
    server.kill().await.unwrap();
}
