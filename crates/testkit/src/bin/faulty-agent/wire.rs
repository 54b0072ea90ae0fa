//! Lines to the client, well-formed or not.

use std::collections::HashMap;
use std::io::{Stdout, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Mutex, MutexGuard};

use serde_json::{Value, json};

use crate::Waiting;

pub(crate) struct Wire {
    out: Mutex<Stdout>,
    next_request: AtomicU64,
    waiting: Mutex<Waiting>,
}

impl Default for Wire {
    fn default() -> Self {
        Self { out: Mutex::new(std::io::stdout()), next_request: AtomicU64::new(0), waiting: Mutex::new(HashMap::new()) }
    }
}

impl Wire {
    pub(crate) fn respond(&self, id: &Value, result: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    pub(crate) fn fail(&self, id: &Value, code: i64, message: &str) {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }));
    }

    pub(crate) fn update(&self, session: &str, update: &Value) {
        self.notify("session/update", &json!({ "sessionId": session, "update": update }));
    }

    pub(crate) fn text(&self, session: &str, kind: &str, text: &str) {
        self.update(session, &chunk(kind, text));
    }

    pub(crate) fn notify(&self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request; its whole answer arrives at the receiver.
    pub(crate) fn request(&self, method: &str, params: &Value) -> Receiver<Value> {
        self.numbered_request(method, params).1
    }

    pub(crate) fn numbered_request(&self, method: &str, params: &Value) -> (u64, Receiver<Value>) {
        let id = self.next_request.fetch_add(1, Ordering::Relaxed);
        (id, self.request_under(id, method, params))
    }

    /// Sends a request under an id of the caller's choice, which may have been used before.
    pub(crate) fn request_under(&self, id: u64, method: &str, params: &Value) -> Receiver<Value> {
        let (sender, answer) = sync_channel(1);
        self.waiting.lock().expect("nobody panics with the table").insert(id, sender);
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        answer
    }

    pub(crate) fn deliver(&self, message: &Value) {
        let mut waiting = self.waiting.lock().expect("nobody panics with the table");
        if let Some(sender) = message["id"].as_u64().and_then(|id| waiting.remove(&id)) {
            // The turn may have gone on without it.
            let _ = sender.try_send(message.clone());
        }
    }

    pub(crate) fn send(&self, message: &Value) {
        let mut line = message.to_string();
        line.push('\n');
        self.raw(line.as_bytes());
    }

    pub(crate) fn raw(&self, bytes: &[u8]) {
        write(&mut self.lock(), bytes);
    }

    /// The writer for as long as nothing may come between two writes.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Stdout> {
        self.out.lock().expect("nobody panics while writing")
    }
}

/// A client that has gone away is no fault of ours: what it does not read is dropped.
pub(crate) fn write(out: &mut Stdout, bytes: &[u8]) {
    let _ = out.write_all(bytes).and_then(|()| out.flush());
}

pub(crate) fn chunk(kind: &str, text: &str) -> Value {
    json!({ "sessionUpdate": kind, "content": { "type": "text", "text": text } })
}

/// A whole chunk line, newline included.
pub(crate) fn chunk_line(session: &str, text: &str) -> Vec<u8> {
    let params = json!({ "sessionId": session, "update": chunk("agent_message_chunk", text) });
    let mut line = json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }).to_string();
    line.push('\n');
    line.into_bytes()
}
