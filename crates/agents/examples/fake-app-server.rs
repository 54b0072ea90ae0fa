//! An app-server as Codex has one, without a model. The argument says how it is, the first word of a prompt what it does. It exists for
//! the tests of connections; how the real one behaves is in the captures.
#![allow(clippy::disallowed_methods, reason = "being late is one of the things it is for")]

use std::io::{self, BufRead, Write};
use std::time::Duration;

use serde_json::{Value, json};

fn main() -> io::Result<()> {
    let manner = std::env::args().nth(1).unwrap_or_default();
    let mut server = Server { manner, out: io::stdout(), turns: 0, running: None };
    for line in io::stdin().lock().lines() {
        server.handle(&serde_json::from_str(&line?)?)?;
    }
    Ok(())
}

struct Server {
    manner: String,
    out: io::Stdout,
    turns: u32,
    /// The turn that waits for a decision or a stop.
    running: Option<String>,
}

impl Server {
    fn say(&mut self, message: &Value) -> io::Result<()> {
        self.out.write_all(format!("{message}\n").as_bytes())?;
        self.out.flush()
    }

    fn answer(&mut self, to: &Value, result: Value) -> io::Result<()> {
        self.say(&json!({ "id": to["id"], "result": result }))
    }

    fn refuse(&mut self, to: &Value, message: &str) -> io::Result<()> {
        self.say(&json!({ "id": to["id"], "error": { "code": -32600, "message": message } }))
    }

    fn handle(&mut self, message: &Value) -> io::Result<()> {
        let Some(method) = message["method"].as_str() else { return self.decided(&message["result"]) };
        let params = &message["params"];
        match method {
            "initialize" => self.answer(message, json!({ "userAgent": "voxpilot/0.166.0 (Debian 12; x86_64) xterm (voxpilot; 1)" })),
            "account/read" => self.answer(message, json!({ "account": null, "requiresOpenaiAuth": self.manner == "logged-out" })),
            "model/list" if self.manner == "plain" => {
                self.refuse(message, "Invalid request: unknown variant `model/list`, expected one of `initialize`")
            }
            "model/list" => self.answer(message, models()),
            "thread/start" => self.answer(message, opened("t1")),
            "thread/resume" => match params["threadId"].as_str() {
                Some("t1") => self.answer(message, opened("t1")),
                Some("owned") => self.refuse(message, "thread owned already has an active writer"),
                other => self.refuse(message, &format!("no rollout found for thread id {}", other.unwrap_or_default())),
            },
            "thread/settings/update" => self.answer(message, json!({})),
            "thread/list" => match params["cursor"].as_str() {
                None => self.answer(message, json!({ "data": [listed("t1")], "nextCursor": "2" })),
                Some(_) => self.answer(message, json!({ "data": [listed("t2")], "nextCursor": null })),
            },
            "thread/turns/list" => match params["cursor"].as_str() {
                None => self.answer(message, json!({ "data": [turn_of("hi", "hello")], "nextCursor": "2" })),
                Some(_) => self.answer(message, json!({ "data": [turn_of("and", "then")], "nextCursor": null })),
            },
            "turn/start" => self.prompt(message),
            "turn/interrupt" => {
                self.answer(message, json!({}))?;
                if self.running.as_deref() == params["turnId"].as_str() {
                    self.completed("interrupted", Value::Null)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn prompt(&mut self, message: &Value) -> io::Result<()> {
        self.turns += 1;
        let turn = format!("u{}", self.turns);
        self.running = Some(turn.clone());
        let text = message["params"]["input"][0]["text"].as_str().unwrap_or_default().to_owned();
        if text == "late" {
            std::thread::sleep(Duration::from_millis(200));
        }
        self.answer(message, json!({ "turn": { "id": turn, "status": "inProgress", "items": [] } }))?;
        match text.as_str() {
            "say" => {
                self.delta("one ")?;
                self.item("item/completed", json!({ "type": "agentMessage", "id": "m1", "text": "one two" }))?;
                self.completed("completed", Value::Null)
            }
            "half" => self.delta("one "),
            "ask" => {
                self.item("item/started", json!({ "type": "commandExecution", "id": "c1", "command": "/bin/bash -lc 'rm x'", "cwd": "/w", "status": "inProgress" }))?;
                self.say(&json!({ "id": 0, "method": "item/commandExecution/requestApproval", "params": {
                    "threadId": "t1", "turnId": turn, "itemId": "c1", "command": "/bin/bash -lc 'rm x'", "cwd": "/w", "reason": "Remove it?",
                    "availableDecisions": ["accept", { "acceptWithExecpolicyAmendment": { "execpolicy_amendment": ["rm", "x"] } }, "cancel"],
                } }))
            }
            "fail" => self.completed(
                "failed",
                json!({ "message": "no such model", "codexErrorInfo": { "httpConnectionFailed": { "httpStatusCode": 404 } } }),
            ),
            "logged-out" => self.completed("failed", json!({ "message": "token expired", "codexErrorInfo": "unauthorized" })),
            // It goes on until it is stopped, or until the rest is wanted.
            _ => Ok(()),
        }
    }

    /// Says what was decided, and ends the turn.
    fn decided(&mut self, result: &Value) -> io::Result<()> {
        self.say(&json!({ "method": "serverRequest/resolved", "params": { "threadId": "t1", "requestId": 0 } }))?;
        self.delta(&result["decision"].to_string())?;
        self.completed(if result["decision"] == "cancel" { "interrupted" } else { "completed" }, Value::Null)
    }

    fn delta(&mut self, text: &str) -> io::Result<()> {
        let params = json!({ "threadId": "t1", "turnId": self.running, "itemId": "m1", "delta": text });
        self.say(&json!({ "method": "item/agentMessage/delta", "params": params }))
    }

    fn item(&mut self, method: &str, item: Value) -> io::Result<()> {
        self.say(&json!({ "method": method, "params": { "threadId": "t1", "turnId": self.running, "item": item } }))
    }

    fn completed(&mut self, status: &str, error: Value) -> io::Result<()> {
        let turn = json!({ "id": self.running.take(), "status": status, "error": error, "items": [] });
        self.say(&json!({ "method": "turn/completed", "params": { "threadId": "t1", "turn": turn } }))
    }
}

fn opened(thread: &str) -> Value {
    json!({
        "thread": { "id": thread, "cwd": "/w", "turns": [] }, "model": "small", "reasoningEffort": null,
        "approvalPolicy": "on-request", "sandbox": { "type": "readOnly", "networkAccess": false },
    })
}

fn models() -> Value {
    let efforts = json!([{ "reasoningEffort": "low", "description": "" }, { "reasoningEffort": "high", "description": "" }]);
    json!({ "data": [
        { "model": "small", "displayName": "Small", "description": "", "hidden": false, "supportedReasoningEfforts": efforts, "defaultReasoningEffort": "low" },
        { "model": "large", "displayName": "Large", "description": "", "hidden": false, "supportedReasoningEfforts": efforts, "defaultReasoningEffort": "low" },
    ] })
}

fn listed(thread: &str) -> Value {
    json!({ "id": thread, "cwd": "/w", "name": null, "preview": "hi", "updatedAt": 1_794_836_615 })
}

fn turn_of(asked: &str, answered: &str) -> Value {
    json!({ "id": "u0", "status": "completed", "items": [
        { "type": "userMessage", "id": "a", "content": [{ "type": "text", "text": asked }] },
        { "type": "commandExecution", "id": "b", "command": "ls", "cwd": "/w", "status": "completed", "aggregatedOutput": "x\n", "exitCode": 0 },
        { "type": "agentMessage", "id": "c", "text": answered },
    ] })
}
