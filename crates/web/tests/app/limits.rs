//! What one peer may take of the server. Each row of `docs/LIMITS.md` that is about connections and requests has its test here.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;
use testkit::client::Client;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use web::Limits;

use crate::browser::Browser;
use crate::rig::{Options, Rig, SOON, TOKEN, answer};

/// Soon over, and yet longer than a busy machine needs to send a few bytes to itself.
const SHORT: Duration = Duration::from_millis(500);

async fn limited(limits: Limits) -> Rig {
    Rig::start(Options { limits, ..Options::default() }).await
}

async fn connect(rig: &Rig) -> TcpStream {
    TcpStream::connect(rig.base.trim_start_matches("http://")).await.unwrap()
}

/// A connection that has sent this.
async fn saying(rig: &Rig, text: &str) -> TcpStream {
    let mut stream = connect(rig).await;
    stream.write_all(text.as_bytes()).await.unwrap();
    stream
}

/// Everything that the server says before it closes.
async fn until_closed(stream: &mut TcpStream) -> String {
    let mut said = Vec::new();
    // One that is closed with something unread is reset, which is an end too.
    let _reset = timeout(SOON, stream.read_to_end(&mut said)).await.expect("the server closes the connection");
    String::from_utf8(said).unwrap()
}

/// One response, of a server that keeps the connection.
async fn response(stream: &mut TcpStream, ends: &str) -> String {
    let mut said = String::new();
    let mut buffer = [0; 4096];
    while !said.ends_with(ends) {
        let count = timeout(SOON, stream.read(&mut buffer)).await.expect("the server answers").unwrap();
        assert_ne!(count, 0, "closed after {said}");
        said.push_str(std::str::from_utf8(&buffer[..count]).unwrap());
    }
    said
}

const HEALTH: &str = "GET /api/health HTTP/1.1\r\nhost: localhost\r\n\r\n";

#[tokio::test(flavor = "multi_thread")]
async fn half_a_head_is_not_waited_for() {
    let rig = limited(Limits { header_timeout: SHORT, idle_timeout: SOON * 10, ..Limits::default() }).await;
    for half in ["", "G", "GET /api/health HTTP/1.1\r\nhost: local"] {
        assert_eq!(until_closed(&mut saying(&rig, half).await).await, "", "after {half:?}");
    }
    // The second request of a connection is held to the same.
    let mut stream = saying(&rig, HEALTH).await;
    response(&mut stream, "}").await;
    stream.write_all(b"GET /api").await.unwrap();
    assert_eq!(until_closed(&mut stream).await, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_connection_is_closed_and_an_open_stream_is_not_idle() {
    let rig = limited(Limits { idle_timeout: SHORT, ..Limits::default() }).await;
    let session = rig.relay().await;
    let mut watching = rig.watch(&session).await;
    let mut idle = saying(&rig, HEALTH).await;
    response(&mut idle, "}").await;
    assert_eq!(until_closed(&mut idle).await, "");
    rig.say(&session, "say still here").await;
    assert_eq!(watching.turn_end(SOON).await, "completed");
}

#[tokio::test(flavor = "multi_thread")]
async fn beyond_its_share_an_address_loses_what_has_waited_longest() {
    let rig = limited(Limits { connections_of_loopback: 4, ..Limits::default() }).await;
    let mut first = saying(&rig, "GET / HT").await;
    let _more = [saying(&rig, "GET / HT").await, saying(&rig, "GET / HT").await, saying(&rig, "GET / HT").await];
    assert_eq!(rig.get("/api/sessions").await.status, 200);
    assert_eq!(until_closed(&mut first).await, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn where_every_connection_is_at_work_another_is_closed_at_once_and_the_others_go_on() {
    // A proxy may take the whole.
    let limits = Limits { connections: 3, ..Limits::default() };
    let trusted_proxies = vec![("127.0.0.1".parse().unwrap(), 32)];
    let rig = Rig::start(Options { limits, trusted_proxies, ..Options::default() }).await;
    let session = rig.relay().await;
    let mut streams = [rig.watch(&session).await, rig.watch(&session).await];
    // The last place is taken by whoever comes, one after the other.
    rig.say(&session, "say hello").await;
    let third = rig.watch(&session).await;
    assert_eq!(until_closed(&mut saying(&rig, HEALTH).await).await, "");
    for stream in &mut streams {
        assert_eq!(stream.turn_end(SOON).await, "completed");
    }
    drop(third);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let rig = limited(Limits { body_timeout: SHORT, upload_timeout: SHORT, ..Limits::default() }).await;
    let session = rig.session().await;
    for path in ["/api/sessions".to_owned(), format!("/api/sessions/{session}/messages")] {
        let head =
            format!("POST {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {TOKEN}\r\ncontent-type: application/json\r\n");
        let mut stream = saying(&rig, &format!("{head}content-length: 100\r\n\r\n{{")).await;
        let said = until_closed(&mut stream).await;
        assert!(said.starts_with("HTTP/1.1 408 ") && said.contains("too_slow"), "{path}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_peer_that_takes_nothing_of_its_answers_is_cut_off() {
    let rig = limited(Limits { send_timeout: SHORT, ..Limits::default() }).await;
    let request = format!("GET /api/openapi.json HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {TOKEN}\r\n\r\n");
    let mut stream = connect(&rig).await;
    // It asks and asks and never reads, until the server has had enough.
    let asking = async { while stream.write_all(request.as_bytes()).await.is_ok() {} };
    timeout(SOON, asking).await.expect("the server closes the connection");
    assert_eq!(rig.get("/api/sessions").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_and_headers_have_a_length() {
    let rig = Rig::replies([]).await;
    let get = |path: &str| rig.http.get(format!("{}{path}", rig.base)).bearer_auth(TOKEN);
    answer(get(&format!("/api/sessions?x={}", "a".repeat(9000)))).await.refuses(414, "too_large");
    answer(get("/api/sessions").header("x-long", "a".repeat(17_000))).await.refuses(431, "too_large");
    let many = (0..70).fold(get("/api/sessions"), |request, number| request.header(format!("x-{number}"), "a"));
    answer(many).await.refuses(431, "too_large");
    let fits = (0..40).fold(get("/api/sessions"), |request, number| request.header(format!("x-{number}"), "a".repeat(200)));
    assert_eq!(answer(fits).await.status, 200);
    // What is far too long is not even read to its end.
    let said = until_closed(&mut saying(&rig, &format!("GET / HTTP/1.1\r\nhost: localhost\r\nx: {}", "a".repeat(80_000))).await).await;
    assert!(said.starts_with("HTTP/1.1 431 "), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_has_a_size() {
    let rig = Rig::replies([]).await;
    let large = "a".repeat(3 * 1024 * 1024);
    rig.post("/api/sessions", json!({ "title": large })).await.refuses(413, "too_large");
}

async fn stream_from(rig: &Rig, session: &str, address: &str) -> reqwest::Response {
    let request = rig.http.get(format!("{}/api/sessions/{session}/stream", rig.base)).bearer_auth(TOKEN);
    timeout(SOON, request.header("x-forwarded-for", address).send()).await.unwrap().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn event_streams_are_counted_in_all_and_given_back() {
    let rig = limited(Limits { streams: 2, ..Limits::default() }).await;
    let session = rig.session().await;
    let (one, two) = (rig.watch(&session).await, rig.watch(&session).await);
    let path = format!("/api/sessions/{session}/stream");
    let refused = rig.get(&path).await;
    refused.refuses(429, "too_many");
    assert!(refused.headers.contains_key("retry-after"));
    assert_eq!(rig.get("/api/sessions").await.status, 200);
    drop(one);
    let again = async {
        loop {
            if let Ok(client) = Client::open(&rig.http, &rig.base, TOKEN, &session, None).await {
                return client;
            }
        }
    };
    let again = timeout(SOON, again).await.expect("a place is given back");
    drop((two, again));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_address_has_its_share_of_requests_and_streams_also_behind_a_proxy() {
    let limits = Limits { streams_per_address: 1, requests_per_address: 2, ..Limits::default() };
    let trusted_proxies = vec![("127.0.0.1".parse().unwrap(), 32)];
    let rig = Rig::start(Options { limits, trusted_proxies, ..Options::default() }).await;
    let session = rig.session().await;
    let (greedy, other) = ("203.0.113.5", "203.0.113.6");
    let first = stream_from(&rig, &session, greedy).await;
    assert_eq!(first.status(), 200);
    assert_eq!(stream_from(&rig, &session, greedy).await.status(), 429);
    // Its second request waits for a body that does not come; a third is too many.
    let waiting = || {
        let post = rig.http.post(format!("{}/api/sessions", rig.base)).bearer_auth(TOKEN).header("x-forwarded-for", greedy);
        let nothing = futures::stream::pending::<Result<Vec<u8>, std::io::Error>>();
        post.header("content-type", "application/json").body(reqwest::Body::wrap_stream(nothing)).send()
    };
    let mut tasks = tokio::task::JoinSet::new();
    let refused = async {
        loop {
            // One that was sent on a connection that was just being closed cannot be sent again by the client.
            if tasks.is_empty() || tasks.try_join_next().is_some() {
                tasks.spawn(waiting());
            }
            let list = rig.http.get(format!("{}/api/sessions", rig.base)).bearer_auth(TOKEN).header("x-forwarded-for", greedy);
            if answer(list).await.status == 429 {
                return;
            }
        }
    };
    timeout(SOON, refused).await.expect("the share is used up");
    assert_eq!(stream_from(&rig, &session, other).await.status(), 200);
    assert_eq!(rig.send(Method::GET, "/api/sessions", None).await.status, 200);
    drop(first);
}

/// Opens streams of a browser until the server refuses one.
async fn streams_until_refused(browser: &Browser<'_>, session: &str) -> Vec<reqwest::Response> {
    let mut open = Vec::new();
    loop {
        let request = browser.request(Method::GET, &format!("/api/sessions/{session}/stream"));
        let answer = timeout(SOON, request.send()).await.unwrap().unwrap();
        if answer.status() == 429 {
            return open;
        }
        assert_eq!(answer.status(), 200);
        open.push(answer);
        assert!(open.len() < 100, "nobody is refused");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_only_device_has_its_share_and_leaves_the_rest_to_the_owner() {
    let limits = Limits { streams: 6, streams_per_device: 3, streams_restricted: 4, requests_per_device: 5, ..Limits::default() };
    // Everybody comes from one address: on this machine, and behind a proxy.
    for trusted_proxies in [vec![], vec![("127.0.0.1".parse().unwrap(), 32)]] {
        let limits = Limits { streams_per_address: 1, requests_per_address: 2, ..limits.clone() };
        let rig = Rig::start(Options { limits, trusted_proxies, ..Options::default() }).await;
        let session = rig.session().await;
        let (first, second) = (Browser::sign_in(&rig, "read-only").await, Browser::sign_in(&rig, "read-only").await);
        let owner = Browser::sign_in(&rig, "full").await;
        let of_first = streams_until_refused(&first, &session).await;
        assert_eq!(of_first.len(), 3, "its own share");
        let of_second = streams_until_refused(&second, &session).await;
        assert_eq!(of_second.len(), 1, "the share of all who may only watch");
        assert_eq!(first.get("/api/sessions").await.status, 200, "it can still read");
        let of_owner = owner.stream(&session).await;
        assert_eq!(rig.get("/api/sessions").await.status, 200);
        let of_token = rig.watch(&session).await;
        drop((of_first, of_second, of_owner, of_token));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_is_signed_in_is_served_at_an_address_that_strangers_have_used_up() {
    let limits = Limits { requests_per_address: 2, ..Limits::default() };
    let trusted_proxies = vec![("127.0.0.1".parse().unwrap(), 32)];
    let rig = Rig::start(Options { limits, trusted_proxies, ..Options::default() }).await;
    let owner = Browser::sign_in(&rig, "full").await;
    let half =
        "POST /login HTTP/1.1\r\nhost: localhost\r\nx-forwarded-for: 203.0.113.5\r\ncontent-type: application/x-www-form-urlencoded\r\n";
    let half = format!("{half}content-length: 9\r\n\r\ncode");
    let _half_sent = [saying(&rig, &half).await, saying(&rig, &half).await];
    let from_there = |request: reqwest::RequestBuilder| answer(request.header("x-forwarded-for", "203.0.113.5"));
    let stranger = async { while from_there(rig.http.get(format!("{}/login", rig.base))).await.status != 429 {} };
    timeout(SOON, stranger).await.expect("strangers there have to wait");
    assert_eq!(from_there(owner.request(Method::GET, "/api/sessions")).await.status, 200);
    assert_eq!(from_there(rig.http.get(format!("{}/api/sessions", rig.base)).bearer_auth(TOKEN)).await.status, 200);
    let wrong = from_there(rig.http.get(format!("{}/api/sessions", rig.base)).bearer_auth("a-wrong-token-0123456789")).await;
    wrong.refuses(429, "too_many");
}

/// A job that is waited for is a request at work for as long as ten minutes.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_waits_for_many_jobs_leaves_room_for_the_owner() {
    let limits = Limits { requests_per_device: 2, ..Limits::default() };
    let rig = limited(limits).await;
    let agent = web::token_for_agents(TOKEN);
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {agent}\r\naccept: application/json, text/event-stream\r\n"
    );
    let half = format!("{head}content-type: application/json\r\ncontent-length: 100\r\n\r\n{{");
    // Two of them wait for the rest of their body; the third is refused, whichever that is.
    let [mut first, mut second, mut third] = [saying(&rig, &half).await, saying(&rig, &half).await, saying(&rig, &half).await];
    let mut answers = [[0; 12]; 3];
    let [a, b, c] = &mut answers;
    let refused = async {
        tokio::select! {
            read = first.read_exact(a) => read,
            read = second.read_exact(b) => read,
            read = third.read_exact(c) => read,
        }
    };
    timeout(SOON, refused).await.expect("agents have their share").unwrap();
    assert!(answers.contains(b"HTTP/1.1 429"), "{answers:?}");
    assert_eq!(rig.get("/api/sessions").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_names_two_hosts_is_refused() {
    let rig = Rig::replies([]).await;
    for head in [
        "GET /api/health HTTP/1.1\r\nhost: localhost\r\nhost: localhost\r\n",
        "GET /api/health HTTP/1.1\r\nhost: localhost\r\nhost: evil.example\r\n",
        "GET /api/health HTTP/1.1\r\nhost: evil.example\r\nhost: localhost\r\n",
        "GET http://evil.example/api/health HTTP/1.1\r\nhost: localhost\r\n",
        "GET http://localhost/api/health HTTP/1.1\r\nhost: evil.example\r\n",
        "GET http://localhost:1/api/health HTTP/1.1\r\nhost: localhost\r\n",
        "GET http://x@localhost/api/health HTTP/1.1\r\nhost: localhost\r\n",
    ] {
        let said = until_closed(&mut saying(&rig, &format!("{head}\r\n")).await).await;
        assert!(said.starts_with("HTTP/1.1 400 "), "{head}: {said}");
    }
    for head in [
        "GET http://localhost/api/health HTTP/1.1\r\nhost: localhost\r\n",
        "GET http://localhost:80/api/health HTTP/1.1\r\nhost: LOCALHOST\r\n",
    ] {
        let said = response(&mut saying(&rig, &format!("{head}\r\n")).await, "}").await;
        assert!(said.starts_with("HTTP/1.1 200 "), "{head}: {said}");
    }
}
