//! An ACP agent that behaves badly on demand. The first argument says how it starts; the first word of a prompt what it
//! does then. It exists for the tests of connections.
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
    let mut agent = Agent { manner, out: io::stdout(), lines: io::stdin().lock().lines(), held: None };
    while let Some(message) = agent.read()? {
        agent.handle(&message)?;
    }
    Ok(())
}

struct Agent<L> {
    manner: String,
    out: io::Stdout,
    lines: L,
    /// An answer that is given late.
    held: Option<Value>,
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
        match (self.manner.as_str(), message["method"].as_str().unwrap_or_default()) {
            ("silent", _) | ("mute", "session/new") => Ok(()),
            ("future", "initialize") => self.answer(message, json!({ "protocolVersion": 2 })),
            (_, "initialize") => self.answer(message, json!({ "protocolVersion": 1, "agentCapabilities": { "loadSession": true } })),
            ("late", "session/new") => {
                self.held = Some(json!({ "id": message["id"], "result": { "sessionId": "late" } }));
                Ok(())
            }
            ("logged-out", "session/new") => self.refuse(message, -32000, "Authentication required"),
            ("other-names", "session/new" | "session/prompt") => self.refuse(message, -32601, "no such method"),
            ("other-names", "session/create") => self.answer(message, json!({ "sessionId": "s1", "status": "active" })),
            ("other-names", "prompt/send") => self.answer(message, json!({ "turnId": "t1", "status": "processing" })).and_then(|()| {
                let text = &message["params"]["message"];
                self.say(&json!({ "method": "message/delta", "params": { "sessionId": "s1", "delta": text, "type": "text" } }))?;
                self.say(&json!({ "method": "turn/status", "params": { "sessionId": "s1", "status": "completed" } }))
            }),
            (_, "session/new") => {
                let options = json!([{ "id": "allow_all", "currentValue": "on" }]);
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
                _ => self.answer(message, json!({ "sessions": [{ "sessionId": "b", "cwd": "/w", "title": "B" }] })),
            },
            (_, "session/set_config_option") => {
                let option = json!({ "id": message["params"]["configId"], "currentValue": message["params"]["value"] });
                self.answer(message, json!({ "configOptions": [option] }))
            }
            (_, "session/prompt") => self.prompt(message),
            (_, "session/cancel" | "") => Ok(()),
            (_, method) => self.refuse(message, -32601, &format!("\"Method not found\": {method}")),
        }
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
