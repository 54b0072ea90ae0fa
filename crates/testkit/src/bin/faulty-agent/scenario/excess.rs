//! Too much of something that would be harmless in small doses.

use std::path::PathBuf;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Flow, TICK, Turn, megabytes};

const MANY_REQUESTS: usize = 5_000;
const BIG_READS: usize = 60;
const DEPTHS: [usize; 2] = [124, 5_000];
const UNKNOWN_SESSIONS: usize = 10_000;
const PIECE: usize = 1_000;
const BAD_LINE_BYTES: usize = 3_200;

pub(super) fn by_name(turn: &Turn, name: &str, rest: &str) -> Option<Flow> {
    Some(match name {
        "many_requests" => many_requests(turn, if rest.is_empty() { "a.txt" } else { rest }),
        "big_reads" => big_reads(turn, rest),
        "deep_json" => deep_json(turn),
        "unknown_sessions" => unknown_sessions(turn),
        "bad_lines" => bad_lines(turn, rest),
        "last_words" => last_words(rest),
        "output_deltas" => output_deltas(turn, megabytes(rest.parse().unwrap_or(2))),
        _ => return None,
    })
}

/// Between two of them comes something good, so that each stands alone.
fn bad_lines(turn: &Turn, rest: &str) -> Flow {
    let (count, words) = rest.split_once(' ').unwrap_or((rest, ""));
    let count: usize = count.parse().unwrap_or(1000);
    let filler = "x".repeat(BAD_LINE_BYTES);
    for number in 0..count {
        turn.agent.wire.raw(format!("\u{1b}[31mnoise {number} {words} {filler}\n").as_bytes());
        turn.chunk(".");
    }
    turn.say_at_once(&format!("{count} bad lines"))
}

fn last_words(words: &str) -> Flow {
    eprintln!("{words}");
    super::exit(4)
}

fn many_requests(turn: &Turn, file: &str) -> Flow {
    let answers = read_often(turn, file, MANY_REQUESTS);
    count(turn, answers)
}

/// The path of the file and that of the marker, with a space between them.
fn big_reads(turn: &Turn, paths: &str) -> Flow {
    let (file, marker) = paths.split_once(' ').expect("a file and a marker");
    *turn.agent.reads_after.lock().expect("nobody panics with the path") = Some(PathBuf::from(marker.trim()));
    let answers = read_often(turn, file, BIG_READS);
    turn.chunk("asked\n");
    count(turn, answers)
}

fn read_often(turn: &Turn, file: &str, times: usize) -> Vec<Receiver<Value>> {
    let params = json!({ "sessionId": turn.session, "path": file });
    (0..times).map(|_| turn.agent.wire.request("fs/read_text_file", &params)).collect()
}

/// Waits for all of the answers, and says how many were results.
fn count(turn: &Turn, answers: Vec<Receiver<Value>>) -> Flow {
    let (all, mut results) = (answers.len(), 0);
    for answer in answers {
        let answer = loop {
            match answer.recv_timeout(TICK) {
                Ok(answer) => break answer,
                Err(_) => turn.pause(Duration::ZERO)?,
            }
        };
        results += usize::from(answer.get("result").is_some());
    }
    turn.say_at_once(&format!("answers {all} results {results}"))
}

/// Written as text: no library builds this without running out of stack somewhere.
fn deep_json(turn: &Turn) -> Flow {
    for depth in DEPTHS {
        let input = format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth));
        let line = format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"{}","update":{{"sessionUpdate":"tool_call","toolCallId":"deep {depth}","title":"Deep {depth}","kind":"other","status":"completed","rawInput":{input}}}}}}}"#,
            turn.session
        );
        turn.agent.wire.raw(format!("{line}\n").as_bytes());
    }
    turn.say_at_once("said")
}

fn unknown_sessions(turn: &Turn) -> Flow {
    for number in 0..UNKNOWN_SESSIONS {
        turn.agent.wire.text(&format!("nobody-{number}"), "agent_message_chunk", &"x".repeat(1_000));
    }
    turn.say_at_once("said")
}

fn output_deltas(turn: &Turn, bytes: usize) -> Flow {
    let call = "output";
    let began = json!({ "sessionUpdate": "tool_call", "toolCallId": call, "title": "Print a lot", "kind": "execute", "status": "in_progress",
        "rawInput": { "command": "print" }, "content": [{ "type": "terminal", "terminalId": call }] });
    turn.update(&began);
    for number in 0..bytes / PIECE {
        // Each piece says which one it is, so that a test can tell that none is missing.
        let data = format!("{number:<width$}\n", width = PIECE - 1);
        let delta = json!({ "terminal_id": call, "data": data });
        turn.update(&json!({ "sessionUpdate": "tool_call_update", "toolCallId": call, "_meta": { "terminal_output_delta": delta } }));
    }
    let exit = json!({ "terminal_exit": { "exit_code": 0 } });
    turn.update(&json!({ "sessionUpdate": "tool_call_update", "toolCallId": call, "status": "completed", "_meta": exit }));
    turn.say_at_once("printed")
}
