//! The control connection: what a server may ask of a runner. One task owns the socket and asks one thing at a time.

use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;
use tokio::io::AsyncReadExt;
use tokio::net::UnixStream;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::timeout;
use uuid::Uuid;

use super::connect;
use crate::record::MAX_WRITE_BYTES;
use crate::wire::{Request, Status};

/// Callers beyond this wait for their turn.
const INBOX: usize = 64;
/// Three graces of the largest kind a spec should have; a runner that takes longer is not coming back.
const STOP: Duration = Duration::from_secs(120);

/// A way to talk to an attached runner. When the last clone is dropped, the server is detached; the agent goes on.
#[derive(Clone, Debug)]
pub struct Handle {
    inbox: mpsc::Sender<Asked>,
    /// Ends the connection when the last handle goes.
    _conversation: Arc<JoinSet<()>>,
}

#[derive(Debug, Error)]
pub enum WriteError {
    /// The runner or the agent has ended, or another server has attached. Whether the line was written is in the journal.
    #[error("the runner or its agent is gone")]
    Gone,
    /// Nothing was written and the agent was not told; try again when there is room.
    #[error("the journal cannot be written: {0}")]
    DiskFull(String),
    /// The agent does not read its input and too much waits for it already.
    #[error("the agent is stuck: {0}")]
    Stuck(String),
    /// It holds a newline or is longer than a line may be.
    #[error("not one line of at most {MAX_WRITE_BYTES} bytes")]
    NotALine,
}

#[derive(Debug, Error)]
pub enum RequestError {
    #[error("the runner is gone")]
    Gone,
    #[error("the runner refused: {0}")]
    Refused(String),
    #[error("the runner has not ended in time")]
    Late,
}

#[derive(Debug)]
struct Asked {
    request: Request,
    answer: oneshot::Sender<(Status, String)>,
}

impl Handle {
    pub(super) fn new(stream: UnixStream) -> Self {
        let (inbox, asked) = mpsc::channel(INBOX);
        let mut tasks = JoinSet::new();
        tasks.spawn(converse(stream, asked));
        Self { inbox, _conversation: Arc::new(tasks) }
    }

    /// Gives the agent one line. When this returns, the line is in the journal and on its way to the agent. The same
    /// `write_id` again is acknowledged and nothing more, so after a doubt the same call can simply be repeated.
    pub async fn write(&self, write_id: Uuid, mut line: Vec<u8>) -> Result<(), WriteError> {
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        if line.contains(&b'\n') || line.len() > MAX_WRITE_BYTES {
            return Err(WriteError::NotALine);
        }
        match self.ask(Request::Write { write_id, line }).await {
            Some((Status::Done, _)) => Ok(()),
            Some((Status::DiskFull, reason)) => Err(WriteError::DiskFull(reason)),
            Some((Status::Stuck, reason)) => Err(WriteError::Stuck(reason)),
            Some((Status::Gone | Status::Refused, _)) | None => Err(WriteError::Gone),
        }
    }

    /// Says whether a prompt is running: then the runner waits for a server beyond its time to live.
    pub async fn busy(&self, running: bool) -> Result<(), RequestError> {
        self.request(Request::Busy(running)).await
    }

    /// Says that everything up to `seq` is stored; segments that hold nothing newer are deleted.
    pub async fn ack(&self, seq: u64) -> Result<(), RequestError> {
        self.request(Request::Ack(seq)).await
    }

    /// Says that everything up to `seq` is stored, while a prompt still runs: what was written to the agent must stay, and so do the latest
    /// lines of the agent.
    pub async fn stored(&self, seq: u64) -> Result<(), RequestError> {
        self.request(Request::Stored(seq)).await
    }

    /// Ends the agent, its whole tree and the runner. Returns when they are gone; the records can be read to their end.
    pub async fn stop(&self) -> Result<(), RequestError> {
        match self.request(Request::Stop).await {
            Ok(()) | Err(RequestError::Gone) => {}
            Err(other) => return Err(other),
        }
        timeout(STOP, self.inbox.closed()).await.map_err(|_| RequestError::Late)
    }

    /// Returns when the runner has closed the connection, for whatever reason.
    pub async fn closed(&self) {
        self.inbox.closed().await;
    }

    async fn request(&self, request: Request) -> Result<(), RequestError> {
        match self.ask(request).await {
            Some((Status::Done, _)) => Ok(()),
            Some((_, reason)) => Err(RequestError::Refused(reason)),
            None => Err(RequestError::Gone),
        }
    }

    async fn ask(&self, request: Request) -> Option<(Status, String)> {
        let (answer, answered) = oneshot::channel();
        self.inbox.send(Asked { request, answer }).await.ok()?;
        answered.await.ok()
    }
}

/// Ends when the runner closes or fails to answer; the inbox closes with it.
async fn converse(mut stream: UnixStream, mut asked: mpsc::Receiver<Asked>) {
    let mut nothing = [0];
    loop {
        let next = tokio::select! {
            biased;
            next = asked.recv() => next,
            // Between requests a runner has nothing to say but its end.
            _ = stream.read(&mut nothing) => return,
        };
        let Some(Asked { request, answer }) = next else { return };
        match connect::ask(&mut stream, &request).await {
            Ok((status, payload)) => {
                // Nobody may be waiting any more; the runner has done it all the same.
                let _ = answer.send((status, String::from_utf8_lossy(&payload).into_owned()));
            }
            Err(error) => {
                tracing::debug!(%error, "the runner's control connection ended");
                return;
            }
        }
    }
}
