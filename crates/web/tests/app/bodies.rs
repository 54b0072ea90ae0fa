//! What people, devices and programs may send in the body of a request.

use std::io;
use std::time::Duration;

use futures::future::select_all;
use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use web::Limits;

use crate::browser::Browser;
use crate::rig::{Options, Rig, SOON, TOKEN, answer};

const KIB: usize = 1024;
const LOOK: Duration = Duration::from_millis(20);

/// A connection that has sent this.
async fn saying(rig: &Rig, head: &str, body: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(rig.base.trim_start_matches("http://")).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    // One that was refused already cannot be written to any more.
    let _refused = stream.write_all(body).await;
    stream
}

async fn status(mut stream: TcpStream) -> String {
    timeout(SOON, first_status(&mut stream)).await.expect("the server answers").unwrap()
}

async fn first_status(stream: &mut TcpStream) -> io::Result<String> {
    let mut said = [0; 12];
    stream.read_exact(&mut said).await?;
    Ok(String::from_utf8_lossy(&said[9..]).into_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stranger_may_send_four_kilobytes() {
    let rig = Rig::replies([]).await;
    let login = |body: String| {
        answer(rig.http.post(format!("{}/login", rig.base)).header("content-type", "application/x-www-form-urlencoded").body(body))
    };
    assert_eq!(login(format!("code={}", "x".repeat(5 * KIB))).await.status, 413);
    assert_eq!(login(format!("token={TOKEN}&code={}", " ".repeat(3 * KIB))).await.status, 200, "and no less");
    // What comes in pieces, and what says that it will be long, is not waited for.
    let head = "POST /login HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-www-form-urlencoded\r\n";
    let long = saying(&rig, &format!("{head}content-length: 2000000\r\n\r\n"), &vec![b'x'; 5 * KIB]).await;
    assert_eq!(status(long).await, "413");
    let piece = format!("1400\r\n{}\r\n", "x".repeat(5 * KIB));
    let pieces = saying(&rig, &format!("{head}transfer-encoding: chunked\r\n\r\n"), piece.as_bytes()).await;
    assert_eq!(status(pieces).await, "413");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_that_only_looks_may_send_little() {
    let rig = Rig::replies([]).await;
    let browser = Browser::sign_in(&rig, "read-only").await;
    let long = json!({ "endpoint": format!("https://example.org/{}", "x".repeat(20 * KIB)) });
    browser.send(Method::PUT, "/api/push", Some(long)).await.refuses(413, "too_large");
    browser.send(Method::POST, "/api/devices/key", Some(json!({ "key": "x".repeat(20 * KIB) }))).await.refuses(413, "too_large");
    assert_eq!(browser.get("/api/sessions").await.status, 200);
}

/// Half-sent bodies of the owner's programs: beyond what all may hold the next is refused, and when they are gone there is room again.
#[tokio::test(flavor = "multi_thread")]
async fn bodies_have_a_bound_together_and_give_back_what_they_held() {
    let limits = Limits { bodies: 1024 * KIB, bodies_of_delegators: 512 * KIB, ..Limits::default() };
    let rig = Rig::start(Options { limits, ..Options::default() }).await;
    let half = |path: &str| {
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {TOKEN}\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\ncontent-length: 1000000\r\n\r\n"
        );
        let rig = &rig;
        async move { saying(rig, &head, &vec![b' '; 300 * KIB]).await }
    };
    let mut waiting = Vec::new();
    for _ in 0..4 {
        waiting.push(half("/api/sessions").await);
    }
    // Whichever arrives last is too much. A connection that breaks while it is still written to may lose its answer.
    let refused = timeout(SOON, async {
        loop {
            let answers = waiting.iter_mut().map(|stream| Box::pin(first_status(stream)));
            let (answer, place, others) = select_all(answers).await;
            drop(others);
            match answer {
                Ok(status) => return status,
                Err(_) => waiting[place] = half("/api/sessions").await,
            }
        }
    });
    assert_eq!(refused.await.expect("one is refused"), "429");
    // Programs that hand out work have a share of their own, and take nothing of the owner's.
    assert_eq!(rig.get("/api/sessions").await.status, 200);
    drop(waiting);
    let again = async {
        while rig.post("/api/sessions", json!({ "title": "t" })).await.status != 201 {
            tokio::time::sleep(LOOK).await;
        }
    };
    timeout(SOON, again).await.expect("there is room again");
    let programs = [half("/mcp").await, half("/mcp").await, half("/mcp").await];
    assert_eq!(rig.post("/api/sessions", json!({ "title": "u" })).await.status, 201);
    drop(programs);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_of_mcp_has_few_values() {
    let rig = Rig::replies([]).await;
    let call = |arguments: serde_json::Value| {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "sessions", "arguments": arguments } });
        let request = rig.http.post(format!("{}/mcp", rig.base)).bearer_auth(TOKEN).header("accept", "application/json, text/event-stream");
        answer(request.json(&body))
    };
    call(json!({ "x": vec![1; 20_000] })).await.refuses(413, "too_large");
    call(json!({ "$serde_json::private::RawValue": "[1,1]" })).await.refuses(413, "too_large");
    assert_eq!(call(json!({})).await.status, 200);
}
