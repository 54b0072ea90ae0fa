use domain::agent::{Demand, ToolCall, ToolContent, Update};
use serde_json::{Value, json};

use super::Decoder;
use crate::acp::decoder::Decoded;
use crate::signal::Signal;

/// What comes of a line, after a prompt was sent.
fn told(lines: &[Value]) -> Vec<Signal> {
    let mut decoder = Decoder::default();
    decoder.to_agent(br#"{"id":"prompt:c","method":"turn/start","params":{"threadId":"t","input":[]}}"#);
    let mut decoded = Decoded::default();
    for (seq, line) in lines.iter().enumerate() {
        decoder.from_agent(seq as u64, line.to_string().as_bytes(), &mut decoded);
    }
    decoded.take_signals()
}

fn happens(method: &str, mut params: Value) -> Value {
    params["threadId"] = json!("t");
    json!({ "method": method, "params": params })
}

fn call(item: Value) -> ToolCall {
    match told(&[happens("item/completed", json!({ "item": item }))]).pop() {
        Some(Signal::Update { update: Update::ToolCall(call), .. }) => call,
        other => panic!("{other:?}"),
    }
}

fn update(method: &str, params: Value) -> Update {
    match told(&[happens(method, params)]).pop() {
        Some(Signal::Update { update, .. }) => update,
        other => panic!("{other:?}"),
    }
}

#[test]
fn items_become_tool_calls() {
    let cases = [
        (
            json!({ "type": "commandExecution", "id": "1", "command": "bash -lc 'a b'", "cwd": "/w", "status": "failed", "exitCode": 2 }),
            "execute",
            "a b",
            "failed",
        ),
        (json!({ "type": "commandExecution", "id": "1", "command": "x", "status": "declined" }), "execute", "x", "failed"),
        (
            json!({ "type": "mcpToolCall", "id": "1", "server": "s", "tool": "t", "status": "inProgress", "arguments": {} }),
            "other",
            "s: t",
            "in_progress",
        ),
        (json!({ "type": "webSearch", "id": "1", "query": "rust", "completedAtMs": 1 }), "search", "Search the web: rust", "completed"),
        (json!({ "type": "imageView", "id": "1", "path": "/w/a.png" }), "read", "View /w/a.png", "in_progress"),
        (json!({ "type": "fileChange", "id": "1", "changes": [], "status": "completed" }), "edit", "Edit ", "completed"),
    ];
    for (item, kind, title, status) in cases {
        let call = call(item);
        assert_eq!((call.kind.as_deref(), call.title.as_deref(), call.status.as_deref()), (Some(kind), Some(title), Some(status)));
    }
    assert_eq!(call(json!({ "type": "commandExecution", "id": "1", "exitCode": 3 })).exit_code, Some(3));
}

#[test]
fn a_change_of_files_has_both_sides_and_an_exact_diff() {
    let changes = json!([
        { "path": "/w/new.txt", "kind": { "type": "add" }, "diff": "hello\n" },
        { "path": "/w/old.txt", "kind": { "type": "update", "move_path": "/w/moved.txt" }, "diff": "@@ -4,2 +4,2 @@\n one\n-was\n+is\n" },
        { "path": "/w/gone.txt", "kind": { "type": "delete" }, "diff": "bye\n" },
    ]);
    let item = json!({ "type": "fileChange", "id": "f", "changes": changes, "status": "inProgress" });
    let asked =
        json!({ "id": 4, "method": "item/fileChange/requestApproval", "params": { "threadId": "t", "turnId": "u", "itemId": "f" } });
    let mut signals = told(&[happens("item/started", json!({ "item": item })), asked]);
    let Some(Signal::Demand { demand: Demand::Permission(ask), .. }) = signals.pop() else { panic!("{signals:?}") };
    let paths: Vec<&str> = ask.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["/w/new.txt", "/w/old.txt", "/w/moved.txt", "/w/gone.txt"]);
    let diff = ask.diff.unwrap();
    assert!(diff.contains("--- a/w/old.txt\n+++ b/w/moved.txt\n@@ -4,2 +4,2 @@\n one\n-was\n+is\n"), "{diff}");
    assert!(diff.contains("--- /dev/null\n+++ b/w/new.txt\n") && diff.contains("+++ /dev/null\n@@ -1,1 +0,0 @@\n-bye\n"), "{diff}");
    let Some(Signal::Update { update: Update::ToolCall(call), .. }) = signals.pop() else { panic!("{signals:?}") };
    let moved =
        ToolContent::Diff { path: "/w/old.txt".into(), old_text: Some("one\nwas\n".into()), new_text: "one\nis\n".into(), hunks: None };
    assert_eq!(call.content.unwrap()[1], moved);
}

#[test]
fn what_happens_beside_items() {
    let plan = update("turn/plan/updated", json!({ "plan": [{ "step": "a", "status": "inProgress" }] }));
    assert!(matches!(&plan, Update::Plan { entries } if entries[0].content == "a" && entries[0].status == "in_progress"), "{plan:?}");
    let usage = json!({ "total": { "totalTokens": 240, "inputTokens": 200 }, "last": { "totalTokens": 120 }, "modelContextWindow": 1000 });
    let usage = update("thread/tokenUsage/updated", json!({ "tokenUsage": usage }));
    assert!(
        matches!(usage, Update::Usage { used: Some(120), size: Some(1000), total_tokens: Some(240), input_tokens: Some(200), .. }),
        "{usage:?}"
    );
    assert_eq!(update("thread/name/updated", json!({ "threadName": "T" })), Update::Title { title: Some("T".into()) });
    let retry = update("error", json!({ "willRetry": true, "error": { "message": "Reconnecting... 1/5", "additionalDetails": "cut" } }));
    assert!(matches!(&retry, Update::Notice { text, retry: Some(_), .. } if text == "Reconnecting... 1/5: cut"), "{retry:?}");
    let compaction = update("item/started", json!({ "item": { "type": "contextCompaction", "id": "k" } }));
    assert!(matches!(&compaction, Update::Compaction { id, status: Some(status), .. } if id == "k" && status == "in_progress"));
}

/// A newer version says more than is known here.
#[test]
fn what_is_not_known_is_kept_whole() {
    let Update::Unknown { kind, raw } = update("thread/moon/changed", json!({ "phase": 1 })) else { panic!() };
    assert_eq!((kind.as_str(), &raw.parse()["phase"]), ("thread/moon/changed", &json!(1)));
    let Update::Unknown { kind, raw } = update("item/started", json!({ "item": { "type": "dance", "id": "d", "step": 2 } })) else {
        panic!()
    };
    assert_eq!((kind.as_str(), &raw.parse()["step"]), ("item/dance", &json!(2)));
    let asked = told(&[json!({ "id": 1, "method": "item/dance/request", "params": { "threadId": "t" } })]);
    assert!(matches!(&asked[..], [Signal::Demand { demand: Demand::Unknown { .. }, .. }]), "{asked:?}");
}

#[test]
fn thoughts_come_as_summary_or_as_they_are_and_never_twice() {
    let delta = |method: &str, text: &str| happens(method, json!({ "itemId": "r", "delta": text }));
    let part = happens("item/reasoning/summaryPartAdded", json!({ "itemId": "r", "summaryIndex": 1 }));
    let item = json!({ "type": "reasoning", "id": "r", "summary": ["ab", "c"], "content": [] });
    let streamed = [
        delta("item/reasoning/summaryTextDelta", "a"),
        delta("item/reasoning/textDelta", "b"),
        part,
        delta("item/reasoning/summaryTextDelta", "c"),
    ];
    let done = happens("item/completed", json!({ "item": item }));
    for lines in [[&streamed[..], std::slice::from_ref(&done)].concat(), vec![done.clone()]] {
        let signals = told(&lines);
        assert!(matches!(&signals[..], [Signal::Update { update: Update::Thought { text }, .. }] if text == "ab\n\nc"), "{signals:?}");
    }
}

#[test]
fn messages_are_told_whole_once_and_apart() {
    let delta = |id: &str, text: &str| happens("item/agentMessage/delta", json!({ "itemId": id, "delta": text }));
    let done = |id: &str, text: &str| happens("item/completed", json!({ "item": { "type": "agentMessage", "id": id, "text": text } }));
    let signals = told(&[delta("a", "o"), delta("a", "né"), done("a", "onét"), done("b", "two"), delta("c", "three"), done("c", "three")]);
    assert!(matches!(&signals[..], [Signal::Text { text, .. }] if text == "onét\n\ntwo\n\nthree"), "{signals:?}");
    // One that was cut off and comes again is the same message.
    let signals = told(&[delta("a", "on"), delta("b", "one"), done("b", "one")]);
    assert!(matches!(&signals[..], [Signal::Text { text, .. }] if text == "onone"), "{signals:?}");
}

/// Output that was streamed is not told a second time when the command ends.
#[test]
fn output_is_told_once() {
    let item = |output: Value| json!({ "type": "commandExecution", "id": "c", "command": "x", "status": "completed", "exitCode": 0, "aggregatedOutput": output });
    let printed = happens("item/commandExecution/outputDelta", json!({ "itemId": "c", "delta": "out\n" }));
    let begun =
        happens("item/started", json!({ "item": { "type": "commandExecution", "id": "c", "command": "x", "status": "inProgress" } }));
    let signals = told(&[begun.clone(), printed, happens("item/completed", json!({ "item": item(json!("out\n")) }))]);
    let outputs = signals.iter().filter(
        |signal| matches!(signal, Signal::Update { update: Update::ToolOutput { content, offset: 0, .. }, .. } if content == "out\n"),
    );
    assert_eq!(outputs.count(), 1, "{signals:?}");
    assert!(
        matches!(signals.last(), Some(Signal::Update { update: Update::ToolCall(ToolCall { content: None, exit_code: Some(0), .. }), .. })),
        "{signals:?}"
    );
    let signals = told(&[begun, happens("item/completed", json!({ "item": item(json!("out\n")) }))]);
    let text = ToolContent::Text { text: "out\n".into() };
    assert!(
        matches!(signals.last(), Some(Signal::Update { update: Update::ToolCall(call), .. }) if call.content == Some(vec![text.clone()])),
        "{signals:?}"
    );
}

/// What the program has other threads do belongs to the session that it works for.
#[test]
fn threads_of_its_own_work_for_the_one_that_started_them() {
    let started = json!({ "method": "thread/started", "params": { "thread": { "id": "child", "parentThreadId": "t" } } });
    let of_child = |method: &str, mut params: Value| {
        params["threadId"] = json!("child");
        json!({ "method": method, "params": params })
    };
    let item = json!({ "type": "commandExecution", "id": "c", "command": "ls", "status": "inProgress" });
    let asked = json!({ "id": 0, "method": "item/commandExecution/requestApproval", "params": { "threadId": "child", "itemId": "c", "command": "ls" } });
    let signals = told(&[
        started,
        of_child("item/agentMessage/delta", json!({ "itemId": "m", "delta": "not for people" })),
        of_child("item/started", json!({ "item": item })),
        asked,
        of_child("turn/completed", json!({ "turn": { "id": "x", "status": "completed" } })),
    ]);
    let [Signal::Update { agent_session, update: Update::ToolCall(call) }, Signal::Demand { agent_session: asked, .. }] = &signals[..]
    else {
        panic!("{signals:?}")
    };
    assert_eq!((&**agent_session, call.parent.as_deref(), &**asked), ("t", Some("child"), "t"));
}

#[test]
fn questions_become_a_form() {
    let questions = json!([
        { "id": "q", "header": "Pick", "question": "Which?", "isOther": false, "options": [{ "label": "A", "description": "first" }] },
        { "id": "r", "header": "Say", "question": "What?", "isOther": true, "options": null },
    ]);
    let asked =
        json!({ "id": 2, "method": "item/tool/requestUserInput", "params": { "threadId": "t", "itemId": "i", "questions": questions } });
    let resolved = happens("serverRequest/resolved", json!({ "requestId": 2 }));
    let signals = told(&[asked, resolved]);
    let [Signal::Demand { rpc_id, demand: Demand::Form { schema, .. }, .. }, Signal::Withdrawn { rpc_id: withdrawn }] = &signals[..] else {
        panic!("{signals:?}")
    };
    assert_eq!(rpc_id, withdrawn);
    assert_eq!(schema["properties"]["q"]["oneOf"], json!([{ "const": "A", "title": "A: first" }]));
    assert_eq!(schema["properties"]["r"]["description"], "What?");
}

#[test]
fn a_prompt_ends_once_and_only_with_its_own_turn() {
    let accepted = json!({ "id": "prompt:c", "result": { "turn": { "id": "u", "status": "inProgress" } } });
    let ended = |turn: &str, status: &str| happens("turn/completed", json!({ "turn": { "id": turn, "status": status } }));
    let signals = told(&[accepted, ended("other", "failed"), ended("u", "completed"), ended("u", "failed")]);
    assert!(
        matches!(&signals[..], [Signal::PromptEnded { call_id, result: Ok(end) }] if call_id == "c" && end.stop_reason == "end_turn"),
        "{signals:?}"
    );
}

fn many(element: &str, times: usize) -> String {
    format!("[{}{element}]", format!("{element},").repeat(times - 1))
}

fn told_lines(lines: &[String]) -> Vec<Signal> {
    let mut decoder = Decoder::default();
    decoder.to_agent(br#"{"id":"prompt:c","method":"turn/start","params":{"threadId":"t","input":[]}}"#);
    let mut decoded = Decoded::default();
    for (seq, line) in lines.iter().enumerate() {
        decoder.from_agent(seq as u64, line.as_bytes(), &mut decoded);
    }
    decoded.take_signals()
}

#[test]
fn a_line_of_a_million_numbers_keeps_its_item_and_says_once_that_it_was_cut() {
    let line = format!(
        r#"{{"method":"item/started","params":{{"threadId":"t","item":{{"type":"mcpToolCall","id":"k","server":"s","tool":"x","arguments":{}}}}}}}"#,
        many("1", 1_000_000)
    );
    let signals = told_lines(&[line.clone(), line]);
    let [Signal::Update { update: Update::ToolCall(call), .. }, Signal::Update { update: Update::Notice { .. }, .. }, _] = &signals[..]
    else {
        panic!("{} signals", signals.len())
    };
    assert!(call.title.as_deref() == Some("s: x") && call.bytes() < 100_000, "{}", call.bytes());
}

#[test]
fn a_change_that_is_too_large_to_be_shown_is_not_asked_for() {
    let item = |text: &str| {
        let change = json!([{ "path": "/w/a", "kind": { "type": "add" }, "diff": text }]);
        happens("item/started", json!({ "item": { "type": "fileChange", "id": "k", "changes": change } })).to_string()
    };
    let ask = json!({ "id": 1, "method": "item/fileChange/requestApproval", "params": { "threadId": "t", "itemId": "k" } }).to_string();
    let large = told_lines(&[item(&"x".repeat(3_000_000)), ask.clone()]);
    assert!(matches!(large.last(), Some(Signal::Demand { demand: Demand::Unknown { .. }, .. })));
    let fine = told_lines(&[item("x"), ask]);
    assert!(matches!(fine.last(), Some(Signal::Demand { demand: Demand::Permission(_), .. })));
    let questions = format!(
        r#"{{"id":2,"method":"item/tool/requestUserInput","params":{{"threadId":"t","questions":{}}}}}"#,
        many(r#"{"id":"q","question":"?"}"#, 50_000)
    );
    assert!(matches!(
        told_lines(&[questions]).iter().find(|signal| matches!(signal, Signal::Demand { .. })),
        Some(Signal::Demand { demand: Demand::Unknown { .. }, .. })
    ));
}

#[test]
fn what_was_said_in_a_turn_is_remembered_up_to_one_bound_for_all_items() {
    let mut decoder = Decoder::default();
    decoder.to_agent(br#"{"id":"prompt:c","method":"turn/start","params":{"threadId":"t","input":[]}}"#);
    let text = "x".repeat(1_000_000);
    for item in 0..20 {
        let line = happens("item/agentMessage/delta", json!({ "itemId": format!("{item}{text}"), "delta": text })).to_string();
        decoder.from_agent(item, line.as_bytes(), &mut Decoded::default());
    }
    let thread = &decoder.threads["t"];
    let held: usize = thread.said.iter().map(|(id, said)| id.len() + said.as_ref().map_or(0, String::len)).sum();
    assert!(held < super::MAX_SAID_BYTES + 20_000 && thread.said.len() == 20, "{held}");
}

/// About so many bytes of JSON, in shapes that cost the most once they are parsed.
fn fillings(bytes: usize) -> Vec<String> {
    let keys: String = (0..bytes / 12).map(|number| format!(r#""k{number}":0,"#)).collect();
    vec![
        many("1", bytes / 2),
        many("[]", bytes / 3),
        many("{}", bytes / 3),
        many(r#"{"":0}"#, bytes / 7),
        many("\"\"", bytes / 3),
        format!("{}{}", "[".repeat(bytes / 2), "]".repeat(bytes / 2)),
        format!("{{{keys}\"k\":0}}"),
        format!(r#"{{"$serde_json::private::RawValue":"[{}1]"}}"#, "1,".repeat(bytes / 2)),
    ]
}

/// Every place of the dialect that the program fills, with far too much.
#[test]
fn of_a_flood_in_any_place_little_is_kept() {
    let places = [
        r#"{"method":"item/started","params":{"threadId":"t","item":{"type":"mcpToolCall","id":"k","arguments":FILL}}}"#,
        r#"{"method":"item/completed","params":{"threadId":"t","item":{"type":"mcpToolCall","id":"k","result":FILL}}}"#,
        r#"{"method":"item/completed","params":{"threadId":"t","item":{"type":"fileChange","id":"k","changes":FILL}}}"#,
        r#"{"method":"item/completed","params":{"threadId":"t","item":{"type":"commandExecution","id":"k","command":FILL}}}"#,
        r#"{"method":"item/completed","params":{"threadId":"t","item":{"type":"reasoning","id":"k","summary":FILL}}}"#,
        r#"{"method":"item/completed","params":{"threadId":"t","item":{"type":"unheard","x":FILL}}}"#,
        r#"{"method":"turn/plan/updated","params":{"threadId":"t","plan":FILL}}"#,
        r#"{"method":"turn/unheard","params":{"threadId":"t","x":FILL}}"#,
        r#"{"method":"turn/unheard","params":FILL}"#,
        r#"{"method":"error","params":{"threadId":"t","error":FILL}}"#,
        r#"{"method":"turn/completed","params":{"threadId":"t","turn":{"id":"u","status":"failed","error":FILL}}}"#,
        r#"{"method":"serverRequest/resolved","params":{"requestId":FILL}}"#,
        r#"{"id":1,"method":"item/commandExecution/requestApproval","params":{"threadId":"t","command":FILL}}"#,
        r#"{"id":1,"method":"item/fileChange/requestApproval","params":{"threadId":"t","itemId":"k","x":FILL}}"#,
        r#"{"id":1,"method":"item/tool/requestUserInput","params":{"threadId":"t","questions":FILL}}"#,
        r#"{"id":"prompt:c","result":{"turn":FILL}}"#,
        r#"{"id":"prompt:c","error":{"code":1,"message":"m","data":FILL}}"#,
        "FILL",
    ];
    let fillings: Vec<String> = [fillings(1_000_000), vec![many("1", 2_500_000), many("1", 5_000_000)]].concat();
    for place in places {
        for filling in &fillings {
            let line = place.replace("FILL", filling);
            let kept = format!("{:?}", told_lines(std::slice::from_ref(&line))).len();
            assert!(kept < 4_500_000, "{kept} bytes are kept of {} of {place} with {filling:.20}", line.len());
        }
    }
}

#[test]
fn a_long_text_is_kept_only_where_it_is_counted_later() {
    let long = "x".repeat(10_000_000);
    for place in [
        json!({ "type": "mcpToolCall", "id": "k", "server": long, "tool": long, "arguments": { "a": long }, "result": long }),
        json!({ "type": "commandExecution", "id": "k", "command": long, "cwd": long, "status": long, "aggregatedOutput": long }),
        json!({ "type": "fileChange", "id": "k", "changes": [{ "path": long, "kind": { "type": "add" }, "diff": long }] }),
        json!({ "type": "webSearch", "id": long, "query": long }),
        json!({ "type": long, "id": long }),
    ] {
        let signals = told(&[happens("item/completed", json!({ "item": place }))]);
        assert!(format!("{signals:?}").len() < 4_500_000, "{place:.60}");
    }
    for (method, params) in [
        ("warning", json!({ "message": long })),
        ("error", json!({ "error": { "message": long, "additionalDetails": long }, "willRetry": true })),
        ("thread/name/updated", json!({ "threadName": long })),
        ("turn/plan/updated", json!({ "plan": [{ "step": long, "status": long }] })),
        (&*long, json!({ "x": long })),
    ] {
        let signals = told(&[happens(method, params)]);
        assert!(format!("{signals:?}").len() < 4_500_000, "{method:.60}");
    }
}
