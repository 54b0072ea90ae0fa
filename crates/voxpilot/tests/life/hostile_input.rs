//! Everything that a peer can send too much of, against the built server under one memory limit. It must survive all of it, in one life.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::join_all;
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use serde_json::json;
use testkit::processes;
use testkit::server::{Rig, Server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::SOON;

/// What may ever be resident. A server at rest takes about 40 MiB.
const MAX_RESIDENT_MIB: u64 = 256;
/// What the kernel gives it at most, the stacks of its threads included: beyond it an allocation fails, and the server with it.
const MAX_DATA_MIB: u64 = 512;
const MIB: u64 = 1024 * 1024;
/// Far more than any bound.
const FLOOD_BYTES: u64 = 300 * MIB;

/// What the faulty agent is asked for.
const AGENT: &[&str] = &[
    "oversize input numbers 5000000",
    "oversize input numbers 10000000",
    "oversize input numbers 15000000",
    "oversize output objects 10000000",
    "oversize output lists 15000000",
    "oversize input strings 10000000",
    "oversize input nulls 10000000",
    "oversize input pairs 15000000",
    "oversize input nests 10000000",
    "oversize input deep 10000000",
    "oversize input keys 15000000",
    "oversize call_meta pairs 10000000",
    "oversize content parts 15000000",
    "oversize content diffs 15000000",
    "oversize text_content text 15000000",
    "oversize diff text 15000000",
    "oversize locations locations 10000000",
    "oversize title text 15000000",
    "oversize chunk text 15000000",
    "oversize chunk escapes 15000000",
    "oversize thought surrogates 15000000",
    "oversize chunk_meta numbers 10000000",
    "oversize block text 15000000",
    "oversize plan steps 10000000",
    "oversize commands commands 10000000",
    "oversize options settings 10000000",
    "oversize cost keys 10000000",
    "oversize session_title text 15000000",
    "oversize unknown floats 10000000",
    "oversize notification numbers 15000000",
    "oversize nowhere numbers 15000000",
    "oversize permission numbers 10000000",
    "oversize permission text 15000000",
    "oversize permission_options options 10000000",
    "oversize write text 15000000",
    "oversize terminal words 10000000",
    "oversize form keys 10000000",
    "oversize request pairs 10000000",
    "oversize answer numbers 15000000",
    "oversize error numbers 15000000",
    "oversize batch numbers 15000000",
    "oversize batch messages 15000000",
    "big-line 100",
    "bad-lines 2000 words",
    "deep-json",
    "unknown-sessions",
    "output-deltas 20",
    "stderr-flood 20",
];

/// What the model's endpoint answers: a head, a beginning, and then one piece over and over. `PAD` stands for a thousand lists.
const MODEL: &[(&str, &str, &str)] = &[
    ("400 Bad Request", "", "no, "),
    ("401 Unauthorized\r\ncontent-type: application/json", "", "[1,1,1,"),
    ("404 Not Found\r\ncontent-type: application/json", r#"{"error":{"message":"no such model","more":["#, "1,"),
    ("422 Unprocessable Entity\r\ncontent-encoding: gzip", "\u{1f}", "\0"),
    ("400 Bad Request\r\ntransfer-encoding: chunked", "", "10\r\n0123456789abcdef\r\n"),
    (EVENTS, "", "x"),
    (EVENTS, "data: {\"choices\":[", "1,"),
    (EVENTS, "data: {\"choices\":[", "{\"\":0},"),
    (EVENTS, "data: {\"$serde_json::private::RawValue\":\"[", "1,"),
    (EVENTS, "data: ", "[[[["),
    (EVENTS, "data: [", "data: 1,\n"),
    (EVENTS, ": a comment ", "so long "),
    (EVENTS, "", ": PAD\n\n"),
    (EVENTS, "", "data: {\"choices\":[{\"delta\":{\"content\":\"PAD\"}}]}\n\n"),
    (EVENTS, "", "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"PAD\"}}]}\n\n"),
    (
        EVENTS,
        "",
        "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"function\":{\"name\":\"delegate\",\"arguments\":\"[0],PAD\"}}]}}]}\n\n",
    ),
    (
        EVENTS,
        "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":4000000000,\"function\":{\"arguments\":\"{}\"}}]}}]}\n\n",
        ": on\n\n",
    ),
];

/// Its list of models.
const LISTS: &[(&str, &str)] = &[("[", "1,"), (r#"{"data":["#, r#"{"id":"m"},"#), (r#"{"data":""#, "x"), ("", " ")];

/// Bodies that are posted: the path, what it begins with, the piece, and how many bytes of it.
const BODIES: &[(&str, &str, &str, usize)] = &[
    ("/mcp", "[", "1,", 2_000_000),
    ("/mcp", r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["#, "{},", 2_000_000),
    ("/mcp", "", "[", 2_000_000),
    ("/mcp", r#"{"a":""#, "x", 50_000_000),
    ("/api/sessions", r#"{"title":["#, "1,", 2_000_000),
    ("/api/sessions", "", "[", 2_000_000),
    ("/api/sessions", r#"{"title":""#, "x", 50_000_000),
    ("/api/devices/link", r#"{"kind":["#, "{},", 2_000_000),
];

/// Heads of requests of which strangers send half of the body, many at once.
const HALF_SENT: &[&str] = &[
    "POST /login HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2000000\r\n\r\ncode=",
    "POST /login HTTP/1.1\r\nhost: localhost\r\ncontent-length: 4000\r\n\r\ncode=",
    "POST /login HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n100000\r\n",
    "POST /api/sessions HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2000000\r\n\r\n{",
    "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2000000\r\n\r\n{",
];

const EVENTS: &str = "200 OK\r\ncontent-type: text/event-stream";

/// An endpoint that answers everything with the flood that it was told last.
struct Endpoint {
    base_url: String,
    flood: Arc<Mutex<(String, String)>>,
    _serving: JoinSet<()>,
}

impl Endpoint {
    async fn start() -> Endpoint {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let flood = Arc::<Mutex<(String, String)>>::default();
        let told = flood.clone();
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let flood = told.lock().unwrap().clone();
                // Whoever has had enough hangs up.
                let _hung_up = pour(stream, flood).await;
            }
        });
        Endpoint { base_url, flood, _serving: serving }
    }

    fn tell(&self, head: &str, beginning: &str, piece: &str) {
        let piece = piece.replace("PAD", &"[0],".repeat(1000));
        let piece = piece.repeat((64 * 1024 / piece.len()).max(1));
        *self.flood.lock().unwrap() = (format!("HTTP/1.1 {head}\r\n\r\n{beginning}"), piece);
    }
}

async fn pour(mut stream: TcpStream, (beginning, piece): (String, String)) -> std::io::Result<()> {
    let mut request = vec![0; 64 * 1024];
    let _read = stream.read(&mut request).await?;
    stream.write_all(beginning.as_bytes()).await?;
    for _ in 0..FLOOD_BYTES / piece.len() as u64 {
        stream.write_all(piece.as_bytes()).await?;
    }
    Ok(())
}

async fn start(endpoint: &Endpoint) -> Server {
    let server = Rig::default().model(&endpoint.base_url).faulty_agent().start().await;
    let limit = Rlimit { current: Some(MAX_DATA_MIB * MIB), maximum: Some(MAX_DATA_MIB * MIB) };
    prlimit(Pid::from_raw(server.pid()), Resource::Data, limit).unwrap();
    server
}

/// The server still answers, and has never held more than its limit. Says how much that was.
async fn survives(server: &Server, what: &str) -> u64 {
    let answer = server.try_call("GET", "/api/health", None).await;
    assert!(matches!(answer, Ok((200, _))), "after {what}: {answer:?}\n{}", server.log());
    let peak_mib = processes::peak_kib(server.pid()).unwrap() / 1024;
    assert!(peak_mib < MAX_RESIDENT_MIB, "{what} cost {peak_mib} MiB");
    peak_mib
}

async fn turn(server: &Server, model: &str, prompt: &str) {
    let session = server.new_session(json!({ "model": model, "permission_policy": "auto" })).await;
    let mut client = server.stream(&session, None).await;
    server.send(&session, prompt).await;
    let ended = timeout(2 * SOON, client.turn_end(4 * SOON)).await;
    assert!(ended.is_ok(), "the turn does not end: {prompt}\n{}", server.log());
    drop(client);
    // Its agent ends with it.
    server.call("DELETE", &format!("/api/sessions/{session}"), None).await;
}

/// Half of many requests at once, all of them held until the server was looked at.
async fn send_halves(server: &Server, head: &str) -> Vec<TcpStream> {
    let address = server.base.trim_start_matches("http://");
    let half = format!("{head}{}", "x".repeat(1_000_000));
    let send = async || {
        let mut stream = TcpStream::connect(address).await.unwrap();
        // One that is refused is not read to its end.
        let _refused = timeout(Duration::from_secs(2), stream.write_all(half.as_bytes())).await;
        stream
    };
    join_all((0..300).map(|_| send())).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_under_one_memory_limit_survives_everything_that_peers_send() {
    let endpoint = Endpoint::start().await;
    let server = start(&endpoint).await;
    let mut peaks = vec![("a start".to_owned(), survives(&server, "a start").await)];
    for prompt in AGENT {
        turn(&server, "relay", prompt).await;
        peaks.push(((*prompt).to_owned(), survives(&server, prompt).await));
    }
    for (head, beginning, piece) in MODEL {
        endpoint.tell(head, beginning, piece);
        turn(&server, "main", "hi").await;
        let what = format!("{head}: {beginning}{piece:.40}");
        peaks.push((what.clone(), survives(&server, &what).await));
    }
    for (path, beginning, piece, bytes) in BODIES {
        let body = format!("{beginning}{}", piece.repeat(bytes / piece.len()));
        let http = tls::client().no_proxy().build().unwrap();
        let request = http.post(format!("{}{path}", server.base)).bearer_auth(server.token()).header("content-type", "application/json");
        // One that is refused before it was read may end as a broken connection.
        let _refused = request.header("accept", "application/json, text/event-stream").body(body).send().await;
        let what = format!("{path} {beginning}{piece}");
        peaks.push((what.clone(), survives(&server, &what).await));
    }
    for head in HALF_SENT {
        let halves = send_halves(&server, head).await;
        peaks.push(((*head).to_owned(), survives(&server, head).await));
        drop(halves);
    }
    peaks.dedup_by_key(|(_, mib)| *mib);
    println!("{peaks:#?}");
    server.end().await;
}

/// Each with a server of its own: a list that failed is not asked for again so soon.
#[tokio::test(flavor = "multi_thread")]
async fn a_list_of_models_without_end_costs_a_server_little() {
    for (beginning, piece) in LISTS {
        let endpoint = Endpoint::start().await;
        let server = start(&endpoint).await;
        endpoint.tell("200 OK\r\ncontent-type: application/json", beginning, piece);
        let lists = join_all((0..20).map(|_| server.call("GET", "/api/models", None))).await;
        assert!(lists.iter().all(|(status, list)| *status == 200 && list["error"].is_string()), "{lists:?}");
        survives(&server, &format!("a list of {beginning}{piece}")).await;
        server.end().await;
    }
}
