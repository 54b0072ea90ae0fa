//! What the agent asks of its client, one request after the other: `calls [["method", {params}], …]`.
//!
//! `["withdraw", ["method", {params}]]` takes its request back at once. The session id is added where it is missing, and `$terminal` stands for the terminal that was made last. Every answer is
//! streamed as one line of JSON: the result, or the error.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Flow, TICK, Turn};

pub(super) fn run(turn: &Turn, list: &str) -> Flow {
    let calls: Vec<(String, Value)> = serde_json::from_str(list).expect("a list of methods and parameters");
    run_all(turn, &calls)
}

pub(super) fn run_all(turn: &Turn, calls: &[(String, Value)]) -> Flow {
    let mut terminal = String::new();
    for (method, params) in calls.iter().cloned() {
        let withdrawn = method == "withdraw";
        let (method, params) = match withdrawn {
            true => serde_json::from_value(params).expect("a method and parameters"),
            false => (method, params),
        };
        let mut params: Value = serde_json::from_str(&params.to_string().replace("$terminal", &terminal)).expect("still JSON");
        if params.get("sessionId").is_none() {
            params["sessionId"] = json!(turn.session);
        }
        let (id, waiting) = turn.agent.wire.numbered_request(&method, &params);
        if withdrawn {
            turn.agent.wire.notify("$/cancel_request", &json!({ "requestId": id }));
        }
        let answer = loop {
            match waiting.recv_timeout(TICK) {
                Ok(answer) => break answer,
                Err(_) => turn.pause(Duration::ZERO)?,
            }
        };
        if let Some(made) = answer["result"]["terminalId"].as_str() {
            terminal = made.to_owned();
        }
        let outcome = answer.get("result").unwrap_or(&answer["error"]);
        turn.chunk(&format!("{outcome}\n"));
    }
    Ok(())
}
