//! How an answer arrives: piece by piece, whole, and only as long as somebody wants it.

use std::time::Duration;

use model::{Event, Usage};
use testkit::model_server::{Gate, ModelServer, Reply, ToolCall};
use tokio::sync::mpsc;

use crate::asking::{ask, model, says, settings};

#[tokio::test]
async fn text_is_heard_while_the_answer_is_still_open() {
    let gate = Gate::new();
    let server = ModelServer::start([Reply::chunks(["one ", "two"]).gate(&gate)]);
    let model = model(settings(&server.base_url()));
    let (sender, mut receiver) = mpsc::channel(4);
    let watching = async {
        gate.release(1);
        assert_eq!(receiver.recv().await, Some(Event::Text("one ".to_owned())));
        gate.open();
        assert_eq!(receiver.recv().await, Some(Event::Text("two".to_owned())));
        assert!(matches!(receiver.recv().await, Some(Event::End(_))));
    };
    let both = async { tokio::join!(model.complete(says("hi"), sender), watching) };
    let (outcome, ()) = tokio::time::timeout(Duration::from_secs(60), both).await.unwrap();
    assert_eq!(outcome.unwrap().text, "one two");
}

#[tokio::test]
async fn characters_and_events_may_be_cut_anywhere() {
    let text = "grüße 🦀 – 日本語\n\nend";
    for bytes in [1, 2, 3, 7] {
        let server = ModelServer::start([Reply::chunks([text, text]).byte_slices(bytes)]);
        let heard = ask(&server, says("hi")).await;
        assert_eq!(heard.completion().text, format!("{text}{text}"));
        assert_eq!(heard.text(), heard.completion().text);
    }
}

#[tokio::test]
async fn a_flood_reaches_a_slow_reader_whole_and_in_order() {
    let words: Vec<String> = (0..2000).map(|number| format!("{number} ")).collect();
    let server = ModelServer::start([Reply::chunks(words.iter().map(String::as_str))]);
    let heard = ask(&server, says("hi")).await;
    assert_eq!(heard.text(), words.concat());
    assert_eq!(heard.completion().text, words.concat());
}

#[tokio::test]
async fn reasoning_is_told_apart_from_the_answer() {
    let server = ModelServer::start([Reply::new().and_thought("hmm").and_text("yes")]);
    let heard = ask(&server, says("hi")).await;
    assert_eq!(heard.events[0], Event::Thought("hmm".to_owned()));
    assert_eq!(heard.completion().text, "yes");
}

#[tokio::test]
async fn usage_and_truncation_are_reported() {
    let server = ModelServer::start([Reply::text("and then").usage(120, 34).finish("length")]);
    let heard = ask(&server, says("hi")).await;
    let usage = Usage { input_tokens: 120, output_tokens: 34 };
    assert_eq!(heard.completion().usage, Some(usage));
    assert!(heard.completion().truncated);
    assert_eq!(heard.completion().model, "main");
}

#[tokio::test]
async fn arguments_in_pieces_of_two_tools_at_once_come_out_whole() {
    let first = r#"{"path":"src/größe.rs","lines":[1,2]}"#;
    let second = r#"{"pattern":"fn \"main\""}"#;
    for pieces in [1, 2, 5, 60] {
        let calls = [ToolCall::new("read_file", first).with_id("call_a"), ToolCall::new("grep_search", second).with_id("call_b")];
        let reply = Reply::tool_calls(calls).and_text("looking").argument_pieces(pieces);
        let server = ModelServer::start([reply]);
        let heard = ask(&server, says("hi")).await;
        let found: Vec<_> = heard.completion().tool_calls.iter().collect();
        let found: Vec<_> = found.iter().map(|call| (&*call.id, &*call.name, &*call.arguments)).collect();
        assert_eq!(found, [("call_a", "read_file", first), ("call_b", "grep_search", second)]);
        assert_eq!(heard.completion().text, "looking");
    }
}

#[tokio::test]
async fn malformed_arguments_are_passed_on_as_they_are() {
    for arguments in [r#"{"path": "#, "not json", "[1,2]"] {
        let server = ModelServer::start([Reply::tool_call("read_file", arguments).argument_pieces(2)]);
        let heard = ask(&server, says("hi")).await;
        assert_eq!(heard.completion().tool_calls[0].arguments, arguments);
    }
}

#[tokio::test]
async fn a_call_without_arguments_has_an_empty_object() {
    let server = ModelServer::start([Reply::tool_call("git_diff", "")]);
    let heard = ask(&server, says("hi")).await;
    assert_eq!(heard.completion().tool_calls[0].arguments, "{}");
}

#[tokio::test]
async fn dropping_the_future_closes_the_connection() {
    let server = ModelServer::start([Reply::text("so far").stall()]);
    let model = model(settings(&server.base_url()));
    let (sender, mut receiver) = mpsc::channel(4);
    {
        let asking = model.complete(says("hi"), sender);
        tokio::pin!(asking);
        tokio::select! {
            outcome = &mut asking => panic!("the answer never ends: {outcome:?}"),
            event = receiver.recv() => assert_eq!(event, Some(Event::Text("so far".to_owned()))),
        }
    }
    server.wait_for_hang_ups(1).await;
}

#[tokio::test]
async fn an_answer_that_nobody_listens_to_is_still_returned() {
    let server = ModelServer::start([Reply::chunks(["a", "b", "c"])]);
    let model = model(settings(&server.base_url()));
    let (sender, receiver) = mpsc::channel(1);
    drop(receiver);
    let asking = model.complete(says("hi"), sender);
    let outcome = tokio::time::timeout(Duration::from_secs(60), asking).await.unwrap();
    assert_eq!(outcome.unwrap().text, "abc");
}
