//! What a well-meaning agent and a connection say to each other.

use agents::{Part, Signal};
use domain::agent::{Demand, Fault, Place, Problem, Reply, Update};
use serde_json::json;
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
    let signals = odd.until(|signal| matches!(signal, Signal::PromptEnded { call_id, .. } if call_id == "next")).await;
    assert_eq!(text(&signals), "hello");
    odd.connection.stop().await.unwrap();
}

fn demands(signals: &[Signal]) -> Vec<(Place, &str, &Demand)> {
    let demands = signals.iter().filter_map(|signal| match signal {
        Signal::Demand { agent_session, place, rpc_id, demand } => {
            assert_eq!(&**agent_session, "s1");
            Some((*place, rpc_id.as_str(), demand))
        }
        _ => None,
    });
    demands.collect()
}

/// Holds C24: nothing is answered before the caller says so, and then once for each write id.
#[tokio::test]
async fn every_demand_of_the_agents_gets_the_answer_it_is_given() {
    let mut odd = Odd::ready().await;
    odd.prompt("call_1", "ask").await;
    let signals = odd.until(|signal| matches!(signal, Signal::Demand { demand: Demand::Permission(_), .. })).await;
    let demands = demands(&signals);
    let [(first, "7", Demand::Unknown { problem, message }), (second, "0", Demand::Permission(ask))] = &demands[..] else {
        panic!("{demands:?}")
    };
    assert!(first < second);
    assert_eq!((*problem, ask.command.as_deref()), (Problem::Unsupported, Some("ls")));
    assert!(odd.sent().iter().all(|line| line.get("method").is_some()), "something was answered");
    odd.connection.answer(Uuid::now_v7(), "7", &Reply::refused(*problem, message)).await.unwrap();
    let write = Uuid::now_v7();
    for _ in 0..2 {
        odd.connection.answer(write, "0", &Reply::Chosen { option_id: Some("yes".into()) }).await.unwrap();
    }
    let (signals, _) = odd.turn().await;
    assert_eq!(text(&signals), r#"-32601 {"outcome":"selected","optionId":"yes"}"#);
    assert_eq!(odd.sent().iter().filter(|line| line.get("method").is_none()).count(), 2);
    assert_eq!(odd.connection.answer(Uuid::now_v7(), "{", &Reply::Done).await.unwrap_err().fault, Fault::Refused);
    odd.connection.stop().await.unwrap();
}

#[tokio::test]
async fn a_loaded_session_repeats_its_history_apart() {
    let mut odd = Odd::start("", deadlines()).await.unwrap();
    odd.connection.load_session("main", "s1", "/".as_ref()).await.unwrap();
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
    let odd = Odd::able("", "list").await;
    let listed = odd.connection.list_sessions(None).await.unwrap();
    assert_eq!(listed.iter().map(|session| session.agent_session.as_str()).collect::<Vec<_>>(), ["a", "b", "s1"]);
    odd.connection.stop().await.unwrap();
}

/// What the agent has not said that it can do is not asked for; what it has is.
#[tokio::test]
async fn sessions_are_closed_and_deleted_and_logins_ended_only_by_capability() {
    let unable = Odd::able("", "").await;
    let connection = &unable.connection;
    for failed in [
        connection.list_sessions(None).await.map(drop),
        connection.load_session("main", "s1", "/".as_ref()).await,
        connection.close_session("s1").await,
        connection.delete_session("s1").await,
        connection.logout().await,
    ] {
        assert_eq!(failed.unwrap_err().fault, Fault::Unsupported);
    }
    assert_eq!(unable.asked(), [""; 0]);
    unable.connection.stop().await.unwrap();

    let able = Odd::able("", "close,delete,logout").await;
    able.connection.close_session("s1").await.unwrap();
    able.connection.delete_session("s1").await.unwrap();
    able.connection.logout().await.unwrap();
    assert_eq!(able.asked(), ["session/close", "session/delete", "logout"]);
    able.connection.stop().await.unwrap();
}

/// S2-42: an option of the agent's is set by its id, a mode or a model that is none by its older method.
#[tokio::test]
async fn anything_is_set_in_the_way_its_description_says() {
    let odd = Odd::start("", deadlines()).await.unwrap();
    odd.connection.set_option("s1", None, "verbose", &json!(true)).await.unwrap();
    let modes = json!([{ "id": "mode", "method": "session/set_mode", "currentValue": "a" }]);
    let unknown = odd.connection.set_option("s1", Some(&modes), "mode", &json!("b")).await.unwrap_err();
    assert_eq!(unknown.fault, Fault::Unsupported);
    assert_eq!(odd.connection.set_option("s1", None, "x", &json!(3)).await.unwrap_err().fault, Fault::Unsupported);
    assert_eq!(odd.asked(), ["session/set_config_option", "session/set_mode"]);
    odd.connection.stop().await.unwrap();
}
