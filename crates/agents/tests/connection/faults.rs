//! What a connection survives.

use std::time::Duration;

use agents::{ConnectError, Deadlines, Reopen, Signal};
use domain::agent::{Failure, Fault, Update};

use crate::odd::{Odd, deadlines, text};

const SOON: Duration = Duration::from_millis(100);

fn bad_lines(signals: &[Signal]) -> u64 {
    let counts = signals.iter().map(|signal| match signal {
        Signal::BadLine { oversized_bytes: None, count, .. } => *count,
        _ => 0,
    });
    counts.sum()
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
    assert!(
        matches!(&signals[0], Signal::Update { update: Update::Unknown { kind, raw }, .. } if kind == "hologram" && raw.parse()["depth"] == 3)
    );
    assert!(matches!(&signals[1], Signal::Other { method, .. } if method == "_private/event"));
    odd.connection.stop().await.unwrap();
}

#[tokio::test]
async fn second_and_foreign_answers_are_ignored() {
    let mut odd = Odd::ready().await;
    odd.prompt("c", "twice").await;
    odd.turn().await;
    odd.prompt("d", "hi").await;
    let signals = odd.until(|signal| matches!(signal, Signal::PromptEnded { call_id, .. } if call_id == "d")).await;
    assert_eq!(signals.iter().filter(|signal| matches!(signal, Signal::PromptEnded { .. })).count(), 1);
    odd.connection.stop().await.unwrap();
}

#[tokio::test]
async fn a_request_without_an_answer_meets_its_deadline() {
    let odd = Odd::start("mute", Deadlines { new: SOON, ..deadlines() }).await.unwrap();
    let failure = odd.try_open().await.unwrap_err();
    assert_eq!((failure.fault, failure.message.as_str()), (Fault::TimedOut, "no answer to session/new within 0 s"));
    odd.connection.set_option("s1", None, "x", &true.into()).await.unwrap();
    odd.connection.stop().await.unwrap();
}

#[tokio::test]
async fn a_late_answer_disturbs_nobody() {
    let odd = Odd::start("late", Deadlines { new: SOON, ..deadlines() }).await.unwrap();
    assert_eq!(odd.try_open().await.unwrap_err().fault, Fault::TimedOut);
    odd.connection.set_option("s1", None, "x", &true.into()).await.unwrap();
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
    let failure = odd.try_open().await.unwrap_err();
    assert_eq!(failure, Failure::new(Fault::Gone, "the agent exited with status 3: out of luck"));
}

#[tokio::test]
async fn leaving_without_an_answer_fails_what_is_pending() {
    let mut odd = Odd::start("mute", deadlines()).await.unwrap();
    let connection = odd.connection.clone();
    let (pending, signals) = tokio::join!(connection.open("main", "/".as_ref(), None, Reopen::No, false), async {
        odd.prompt("c", "leave").await;
        odd.until(|signal| matches!(signal, Signal::Gone { .. })).await
    });
    assert!(!signals.iter().any(|signal| matches!(signal, Signal::PromptEnded { .. })));
    assert_eq!(pending.unwrap_err(), Failure::new(Fault::Gone, "the agent exited with status 0"));
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
    assert!(error.is_gone());
    assert_eq!(error.to_string(), "initialising the agent: the agent exited with status 1: no home to write to");
}

#[tokio::test]
async fn an_agent_that_never_answers_is_given_up() {
    let error = Odd::start("silent", Deadlines { initialize: SOON, ..deadlines() }).await.err().unwrap();
    assert!(!error.is_gone());
    assert!(matches!(&error, ConnectError::Initialize(failure) if failure.fault == Fault::TimedOut), "{error}");
}

#[tokio::test]
async fn a_login_that_is_needed_is_recognised() {
    let odd = Odd::start("logged-out", deadlines()).await.unwrap();
    assert_eq!(odd.try_open().await.unwrap_err().fault, Fault::NeedsLogin);
    odd.connection.stop().await.unwrap();
}

#[tokio::test]
async fn an_agent_that_prints_much_before_its_first_answer_is_used_all_the_same() {
    let mut odd = Odd::start("chatty", deadlines()).await.unwrap();
    assert_eq!(odd.open().await.agent_session, "s1");
    odd.prompt("c", "hi").await;
    let (signals, _) = odd.turn().await;
    assert_eq!(signals.iter().filter(|signal| matches!(signal, Signal::Other { .. })).count(), 100_000);
    assert_eq!(text(&signals), "hello");
    odd.connection.stop().await.unwrap();
}

#[tokio::test]
async fn thousands_of_bad_lines_cost_one_signal_a_batch() {
    let mut odd = Odd::ready().await;
    odd.prompt("c", "bad-lines").await;
    let (mut batches, mut lines, mut ended) = (0, 0, false);
    while !ended {
        let signals = odd.batch().await.signals;
        let bad = signals.iter().filter(|signal| matches!(signal, Signal::BadLine { .. })).count();
        assert!(bad <= 1, "{bad}");
        ended = signals.iter().any(|signal| matches!(signal, Signal::PromptEnded { .. }));
        (batches, lines) = (batches + bad, lines + bad_lines(&signals));
    }
    assert!(lines == 20_000 && batches < 10_000, "{lines} lines in {batches} batches");
    odd.connection.stop().await.unwrap();
}
