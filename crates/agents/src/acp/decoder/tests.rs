#![allow(clippy::unwrap_used)]

use domain::agent::ToolContent;
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn feed(decoder: &mut Decoder, lines: &[&str]) -> Decoded {
    let mut out = Decoded::default();
    for line in lines {
        match line.strip_prefix("> ") {
            Some(ours) => decoder.to_agent(ours.as_bytes()),
            None => decoder.from_agent(line.as_bytes(), &mut out),
        }
    }
    out
}

fn signals(lines: &[&str]) -> Vec<Signal> {
    feed(&mut Decoder::default(), lines).take_signals()
}

fn update(session: &str, body: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"{session}","update":{body}}}}}"#)
}

fn chunk(session: &str, text: &str) -> String {
    update(session, &format!(r#"{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{text}"}}}}"#))
}

fn text(session: &str, text: &str) -> Signal {
    Signal::Text { agent_session: session.into(), text: text.into() }
}

proptest! {
    /// Nothing an agent can write stops the decoder, and whatever it writes, the next line is read.
    #[test]
    fn any_line_is_survived(
        garbage in proptest::collection::vec(any::<u8>(), 0..200),
        text in ".*",
        at in 0..300_usize,
        byte in any::<u8>(),
    ) {
        let mut decoder = Decoder::default();
        let mut out = Decoded::default();
        decoder.from_agent(&garbage, &mut out);
        let content = json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } });
        let line = update("a", &content.to_string());
        let mut damaged = line.clone().into_bytes();
        let at = at % damaged.len();
        damaged[at] = byte;
        decoder.from_agent(&damaged, &mut out);
        decoder.from_agent(&damaged[..at], &mut out);
        out.take_signals();
        decoder.from_agent(line.as_bytes(), &mut out);
        let expected = (!text.is_empty()).then(|| super::tests::text("a", &text));
        prop_assert_eq!(out.take_signals(), expected.into_iter().collect::<Vec<_>>());
    }

    /// Text comes through whole, however an agent's JSON writer escapes it.
    #[test]
    fn escaped_text_comes_through_whole(text in ".*") {
        let escaped: String = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
        let expected = (!text.is_empty()).then(|| super::tests::text("a", &text));
        prop_assert_eq!(signals(&[&chunk("a", &escaped)]), expected.into_iter().collect::<Vec<_>>());
        prop_assert_eq!(jsonrpc::mend_surrogates(&escaped), None);
    }
}

#[test]
fn neighbouring_chunks_of_one_session_are_joined() {
    let lines = [chunk("a", "1"), chunk("a", "2\\n"), chunk("b", "3"), chunk("a", "4"), chunk("a", "")];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(signals(&lines), [text("a", "12\n"), text("b", "3"), text("a", "4")]);
}

#[test]
fn the_order_of_keys_does_not_matter() {
    let line = r#"{"params":{"update":{"content":{"text":"x","type":"text"},"messageId":"m","sessionUpdate":"agent_message_chunk"},"sessionId":"a"},"method":"session/update"}"#;
    let padding = "y".repeat(300);
    let late =
        update("a", &format!(r#"{{"_meta":"{padding}","sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"z"}}}}"#));
    assert_eq!(signals(&[line, &late]), [text("a", "xz")]);
}

#[test]
fn half_an_emoji_does_not_cost_the_chunk() {
    assert_eq!(signals(&[&chunk("a", r"hi \ud83d")]), [text("a", "hi \u{fffd}")]);
}

#[test]
fn what_is_not_understood_is_kept_whole() {
    let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
    for body in [
        r#"{"sessionUpdate":"hologram","x":1}"#.to_owned(),
        r#"{"sessionUpdate":"plan","entries":[{"priority":"high"}]}"#.to_owned(),
        r#"{"sessionUpdate":"usage_update","used":"many"}"#.to_owned(),
        r#"{"sessionUpdate":"agent_message_chunk"}"#.to_owned(),
        r#"{"sessionUpdate":"tool_call","title":"no id"}"#.to_owned(),
        r#"{"sessionUpdate":"session_info_update","updatedAt":"t"}"#.to_owned(),
        r#"{"no":"kind"}"#.to_owned(),
        format!(r#"{{"sessionUpdate":"deep","x":{deep}}}"#),
    ] {
        let signals = signals(&[&update("a", &body)]);
        let [Signal::Update { update: Update::Unknown { raw, .. }, .. }] = &signals[..] else { panic!("{body}: {signals:?}") };
        let kept = raw.as_str().map_or_else(|| raw.to_string(), str::to_owned);
        assert_eq!(kept, body);
    }
}

#[test]
fn unknown_values_inside_a_known_kind_pass_through() {
    let lines = [
        update("a", r#"{"sessionUpdate":"tool_call","toolCallId":"c","kind":"teleport","status":"paused","content":[{"type":"smell"}]}"#),
        update("a", r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"image","data":"x"}}"#),
        update("a", r#"{"sessionUpdate":"plan","entries":[{"content":"c","priority":"urgent","status":"odd"}]}"#),
    ];
    let signals = signals(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let [
        Signal::Update { update: Update::ToolCall(call), .. },
        Signal::Update { update: Update::Content { content }, .. },
        Signal::Update { update: Update::Plan { entries }, .. },
    ] = &signals[..]
    else {
        panic!("{signals:?}")
    };
    assert_eq!((call.kind.as_deref(), call.status.as_deref()), (Some("teleport"), Some("paused")));
    assert_eq!(call.content, Some(vec![ToolContent::Other { raw: json!({ "type": "smell" }) }]));
    assert_eq!(content["data"], "x");
    assert_eq!((entries[0].priority.as_str(), entries[0].status.as_str()), ("urgent", "odd"));
}

#[test]
fn notifications_of_no_session_are_kept_too() {
    let line = r#"{"method":"_auth/status_update","params":{"authStatus":1}}"#;
    assert_eq!(signals(&[line]), [Signal::Other { method: "_auth/status_update".into(), params: json!({ "authStatus": 1 }) }]);
    let line = r#"{"method":"$/cancel_request","params":{"requestId":0}}"#;
    assert_eq!(signals(&[line]), [Signal::Withdrawn { rpc_id: RpcId::Number(0.into()) }]);
    let signals = signals(&[r#"{"method":"session/novelty","params":{"sessionId":"a"}}"#]);
    assert!(matches!(&signals[..], [Signal::Update { update: Update::Unknown { kind, .. }, .. }] if kind == "session/novelty"));
}

/// S2-55: an agent is not told of its malformed lines, since real ones answer that with worse.
#[test]
fn bad_lines_are_reported_and_never_answered() {
    let mut decoder = Decoder::default();
    let mut out = feed(&mut decoder, &["debug: hi", "", "  ", r#"{"half":"#, "[]", "{}"]);
    decoder.from_agent(b"\xff\xfe", &mut out);
    assert_eq!(out.take_signals().iter().filter(|signal| matches!(signal, Signal::BadLine { .. })).count(), 5);
    assert!(out.refusals.is_empty() && out.answers.is_empty());
}

#[test]
fn replayed_history_is_kept_apart_until_the_load_is_answered() {
    let lines = [
        r#"> {"jsonrpc":"2.0","id":"load:x","method":"session/load","params":{"sessionId":"a","cwd":"/w","mcpServers":[]}}"#.to_owned(),
        update("a", r#"{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"q"}}"#),
        chunk("a", "old"),
        chunk("a", "er"),
        chunk("b", "live"),
        r#"{"jsonrpc":"2.0","id":"load:x","result":null}"#.to_owned(),
        chunk("a", "new"),
    ];
    let mut out = feed(&mut Decoder::default(), &lines.iter().map(String::as_str).collect::<Vec<_>>());
    let replay = |part| Signal::Replay { agent_session: "a".into(), part };
    let expected = [
        replay(Part::Update(Box::new(Update::UserMessage { text: "q".into() }))),
        replay(Part::Text("older".into())),
        text("b", "live"),
        text("a", "new"),
    ];
    assert_eq!(out.take_signals(), expected);
    assert!(matches!(&out.answers[..], [(id, Ok(Some(raw)))] if id == "load:x" && raw.get() == "null"));
}

#[test]
fn a_call_that_is_told_anew_while_loading_starts_over() {
    let lines = [
        update("a", r#"{"sessionUpdate":"tool_call","toolCallId":"c","status":"completed","rawOutput":{"x":1}}"#),
        r#"> {"id":"load:x","method":"session/load","params":{"sessionId":"a"}}"#.to_owned(),
        update("a", r#"{"sessionUpdate":"tool_call","toolCallId":"c","status":"pending"}"#),
    ];
    let signals = signals(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let Some(Signal::Replay { part: Part::Update(update), .. }) = signals.last() else { panic!("{signals:?}") };
    assert!(matches!(&**update, Update::ToolCall(ToolCall { output: None, status: Some(status), .. }) if status == "pending"));
}

#[test]
fn a_turn_ends_once_and_by_its_id_alone() {
    let lines = [
        r#"{"id":"prompt:call_1","result":{"stopReason":"nap","usage":{"t":1}}}"#,
        r#"{"id":"prompt:call_1","result":{"stopReason":"end_turn"}}"#,
        r#"{"id":"prompt:call_2","error":{"code":-32602,"message":"Session x not found"}}"#,
        r#"{"id":7,"result":{}}"#,
    ];
    let signals = signals(&lines);
    let [Signal::TurnEnd { call_id, result: Ok(end) }, Signal::TurnEnd { result: Err(error), .. }] = &signals[..] else {
        panic!("{signals:?}")
    };
    assert_eq!((call_id.as_str(), end.stop_reason.as_str()), ("call_1", "nap"));
    assert!(end.usage.is_some() && error.is_not_found());
}

/// S2-57: a method that we do not know is refused with -32601.
#[test]
fn a_request_that_nobody_implements_is_refused_once() {
    let lines = [
        r#"{"id":0,"method":"_vendor/unheard_of","params":{}}"#,
        r#"{"id":"e","method":"elicitation/create"}"#,
        r#"{"id":1,"method":"session/request_permission","params":{}}"#,
    ];
    let out = feed(&mut Decoder::default(), &lines);
    let refused: Vec<_> = out.refusals.iter().map(|refusal| (refusal.id.to_string(), refusal.code)).collect();
    assert_eq!(refused, [("0".into(), -32601), ("\"e\"".into(), -32602), ("1".into(), -32602)]);
    assert!(out.signals.is_empty());
}

#[test]
fn a_call_first_seen_in_a_permission_request_is_reported() {
    let ask = r#"{"id":0,"method":"session/request_permission","params":{"sessionId":"a","toolCall":{"toolCallId":"c","title":"rm x","kind":"execute"},"options":[]}}"#;
    let done = update("a", r#"{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"}"#);
    let signals = signals(&[ask, &done]);
    let [
        Signal::Update { update: Update::ToolCall(first), .. },
        Signal::Permission { rpc_id, .. },
        Signal::Update { update: Update::ToolCall(last), .. },
    ] = &signals[..]
    else {
        panic!("{signals:?}")
    };
    assert_eq!((first.title.as_deref(), last.title.as_deref()), (Some("rm x"), Some("rm x")));
    assert_eq!((last.status.as_deref(), rpc_id), (Some("completed"), &RpcId::Number(0.into())));
}

#[test]
fn an_agent_with_other_names_is_understood() {
    let lines = [
        r#"> {"id":"prompt:c","method":"prompt/send","params":{"sessionId":"a"}}"#,
        r#"{"id":"prompt:c","result":{"turnId":"t","status":"processing"}}"#,
        r#"{"method":"message/delta","params":{"sessionId":"a","turnId":"t","delta":"hi","type":"text"}}"#,
        r#"{"method":"thinking/delta","params":{"sessionId":"a","delta":"hm","mode":"raw"}}"#,
        r#"{"method":"function/call","params":{"sessionId":"a","toolId":"k","name":"ls","input":{"x":1}}}"#,
        r#"{"method":"function/result","params":{"sessionId":"a","toolId":"k","output":"files"}}"#,
        r#"{"method":"turn/status","params":{"sessionId":"a","status":"completed"}}"#,
    ];
    let signals = signals(&lines);
    let [
        Signal::Text { .. },
        Signal::Update { update: Update::Thought { .. }, .. },
        Signal::Update { update: Update::ToolCall(call), .. },
        Signal::TurnEnd { result: Ok(_), .. },
    ] = &signals[..]
    else {
        panic!("{signals:?}")
    };
    assert_eq!((call.title.as_deref(), call.status.as_deref()), (Some("ls"), Some("completed")));
}

#[test]
fn a_restarted_decoder_goes_on_with_what_was_stored() {
    let call = ToolCall { id: "c".into(), title: Some("T".into()), ..ToolCall::default() };
    let mut decoder = Decoder::knowing(vec![("a".into(), call)], vec![("x".into(), "b".into())], vec![("a".into(), "k".into())]);
    let lines = [
        update("a", r#"{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"failed"}"#),
        chunk("b", "history"),
        r#"{"id":"load:x","result":{}}"#.to_owned(),
        chunk("b", "live"),
    ];
    let signals = feed(&mut decoder, &lines.iter().map(String::as_str).collect::<Vec<_>>()).take_signals();
    assert!(matches!(&signals[0], Signal::Update { update: Update::ToolCall(call), .. } if call.title.as_deref() == Some("T")));
    assert!(matches!(&signals[1], Signal::Replay { .. }));
    assert_eq!(signals[2], text("b", "live"));
}

#[test]
fn notices_among_the_text_are_told_apart_only_where_the_agent_is_known_for_them() {
    let lines = [chunk("a", "half "), chunk("a", "Error: no more"), chunk("a", "an Error: no more")];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(signals(&lines), [text("a", "half Error: no morean Error: no more")]);
    let told = feed(&mut Decoder::default().with_notices_in_text(true), &lines).take_signals();
    let notice = Update::Notice { level: "error".into(), text: "no more".into(), in_text: true, retry: None };
    assert_eq!(told, [text("a", "half "), Signal::Update { agent_session: "a".into(), update: notice }, text("a", "an Error: no more")]);
}

#[test]
fn a_compaction_is_understood_whole_and_in_pieces() {
    let told = signals(&[
        &update(
            "a",
            r#"{"sessionUpdate":"compaction_update","compactionId":"k","status":"in_progress","summary":[{"type":"text","text":"We"}]}"#,
        ),
        &update("a", r#"{"sessionUpdate":"compaction_summary_chunk","compactionId":"k","content":{"type":"text","text":" did"}}"#),
    ]);
    let report = |status: Option<&str>, summary: &str, appends| Signal::Update {
        agent_session: "a".into(),
        update: Update::Compaction {
            id: "k".into(),
            status: status.map(str::to_owned),
            summary: Some(summary.to_owned()),
            appends,
            error: None,
        },
    };
    assert_eq!(told, [report(Some("in_progress"), "We", false), report(None, " did", true)]);
}
