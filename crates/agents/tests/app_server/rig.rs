//! A connection to an app-server that is made up, and waiting for what it signals.

use std::path::{Path, PathBuf};
use std::time::Duration;

use agents::{Attached, Batch, Connection, Deadlines, Dialect, Known, Launch, Names, Opened, Quirks, Reopen, Signal};
use domain::agent::Failure;
use runner::{Body, Durability, Spec, read_journal};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio::time::timeout;
use uuid::Uuid;

/// Far beyond what anything here takes; only a fault gets there.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Rig {
    pub connection: Connection,
    batches: mpsc::Receiver<Batch>,
    pub cursor: u64,
    dir: TempDir,
}

fn deadlines() -> Deadlines {
    Deadlines { initialize: PATIENCE, new: PATIENCE, list: PATIENCE, load: PATIENCE, other: PATIENCE }
}

/// Examples are built next to the tests.
fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.ancestors().nth(2).unwrap().join("examples").join(name)
}

impl Rig {
    pub(crate) async fn start(manner: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let spec = Spec {
            id: Uuid::now_v7(),
            command: example("fake-app-server"),
            args: vec![manner.to_owned()],
            env: vec![],
            cwd: dir.path().to_owned(),
            sandbox: None,
            durability: Durability::Process,
            ttl_s: 60,
            term_grace_ms: 200,
            label: "app-server".to_owned(),
        };
        let launch = Launch {
            exe: example("agents-runner"),
            dir: dir.path().join("runner"),
            spec,
            dialect: Dialect::Codex,
            quirks: Quirks::default(),
            names: Names::default(),
            file: None,
        };
        let (signals, batches) = mpsc::channel(4096);
        let connection = Connection::start(launch, deadlines(), signals).await.unwrap();
        Self { connection, batches, cursor: 0, dir }
    }

    pub(crate) async fn ready() -> Self {
        let rig = Self::start("").await;
        assert_eq!(rig.open(None).await.unwrap().agent_session, "t1");
        rig
    }

    pub(crate) async fn open(&self, known: Option<&agents::KnownSession>) -> Result<Opened, Failure> {
        self.connection.open("main", Path::new("/w"), known, Reopen::No, true).await
    }

    pub(crate) async fn prompt(&self, call: &str, text: &str) {
        self.connection.prompt(Uuid::now_v7(), call, "t1", text, &[]).await.unwrap();
    }

    pub(crate) async fn prompt_with(&self, call: &str, attached: &[Attached]) -> Result<(), Failure> {
        self.connection.prompt(Uuid::now_v7(), call, "t1", "say", attached).await
    }

    /// Everything up to what is wanted.
    pub(crate) async fn until(&mut self, wanted: impl Fn(&Signal) -> bool) -> Vec<Signal> {
        let mut seen = vec![];
        while !seen.iter().any(&wanted) {
            let batch = timeout(PATIENCE, self.batches.recv()).await.expect("a signal in time").expect("a living connection");
            self.cursor = batch.cursor;
            seen.extend(batch.signals);
        }
        seen
    }

    /// The text of a prompt, and how it ended.
    pub(crate) async fn turn(&mut self) -> (String, Result<String, Failure>) {
        let signals = self.until(|signal| matches!(signal, Signal::PromptEnded { .. })).await;
        let end = signals.iter().find_map(|signal| match signal {
            Signal::PromptEnded { result, .. } => Some(result.clone().map(|end| end.stop_reason)),
            _ => None,
        });
        (text(&signals), end.unwrap())
    }

    /// As if the server had been killed and started again, having stored everything up to `cursor`.
    pub(crate) async fn restart(self, cursor: u64, known: Known) -> Self {
        let Self { connection, batches, dir, .. } = self;
        let known = Known { dialect: Dialect::Codex, capabilities: connection.capabilities().clone(), ..known };
        drop((connection, batches));
        let (signals, batches) = mpsc::channel(4096);
        let connection = Connection::adopt(&dir.path().join("runner"), cursor, known, deadlines(), signals).await.unwrap();
        Self { connection, batches, cursor, dir }
    }

    /// Everything that was written to the program, in order.
    pub(crate) fn sent(&self) -> Vec<Value> {
        let records = read_journal(&self.dir.path().join("runner"), 0).unwrap();
        let lines = records.filter_map(|record| match record.body {
            Body::ToAgent { line, .. } => Some(serde_json::from_slice(&line).unwrap()),
            _ => None,
        });
        lines.collect()
    }

    pub(crate) async fn stop(self) {
        for line in self.sent().iter().filter(|line| line.get("method").is_some()) {
            crate::sent::check(line);
        }
        self.connection.stop().await.unwrap();
    }
}

pub(crate) fn text(signals: &[Signal]) -> String {
    let texts = signals.iter().filter_map(|signal| match signal {
        Signal::Text { text, .. } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}
