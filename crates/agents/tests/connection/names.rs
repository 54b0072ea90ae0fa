//! Agents that know the protocol's methods by other names.

use agents::{Names, Signal};
use domain::agent::Fault;

use crate::odd::{Odd, deadlines, text};

const NEW: [&str; 5] = ["session/new", "session/create", "session/start", "create_session", "startSession"];
const PROMPT: [&str; 5] = ["session/prompt", "prompt/send", "message/send", "chat/send", "sendMessage"];
const LIST: [&str; 4] = ["session/list", "sessions/list", "list_sessions", "listSessions"];

/// Opens, lists and prompts twice; what was asked, in order.
async fn use_it(odd: &mut Odd) -> Vec<String> {
    assert_eq!(odd.open().await.agent_session, "s1");
    assert_eq!(odd.connection.list_sessions(None).await.unwrap().len(), 3);
    for call in ["first", "second"] {
        odd.prompt(call, "parrot").await;
        let (signals, end) = odd.turn().await;
        assert!(["parrot", "hello"].contains(&text(&signals).as_str()));
        assert_eq!(end.stop_reason, "end_turn");
    }
    // A new session is also told not to allow itself everything.
    odd.asked().into_iter().filter(|method| method != "session/set_config_option").collect()
}

/// S4-14, S4-15, S4-16, S4-22, S4-27: every name of every chain is tried, in order and once, and then it is known, in this connection and in
/// the next.
#[tokio::test]
async fn every_other_name_is_tried_in_order_and_remembered() {
    for at in 0..5 {
        let (new, prompt, list) = (NEW[at], PROMPT[at], LIST[at.min(3)]);
        let manner = format!("names:{new},{prompt},{list}");
        let mut odd = Odd::able(&manner, "list").await;
        let mut expected: Vec<&str> = NEW[..=at].to_vec();
        expected.extend(&LIST[..=at.min(3)]);
        // Two more pages.
        expected.extend([list, list]);
        expected.extend(&PROMPT[..=at]);
        expected.push(prompt);
        assert_eq!(use_it(&mut odd).await, expected);
        let names = odd.connection.names();
        odd.connection.stop().await.unwrap();

        let stored = serde_json::to_value(&names).unwrap();
        assert_eq!(stored, serde_json::json!({ "session/list": list, "session/new": new, "session/prompt": prompt }));
        let mut odd = Odd::start_knowing(&manner, "list", names, deadlines()).await.unwrap();
        assert_eq!(use_it(&mut odd).await, [new, list, list, list, prompt, prompt]);
        odd.connection.stop().await.unwrap();
    }
}

#[tokio::test]
async fn a_name_that_is_out_of_date_is_found_anew() {
    let stored = r#"{"session/new":"startSession","session/prompt":"sendMessage","session/list":"listSessions"}"#;
    let names: Names = serde_json::from_str(stored).unwrap();
    let mut odd = Odd::start_knowing("names:session/new,session/prompt,session/list", "list", names, deadlines()).await.unwrap();
    let asked = use_it(&mut odd).await;
    assert_eq!(asked[..2], ["startSession", "session/new"]);
    assert_eq!(asked[asked.len() - 3..], ["sendMessage", "session/prompt", "session/prompt"]);
    odd.connection.stop().await.unwrap();
}

/// Holds C9.
#[tokio::test]
async fn another_name_is_tried_only_where_the_method_is_missing() {
    let odd = Odd::start("refuses-new", deadlines()).await.unwrap();
    assert_eq!(odd.try_open().await.unwrap_err().fault, Fault::Refused);
    assert_eq!(odd.asked(), ["session/new"]);
    odd.connection.stop().await.unwrap();
}

#[tokio::test]
async fn an_agent_that_knows_none_of_the_names_is_told_from_one_that_refuses() {
    let mut odd = Odd::able("names:x,y,z", "list").await;
    let failure = odd.try_open().await.unwrap_err();
    assert_eq!(failure.fault, Fault::Unsupported);
    assert!(failure.message.contains("unsupported") && failure.message.contains(&NEW.join(", ")), "{failure}");
    assert_eq!(odd.asked(), NEW);
    odd.prompt("c", "hi").await;
    let signals = odd.until(|signal| matches!(signal, Signal::PromptEnded { .. })).await;
    let Some(Signal::PromptEnded { result: Err(failure), .. }) = signals.last() else { panic!("{signals:?}") };
    assert_eq!(failure.fault, Fault::Unsupported);
    assert!(failure.message.contains(&PROMPT.join(", ")), "{failure}");
    assert_eq!(odd.asked()[NEW.len()..], PROMPT);
    odd.connection.stop().await.unwrap();
}

/// An agent that speaks the protocol is asked nothing that the protocol does not need: counted on the wire.
#[tokio::test]
async fn a_standard_agent_pays_no_extra_round_trip() {
    let mut odd = Odd::able("", "list").await;
    odd.connection.open("main", std::path::Path::new("/"), None, agents::Reopen::No, true).await.unwrap();
    odd.prompt("c", "hi").await;
    odd.turn().await;
    odd.connection.list_sessions(None).await.unwrap();
    let asked: Vec<_> = odd.sent().iter().map(|line| line["method"].as_str().unwrap().to_owned()).collect();
    // Its "allow all" is turned off, and its list has three pages.
    let expected =
        ["initialize", "session/new", "session/set_config_option", "session/prompt", "session/list", "session/list", "session/list"];
    assert_eq!(asked, expected);
    odd.connection.stop().await.unwrap();
}
