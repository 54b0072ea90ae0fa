//! What is asked of a `codex app-server` about its threads.

use std::path::Path;
use std::time::Duration;

use domain::agent::Failure;
use serde_json::Value;
use uuid::Uuid;

use super::peer::Peer;
use super::sessions::{MAX_PAGES, malformed};
use super::{ConnectError, Connection};
use crate::acp::content::Attached;
use crate::acp::id;
use crate::acp::response::{Capabilities, Session};
use crate::codex::{request, response, settings};
use crate::fault::{LOGIN_REQUIRED, RpcError};
use crate::jsonrpc;

pub(super) async fn initialize(peer: &Peer, deadline: Duration) -> Result<Capabilities, ConnectError> {
    let answered = peer.request(id::INITIALIZE, request::INITIALIZE, &request::initialize(), deadline).await;
    let result = answered.map_err(Failure::from)?;
    let capabilities = response::initialized(&result).ok_or_else(|| Failure::from(malformed(request::INITIALIZE)))?;
    peer.write(Uuid::now_v7(), request::initialized()).await.map_err(Failure::from)?;
    Ok(capabilities)
}

impl Connection {
    pub(super) async fn start_thread(&self, name: &str, cwd: &Path) -> Result<Session, RpcError> {
        self.check_login().await?;
        let params = request::start(cwd, &self.servers);
        let asked = self.peer().request(&id::new(name), request::START, &params, self.inner.deadlines.new).await?;
        response::opened(&asked, self.models().await).ok_or_else(|| malformed(request::START))
    }

    pub(super) async fn resume_thread(&self, name: &str, thread: &str, cwd: &Path) -> Result<Session, RpcError> {
        self.check_login().await?;
        let params = request::resume(thread, cwd, &self.servers);
        let asked = self.peer().request(&id::resume(name), request::RESUME, &params, self.inner.deadlines.load).await?;
        response::opened(&asked, self.models().await).ok_or_else(|| malformed(request::RESUME))
    }

    /// A thread starts without a login too, and only its model refuses then, after several attempts.
    async fn check_login(&self) -> Result<(), RpcError> {
        let account = self.counted(request::ACCOUNT, &request::account(), self.inner.deadlines.other).await;
        match account {
            Ok(account) if response::needs_login(&account) => {
                Err(RpcError::Rejected { code: LOGIN_REQUIRED, reason: "nobody is logged in".to_owned() })
            }
            Ok(_) => Ok(()),
            Err(error @ (RpcError::Gone(_) | RpcError::NotSent(_))) => Err(error),
            Err(error) => {
                tracing::debug!(%error, "whether somebody is logged in is not known");
                Ok(())
            }
        }
    }

    /// Asked for once. Without an answer there is only the model that a thread has.
    async fn models(&self) -> &[Value] {
        let ask = async {
            let listed = self.counted(request::MODELS, &request::models(), self.inner.deadlines.other).await;
            if let Err(error) = &listed {
                tracing::warn!(%error, "the agent does not say what models it has");
            }
            listed.map(|listed| response::models(&listed)).unwrap_or_default()
        };
        self.inner.models.get_or_init(|| ask).await
    }

    /// The history of a thread comes as [`crate::Signal::Replay`]. Nothing is opened by that, so it may be open elsewhere.
    pub(super) async fn read_thread(&self, name: &str, thread: &str) -> Result<(), RpcError> {
        let mut cursor: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let params = request::history(thread, cursor.as_deref());
            let page = self.peer().request(&id::load(name), request::HISTORY, &params, self.inner.deadlines.load).await?;
            match response::next_page(&page) {
                Some(next) if cursor.as_ref() != Some(&next) => cursor = Some(next),
                _ => break,
            }
        }
        Ok(())
    }

    pub(super) async fn set_of_thread(&self, thread: &str, option: &str, value: &Value) -> Result<(), RpcError> {
        let params = settings::change(thread, option, value)?;
        self.counted(request::SET, &params, self.inner.deadlines.other).await.map(drop)
    }

    pub(super) async fn start_turn(
        &self,
        write_id: Uuid,
        call_id: &str,
        thread: &str,
        text: &str,
        attached: &[Attached],
    ) -> Result<(), RpcError> {
        let params = request::prompt(thread, text, attached)?;
        self.peer().expect_turn(thread);
        let written = self.peer().write(write_id, jsonrpc::request(&id::prompt(call_id), request::PROMPT, &params)).await;
        if written.is_err() {
            self.peer().forget_turn(thread);
        }
        written
    }

    /// Waits until the turn has a name, which the answer to its prompt says. A turn that is over needs no stop.
    pub(super) async fn interrupt_turn(&self, write_id: Uuid, thread: &str) -> Result<(), RpcError> {
        let Some(turn) = self.peer().turn(thread).await else { return Ok(()) };
        let line = jsonrpc::request(&format!("stop:{write_id}"), request::INTERRUPT, &request::interrupt(thread, &turn));
        self.peer().write(write_id, line).await?;
        let line = jsonrpc::request(&format!("end-commands:{write_id}"), request::END_COMMANDS, &request::thread(thread));
        self.peer().write(Uuid::now_v7(), line).await
    }
}
