//! A server that dies and comes back finds everything, once.

use agents::{Known, Signal};
use domain::agent::{Demand, Fault, Reply, Update};
use rustix::process::{Pid, kill_process};

use uuid::Uuid;

use crate::odd::{Odd, text};

const CHUNKS: u64 = 20_000;

#[tokio::test]
async fn a_turn_goes_on_over_restarts_and_no_chunk_is_lost_or_doubled() {
    let mut odd = Odd::ready().await;
    odd.prompt("call_1", &format!("flood {CHUNKS}")).await;
    let mut signals = vec![];
    while !signals.iter().any(|signal| matches!(signal, Signal::PromptEnded { .. })) {
        signals.extend(odd.batch().await.signals);
        odd = odd.restart(Known::default()).await;
    }
    let expected: String = (0..CHUNKS).map(|number| format!("{number} ")).collect();
    assert_eq!(text(&signals), expected);
    odd.connection.stop().await.unwrap();
}

#[tokio::test]
async fn a_permission_is_answered_by_the_next_server() {
    let mut odd = Odd::ready().await;
    odd.prompt("call_1", "ask").await;
    let is_permission = |signal: &Signal| matches!(signal, Signal::Demand { demand: Demand::Permission(_), .. });
    let signals = odd.until(is_permission).await;
    odd = odd.restart(Known::default()).await;
    for signal in &signals {
        let Signal::Demand { rpc_id, demand, .. } = signal else { continue };
        let reply = match demand {
            Demand::Permission(_) => Reply::Chosen { option_id: Some("yes".into()) },
            Demand::Unknown { problem, message } => Reply::refused(*problem, message),
            other => panic!("{other:?}"),
        };
        odd.connection.answer(Uuid::now_v7(), rpc_id, &reply).await.unwrap();
    }
    let (signals, _) = odd.turn().await;
    assert_eq!(text(&signals), r#"-32601 {"outcome":"selected","optionId":"yes"}"#);
    odd.connection.stop().await.unwrap();
}

#[tokio::test]
async fn a_runner_that_is_killed_is_noticed_and_its_records_are_kept() {
    let mut odd = Odd::ready().await;
    odd.prompt("call_1", "hi").await;
    odd.turn().await;
    odd.prompt("call_2", "wait").await;
    let [found] = &runner::find(odd.dir.path())[..] else { panic!("one runner") };
    let pid = Pid::from_raw(found.identity.as_ref().unwrap().runner.pid).unwrap();
    kill_process(pid, rustix::process::Signal::KILL).unwrap();
    let signals = odd.until(|signal| matches!(signal, Signal::Gone { .. })).await;
    assert!(matches!(signals.last(), Some(Signal::Gone { text, .. }) if text == "the agent's runner is gone"));
    assert_eq!(odd.try_open().await.unwrap_err().fault, Fault::Gone);
    let [found] = &runner::find(odd.dir.path())[..] else { panic!("one runner") };
    agents::end_runner(found).await.unwrap();
}

#[tokio::test]
async fn what_a_dead_runner_wrote_down_is_read_from_its_files() {
    let mut odd = Odd::ready().await;
    odd.prompt("call_1", "crash").await;
    odd.connection.stop().await.unwrap();
    odd = odd.restart(Known::default()).await;
    let signals = odd.until(|signal| matches!(signal, Signal::Gone { .. })).await;
    assert_eq!(text(&signals), "last words");
    assert!(matches!(signals.last(), Some(Signal::Gone { exit, .. }) if exit.code == Some(3)));
    odd = odd.restart(Known::default()).await;
    assert!(matches!(odd.batch().await.signals[..], [Signal::Gone { .. }]));
}

fn notices(signals: &[Signal]) -> Vec<&str> {
    let notices = signals.iter().filter_map(|signal| match signal {
        Signal::Update { update: Update::Notice { text, .. }, .. } => Some(text.as_str()),
        _ => None,
    });
    notices.collect()
}

/// The chunk is held until the prompt ends, and a server that dies meanwhile has not counted it as read.
#[tokio::test]
async fn a_chunk_in_doubt_is_neither_lost_nor_doubled_by_restarts() {
    let mut odd = Odd::ready().await;
    odd.prompt("call_1", "doubt").await;
    let known = || Known { prompts: vec![("s1".into(), "call_1".into())], ..Known::default() };
    for _ in 0..3 {
        odd = odd.restart(known()).await;
    }
    odd.connection.cancel(Uuid::now_v7(), "s1").await.unwrap();
    let (signals, end) = odd.turn().await;
    assert_eq!(end.stop_reason, "end_turn");
    assert_eq!((text(&signals).as_str(), notices(&signals)), ("half ", vec!["the model is gone"]));
    odd.connection.stop().await.unwrap();
}

/// However much another session says meanwhile, no batch counts the chunk as read before it is passed on.
#[tokio::test]
async fn a_restart_behind_any_batch_finds_a_chunk_in_doubt_again() {
    let mut odd = Odd::ready().await;
    odd.prompt("call_1", "doubt-flood").await;
    let mut signals = vec![];
    while !signals.iter().any(|signal| matches!(signal, Signal::PromptEnded { .. })) {
        signals.extend(odd.batch().await.signals);
        odd = odd.restart(Known { prompts: vec![("s1".into(), "call_1".into())], ..Known::default() }).await;
    }
    let other: String = (0..20_000).map(|number| format!("{number} ")).collect();
    assert_eq!((text(&signals), notices(&signals)), (other, vec!["the model is gone"]));
    odd.connection.stop().await.unwrap();
}

#[tokio::test]
async fn a_chunk_in_doubt_is_not_held_for_ever() {
    let mut odd = Odd::ready().await;
    odd.prompt("call_1", "doubt").await;
    let mut signals = vec![];
    while text(&signals) != "half Error: the model is gone" {
        signals.extend(odd.batch().await.signals);
    }
    odd.connection.stop().await.unwrap();
}

#[tokio::test]
async fn a_chunk_in_doubt_is_text_when_the_agent_dies() {
    let mut odd = Odd::ready().await;
    odd.prompt("call_1", "doubt-crash").await;
    let signals = odd.until(|signal| matches!(signal, Signal::Gone { .. })).await;
    assert_eq!((text(&signals).as_str(), notices(&signals).len()), ("Error: last words", 0));
}
