//! One agent process behind its runner: requests go in, signals come out.
//!
//! A driver task reads the journal and never waits for a write. Whoever awaits a request, [`Connection::start`] among them, must keep
//! taking batches from the `signals` channel meanwhile: answers stand in the journal behind what came before them, and an agent may
//! print much before its first.
//! Nothing here is stored, and dropping the last clone only detaches: the agent goes on.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use domain::agent::{Failure, Fault, Reply, ToolCall};
use runner::{AttachError, RequestError, Spec, StartError};
use serde_json::Value;
use tokio::sync::{OnceCell, mpsc};
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::acp::alias::Names;
use crate::acp::content::{self, Attached};
use crate::acp::mcp::{self, McpServer};
use crate::acp::response::{self, Capabilities};
use crate::acp::{PROTOCOL_VERSION, id, reply, request};
use crate::catalogue::{Dialect, Quirks};
use crate::codex;
use crate::fault::RpcError;
use crate::jsonrpc::{self, RpcId};
use crate::signal::Batch;

mod dialect;
mod driver;
mod open;
mod peer;
mod pending;
mod sessions;
mod threads;

use dialect::Decoder;
use driver::{Driver, Source};
pub use open::{How, KnownSession, Opened, Reopen};
use peer::Peer;

pub struct Launch {
    /// The binary that holds the runner.
    pub exe: PathBuf,
    /// The runner's directory.
    pub dir: PathBuf,
    pub spec: Spec,
    pub dialect: Dialect,
    pub quirks: Quirks,
    /// What [`Connection::names`] gave for this agent and version before.
    pub names: Names,
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

/// What a server stored of a connection that it adopts in the middle. Only the capabilities are always needed.
#[derive(Clone, Default, Debug)]
pub struct Known {
    pub capabilities: Capabilities,
    /// Agent session and call, of the calls that may still change: later reports are merged into them.
    pub calls: Vec<(String, ToolCall)>,
    /// Name and agent session, of the sessions that were being loaded: what comes before the answer is history.
    pub loads: Vec<(String, String)>,
    /// Agent session and call id, of the prompts that are running.
    pub prompts: Vec<(String, String)>,
    pub dialect: Dialect,
    pub quirks: Quirks,
    /// See [`Launch::names`].
    pub names: Names,
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
    Initialize(#[from] Failure),
    #[error("the agent speaks version {answered} of the protocol, not {PROTOCOL_VERSION}")]
    Version { answered: String },
}

impl ConnectError {
    /// The agent or its runner ended before it could answer; another one may do better.
    pub fn is_gone(&self) -> bool {
        match self {
            Self::Initialize(failure) => failure.fault == Fault::Gone,
            Self::Attach(AttachError::Gone(_)) | Self::Start(StartError::Ended(_)) => true,
            _ => false,
        }
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
    dialect: Dialect,
    /// What models there are, once somebody has asked a Codex.
    models: OnceCell<Vec<Value>>,
    capabilities: Capabilities,
    quirks: Quirks,
    deadlines: Deadlines,
    /// Holds the one driver task, which ends with it.
    _driver: JoinSet<()>,
}

impl Connection {
    /// Starts a runner with its agent and initialises the agent. Where that fails, nothing is left running. The receiver of `signals`
    /// must be read while this runs.
    pub async fn start(launch: Launch, deadlines: Deadlines, signals: mpsc::Sender<Batch>) -> Result<Self, ConnectError> {
        if let Some((name, bytes)) = &launch.file {
            runner::put_private(&launch.dir, name, bytes).map_err(StartError::Directory)?;
        }
        runner::start(&launch.exe, &launch.dir, &launch.spec).await?;
        let (handle, records) = runner::attach(&launch.dir, 0).await?;
        let peer = Arc::new(Peer::new(Some(handle), &launch.names));
        let decoder = Decoder::new(launch.dialect, launch.quirks);
        let driver = spawn(Driver::new(peer.clone(), Source::live(records, &launch.dir), decoder, 0, launch.quirks, signals));
        let initialized = match launch.dialect {
            Dialect::Acp => initialize(&peer, launch.quirks, deadlines.initialize).await,
            Dialect::Codex => threads::initialize(&peer, deadlines.initialize).await,
        };
        match initialized {
            Ok(capabilities) => Ok(Self::new(peer, (launch.dialect, launch.quirks), capabilities, deadlines, driver)),
            Err(error) => {
                if let Err(error) = peer.stop().await {
                    tracing::warn!(label = launch.spec.label, %error, "an agent that could not be initialised is still there");
                }
                Err(error)
            }
        }
    }

    /// Adopts a connection of an earlier server at `cursor`. Where the runner has ended meanwhile, what it wrote down is read from its
    /// directory, up to [`crate::Signal::Gone`].
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
        let known = known.into();
        let (capabilities, dialect, quirks) = (known.capabilities.clone(), known.dialect, known.quirks);
        let peer = Arc::new(Peer::new(handle, &known.names));
        let decoder = Decoder::adopt(dir, cursor, known).await;
        peer.adopt_turns(decoder.turns());
        let driver = spawn(Driver::new(peer.clone(), source, decoder, cursor, quirks, signals));
        Ok(Self::new(peer, (dialect, quirks), capabilities, deadlines, driver))
    }

    fn new(
        peer: Arc<Peer>,
        (dialect, quirks): (Dialect, Quirks),
        capabilities: Capabilities,
        deadlines: Deadlines,
        driver: JoinSet<()>,
    ) -> Self {
        let inner = Arc::new(Inner { peer, dialect, models: OnceCell::new(), capabilities, quirks, deadlines, _driver: driver });
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

    /// Spares the search for names that an earlier connection to the same version of the agent has found out.
    pub fn learn_names(&self, names: &Names) {
        self.peer().pending.suppose(names);
    }

    /// By which names this agent was found to know the protocol's methods, for the next connection to this agent and version.
    pub fn names(&self) -> Names {
        self.peer().pending.names()
    }

    /// Returns once the prompt is in the journal. Its end comes as [`crate::Signal::PromptEnded`] with the same `call_id`;
    /// the same `write_id` again is not sent again. What the agent cannot take is refused before anything is sent.
    pub async fn prompt(
        &self,
        write_id: Uuid,
        call_id: &str,
        agent_session: &str,
        text: &str,
        attached: &[Attached],
    ) -> Result<(), Failure> {
        if self.inner.dialect == Dialect::Codex {
            return Ok(self.start_turn(write_id, call_id, agent_session, text, attached).await?);
        }
        let along = content::blocks(attached, self.capabilities())?;
        Ok(self.peer().prompt(write_id, call_id, agent_session, text, along).await?)
    }

    /// Why the agent would refuse a prompt with this, if it would.
    pub fn refusal(&self, attached: &Attached) -> Option<&'static str> {
        match self.inner.dialect {
            Dialect::Acp => content::refusal(attached, self.capabilities()),
            Dialect::Codex => codex::request::refusal(attached),
        }
    }

    /// The prompt then ends as cancelled; what is demanded is still owed an answer. The same `write_id` again is not sent again.
    pub async fn cancel(&self, write_id: Uuid, agent_session: &str) -> Result<(), Failure> {
        if self.inner.dialect == Dialect::Codex {
            return Ok(self.interrupt_turn(write_id, agent_session).await?);
        }
        let line = jsonrpc::notification("session/cancel", &request::cancel(agent_session));
        Ok(self.peer().write(write_id, line).await?)
    }

    /// Answers a demand of the agent's. `rpc_id` is the one it came with; the same `write_id` again is not sent again.
    pub async fn answer(&self, write_id: Uuid, rpc_id: &str, reply: &Reply) -> Result<(), Failure> {
        let line = match self.inner.dialect {
            Dialect::Acp => serde_json::from_str::<RpcId>(rpc_id).ok().map(|id| reply::line(&id, reply)),
            Dialect::Codex => codex::reply::line(rpc_id, reply),
        };
        let line = line.ok_or_else(|| Failure::new(Fault::Refused, format!("{rpc_id} is not the id of a request")))?;
        Ok(self.peer().write(write_id, line).await?)
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

    /// Whether the agent has said so much that the runner should be told what is [`Connection::stored`]; true once each time.
    pub fn take_much_said(&self) -> bool {
        self.peer().take_much_said()
    }

    /// Everything up to `seq` is stored, while prompts still run.
    pub async fn stored(&self, seq: u64) {
        self.peer().stored(seq).await;
    }

    /// Ends the agent and its whole process tree; returns when they are gone. The last signals still come.
    pub async fn stop(&self) -> Result<(), RequestError> {
        self.peer().stop().await
    }

    fn peer(&self) -> &Peer {
        &self.inner.peer
    }
}

fn spawn(driver: Driver) -> JoinSet<()> {
    let mut task = JoinSet::new();
    task.spawn(driver.run());
    task
}

async fn initialize(peer: &Peer, quirks: Quirks, deadline: Duration) -> Result<Capabilities, ConnectError> {
    let asked = peer.request(id::INITIALIZE, "initialize", &request::initialize(quirks.offers), deadline).await;
    let result = match asked {
        // The other dialect has no greeting; what the agent can do shows when it is asked.
        Err(error) if error.is_method_missing() => return Ok(Capabilities::default()),
        asked => asked.map_err(Failure::from)?,
    };
    let malformed = || Failure::from(RpcError::Malformed { method: "initialize".to_owned() });
    let (answered, capabilities) = response::initialized(&result).ok_or_else(malformed)?;
    if answered != PROTOCOL_VERSION.to_string() {
        return Err(ConnectError::Version { answered });
    }
    Ok(capabilities)
}
