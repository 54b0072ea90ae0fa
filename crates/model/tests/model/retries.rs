//! What is tried again, how often, and with which pauses.

use model::{Event, Fault};
use testkit::model_server::{ModelServer, Reply};

use crate::asking::{ask, says};

#[tokio::test]
async fn retry_after_is_honoured() {
    let limited = Reply::status(429).header("Retry-After", "1");
    let server = ModelServer::start([limited, Reply::text("there you are")]);
    let heard = ask(&server, says("hi")).await;
    assert_eq!(heard.completion().text, "there you are");
    assert_eq!(heard.pauses_ms(), [1000]);
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0].body, requests[1].body);
}

#[tokio::test]
async fn a_rate_limit_that_stays_ends_after_four_tries() {
    let server = ModelServer::start([429, 429, 429, 429, 429].map(Reply::status));
    let heard = ask(&server, says("hi")).await;
    assert!(matches!(heard.fault(), Fault::RateLimited { retry_after_s: None, .. }));
    assert_eq!(heard.pauses_ms().len(), 3);
    assert_eq!(server.requests().len(), 4);
}

#[tokio::test]
async fn a_failing_endpoint_is_tried_again() {
    for status in [500, 502, 503, 529] {
        let server = ModelServer::start([Reply::status(status), Reply::text("better")]);
        let heard = ask(&server, says("hi")).await;
        assert_eq!(heard.completion().text, "better");
        let Event::Retrying { reason, .. } = &heard.events[0] else {
            panic!("{:?}", heard.events);
        };
        assert!(reason.contains(&status.to_string()), "{reason}");
    }
}

#[tokio::test]
async fn an_endpoint_that_keeps_failing_is_unavailable() {
    let server = ModelServer::start([503, 503, 503, 503].map(Reply::status));
    let heard = ask(&server, says("hi")).await;
    assert!(matches!(heard.fault(), Fault::Unavailable { status: Some(503), .. }));
    assert_eq!(server.requests().len(), 4);
}

#[tokio::test]
async fn a_connection_lost_before_the_first_word_is_tried_again() {
    let silent_ends = [
        Reply::hang_up(),
        Reply::new().cut(),
        Reply::new().end_early(),
        Reply::new().and_error("overloaded"),
        Reply::tool_call("read_file", r#"{"path":"a"}"#).cut(),
        Reply::tool_call("read_file", r#"{"path":"a"}"#).end_early(),
    ];
    for reply in silent_ends {
        let shown = format!("{reply:?}");
        let again = Reply::tool_call("read_file", r#"{"path":"b"}"#);
        let server = ModelServer::start([reply, again]);
        let heard = ask(&server, says("hi")).await;
        let calls = &heard.completion().tool_calls;
        assert_eq!(calls.len(), 1, "after {shown}");
        assert_eq!(calls[0].arguments, r#"{"path":"b"}"#, "after {shown}");
        assert_eq!(heard.pauses_ms().len(), 1, "after {shown}");
    }
}
