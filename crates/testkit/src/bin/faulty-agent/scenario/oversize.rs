//! One line that is cheap to send and expensive to parse: a place in the protocol, the shape of what stands there, and how many bytes
//! of it. Built as text, so that the agent itself stays small.

use serde_json::json;

use super::{Flow, Turn};

/// `PLACE SHAPE BYTES`.
pub(super) fn run(turn: &Turn, rest: &str) -> Flow {
    let words: Vec<&str> = rest.split_whitespace().collect();
    let [place, shape, bytes] = words[..] else { panic!("oversize PLACE SHAPE BYTES, not {rest}") };
    let value = filled(shape, bytes.parse().expect("a number of bytes"));
    turn.agent.wire.raw(format!("{}\n", line(&turn.session, place, &value)).as_bytes());
    turn.say_at_once("said")
}

/// About so many bytes of JSON in that shape.
pub(crate) fn filled(shape: &str, bytes: usize) -> String {
    let list = |element: &str| {
        let mut list = format!("[{}", format!("{element},").repeat(bytes / (element.len() + 1)));
        list.pop();
        list + "]"
    };
    let numbered = |entry: &dyn Fn(usize) -> String, open: &str, close: &str| {
        let entries = (0..bytes / entry(1_000_000).len()).map(entry).collect::<Vec<_>>();
        format!("{open}{}{close}", entries.join(","))
    };
    match shape {
        "numbers" => list("1"),
        "strings" => list("\"\""),
        "words" => list("\"word\""),
        "nulls" => list("null"),
        "floats" => list("1.5e9"),
        "objects" => list("{}"),
        "lists" => list("[]"),
        "nests" => list("[[[[[[[[1]]]]]]]]"),
        "pairs" => list(r#"{"k":1}"#),
        "keys" => numbered(&|number| format!(r#""{number}":0"#), "{", "}"),
        "text" => format!("\"{}\"", "x".repeat(bytes)),
        "escapes" => format!("\"{}\"", "\\u0001".repeat(bytes / 6)),
        "surrogates" => format!("\"{}\"", "\\ud83d ".repeat(bytes / 7)),
        "deep" => format!("{}1{}", "[".repeat(bytes / 2), "]".repeat(bytes / 2)),
        "steps" => list(r#"{"content":"x","status":"pending","priority":"low"}"#),
        "commands" => list(r#"{"name":"x","description":"y"}"#),
        "locations" => list(r#"{"path":"/a"}"#),
        "parts" => list(r#"{"type":"content","content":{"type":"text","text":"x"}}"#),
        "diffs" => list(r#"{"type":"diff","path":"/a","oldText":"x","newText":"y"}"#),
        "options" => list(r#"{"optionId":"a","name":"A","kind":"allow_once"}"#),
        "settings" => list(r#"{"id":"m","name":"M","type":"select","currentValue":"a","options":[{"value":"a","name":"A"}]}"#),
        "messages" => list(r#"{"method":"_x/y","params":{}}"#),
        other => panic!("no shape is called {other}"),
    }
}

fn line(session: &str, place: &str, value: &str) -> String {
    let update = |update: &str| {
        format!(r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"{session}","update":{{{update}}}}}}}"#)
    };
    let call =
        |field: &str| update(&format!(r#""sessionUpdate":"tool_call","toolCallId":"big","title":"Big","status":"completed",{field}"#));
    let request = |method: &str, params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":"big","method":"{method}","params":{{"sessionId":"{session}",{params}}}}}"#)
    };
    let option = json!([{ "optionId": "a", "name": "A", "kind": "allow_once" }, { "optionId": "r", "name": "R", "kind": "reject_once" }]);
    match place {
        "input" => call(&format!(r#""rawInput":{value}"#)),
        "output" => call(&format!(r#""rawOutput":{value}"#)),
        "content" => call(&format!(r#""content":{value}"#)),
        "text_content" => call(&format!(r#""content":[{{"type":"content","content":{{"type":"text","text":{value}}}}}]"#)),
        "diff" => call(&format!(r#""content":[{{"type":"diff","path":"a","oldText":null,"newText":{value}}}]"#)),
        "locations" => call(&format!(r#""locations":{value}"#)),
        "title" => call(&format!(r#""kind":"other","title":{value}"#)),
        "call_meta" => call(&format!(r#""_meta":{value}"#)),
        "chunk" => update(&format!(r#""sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":{value}}}"#)),
        "thought" => update(&format!(r#""sessionUpdate":"agent_thought_chunk","content":{{"type":"text","text":{value}}}"#)),
        "chunk_meta" => update(&format!(r#""_meta":{value},"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"x"}}"#)),
        "block" => update(&format!(r#""sessionUpdate":"agent_message_chunk","content":{{"type":"image","data":{value}}}"#)),
        "plan" => update(&format!(r#""sessionUpdate":"plan","entries":{value}"#)),
        "commands" => update(&format!(r#""sessionUpdate":"available_commands_update","availableCommands":{value}"#)),
        "options" => update(&format!(r#""sessionUpdate":"config_option_update","configOptions":{value}"#)),
        "cost" => update(&format!(r#""sessionUpdate":"usage_update","used":1,"size":2,"cost":{value}"#)),
        "session_title" => update(&format!(r#""sessionUpdate":"session_info_update","title":{value}"#)),
        "unknown" => update(&format!(r#""sessionUpdate":"telepathy","raw":{value}"#)),
        "notification" => format!(r#"{{"jsonrpc":"2.0","method":"_x/y","params":{{"sessionId":"{session}","raw":{value}}}}}"#),
        "nowhere" => format!(r#"{{"jsonrpc":"2.0","method":"_x/y","params":{value}}}"#),
        "permission" => request(
            "session/request_permission",
            &format!(r#""toolCall":{{"toolCallId":"big","title":"Big","rawInput":{value}}},"options":{option}"#),
        ),
        "permission_options" => {
            request("session/request_permission", &format!(r#""toolCall":{{"toolCallId":"big","title":"Big"}},"options":{value}"#))
        }
        "write" => request("fs/write_text_file", &format!(r#""path":"/nowhere/at/all","content":{value}"#)),
        "terminal" => request("terminal/create", &format!(r#""command":"true","args":{value}"#)),
        "form" => request("elicitation/create", &format!(r#""mode":"form","message":"m","requestedSchema":{value}"#)),
        "request" => request("_x/y", &format!(r#""raw":{value}"#)),
        "answer" => format!(r#"{{"jsonrpc":"2.0","id":"nobody","result":{value}}}"#),
        "error" => format!(r#"{{"jsonrpc":"2.0","id":"nobody","error":{{"code":1,"message":"no","data":{value}}}}}"#),
        "batch" => value.to_owned(),
        other => panic!("no place is called {other}"),
    }
}
