//! Endpoints that send without end: what is read of each kind of answer has a bound.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use model::Fault;
use testkit::model_server::{ModelServer, Reply};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::asking::{ask_model, impatient_model, model, says, settings};

const PATIENCE: Duration = Duration::from_secs(60);
const MIB: u64 = 1024 * 1024;
/// What may lie in sockets and buffers on the way: what was sent was not necessarily read.
const UNDERWAY: u64 = 24 * MIB;
const EVENTS: &str = "200 OK\r\ncontent-type: text/event-stream";

/// An endpoint that answers everything with a head, a beginning, and then one piece over and over again for as long as it is read.
struct Flood {
    base_url: String,
    sent: Arc<AtomicU64>,
    asked: Arc<AtomicU64>,
    _serving: JoinSet<()>,
}

impl Flood {
    async fn start(head: &str, beginning: &str, piece: &str) -> Flood {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let (sent, asked) = (Arc::<AtomicU64>::default(), Arc::<AtomicU64>::default());
        let beginning = format!("HTTP/1.1 {head}\r\n\r\n{beginning}");
        let piece = piece.repeat((64 * 1024 / piece.len()).max(1));
        let mut serving = JoinSet::new();
        let (counted, times) = (sent.clone(), asked.clone());
        serving.spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                times.fetch_add(1, Ordering::Relaxed);
                let mut request = [0; 16 * 1024];
                let _read = stream.read(&mut request).await;
                if stream.write_all(beginning.as_bytes()).await.is_err() {
                    continue;
                }
                // Far more than any bound.
                while counted.load(Ordering::Relaxed) < 400 * MIB && stream.write_all(piece.as_bytes()).await.is_ok() {
                    counted.fetch_add(piece.len() as u64, Ordering::Relaxed);
                }
            }
        });
        Flood { base_url, sent, asked, _serving: serving }
    }

    async fn fault(&self) -> Fault {
        ask_model(&model(settings(&self.base_url)), says("hi")).await.fault().clone()
    }

    fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_without_end_is_read_up_to_its_sentence() {
    for (status, beginning, piece) in [
        ("400 Bad Request", "", "no, "),
        ("401 Unauthorized", "", "[1,1,1,"),
        ("404 Not Found", r#"{"error":{"message":"no such model","more":["#, "1,"),
        ("422 Unprocessable Entity", "", "\u{e4}"),
    ] {
        let flood = Flood::start(&format!("{status}\r\ncontent-type: application/json"), beginning, piece).await;
        let fault = flood.fault().await;
        assert!(matches!(fault, Fault::BadRequest { .. } | Fault::Unauthorized { .. }), "{status}: {fault:?}");
        assert!(fault.to_string().len() < 600, "{fault}");
        assert!(flood.sent() < UNDERWAY, "{status}: {} bytes were taken", flood.sent());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_fails_at_length_is_asked_again_and_read_as_little_each_time() {
    let flood = Flood::start("503 Service Unavailable\r\ncontent-type: text/plain", "", "down ").await;
    let fault = flood.fault().await;
    assert!(matches!(fault, Fault::Unavailable { status: Some(503), .. }), "{fault:?}");
    let tries = flood.asked.load(Ordering::Relaxed);
    assert!(tries > 1 && flood.sent() < tries * UNDERWAY, "{tries} tries, {} bytes", flood.sent());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_of_models_without_end_is_not_read() {
    for (beginning, piece) in [("[", "1,"), (r#"{"data":["#, r#"{"id":"m"},"#), (r#"{"data":""#, "x"), ("", " ")] {
        let flood = Flood::start("200 OK\r\ncontent-type: application/json", beginning, piece).await;
        let listed = model(settings(&flood.base_url)).names(PATIENCE).await;
        assert!(
            matches!(&listed, Err(Fault::Malformed { detail, .. }) if detail == "its list of models is too long"),
            "{piece}: {listed:?}"
        );
        assert!(flood.sent() < UNDERWAY, "{piece}: {} bytes were taken", flood.sent());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_without_end_is_broken_off_and_not_asked_for_again() {
    for (beginning, piece) in [
        ("", "x"),
        ("data: {\"choices\":[", "1,"),
        ("data: {\"choices\":[{\"delta\":{\"content\":\"", "word, "),
        ("data: {\"$serde_json::private::RawValue\":\"[", "1,"),
        ("data: ", "[[[["),
        (": a comment ", "so long "),
    ] {
        let flood = Flood::start(EVENTS, beginning, piece).await;
        let fault = flood.fault().await;
        assert!(matches!(fault, Fault::TooLong { .. }), "{piece}: {fault:?}");
        assert!(flood.sent() < UNDERWAY, "{piece}: {} bytes were taken", flood.sent());
        assert_eq!(flood.asked.load(Ordering::Relaxed), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn events_without_end_are_broken_off() {
    let choice = |delta: String| format!("data: {{\"choices\":[{{\"delta\":{delta}}}]}}\n\n");
    let long = "x".repeat(60_000);
    let begun = choice(r#"{"tool_calls":[{"index":0,"id":"c","function":{"name":"copilot_agent","arguments":""}}]}"#.to_owned());
    for (what, beginning, piece) in [
        ("arguments", begun, choice(format!(r#"{{"tool_calls":[{{"index":0,"function":{{"arguments":"{long}"}}}}]}}"#))),
        ("text", String::new(), choice(format!(r#"{{"content":"{long}"}}"#))),
        ("reasoning", String::new(), choice(format!(r#"{{"reasoning_content":"{long}"}}"#))),
    ] {
        let flood = Flood::start(EVENTS, &beginning, &piece).await;
        let fault = flood.fault().await;
        assert!(matches!(fault, Fault::TooLong { .. }), "{what}: {fault:?}");
        assert!(flood.sent() < UNDERWAY, "{what}: {} bytes were taken", flood.sent());
    }
    let flood = Flood::start(EVENTS, "", ": so it goes\n\n").await;
    let fault = flood.fault().await;
    assert!(matches!(fault, Fault::TooLong { most_mib: 128, .. }), "comments: {fault:?}");
}

/// The library makes room for all calls before that one.
#[tokio::test]
async fn a_call_far_behind_the_others_is_refused() {
    let call = r#"{"choices":[{"delta":{"tool_calls":[{"index":4000000000,"function":{"arguments":"{}"}}]}}]}"#;
    let server = ModelServer::start([Reply::new().and_raw(call)]);
    let heard = ask_model(&model(settings(&server.base_url())), says("hi")).await;
    assert!(matches!(heard.fault(), Fault::TooLong { .. }), "{:?}", heard.fault());
    assert_eq!(server.requests().len(), 1);
}

/// Bytes that come are a sign of life, also where they make no whole event for longer than a stall may take.
#[tokio::test]
async fn an_event_that_comes_slowly_is_no_stall() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
    let mut serving = JoinSet::new();
    serving.spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = [0; 16 * 1024];
        let _read = stream.read(&mut request).await.unwrap();
        stream.write_all(format!("HTTP/1.1 {EVENTS}\r\n\r\n").as_bytes()).await.unwrap();
        let event = b"data: {\"choices\":[{\"delta\":{\"content\":\"slow\"}}]}";
        let mut pause = tokio::time::interval(Duration::from_millis(50));
        for byte in event {
            pause.tick().await;
            stream.write_all(&[*byte]).await.unwrap();
        }
        stream.write_all(b"\n\ndata: [DONE]\n\n").await.unwrap();
    });
    let heard = ask_model(&impatient_model(settings(&base_url)), says("hi")).await;
    assert_eq!(heard.completion().text, "slow");
}
