//! Answers to an agent's requests, as they stand on the wire.

use domain::agent::{Exited, FormAction, Problem, Reply};
use serde_json::{Value, json};

use super::request;
use crate::fault::NOT_FOUND;
use crate::jsonrpc::{self, INVALID_PARAMS, METHOD_NOT_FOUND, RpcId};

/// The policy or a person said no.
const NOT_ALLOWED: i64 = -32001;
/// The request was given up before it was done.
const CANCELLED: i64 = -32800;
const INTERNAL: i64 = -32603;

pub(crate) fn line(id: &RpcId, reply: &Reply) -> Vec<u8> {
    let result = match reply {
        Reply::Chosen { option_id } => request::permission_outcome(option_id.as_deref()),
        Reply::Text { content } => json!({ "content": content }),
        Reply::Done => json!({}),
        Reply::TerminalStarted { terminal_id } => json!({ "terminalId": terminal_id }),
        Reply::Output { output, truncated, exit } => {
            let mut result = json!({ "output": output, "truncated": truncated });
            if let Some(exit) = exit {
                result["exitStatus"] = exited(exit);
            }
            result
        }
        Reply::Exited(exit) => exited(exit),
        Reply::Form { action, content } => form(*action, content.as_ref()),
        Reply::Refused { problem, message } => return jsonrpc::refusal(id, code(*problem), message),
    };
    jsonrpc::answer(id, &result)
}

fn exited(exit: &Exited) -> Value {
    json!({ "exitCode": exit.code, "signal": exit.signal })
}

fn form(action: FormAction, content: Option<&Value>) -> Value {
    match action {
        FormAction::Accept => json!({ "action": "accept", "content": content.cloned().unwrap_or_else(|| json!({})) }),
        FormAction::Decline => json!({ "action": "decline" }),
        FormAction::Cancel => json!({ "action": "cancel" }),
    }
}

pub(crate) fn code(problem: Problem) -> i64 {
    match problem {
        Problem::NotAllowed => NOT_ALLOWED,
        Problem::NotFound => NOT_FOUND,
        Problem::Invalid => INVALID_PARAMS,
        Problem::Cancelled => CANCELLED,
        Problem::Unsupported => METHOD_NOT_FOUND,
        Problem::Internal => INTERNAL,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn sent(reply: &Reply) -> Value {
        serde_json::from_slice(&line(&RpcId::Number(0.into()), reply)).unwrap()
    }

    #[test]
    fn every_reply_has_the_protocols_shape() {
        let killed = Exited { code: None, signal: Some("SIGKILL".into()) };
        let output = |exit| Reply::Output { output: "x".into(), truncated: true, exit };
        let form = |action, content| Reply::Form { action, content };
        for (reply, result) in [
            (Reply::Chosen { option_id: Some("a".into()) }, json!({ "outcome": { "outcome": "selected", "optionId": "a" } })),
            (Reply::Chosen { option_id: None }, json!({ "outcome": { "outcome": "cancelled" } })),
            (Reply::Text { content: "x".into() }, json!({ "content": "x" })),
            (Reply::Done, json!({})),
            (Reply::TerminalStarted { terminal_id: "t".into() }, json!({ "terminalId": "t" })),
            (output(None), json!({ "output": "x", "truncated": true })),
            (
                output(Some(killed.clone())),
                json!({ "output": "x", "truncated": true, "exitStatus": { "exitCode": null, "signal": "SIGKILL" } }),
            ),
            (Reply::Exited(Exited { code: Some(3), signal: None }), json!({ "exitCode": 3, "signal": null })),
            (form(FormAction::Accept, Some(json!({ "a": 1 }))), json!({ "action": "accept", "content": { "a": 1 } })),
            (form(FormAction::Decline, None), json!({ "action": "decline" })),
            (form(FormAction::Cancel, None), json!({ "action": "cancel" })),
        ] {
            assert_eq!(sent(&reply), json!({ "jsonrpc": "2.0", "id": 0, "result": result }), "{reply:?}");
        }
    }

    #[test]
    fn every_problem_has_its_code() {
        for (problem, code) in [
            (Problem::NotAllowed, -32001),
            (Problem::NotFound, -32002),
            (Problem::Invalid, -32602),
            (Problem::Cancelled, -32800),
            (Problem::Unsupported, -32601),
            (Problem::Internal, -32603),
        ] {
            let error = json!({ "code": code, "message": "no" });
            assert_eq!(sent(&Reply::refused(problem, "no")), json!({ "jsonrpc": "2.0", "id": 0, "error": error }));
        }
    }
}
