//! The writing half of a connection: asks, and waits for what the driver hands it from the journal.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use agent_client_protocol_schema::v1::ContentBlock;
use runner::{Handle, RequestError, WriteError};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::{Mutex, watch};
use tokio::time::timeout;
use uuid::Uuid;

use super::pending::{PROMPT_METHOD, Pending, Prompt};
use crate::acp::alias::{self, Names};
use crate::acp::{id, request};
use crate::fault::RpcError;
use crate::jsonrpc;

/// How long an agent that is gone may take to be read to its end.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// After so much of an agent the runner is told what is stored, so that it need not keep all of it.
const MUCH_BYTES: u64 = 16 * 1024 * 1024;

pub(super) struct Peer {
    /// `None` for a runner that had ended before we came.
    handle: Option<Handle>,
    pub pending: Pending,
    count: AtomicU64,
    busy: AtomicBool,
    telling: Mutex<()>,
    /// How much the agent has said since the runner was told what is stored.
    said_bytes: AtomicU64,
    /// The turns that run, by agent session; those that have not begun without an id. Only of a dialect that names them.
    turns: watch::Sender<HashMap<String, Option<String>>>,
}

impl Peer {
    pub(super) fn new(handle: Option<Handle>, names: &Names) -> Self {
        let (count, busy, telling) = (AtomicU64::new(0), AtomicBool::new(false), Mutex::new(()));
        let said_bytes = AtomicU64::new(0);
        Self { handle, pending: Pending::knowing(names), count, busy, telling, said_bytes, turns: watch::Sender::default() }
    }

    pub(super) fn next_count(&self) -> u64 {
        self.count.fetch_add(1, Ordering::Relaxed)
    }

    /// Asks under the name the agent knows the method by; while that is unknown, under one after another.
    pub(super) async fn request(
        &self,
        id: &str,
        method: &'static str,
        params: &Value,
        deadline: Duration,
    ) -> Result<Box<RawValue>, RpcError> {
        let (known, certain) = self.pending.name(method);
        let others = alias::names(method).filter(|name| *name != known && !certain);
        let (mut missing, mut tried) = (None, Vec::new());
        for name in std::iter::once(known).chain(others) {
            tried.push(name);
            let asked = match name == method {
                true => self.ask(id, name, params, deadline).await,
                false => self.ask(id, name, &request::under_alias(method, params.clone()), deadline).await,
            };
            match asked {
                Err(error) if error.is_method_missing() => _ = missing.get_or_insert(error),
                answered => {
                    if matches!(answered, Ok(_) | Err(RpcError::Rejected { .. })) {
                        self.pending.learn(method, name);
                    }
                    return answered;
                }
            }
        }
        Err(match missing {
            Some(error) if tried.len() > 1 => RpcError::unknown_names(&tried, &error),
            Some(error) => error,
            None => RpcError::Malformed { method: method.to_owned() },
        })
    }

    async fn ask(&self, id: &str, method: &str, params: &Value, deadline: Duration) -> Result<Box<RawValue>, RpcError> {
        let mut waiting = self.pending.wait(id, method)?;
        let answered = timeout(deadline, async {
            match self.write(Uuid::now_v7(), jsonrpc::request(id, method, params)).await {
                // The journal knows how the agent ended, and the driver is about to read it.
                Err(RpcError::Gone(text)) => timeout(LAST_WORDS, waiting.answer()).await.unwrap_or(Err(RpcError::Gone(text))),
                written => {
                    written?;
                    waiting.answer().await
                }
            }
        });
        match answered.await {
            Ok(Ok(Ok(Some(result)))) => Ok(result),
            Ok(Ok(Ok(None))) => Err(RpcError::Malformed { method: method.to_owned() }),
            Ok(Ok(Err(error))) => Err(error.into()),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(RpcError::Timeout { method: method.to_owned(), seconds: deadline.as_secs() }),
        }
    }

    pub(super) async fn prompt(
        &self,
        write_id: Uuid,
        call_id: &str,
        agent_session: &str,
        text: &str,
        along: Vec<ContentBlock>,
    ) -> Result<(), RpcError> {
        let (name, certain) = self.pending.name(PROMPT_METHOD);
        let (agent_session, text) = (agent_session.to_owned(), text.to_owned());
        let prompt = Prompt { write_id, agent_session, text, along, name, tried: Vec::new() };
        let line = prompt_line(call_id, &prompt);
        if !certain {
            self.pending.prompt_sent(call_id, prompt);
        }
        let written = self.write(write_id, line).await;
        if written.is_err() {
            self.pending.prompt_failed(call_id);
        }
        written
    }

    /// A prompt is about to be sent: from now on there is a turn to wait for.
    pub(super) fn expect_turn(&self, agent_session: &str) {
        self.turns.send_modify(|turns| _ = turns.insert(agent_session.to_owned(), None));
    }

    pub(super) fn forget_turn(&self, agent_session: &str) {
        self.turns.send_modify(|turns| _ = turns.remove(agent_session));
    }

    pub(super) fn forget_turns(&self) {
        self.turns.send_modify(HashMap::clear);
    }

    /// What runs in a process that is adopted.
    pub(super) fn adopt_turns(&self, running: Vec<(Arc<str>, Option<String>)>) {
        let running = running.into_iter().map(|(agent_session, turn)| (agent_session.to_string(), turn));
        self.turns.send_modify(|turns| turns.extend(running));
    }

    /// Turns that have begun, and those that are over.
    pub(super) fn note_turns(&self, told: Vec<(Arc<str>, Option<String>)>) {
        if told.is_empty() {
            return;
        }
        self.turns.send_modify(|turns| {
            for (agent_session, turn) in told {
                match turn {
                    Some(turn) => _ = turns.insert(agent_session.to_string(), Some(turn)),
                    None => _ = turns.remove(&*agent_session),
                }
            }
        });
    }

    /// The turn that runs in a session, as soon as it has a name; `None` where none does.
    pub(super) async fn turn(&self, agent_session: &str) -> Option<String> {
        let mut turns = self.turns.subscribe();
        let known = turns.wait_for(|turns| !matches!(turns.get(agent_session), Some(None))).await;
        known.ok().and_then(|turns| turns.get(agent_session).cloned().flatten())
    }

    /// Sends a prompt again, whose method the agent did not know, under the name it now carries.
    pub(super) async fn prompt_again(&self, call_id: &str, prompt: &Prompt) -> Result<(), RpcError> {
        let write_id = Uuid::new_v5(&prompt.write_id, prompt.name.as_bytes());
        self.write(write_id, prompt_line(call_id, prompt)).await
    }

    pub(super) async fn write(&self, write_id: Uuid, line: Vec<u8>) -> Result<(), RpcError> {
        let written = match &self.handle {
            Some(handle) => handle.write(write_id, line).await,
            None => Err(WriteError::Gone),
        };
        written.map_err(|error| match error {
            WriteError::Gone => RpcError::Gone(self.pending.gone().unwrap_or_else(|| error.to_string())),
            WriteError::DiskFull(_) | WriteError::Stuck(_) | WriteError::NotALine => RpcError::NotSent(error.to_string()),
        })
    }

    pub(super) fn set_busy(&self, running: bool) {
        self.busy.store(running, Ordering::SeqCst);
    }

    /// Whoever passes it on, in whatever order they come: the last that the runner is told is the last that was set.
    pub(super) async fn tell_busy(&self) {
        let _in_turn = self.telling.lock().await;
        let running = self.busy.load(Ordering::SeqCst);
        if let Some(handle) = &self.handle
            && let Err(error) = handle.busy(running).await
        {
            tracing::debug!(%error, running, "the runner was not told whether a prompt runs");
        }
    }

    pub(super) async fn ack(&self, seq: u64) {
        if let Some(handle) = &self.handle
            && let Err(error) = handle.ack(seq).await
        {
            tracing::debug!(%error, seq, "the runner was not told what is stored");
        }
    }

    pub(super) fn note_said(&self, bytes: usize) {
        self.said_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn take_much_said(&self) -> bool {
        let is_much = self.said_bytes.load(Ordering::Relaxed) > MUCH_BYTES;
        if is_much {
            self.said_bytes.store(0, Ordering::Relaxed);
        }
        is_much
    }

    pub(super) async fn stored(&self, seq: u64) {
        if let Some(handle) = &self.handle
            && let Err(error) = handle.stored(seq).await
        {
            tracing::debug!(%error, seq, "the runner was not told what is stored");
        }
    }

    pub(super) async fn stop(&self) -> Result<(), RequestError> {
        match &self.handle {
            Some(handle) => handle.stop().await,
            None => Ok(()),
        }
    }
}

fn prompt_line(call_id: &str, prompt: &Prompt) -> Vec<u8> {
    let params = match prompt.name {
        PROMPT_METHOD => request::prompt(&prompt.agent_session, &prompt.text, &prompt.along),
        _ => request::prompt_under_alias(&prompt.agent_session, &prompt.text, &prompt.along),
    };
    jsonrpc::request(&id::prompt(call_id), prompt.name, &params)
}
