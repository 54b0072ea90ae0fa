#![allow(clippy::unwrap_used)]

use domain::agent::{Fault, Problem, ToolContent};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::signal::Part;

pub(super) fn feed(decoder: &mut Decoder, lines: &[&str]) -> Decoded {
    let mut out = Decoded::default();
    for (seq, line) in (1..).zip(lines) {
        match line.strip_prefix("> ") {
            Some(ours) => decoder.to_agent(ours.as_bytes()),
            None => decoder.from_agent(seq, line.as_bytes(), &mut out),
        }
    }
    out
}

pub(super) const PROMPT: &str = r#"> {"id":"prompt:c","method":"session/prompt","params":{"sessionId":"a"}}"#;

pub(super) fn signals(lines: &[&str]) -> Vec<Signal> {
    feed(&mut Decoder::default(), lines).take_signals()
}

pub(super) fn update(session: &str, body: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"{session}","update":{body}}}}}"#)
}

pub(super) fn chunk(session: &str, text: &str) -> String {
    update(session, &format!(r#"{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{text}"}}}}"#))
}

pub(super) fn text(session: &str, text: &str) -> Signal {
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
        decoder.from_agent(1, &garbage, &mut out);
        let content = json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } });
        let line = update("a", &content.to_string());
        let mut damaged = line.clone().into_bytes();
        let at = at % damaged.len();
        damaged[at] = byte;
        decoder.from_agent(1, &damaged, &mut out);
        decoder.from_agent(1, &damaged[..at], &mut out);
        out.take_signals();
        decoder.from_agent(1, line.as_bytes(), &mut out);
        let expected = (!text.is_empty()).then(|| super::tests::text("a", &text));
        prop_assert_eq!(out.take_signals(), expected.into_iter().collect::<Vec<_>>());
    }

    /// Text comes through whole, however an agent's JSON writer escapes it.
    #[test]
    fn escaped_text_comes_through_whole(text in ".*") {
        let escaped: String = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
        let expected = (!text.is_empty()).then(|| super::tests::text("a", &text));
        prop_assert_eq!(signals(&[&chunk("a", &escaped)]), expected.into_iter().collect::<Vec<_>>());
        prop_assert_eq!(jsonrpc::repair_surrogates(&escaped), None);
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
    for body in [
        r#"{"sessionUpdate":"hologram","x":1}"#.to_owned(),
        r#"{"sessionUpdate":"plan","entries":[{"priority":"high"}]}"#.to_owned(),
        r#"{"sessionUpdate":"usage_update","used":"many"}"#.to_owned(),
        r#"{"sessionUpdate":"agent_message_chunk"}"#.to_owned(),
        r#"{"sessionUpdate":"tool_call","title":"no id"}"#.to_owned(),
        r#"{"sessionUpdate":"session_info_update","title":7}"#.to_owned(),
        r#"{"no":"kind"}"#.to_owned(),
    ] {
        let signals = signals(&[&update("a", &body)]);
        let [Signal::Update { update: Update::Unknown { raw, .. }, .. }] = &signals[..] else { panic!("{body}: {signals:?}") };
        let kept = raw.parse().as_str().map_or_else(|| raw.text().to_owned(), str::to_owned);
        assert_eq!(kept, body);
    }
}

/// A record of ours around it must stay readable.
#[test]
fn what_is_nested_too_deep_is_cut_and_the_rest_of_the_line_is_kept() {
    let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
    let call = format!(r#"{{"sessionUpdate":"tool_call","toolCallId":"c","title":"T","rawInput":{deep},"_meta":{{"x":{deep}}}}}"#);
    let unknown = format!(r#"{{"sessionUpdate":"deep","x":{deep}}}"#);
    let other = format!(r#"{{"method":"_x","params":{deep}}}"#);
    let demand = format!(r#"{{"id":1,"method":"elicitation/create","params":{{"mode":"form","message":"m","requestedSchema":{deep}}}}}"#);
    let signals = signals(&[&update("a", &call), &update("a", &unknown), &other, &demand]);
    let [
        Signal::Update { update: Update::ToolCall(call), .. },
        Signal::Update { update: Update::Unknown { raw, .. }, .. },
        Signal::Other { params, .. },
        Signal::Demand { demand: Demand::Form { schema, .. }, .. },
    ] = &signals[..]
    else {
        panic!("{signals:?}")
    };
    assert_eq!(call.title.as_deref(), Some("T"));
    for kept in [call.input.as_ref().unwrap().text(), raw.text(), &params.to_string(), &schema.to_string()] {
        assert!(kept.contains("nested too deep") && kept.matches('[').count() <= 64, "{kept}");
        assert!(serde_json::from_str::<serde_json::Value>(&format!(r#"{{"a":{{"b":{{"c":{kept}}}}}}}"#)).is_ok());
    }
}

/// Holds S2-28.
#[test]
fn keeps_every_kind_of_tool_that_the_protocol_names() {
    for kind in ["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "other"] {
        let line = update("a", &format!(r#"{{"sessionUpdate":"tool_call","toolCallId":"c","title":"t","kind":"{kind}"}}"#));
        let signals = signals(&[&line]);
        let [Signal::Update { update: Update::ToolCall(call), .. }] = &signals[..] else { panic!("{kind}: {signals:?}") };
        assert_eq!(call.kind.as_deref(), Some(kind));
    }
}

/// Holds S2-31.
#[test]
fn a_plan_replaces_the_one_before_with_every_entry() {
    let entries = |statuses: &[&str]| {
        let entry = |(at, status): (usize, &&str)| format!(r#"{{"content":"step {at}","priority":"medium","status":"{status}"}}"#);
        let all: Vec<String> = statuses.iter().enumerate().map(entry).collect();
        update("a", &format!(r#"{{"sessionUpdate":"plan","entries":[{}]}}"#, all.join(",")))
    };
    let told = [entries(&["in_progress", "pending", "pending"]), entries(&["completed", "in_progress"])];
    let seen: Vec<Vec<(String, String)>> = signals(&told.each_ref().map(String::as_str))
        .into_iter()
        .map(|signal| match signal {
            Signal::Update { update: Update::Plan { entries }, .. } => {
                entries.iter().map(|entry| (entry.content.clone(), entry.status.clone())).collect()
            }
            other => panic!("{other:?}"),
        })
        .collect();
    let step = |at: usize, status: &str| (format!("step {at}"), status.to_owned());
    assert_eq!(seen[0], [step(0, "in_progress"), step(1, "pending"), step(2, "pending")]);
    assert_eq!(seen[1], [step(0, "completed"), step(1, "in_progress")]);
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
    assert_eq!(call.content, Some(vec![ToolContent::Other { raw: json!({ "type": "smell" }).into() }]));
    assert_eq!(content.parse()["data"], "x");
    assert_eq!((entries[0].priority.as_str(), entries[0].status.as_str()), ("urgent", "odd"));
}

#[test]
fn notifications_of_no_session_are_kept_too() {
    let line = r#"{"method":"_auth/status_update","params":{"authStatus":1}}"#;
    assert_eq!(signals(&[line]), [Signal::Other { method: "_auth/status_update".into(), params: json!({ "authStatus": 1 }) }]);
    let line = r#"{"method":"$/cancel_request","params":{"requestId":0}}"#;
    assert_eq!(signals(&[line]), [Signal::Withdrawn { rpc_id: "0".into() }]);
    let signals = signals(&[r#"{"method":"session/novelty","params":{"sessionId":"a"}}"#]);
    assert!(matches!(&signals[..], [Signal::Update { update: Update::Unknown { kind, .. }, .. }] if kind == "session/novelty"));
}

/// S2-55: an agent is not told of its malformed lines, since real ones answer that with worse.
#[test]
fn bad_lines_are_reported_and_never_answered() {
    let mut decoder = Decoder::default();
    let mut out = feed(&mut decoder, &["debug: hi", "", "  ", r#"{"half":"#, "[]", "{}"]);
    decoder.from_agent(1, b"\xff\xfe", &mut out);
    let bad = Signal::BadLine { text: "debug: hi".into(), oversized_bytes: None, count: 5 };
    assert_eq!(out.take_signals(), [bad]);
    assert!(out.answers.is_empty());
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
fn a_prompt_ends_once_and_by_its_id_alone() {
    let lines = [
        r#"{"id":"prompt:call_1","result":{"stopReason":"nap","usage":{"t":1}}}"#,
        r#"{"id":"prompt:call_1","result":{"stopReason":"end_turn"}}"#,
        r#"{"id":"prompt:call_2","error":{"code":-32602,"message":"Session x not found"}}"#,
        r#"{"id":7,"result":{}}"#,
    ];
    let signals = signals(&lines);
    let [Signal::PromptEnded { call_id, result: Ok(end) }, Signal::PromptEnded { result: Err(failure), .. }] = &signals[..] else {
        panic!("{signals:?}")
    };
    assert_eq!((call_id.as_str(), end.stop_reason.as_str()), ("call_1", "nap"));
    assert_eq!(failure.fault, Fault::UnknownSession);
}

/// C31: the tokens of a prompt's result come before its end, beside what is known of the context.
#[test]
fn the_usage_of_a_prompts_result_is_an_update() {
    let lines = [
        PROMPT.to_owned(),
        update("a", r#"{"sessionUpdate":"usage_update","used":7,"size":9}"#),
        r#"{"id":"prompt:c","result":{"stopReason":"end_turn","usage":{"inputTokens":3,"outputTokens":4,"totalTokens":7}}}"#.to_owned(),
        update("a", r#"{"sessionUpdate":"usage_update","used":8,"size":9}"#),
    ];
    let signals = signals(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let [_, Signal::Update { update: counted, .. }, Signal::PromptEnded { .. }, Signal::Update { update: last, .. }] = &signals[..] else {
        panic!("{signals:?}")
    };
    let expected = |used| json!({ "type": "usage", "used": used, "size": 9, "input_tokens": 3, "output_tokens": 4, "total_tokens": 7 });
    assert_eq!(serde_json::to_value(counted).unwrap(), expected(7));
    assert_eq!(serde_json::to_value(last).unwrap(), expected(8));
}

/// S2-57: what we do not know is a demand too; the engine answers it.
#[test]
fn a_request_that_makes_no_sense_is_a_demand_with_its_problem() {
    let lines = [
        r#"{"id":0,"method":"_vendor/unheard_of","params":{"sessionId":"a"}}"#,
        r#"{"id":"e","method":"elicitation/create"}"#,
        r#"{"id":1,"method":"session/request_permission","params":{}}"#,
    ];
    let signals = signals(&lines);
    let demands: Vec<_> = signals
        .iter()
        .map(|signal| match signal {
            Signal::Demand { agent_session, rpc_id, demand: Demand::Unknown { problem, .. }, .. } => {
                (&**agent_session, rpc_id.as_str(), *problem)
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(demands, [("a", "0", Problem::Unsupported), ("", "\"e\"", Problem::Invalid), ("", "1", Problem::Invalid)]);
}

/// An agent that uses an id twice asks twice.
#[test]
fn a_demand_is_named_by_its_place_in_the_journal() {
    let read = |id: &str| format!(r#"{{"id":{id},"method":"fs/read_text_file","params":{{"sessionId":"a","path":"/x"}}}}"#);
    let batch = format!("[{},{}]", read("0"), read("0"));
    let signals = signals(&[&read("0"), &batch, &read("0")]);
    let places: Vec<_> = signals
        .iter()
        .map(|signal| match signal {
            Signal::Demand { place, rpc_id, .. } if rpc_id == "0" => (place.seq, place.index),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(places, [(1, 0), (2, 0), (2, 1), (3, 0)]);
}

#[test]
fn a_call_first_seen_in_a_permission_request_is_reported() {
    let ask = r#"{"id":0,"method":"session/request_permission","params":{"sessionId":"a","toolCall":{"toolCallId":"c","title":"rm x","kind":"execute"},"options":[]}}"#;
    let done = update("a", r#"{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"}"#);
    let signals = signals(&[ask, &done]);
    let [
        Signal::Update { update: Update::ToolCall(first), .. },
        Signal::Demand { rpc_id, demand: Demand::Permission(_), .. },
        Signal::Update { update: Update::ToolCall(last), .. },
    ] = &signals[..]
    else {
        panic!("{signals:?}")
    };
    assert_eq!((first.title.as_deref(), last.title.as_deref()), (Some("rm x"), Some("rm x")));
    assert_eq!((last.status.as_deref(), rpc_id.as_str()), (Some("completed"), "0"));
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
fn a_compaction_is_understood_whole_and_in_pieces() {
    let read = signals(&[
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
    assert_eq!(read, [report(Some("in_progress"), "We", false), report(None, " did", true)]);
}

/// 2 MB of output in small pieces.
#[test]
fn streamed_output_costs_little_more_than_itself() {
    let piece = "0123456789abcdef".repeat(4);
    let delta = update(
        "a",
        &format!(r#"{{"sessionUpdate":"tool_call_update","toolCallId":"c","_meta":{{"terminal_output_delta":{{"data":"{piece}"}}}}}}"#),
    );
    let mut decoder = Decoder::default();
    feed(&mut decoder, &[&update("a", r#"{"sessionUpdate":"tool_call","toolCallId":"c","title":"T"}"#)]);
    let pieces = 2 * 1024 * 1024 / piece.len();
    // As they come: some alone, some with others.
    let (mut bytes, mut output) = (0, String::new());
    for count in [1, 7, 64].into_iter().cycle().scan(pieces, |left, count| {
        let taken = count.min(*left);
        *left -= taken;
        (taken > 0).then_some(taken)
    }) {
        let mut out = Decoded::default();
        (0..count).for_each(|_| decoder.from_agent(1, delta.as_bytes(), &mut out));
        for signal in out.take_signals() {
            let Signal::Update { update, .. } = signal else { panic!("{signal:?}") };
            bytes += serde_json::to_vec(&update).unwrap().len();
            let Update::ToolOutput { id, offset, content } = update else { panic!("{update:?}") };
            assert_eq!((id.as_str(), usize::try_from(offset).unwrap()), ("c", output.len()));
            output.push_str(&content);
        }
    }
    assert_eq!(output, piece.repeat(pieces));
    assert!(bytes < 4 * 1024 * 1024, "{bytes}");
}
