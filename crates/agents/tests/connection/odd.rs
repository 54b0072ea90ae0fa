//! A connection to the odd agent, and waiting for what it signals.

use std::path::{Path, PathBuf};
use std::time::Duration;

use agents::{Batch, ConnectError, Connection, Deadlines, Known, Launch, Names, Opened, PromptEnd, Quirks, Reopen, Signal};
use domain::agent::Failure;
use runner::{Body, Durability, Spec, read_journal};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;
use uuid::Uuid;

/// Far beyond what anything here takes; only a fault gets there.
const PATIENCE: Duration = Duration::from_secs(60);
/// More than any agent here has to say.
const PILE: usize = 1 << 17;

pub(crate) struct Odd {
    pub connection: Connection,
    batches: mpsc::Receiver<Batch>,
    taking: JoinSet<()>,
    pub cursor: u64,
    pub dir: TempDir,
}

pub(crate) fn deadlines() -> Deadlines {
    Deadlines { initialize: PATIENCE, new: PATIENCE, list: PATIENCE, load: PATIENCE, other: PATIENCE }
}

fn quirks() -> Quirks {
    Quirks { notices_in_text: true, ..Quirks::default() }
}

/// Examples are built next to the tests.
fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.ancestors().nth(2).unwrap().join("examples").join(name)
}

impl Odd {
    pub(crate) async fn start(manner: &str, deadlines: Deadlines) -> Result<Self, ConnectError> {
        Self::start_knowing(manner, "load", Names::default(), deadlines).await
    }

    /// One that says it can do what `can` names.
    pub(crate) async fn able(manner: &str, can: &str) -> Self {
        Self::start_knowing(manner, can, Names::default(), deadlines()).await.unwrap()
    }

    pub(crate) async fn start_knowing(manner: &str, can: &str, names: Names, deadlines: Deadlines) -> Result<Self, ConnectError> {
        let dir = tempfile::tempdir().unwrap();
        let spec = Spec {
            id: Uuid::now_v7(),
            command: example("odd-agent"),
            args: vec![manner.to_owned(), can.to_owned()],
            env: vec![],
            cwd: dir.path().to_owned(),
            sandbox: None,
            durability: Durability::Process,
            ttl_s: 60,
            term_grace_ms: 200,
            label: "odd".to_owned(),
        };
        let launch = Launch {
            exe: example("agents-runner"),
            dir: runner_dir(&dir),
            spec,
            dialect: agents::Dialect::Acp,
            quirks: quirks(),
            names,
            file: None,
        };
        let (signals, batches, taking) = taken();
        let connection = Connection::start(launch, deadlines, signals).await?;
        Ok(Self { connection, batches, taking, cursor: 0, dir })
    }

    /// Started well, with a session open.
    pub(crate) async fn ready() -> Self {
        let odd = Self::start("", deadlines()).await.unwrap();
        assert_eq!(odd.open().await.agent_session, "s1");
        odd
    }

    pub(crate) async fn try_open(&self) -> Result<Opened, Failure> {
        self.connection.open("main", Path::new("/"), None, Reopen::No, false).await
    }

    pub(crate) async fn open(&self) -> Opened {
        self.try_open().await.unwrap()
    }

    /// Everything that was written to the agent, in order.
    pub(crate) fn sent(&self) -> Vec<Value> {
        let records = read_journal(&runner_dir(&self.dir), 0).unwrap();
        let lines = records.filter_map(|record| match record.body {
            Body::ToAgent { line, .. } => Some(serde_json::from_slice(&line).unwrap()),
            _ => None,
        });
        lines.collect()
    }

    /// The methods among it, without the greeting.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.sent().iter().skip(1).filter_map(|line| line["method"].as_str().map(str::to_owned)).collect()
    }

    pub(crate) async fn prompt(&self, call: &str, text: &str) {
        self.connection.prompt(Uuid::now_v7(), call, "s1", text, &[]).await.unwrap();
    }

    pub(crate) async fn batch(&mut self) -> Batch {
        let batch = timeout(PATIENCE, self.batches.recv()).await.expect("a signal in time").expect("a living connection");
        assert!(batch.cursor >= self.cursor);
        self.cursor = batch.cursor;
        batch
    }

    /// Whether the connection has said its last.
    pub(crate) async fn is_over(&mut self) -> bool {
        timeout(PATIENCE, self.batches.recv()).await.unwrap().is_none()
    }

    pub(crate) async fn until(&mut self, wanted: impl Fn(&Signal) -> bool) -> Vec<Signal> {
        let mut seen = vec![];
        while !seen.iter().any(&wanted) {
            seen.extend(self.batch().await.signals);
        }
        seen
    }

    /// Everything up to the end of a prompt, and how it ended.
    pub(crate) async fn turn(&mut self) -> (Vec<Signal>, PromptEnd) {
        let mut signals = self.until(|signal| matches!(signal, Signal::PromptEnded { .. })).await;
        match signals.pop() {
            Some(Signal::PromptEnded { result: Ok(end), .. }) => (signals, end),
            other => panic!("{other:?}"),
        }
    }

    /// As if the server had been killed and started again.
    pub(crate) async fn restart(self, known: Known) -> Self {
        let Self { connection, batches, taking, cursor, dir } = self;
        drop((connection, batches, taking));
        let (signals, batches, taking) = taken();
        let known = Known { quirks: quirks(), ..known };
        let connection = Connection::adopt(&runner_dir(&dir), cursor, known, deadlines(), signals).await.unwrap();
        Self { connection, batches, taking, cursor, dir }
    }
}

/// Signals that are taken as they come, whatever the test awaits: a connection goes no further than its signals are taken.
fn taken() -> (mpsc::Sender<Batch>, mpsc::Receiver<Batch>, JoinSet<()>) {
    let (sender, mut signals) = mpsc::channel(4);
    let (pile, batches) = mpsc::channel(PILE);
    let mut taking = JoinSet::new();
    taking.spawn(async move {
        while let Some(batch) = signals.recv().await {
            pile.send(batch).await.unwrap();
        }
    });
    (sender, batches, taking)
}

fn runner_dir(dir: &TempDir) -> PathBuf {
    dir.path().join("runner")
}

pub(crate) fn text(signals: &[Signal]) -> String {
    let texts = signals.iter().filter_map(|signal| match signal {
        Signal::Text { text, .. } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}
