//! An ACP agent that behaves badly on demand. The first argument says how it starts, the second what it says that it can do, with
//! commas between; the first word of a prompt what it does then. It exists for the tests of connections.
#![allow(clippy::disallowed_methods, reason = "leaving abruptly is one of the things it is for")]

use std::io::{self, BufRead, Write};
use std::process::exit;

use serde_json::{Value, json};

fn main() -> io::Result<()> {
    let manner = std::env::args().nth(1).unwrap_or_default();
    if manner == "sickly" {
        eprintln!("warming up\nno home to write to");
        exit(1);
    }
    let can = std::env::args().nth(2).unwrap_or_default().split(',').map(str::to_owned).collect();
    let mut agent = Agent { manner, can, out: io::stdout(), lines: io::stdin().lock().lines(), held: None, failing: None };
    while let Some(message) = agent.read()? {
        agent.handle(&message)?;
    }
    Ok(())
}

struct Agent<L> {
    manner: String,
    can: Vec<String>,
    out: io::Stdout,
    lines: L,
    /// An answer that is given late.
    held: Option<Value>,
    /// A prompt that ends when it is cancelled.
    failing: Option<Value>,
}

impl<L: Iterator<Item = io::Result<String>>> Agent<L> {
    fn read(&mut self) -> io::Result<Option<Value>> {
        match self.lines.next() {
            Some(line) => Ok(Some(serde_json::from_str(&line?)?)),
            None => Ok(None),
        }
    }

    fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.out.flush()
    }

    fn say(&mut self, message: &Value) -> io::Result<()> {
        self.raw(format!("{message}\n").as_bytes())
    }

    fn answer(&mut self, to: &Value, result: Value) -> io::Result<()> {
        self.say(&json!({ "jsonrpc": "2.0", "id": to["id"], "result": result }))
    }

    fn refuse(&mut self, to: &Value, code: i64, message: &str) -> io::Result<()> {
        self.say(&json!({ "jsonrpc": "2.0", "id": to["id"], "error": { "code": code, "message": message } }))
    }

    fn update(&mut self, update: Value) -> io::Result<()> {
        self.say(&json!({ "jsonrpc": "2.0", "method": "session/update", "params": { "sessionId": "s1", "update": update } }))
    }

    fn chunk(&mut self, text: &str) -> io::Result<()> {
        self.update(json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } }))
    }

    fn handle(&mut self, message: &Value) -> io::Result<()> {
        if let Some(held) = self.held.take() {
            self.say(&held)?;
        }
        let method = message["method"].as_str().unwrap_or_default().to_owned();
        let Some(method) = self.own_name(&method) else { return self.refuse(message, -32601, "no such method") };
        match (self.manner.clone().as_str(), method) {
            ("silent", _) | ("mute", "session/new") => Ok(()),
            ("future", "initialize") => self.answer(message, json!({ "protocolVersion": 2 })),
            (manner, "initialize") => {
                if manner == "chatty" {
                    for number in 0..100_000 {
                        self.say(&json!({ "method": "_chat", "params": { "number": number } }))?;
                    }
                }
                self.answer(message, json!({ "protocolVersion": 1, "agentCapabilities": self.capabilities() }))
            }
            ("late", "session/new") => {
                self.held = Some(json!({ "id": message["id"], "result": { "sessionId": "late" } }));
                Ok(())
            }
            ("logged-out", "session/new" | "session/load") => self.refuse(message, -32000, "Authentication required"),
            ("refuses-new", "session/new") => self.refuse(message, -32602, "Invalid params"),
            ("resume-fails", "session/resume") => self.refuse(message, -32603, "Internal error"),
            ("resume-unknown", "session/resume") => self.refuse(message, -32601, "no such method"),
            ("resume-login", "session/resume") => self.refuse(message, -32000, "Authentication required"),
            ("load-fails", "session/load") => self.refuse(message, -32603, "Session file is corrupted"),
            (_, "session/new") => {
                let options = json!([{ "id": "allow_all", "currentValue": "on" }, { "id": "model", "currentValue": "small" }]);
                self.answer(message, json!({ "sessionId": "s1", "configOptions": options }))
            }
            (_, "session/load") => {
                self.update(json!({ "sessionUpdate": "user_message_chunk", "content": { "type": "text", "text": "before" } }))?;
                self.chunk("history")?;
                self.answer(message, Value::Null)?;
                self.chunk("live")
            }
            (_, "session/list") => match message["params"]["cursor"].as_str() {
                None => self.answer(message, json!({ "sessions": [{ "sessionId": "a", "cwd": "/w" }], "nextCursor": "2" })),
                Some("2") => self.answer(message, json!({ "sessions": [{ "sessionId": "b", "title": "B" }], "nextCursor": "3" })),
                _ => self.answer(message, json!({ "sessions": [{ "sessionId": "s1", "cwd": "/w" }] })),
            },
            (_, "session/set_config_option") => {
                let option = json!({ "id": message["params"]["configId"], "currentValue": message["params"]["value"] });
                self.answer(message, json!({ "configOptions": [option] }))
            }
            (_, "session/resume" | "session/close" | "session/delete" | "logout") => self.answer(message, json!({})),
            (_, "session/prompt") if message["method"] == "session/prompt" => self.prompt(message),
            (_, "session/prompt") => self.answer(message, json!({ "turnId": "t1", "status": "processing" })).and_then(|()| {
                let text = &message["params"]["message"];
                self.say(&json!({ "method": "message/delta", "params": { "sessionId": "s1", "delta": text, "type": "text" } }))?;
                self.say(&json!({ "method": "turn/status", "params": { "sessionId": "s1", "status": "completed" } }))
            }),
            (_, "session/cancel") => match self.failing.take() {
                Some(prompt) => self.answer(&prompt, json!({ "stopReason": "end_turn" })),
                None => Ok(()),
            },
            (_, "") => Ok(()),
            (_, method) => self.refuse(message, -32601, &format!("\"Method not found\": {method}")),
        }
    }

    /// What the protocol calls a method. Started as `names:` it knows three methods only by the names that follow.
    fn own_name<'a>(&self, method: &'a str) -> Option<&'a str> {
        const RENAMED: [&str; 3] = ["session/new", "session/prompt", "session/list"];
        let Some(names) = self.manner.strip_prefix("names:") else { return Some(method) };
        match names.split(',').position(|name| name == method) {
            Some(at) => RENAMED.get(at).copied(),
            None => (!RENAMED.contains(&method)).then_some(method),
        }
    }

    fn capabilities(&self) -> Value {
        let can = |what: &str| self.can.iter().any(|can| can == what);
        let offered = |what: &str| if can(what) { json!({}) } else { Value::Null };
        json!({
            "loadSession": can("load"),
            "auth": { "logout": offered("logout") },
            "sessionCapabilities": {
                "list": offered("list"), "resume": offered("resume"), "close": offered("close"), "delete": offered("delete"),
            },
        })
    }

    fn prompt(&mut self, message: &Value) -> io::Result<()> {
        let text = message["params"]["prompt"][0]["text"].as_str().unwrap_or_default().to_owned();
        let mut words = text.split(' ');
        match words.next().unwrap_or_default() {
            "half" => {
                let line = json!({ "method": "session/update", "params": { "sessionId": "s1", "update":
                    { "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": "whole" } } } });
                let line = format!("{line}\n");
                self.raw(&line.as_bytes()[..40])?;
                self.raw(&line.as_bytes()[40..])?;
            }
            "garbage" => {
                self.raw(b"debug: starting\n\n   \n{\"cut\":\n\xff\xfe\n")?;
                let bytes = br#"{"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"ca?t"}}}}"#;
                self.raw(&bytes.map(|byte| if byte == b'?' { 0xff } else { byte }))?;
                self.raw(b"\n")?;
            }
            "huge" => {
                let piece = vec![b'x'; 1 << 20];
                for _ in 0..100 {
                    self.out.write_all(&piece)?;
                }
                self.raw(b"\n")?;
                self.chunk("after")?;
            }
            "unknown" => {
                self.update(json!({ "sessionUpdate": "hologram", "depth": 3 }))?;
                self.say(&json!({ "method": "_private/event", "params": { "x": 1 } }))?;
            }
            "twice" => {
                self.say(&json!({ "id": "list:99", "result": {} }))?;
                self.answer(message, json!({ "stopReason": "end_turn" }))?;
            }
            "crash" => {
                self.chunk("last words")?;
                self.raw(br#"{"jsonrpc":"2.0","method":"sess"#)?;
                eprintln!("out of luck");
                exit(3);
            }
            "doubt" => {
                self.chunk("half ")?;
                self.chunk("Error: the model is gone")?;
                self.failing = Some(message.clone());
                return Ok(());
            }
            "doubt-flood" => {
                self.chunk("Error: the model is gone")?;
                for number in 0..20_000 {
                    let content = json!({ "type": "text", "text": format!("{number} ") });
                    let update = json!({ "sessionUpdate": "agent_message_chunk", "content": content });
                    self.say(&json!({ "method": "session/update", "params": { "sessionId": "s2", "update": update } }))?;
                }
            }
            "doubt-crash" => {
                self.chunk("Error: last words")?;
                exit(3);
            }
            "bad-lines" => self.raw("not a message\n".repeat(20_000).as_bytes())?,
            "leave" => exit(0),
            "wait" => return Ok(()),
            "ask" => return self.ask(message),
            "flood" => {
                let count: u64 = words.next().and_then(|word| word.parse().ok()).unwrap_or(1000);
                for number in 0..count {
                    self.chunk(&format!("{number} "))?;
                }
            }
            _ => self.chunk("hello")?,
        }
        self.answer(message, json!({ "stopReason": "end_turn" }))
    }

    /// One request that nobody implements and one for permission; says what it was answered.
    fn ask(&mut self, prompt: &Value) -> io::Result<()> {
        self.say(&json!({ "jsonrpc": "2.0", "id": 7, "method": "_odd/unheard_of", "params": { "sessionId": "s1" } }))?;
        let options = json!([{ "optionId": "yes", "name": "Yes", "kind": "allow_once" }]);
        let call = json!({ "toolCallId": "c1", "title": "list", "kind": "execute", "rawInput": { "command": "ls" } });
        let params = json!({ "sessionId": "s1", "toolCall": call, "options": options });
        self.say(&json!({ "jsonrpc": "2.0", "id": 0, "method": "session/request_permission", "params": params }))?;
        let (mut refused, mut outcome) = (Value::Null, Value::Null);
        while refused.is_null() || outcome.is_null() {
            let Some(message) = self.read()? else { return Ok(()) };
            match message["id"].as_i64() {
                Some(7) => refused = message["error"]["code"].clone(),
                Some(0) => outcome = message["result"]["outcome"].clone(),
                _ => {}
            }
        }
        self.chunk(&format!("{refused} {outcome}"))?;
        self.answer(prompt, json!({ "stopReason": "end_turn" }))
    }
}
