//! The way out to the client: one locked writer, and the requests of ours that still wait for an answer.

use std::collections::HashMap;
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::gate::{Answer, Cancelled, Gate};
use crate::wire::RpcError;

pub(crate) struct Peer {
    out: Mutex<Box<dyn Write + Send>>,
    /// Nobody reads us any more. Set once, never cleared.
    lost: AtomicBool,
    on_lost: Box<dyn Fn() + Send + Sync>,
    /// Starts at 0 and counts per connection.
    next_request: AtomicU64,
    waiting: Mutex<HashMap<u64, Arc<Gate>>>,
}

impl Peer {
    pub(crate) fn new(out: impl Write + Send + 'static, on_lost: impl Fn() + Send + Sync + 'static) -> Self {
        Self {
            out: Mutex::new(Box::new(out)),
            lost: AtomicBool::new(false),
            on_lost: Box::new(on_lost),
            next_request: AtomicU64::new(0),
            waiting: Mutex::default(),
        }
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    pub(crate) fn respond(&self, id: &Value, outcome: Result<Value, RpcError>) {
        self.send(&match outcome {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err(error) => json!({ "jsonrpc": "2.0", "id": id, "error": error.to_json() }),
        });
    }

    pub(crate) fn update(&self, session: &str, update: &Value) {
        self.send(&json!({
            "jsonrpc": "2.0",
            "method": "session/update",
            "params": { "sessionId": session, "update": update },
        }));
    }

    /// Sends a request and waits at the turn's gate for its answer.
    pub(crate) fn ask(&self, method: &str, params: &Value, gate: &Arc<Gate>) -> Result<Answer, Cancelled> {
        let id = self.next_request.fetch_add(1, Ordering::Relaxed);
        self.waiting().insert(id, Arc::clone(gate));
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        let answer = gate.wait_answer(id);
        self.waiting().remove(&id);
        answer
    }

    /// Hands an answer to the turn that waits for it; an unknown or late one is dropped.
    pub(crate) fn deliver(&self, id: &Value, answer: Answer) {
        let gate = id.as_u64().and_then(|id| Some((id, self.waiting().remove(&id)?)));
        if let Some((id, gate)) = gate {
            gate.deliver(id, answer);
        }
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, HashMap<u64, Arc<Gate>>> {
        self.waiting.lock().expect("no holder of the table panics")
    }

    fn send(&self, message: &Value) {
        let mut line = message.to_string();
        line.push('\n');
        let mut out = self.out.lock().expect("no holder of the writer panics");
        let sent = out.write_all(line.as_bytes()).and_then(|()| out.flush());
        drop(out);
        if sent.is_err() && !self.lost.swap(true, Ordering::AcqRel) {
            (self.on_lost)();
        }
    }
}
