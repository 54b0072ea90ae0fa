//! What a connection survives.

use std::time::Duration;

use agents::{ConnectError, Deadlines, RpcError, Signal};
use domain::agent::Update;

use crate::odd::{Odd, deadlines, text};

const SOON: Duration = Duration::from_millis(100);

fn bad_lines(signals: &[Signal]) -> usize {
    signals.iter().filter(|signal| matches!(signal, Signal::BadLine { oversized_bytes: None, .. })).count()
}

#[tokio::test]
async fn half_a_line_waits_for_its_other_half() {
    let mut odd = Odd::ready().await;
    odd.prompt("c", "half").await;
    let (signals, _) = odd.turn().await;
    assert_eq!((text(&signals).as_str(), bad_lines(&signals)), ("whole", 0));
    odd.connection.stop().await.unwrap();
}

#[tokio::test]
async fn garbage_is_reported_and_what_follows_is_read() {
    let mut odd = Odd::ready().await;
    odd.prompt("c", "garbage").await;
    let (signals, _) = odd.turn().await;
    assert_eq!((text(&signals).as_str(), bad_lines(&signals)), ("ca\u{fffd}t", 3));
    odd.connection.stop().await.unwrap();
}

#[tokio::test]
async fn a_line_of_100_mb_is_counted_and_passed_over() {
    let mut odd = Odd::ready().await;
    odd.prompt("c", "huge").await;
    let (signals, _) = odd.turn().await;
    let oversized = signals.iter().find_map(|signal| match signal {
        Signal::BadLine { oversized_bytes, .. } => *oversized_bytes,
        _ => None,
    });
    assert_eq!((text(&signals).as_str(), oversized), ("after", Some(100 << 20)));
    odd.connection.stop().await.unwrap();
}

#[tokio::test]
async fn unknown_kinds_are_handed_on() {
    let mut odd = Odd::ready().await;
    odd.prompt("c", "unknown").await;
    let (signals, _) = odd.turn().await;
    assert!(matches!(&signals[0], Signal::Update { update: Update::Unknown { kind, raw }, .. } if kind == "hologram" && raw["depth"] == 3));
    assert!(matches!(&signals[1], Signal::Other { method, .. } if method == "_private/event"));
    odd.connection.stop().await.unwrap();
}

#[tokio::test]
async fn second_and_foreign_answers_are_ignored() {
    let mut odd = Odd::ready().await;
    odd.prompt("c", "twice").await;
    odd.turn().await;
    odd.prompt("d", "hi").await;
    let signals = odd.until(|signal| matches!(signal, Signal::TurnEnd { call_id, .. } if call_id == "d")).await;
    assert_eq!(signals.iter().filter(|signal| matches!(signal, Signal::TurnEnd { .. })).count(), 1);
    odd.connection.stop().await.unwrap();
}

#[tokio::test]
async fn a_request_without_an_answer_meets_its_deadline() {
    let odd = Odd::start("mute", Deadlines { new: SOON, ..deadlines() }).await.unwrap();
    let error = odd.connection.new_session("main", "/".as_ref()).await.unwrap_err();
    assert!(matches!(error, RpcError::Timeout { method, .. } if method == "session/new"));
    assert_eq!(odd.connection.list_sessions(None).await.unwrap().len(), 2);
    odd.connection.stop().await.unwrap();
}

#[tokio::test]
async fn a_late_answer_disturbs_nobody() {
    let odd = Odd::start("late", Deadlines { new: SOON, ..deadlines() }).await.unwrap();
    assert!(matches!(odd.connection.new_session("main", "/".as_ref()).await, Err(RpcError::Timeout { .. })));
    assert_eq!(odd.connection.list_sessions(None).await.unwrap().len(), 2);
    odd.connection.stop().await.unwrap();
}

#[tokio::test]
async fn a_crash_in_mid_line_keeps_everything_before_it() {
    let mut odd = Odd::ready().await;
    odd.prompt("c", "crash").await;
    let signals = odd.until(|signal| matches!(signal, Signal::Gone { .. })).await;
    assert_eq!((text(&signals).as_str(), bad_lines(&signals)), ("last words", 1));
    let Some(Signal::Gone { exit, text }) = signals.last() else { panic!("{signals:?}") };
    assert_eq!((exit.code, text.as_str()), (Some(3), "the agent exited with status 3: out of luck"));
    assert!(odd.is_over().await);
    let error = odd.connection.new_session("again", "/".as_ref()).await.unwrap_err();
    assert_eq!(error, RpcError::Gone("the agent exited with status 3: out of luck".into()));
}

#[tokio::test]
async fn leaving_without_an_answer_fails_what_is_pending() {
    let mut odd = Odd::start("mute", deadlines()).await.unwrap();
    let connection = odd.connection.clone();
    let (pending, signals) = tokio::join!(connection.new_session("main", "/".as_ref()), async {
        odd.prompt("c", "leave").await;
        odd.until(|signal| matches!(signal, Signal::Gone { .. })).await
    });
    assert!(!signals.iter().any(|signal| matches!(signal, Signal::TurnEnd { .. })));
    assert_eq!(pending.unwrap_err(), RpcError::Gone("the agent exited with status 0".into()));
}

/// Holds C5.
#[tokio::test]
async fn another_version_of_the_protocol_is_refused() {
    let error = Odd::start("future", deadlines()).await.err().unwrap();
    assert!(matches!(&error, ConnectError::Version { answered } if answered == "2"), "{error}");
}

#[tokio::test]
async fn an_agent_that_cannot_start_says_why() {
    let error = Odd::start("sickly", deadlines()).await.err().unwrap();
    let ConnectError::Initialize(RpcError::Gone(text)) = error else { panic!("{error}") };
    assert_eq!(text, "the agent exited with status 1: no home to write to");
}

#[tokio::test]
async fn an_agent_that_never_answers_is_given_up() {
    let error = Odd::start("silent", Deadlines { initialize: SOON, ..deadlines() }).await.err().unwrap();
    assert!(matches!(error, ConnectError::Initialize(RpcError::Timeout { .. })), "{error}");
}

#[tokio::test]
async fn a_login_that_is_needed_is_recognised() {
    let odd = Odd::start("logged-out", deadlines()).await.unwrap();
    assert!(odd.connection.new_session("main", "/".as_ref()).await.unwrap_err().is_auth_required());
    odd.connection.stop().await.unwrap();
}
