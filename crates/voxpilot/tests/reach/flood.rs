//! Strangers who open connections and send half of something.

use std::process::Stdio;

use serde_json::{Value, json};
use testkit::browser::SignedIn;
use testkit::faulty_agent;
use testkit::server::Rig;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
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

/// A link of this kind from the running server, opened.
async fn device(address: &str, kind: &str) -> SignedIn {
    let http = tls::client().no_proxy().timeout(SOON).build().unwrap();
    let link = http.post(format!("http://{address}/api/devices/link")).bearer_auth(TOKEN).json(&json!({ "kind": kind }));
    let link: Value = link.send().await.unwrap().json().await.unwrap();
    SignedIn::by_link(&http, link["url"].as_str().unwrap()).await.unwrap()
}

/// On a server with room for 50 connections from this machine.
#[tokio::test]
async fn a_read_only_device_with_many_streams_does_not_lock_the_owner_out() {
    let dir = tempfile::tempdir().unwrap();
    let (mut server, address) = with_few_files(dir.path()).await;
    let (watching, owner) = (device(&address, "read-only").await, device(&address, "full").await);
    let mut streams = Vec::new();
    for _ in 0..200 {
        let mut stream = TcpStream::connect(&address).await.unwrap();
        let request = format!(
            "GET /api/stream HTTP/1.1\r\nhost: localhost\r\ncookie: {}\r\nx-voxpilot-key: {}\r\n\r\n",
            watching.cookie, watching.key
        );
        let _closed = stream.write_all(request.as_bytes()).await;
        let mut first = [0; 12];
        // One that is refused is answered, or closed.
        let _refused = timeout(SOON, stream.read(&mut first)).await.expect("the server answers");
        streams.push(stream);
    }
    let http = tls::client().no_proxy().timeout(SOON).build().unwrap();
    for path in ["/api/sessions", "/api/stream"] {
        let url = format!("http://{address}{path}");
        assert_eq!(http.get(&url).bearer_auth(TOKEN).send().await.unwrap().status(), 200, "{path} by the token");
        assert_eq!(owner.sends(http.get(&url)).send().await.unwrap().status(), 200, "{path} by the owner's device");
    }
    drop(streams);
    server.kill().await.unwrap();
}

#[tokio::test]
async fn wrong_tokens_from_this_machine_do_not_lock_the_right_one_out() {
    let server = Rig::default().demo_agent().start().await;
    let http = tls::client().no_proxy().timeout(SOON).build().unwrap();
    let url = format!("{}/api/sessions", server.base);
    let mut refused = Vec::new();
    for number in 0..25 {
        refused.push(http.get(&url).bearer_auth(format!("a-wrong-token-{number}")).send().await.unwrap().status().as_u16());
    }
    assert!(refused.contains(&429), "who guesses is slowed: {refused:?}");
    assert_eq!(server.call("GET", "/api/sessions", None).await.0, 200);
    server.end().await;
}

/// All in one connection, as a browser or a proxy would have it.
#[tokio::test]
async fn over_http2_a_read_only_device_has_its_share_too() {
    let server = Rig::default().demo_agent().env("VOXPILOT_TLS", "self-signed").start().await;
    let http = tls::client_trusting().no_proxy().tls_danger_accept_invalid_certs(true).timeout(SOON).build().unwrap();
    let (_, link) = server.call("POST", "/api/devices/link", Some(json!({ "kind": "read-only" }))).await;
    let watching = SignedIn::by_link(&http, link["url"].as_str().unwrap()).await.unwrap();
    let (_, link) = server.call("POST", "/api/devices/link", Some(json!({}))).await;
    let owner = SignedIn::by_link(&http, link["url"].as_str().unwrap()).await.unwrap();
    let url = format!("{}/api/stream", server.base);
    let mut open = Vec::new();
    loop {
        let answer = watching.sends(http.get(&url)).send().await.unwrap();
        assert_eq!(answer.version(), reqwest::Version::HTTP_2);
        match answer.status().as_u16() {
            200 => open.push(answer),
            status => break assert_eq!(status, 429),
        }
    }
    assert_eq!(open.len(), 32);
    assert_eq!(owner.sends(http.get(&url)).send().await.unwrap().status(), 200);
    let two_hosts = owner.sends(http.get(format!("{}/api/sessions", server.base))).header("host", "evil.example");
    assert_eq!(two_hosts.send().await.unwrap().status(), 400, "the header differs from the address");
    drop(open);
    server.end().await;
}
