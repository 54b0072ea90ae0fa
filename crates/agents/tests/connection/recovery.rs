//! A server that dies and comes back finds everything, once.

use agents::{Known, RpcError, Signal};
use rustix::process::{Pid, kill_process};

use crate::odd::{Odd, text};

const CHUNKS: u64 = 20_000;

#[tokio::test]
async fn a_turn_goes_on_over_restarts_and_no_chunk_is_lost_or_doubled() {
    let mut odd = Odd::ready().await;
    odd.prompt("call_1", &format!("flood {CHUNKS}")).await;
    let mut signals = vec![];
    while !signals.iter().any(|signal| matches!(signal, Signal::TurnEnd { .. })) {
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
    let signals = odd.until(|signal| matches!(signal, Signal::Permission { .. })).await;
    let Some(Signal::Permission { rpc_id, .. }) = signals.last() else { panic!("{signals:?}") };
    odd = odd.restart(Known::default()).await;
    odd.connection.answer_permission(rpc_id, Some("yes")).await.unwrap();
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
    assert!(matches!(odd.connection.new_session("x", "/".as_ref()).await, Err(RpcError::Gone(_))));
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
