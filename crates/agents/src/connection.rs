//! One agent process behind its runner: requests go in, signals come out.
//!
//! A driver task reads the journal and never waits for a write. Whoever awaits a request must keep taking batches from the
//! `signals` channel meanwhile, because answers stand in the journal behind what came before them.
//! Nothing here is stored, and dropping the last clone only detaches: the agent goes on.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use domain::agent::ToolCall;
use runner::{AttachError, RequestError, Spec, StartError};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::acp::client_request::Answer;
use crate::acp::content::{self, Attached};
use crate::acp::decoder::Decoder;
use crate::acp::mcp::{self, McpServer};
use crate::acp::request::{self, OptionValue};
use crate::acp::response::{self, Capabilities, Listed, Opened};
use crate::acp::{PROTOCOL_VERSION, id, options};
use crate::jsonrpc::{self, RpcId};
use crate::signal::{Batch, RpcError};

mod driver;
mod peer;
mod pending;

use driver::{Driver, Source};
use peer::Peer;

/// No agent stores so many pages of sessions; one that says so is going in circles.
const MAX_PAGES: usize = 1000;

pub struct Launch {
    /// The binary that holds the runner.
    pub exe: PathBuf,
    /// The runner's directory.
    pub dir: PathBuf,
    pub spec: Spec,
    /// See [`crate::catalogue::Agent::notices_in_text`].
    pub notices_in_text: bool,
    /// A file that the agent's arguments name, for its owner only: its name in the directory, and what is in it.
    pub file: Option<(&'static str, Vec<u8>)>,
}

/// How long to wait for an answer. A prompt has no deadline: its liveness is the process.
#[derive(Clone, Copy, Debug)]
pub struct Deadlines {
    pub initialize: Duration,
    pub new: Duration,
    pub list: Duration,
    pub load: Duration,
    /// Closing, modes and options.
    pub other: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        let short = Duration::from_secs(30);
        Self { initialize: Duration::from_secs(60), new: short, list: short, load: Duration::from_secs(300), other: short }
    }
}

/// What a server stored of a connection that it takes up in the middle. Only the capabilities are always needed.
#[derive(Clone, Default, Debug)]
pub struct Known {
    pub capabilities: Capabilities,
    /// Agent session and call, of the calls that may still change: later reports are laid over them.
    pub calls: Vec<(String, ToolCall)>,
    /// Name and agent session, of the sessions that were being loaded: what comes before the answer is history.
    pub loads: Vec<(String, String)>,
    /// Agent session and call id, of the prompts that are running.
    pub prompts: Vec<(String, String)>,
    /// See [`crate::catalogue::Agent::notices_in_text`].
    pub notices_in_text: bool,
}

impl From<Capabilities> for Known {
    fn from(capabilities: Capabilities) -> Self {
        Self { capabilities, ..Self::default() }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error("starting the runner: {0}")]
    Start(#[from] StartError),
    #[error("attaching to the runner: {0}")]
    Attach(#[from] AttachError),
    #[error("initialising the agent: {0}")]
    Initialize(#[from] RpcError),
    #[error("the agent speaks version {answered} of the protocol, not {PROTOCOL_VERSION}")]
    Version { answered: String },
}

impl ConnectError {
    /// The agent or its runner ended before it could answer; another one may do better.
    pub fn is_gone(&self) -> bool {
        matches!(self, Self::Initialize(RpcError::Gone(_)) | Self::Attach(AttachError::Gone(_)) | Self::Start(StartError::Ended(_)))
    }
}

#[derive(Clone)]
pub struct Connection {
    inner: Arc<Inner>,
    servers: Arc<[McpServer]>,
    /// The agent was given the stdio servers at its start.
    flagged: bool,
}

struct Inner {
    peer: Arc<Peer>,
    capabilities: Capabilities,
    deadlines: Deadlines,
    /// Holds the one driver task, which ends with it.
    _driver: JoinSet<()>,
}

impl Connection {
    /// Starts a runner with its agent and initialises the agent. Where that fails, nothing is left running.
    pub async fn start(launch: Launch, deadlines: Deadlines, signals: mpsc::Sender<Batch>) -> Result<Self, ConnectError> {
        if let Some((name, bytes)) = &launch.file {
            runner::put_private(&launch.dir, name, bytes).map_err(StartError::Directory)?;
        }
        runner::start(&launch.exe, &launch.dir, &launch.spec).await?;
        let (handle, records) = runner::attach(&launch.dir, 0).await?;
        let peer = Arc::new(Peer::new(Some(handle)));
        let decoder = Decoder::default().with_notices_in_text(launch.notices_in_text);
        let driver = spawn(peer.clone(), Source::live(records, &launch.dir), decoder, 0, signals);
        match initialize(&peer, deadlines.initialize).await {
            Ok(capabilities) => Ok(Self::new(peer, capabilities, deadlines, driver)),
            Err(error) => {
                if let Err(error) = peer.stop().await {
                    tracing::warn!(label = launch.spec.label, %error, "an agent that could not be initialised is still there");
                }
                Err(error)
            }
        }
    }

    /// Takes up a connection of an earlier server at `cursor`. Where the runner has ended meanwhile, what it wrote down is
    /// read from its directory, up to [`crate::Signal::Gone`].
    pub async fn adopt(
        dir: &Path,
        cursor: u64,
        known: impl Into<Known>,
        deadlines: Deadlines,
        signals: mpsc::Sender<Batch>,
    ) -> Result<Self, ConnectError> {
        let (handle, source) = match runner::attach(dir, cursor).await {
            Ok((handle, records)) => (Some(handle), Source::live(records, dir)),
            Err(AttachError::Gone(_)) => (None, Source::disk(dir)),
            Err(error) => return Err(error.into()),
        };
        let peer = Arc::new(Peer::new(handle));
        let Known { capabilities, calls, loads, prompts, notices_in_text } = known.into();
        let decoder = Decoder::knowing(calls, loads, prompts).with_notices_in_text(notices_in_text);
        let driver = spawn(peer.clone(), source, decoder, cursor, signals);
        Ok(Self::new(peer, capabilities, deadlines, driver))
    }

    fn new(peer: Arc<Peer>, capabilities: Capabilities, deadlines: Deadlines, driver: JoinSet<()>) -> Self {
        let inner = Arc::new(Inner { peer, capabilities, deadlines, _driver: driver });
        Self { inner, servers: Arc::default(), flagged: false }
    }

    /// The same connection, whose sessions are given these MCP servers. `flagged`: the agent has the stdio ones already.
    pub fn offering(mut self, servers: Arc<[McpServer]>, flagged: bool) -> Self {
        (self.servers, self.flagged) = (servers, flagged);
        self
    }

    fn servers(&self) -> Value {
        mcp::for_session(&self.servers, self.capabilities(), self.flagged)
    }

    pub fn capabilities(&self) -> &Capabilities {
        &self.inner.capabilities
    }

    pub async fn new_session(&self, name: &str, cwd: &Path) -> Result<Opened, RpcError> {
        let params = request::new(&absolute(cwd), self.servers());
        let result = self.peer().request(&id::new(name), "session/new", &params, self.inner.deadlines.new).await?;
        response::opened(&result, None).ok_or_else(|| malformed("session/new"))
    }

    /// Has the agent restore a session from its own storage. What it repeats comes as [`crate::Signal::Replay`].
    pub async fn load_session(&self, name: &str, agent_session: &str, cwd: &Path) -> Result<Opened, RpcError> {
        let params = request::load(agent_session, &absolute(cwd), self.servers());
        let result = self.peer().request(&id::load(name), "session/load", &params, self.inner.deadlines.load).await?;
        response::opened(&result, Some(agent_session)).ok_or_else(|| malformed("session/load"))
    }

    pub async fn resume_session(&self, name: &str, agent_session: &str, cwd: &Path) -> Result<Opened, RpcError> {
        let params = request::resume(agent_session, &absolute(cwd), self.servers());
        let result = self.peer().request(&id::resume(name), "session/resume", &params, self.inner.deadlines.load).await?;
        response::opened(&result, Some(agent_session)).ok_or_else(|| malformed("session/resume"))
    }

    /// All pages, so that a session that is not in the list is really unknown to the agent.
    pub async fn list_sessions(&self, cwd: Option<&Path>) -> Result<Vec<Listed>, RpcError> {
        let mut sessions = Vec::new();
        let mut cursor: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let params = request::list(cwd, cursor.as_deref());
            let result = self.counted("session/list", &params, self.inner.deadlines.list).await?;
            let page = response::page(&result).ok_or_else(|| malformed("session/list"))?;
            sessions.extend(page.sessions);
            match page.next {
                Some(next) if !next.is_empty() && cursor.as_ref() != Some(&next) => cursor = Some(next),
                _ => break,
            }
        }
        Ok(sessions)
    }

    pub async fn close_session(&self, agent_session: &str) -> Result<(), RpcError> {
        self.counted("session/close", &request::close(agent_session), self.inner.deadlines.other).await.map(drop)
    }

    pub async fn set_mode(&self, agent_session: &str, mode_id: &str) -> Result<(), RpcError> {
        let params = request::set_mode(agent_session, mode_id);
        self.counted(options::SET_MODE, &params, self.inner.deadlines.other).await.map(drop)
    }

    /// Returns the options as they are afterwards, where the agent says so; the newest come as an update anyway.
    /// Agents without options take the two that everybody has by their older methods.
    pub async fn set_option(&self, agent_session: &str, config_id: &str, value: &OptionValue) -> Result<Option<Value>, RpcError> {
        let deadline = self.inner.deadlines.other;
        let params = request::set_option(agent_session, config_id, value);
        match self.counted("session/set_config_option", &params, deadline).await {
            Ok(result) => Ok(response::set_options(&result)),
            Err(error) if error.is_method_missing() => match (config_id, value) {
                ("mode", OptionValue::Choice(mode)) => self.set_mode(agent_session, mode).await.map(|()| None),
                ("model", OptionValue::Choice(model)) => self.set_model(agent_session, model).await.map(|()| None),
                _ => Err(error),
            },
            Err(error) => Err(error),
        }
    }

    async fn set_model(&self, agent_session: &str, model: &str) -> Result<(), RpcError> {
        let params = request::set_model(agent_session, model);
        self.counted(options::SET_MODEL, &params, self.inner.deadlines.other).await.map(drop)
    }

    /// Sets an option by the method that its description says, see [`options::unified`].
    pub async fn set_described(
        &self,
        agent_session: &str,
        described: Option<&Value>,
        id: &str,
        value: &OptionValue,
    ) -> Result<(), RpcError> {
        match (options::method(described, id), value) {
            (Some(options::SET_MODE), OptionValue::Choice(mode)) => self.set_mode(agent_session, mode).await,
            (Some(options::SET_MODEL), OptionValue::Choice(model)) => self.set_model(agent_session, model).await,
            _ => self.set_option(agent_session, id, value).await.map(drop),
        }
    }

    /// Copilot keeps "allow all" over restarts, so after opening a session it is put to what our policy says. Returns
    /// whether it had to be changed; agents without that option are left alone.
    pub async fn align_allow_all(&self, opened: &Opened, want: bool) -> Result<bool, RpcError> {
        const ID: &str = "allow_all";
        let options = opened.options.as_ref().and_then(Value::as_array);
        let current = options.and_then(|options| options.iter().find(|option| option["id"] == ID)?.get("currentValue"));
        let wanted = match current {
            Some(Value::Bool(on)) if *on != want => OptionValue::Switch(want),
            Some(Value::String(on)) if (on == "on") != want => OptionValue::Choice(if want { "on" } else { "off" }.to_owned()),
            _ => return Ok(false),
        };
        self.set_option(&opened.agent_session, ID, &wanted).await.map(|_| true)
    }

    /// Returns once the prompt is in the journal. Its end comes as [`crate::Signal::TurnEnd`] with the same `call_id`;
    /// the same `write_id` again is not sent again. What the agent cannot take is refused before anything is sent.
    pub async fn prompt(
        &self,
        write_id: Uuid,
        call_id: &str,
        agent_session: &str,
        text: &str,
        attached: &[Attached],
    ) -> Result<(), RpcError> {
        let along = content::blocks(attached, self.capabilities())?;
        self.peer().prompt(write_id, call_id, agent_session, text, along).await
    }

    /// The turn then ends as cancelled; open permissions are still owed an answer. The same `write_id` again is not sent again.
    pub async fn cancel(&self, write_id: Uuid, agent_session: &str) -> Result<(), RpcError> {
        let line = jsonrpc::notification("session/cancel", &request::cancel(agent_session));
        self.peer().write(write_id, line).await
    }

    /// Answers with an option, or with "cancelled". Only the first answer to a request ever reaches the agent.
    pub async fn answer_permission(&self, rpc_id: &RpcId, option_id: Option<&str>) -> Result<(), RpcError> {
        let line = jsonrpc::answer(rpc_id, &request::permission_outcome(option_id));
        self.peer().write(peer::answer_write(rpc_id), line).await
    }

    /// Answers a request of the agent's other than a permission; again, only the first answer ever reaches it.
    pub async fn answer(&self, rpc_id: &RpcId, answer: &Answer) -> Result<(), RpcError> {
        let line = match answer {
            Answer::Result(result) => jsonrpc::answer(rpc_id, result),
            Answer::Error { code, message } => jsonrpc::refusal(rpc_id, *code, message),
        };
        self.peer().write(peer::answer_write(rpc_id), line).await
    }

    /// Whether a prompt is running: the runner then waits for a server however long it takes. [`Connection::tell_busy`] passes it on.
    pub fn set_busy(&self, running: bool) {
        self.peer().set_busy(running);
    }

    pub async fn tell_busy(&self) {
        self.peer().tell_busy().await;
    }

    /// Everything up to `seq` is stored; the journal may forget it.
    pub async fn ack(&self, seq: u64) {
        self.peer().ack(seq).await;
    }

    /// Ends the agent and its whole process tree; returns when they are gone. The last signals still come.
    pub async fn stop(&self) -> Result<(), RequestError> {
        self.peer().stop().await
    }

    async fn counted(
        &self,
        method: &'static str,
        params: &Value,
        deadline: Duration,
    ) -> Result<Box<serde_json::value::RawValue>, RpcError> {
        let what = method.rsplit('/').next().unwrap_or(method);
        let id = id::counted(what, self.peer().next_count());
        self.peer().request(&id, method, params, deadline).await
    }

    fn peer(&self) -> &Peer {
        &self.inner.peer
    }
}

fn spawn(peer: Arc<Peer>, source: Source, decoder: Decoder, cursor: u64, signals: mpsc::Sender<Batch>) -> JoinSet<()> {
    let mut task = JoinSet::new();
    task.spawn(Driver::new(peer, source, decoder, cursor, signals).run());
    task
}

async fn initialize(peer: &Peer, deadline: Duration) -> Result<Capabilities, ConnectError> {
    let result = peer.request(id::INITIALIZE, "initialize", &request::initialize(), deadline).await?;
    let (answered, capabilities) = response::initialized(&result).ok_or_else(|| malformed("initialize"))?;
    if answered != PROTOCOL_VERSION.to_string() {
        return Err(ConnectError::Version { answered });
    }
    Ok(capabilities)
}

/// The protocol wants absolute paths, whether or not an agent insists.
fn absolute(cwd: &Path) -> PathBuf {
    std::path::absolute(cwd).unwrap_or_else(|_| cwd.to_owned())
}

fn malformed(method: &str) -> RpcError {
    RpcError::Malformed { method: method.to_owned() }
}
