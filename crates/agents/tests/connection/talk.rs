//! What a well-meaning agent and a connection say to each other.

use agents::{Part, RpcId, Signal};
use domain::agent::Update;
use uuid::Uuid;

use crate::odd::{Odd, deadlines, text};

#[tokio::test]
async fn a_turn_ends_with_its_call() {
    let mut odd = Odd::ready().await;
    assert!(odd.connection.capabilities().load && !odd.connection.capabilities().list);
    odd.prompt("call_1", "hi").await;
    let (signals, end) = odd.turn().await;
    assert_eq!((text(&signals).as_str(), end.stop_reason.as_str()), ("hello", "end_turn"));
    odd.connection.stop().await.unwrap();
}

#[tokio::test]
async fn a_prompt_with_the_same_write_id_is_sent_once() {
    let mut odd = Odd::ready().await;
    let write = Uuid::now_v7();
    for _ in 0..3 {
        odd.connection.prompt(write, "once", "s1", "hi", &[]).await.unwrap();
    }
    odd.turn().await;
    odd.prompt("next", "hi").await;
    let signals = odd.until(|signal| matches!(signal, Signal::TurnEnd { call_id, .. } if call_id == "next")).await;
    assert_eq!(text(&signals), "hello");
    odd.connection.stop().await.unwrap();
}

/// Holds C24.
#[tokio::test]
async fn every_request_of_the_agents_gets_one_answer() {
    let mut odd = Odd::ready().await;
    odd.prompt("call_1", "ask").await;
    let signals = odd.until(|signal| matches!(signal, Signal::Permission { .. })).await;
    let Some(Signal::Permission { rpc_id, ask, .. }) = signals.last() else { panic!("{signals:?}") };
    assert_eq!((rpc_id, ask.command.as_deref()), (&RpcId::Number(0.into()), Some("ls")));
    odd.connection.answer_permission(rpc_id, Some("yes")).await.unwrap();
    odd.connection.answer_permission(rpc_id, None).await.unwrap();
    let (signals, _) = odd.turn().await;
    assert_eq!(text(&signals), r#"-32601 {"outcome":"selected","optionId":"yes"}"#);
    odd.connection.stop().await.unwrap();
}

#[tokio::test]
async fn a_loaded_session_repeats_its_history_apart() {
    let mut odd = Odd::start("", deadlines()).await.unwrap();
    let opened = odd.connection.load_session("main", "s1", "/".as_ref()).await.unwrap();
    assert_eq!(opened.agent_session, "s1");
    let signals = odd.until(|signal| matches!(signal, Signal::Text { .. })).await;
    let replayed = signals.iter().filter_map(|signal| match signal {
        Signal::Replay { part, .. } => Some(part.clone()),
        _ => None,
    });
    let user = Part::Update(Box::new(Update::UserMessage { text: "before".into() }));
    assert_eq!(replayed.collect::<Vec<_>>(), [user, Part::Text("history".into())]);
    assert_eq!(text(&signals), "live");
    odd.connection.stop().await.unwrap();
}

/// Holds C12.
#[tokio::test]
async fn lists_are_read_to_their_last_page() {
    let odd = Odd::start("", deadlines()).await.unwrap();
    let listed = odd.connection.list_sessions(None).await.unwrap();
    assert_eq!(listed.iter().map(|session| session.agent_session.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert!(odd.connection.close_session("a").await.unwrap_err().is_method_missing());
    odd.connection.stop().await.unwrap();
}

/// S2-42: an option of the agent's is set by its id and comes back changed.
#[tokio::test]
async fn allow_all_is_put_to_what_is_wanted() {
    let odd = Odd::start("", deadlines()).await.unwrap();
    let opened = odd.open().await;
    assert!(odd.connection.align_allow_all(&opened, false).await.unwrap());
    assert!(!odd.connection.align_allow_all(&opened, true).await.unwrap());
    odd.connection.stop().await.unwrap();
}

/// Holds C9.
#[tokio::test]
async fn an_agent_with_other_method_names_works() {
    let mut odd = Odd::start("other-names", deadlines()).await.unwrap();
    assert_eq!(odd.open().await.agent_session, "s1");
    for call in ["first", "second"] {
        odd.prompt(call, "parrot").await;
        let (signals, end) = odd.turn().await;
        assert_eq!((text(&signals).as_str(), end.stop_reason.as_str()), ("parrot", "end_turn"));
    }
    odd.connection.stop().await.unwrap();
}
