//! A connection to the odd agent, and waiting for what it signals.

use std::path::{Path, PathBuf};
use std::time::Duration;

use agents::{Batch, ConnectError, Connection, Deadlines, Known, Launch, Opened, Signal, TurnEnd};
use runner::{Durability, Spec};
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio::time::timeout;
use uuid::Uuid;

/// Far beyond what anything here takes; only a fault gets there.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Odd {
    pub connection: Connection,
    batches: mpsc::Receiver<Batch>,
    pub cursor: u64,
    pub dir: TempDir,
}

pub fn deadlines() -> Deadlines {
    Deadlines { initialize: PATIENCE, new: PATIENCE, list: PATIENCE, load: PATIENCE, other: PATIENCE }
}

/// Examples are built next to the tests.
fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.ancestors().nth(2).unwrap().join("examples").join(name)
}

impl Odd {
    pub async fn start(manner: &str, deadlines: Deadlines) -> Result<Self, ConnectError> {
        let dir = tempfile::tempdir().unwrap();
        let spec = Spec {
            id: Uuid::now_v7(),
            command: example("odd-agent"),
            args: vec![manner.to_owned()],
            env: vec![],
            cwd: dir.path().to_owned(),
            durability: Durability::Process,
            ttl_s: 60,
            term_grace_ms: 200,
            label: "odd".to_owned(),
        };
        let launch = Launch { exe: example("agents-runner"), dir: runner_dir(&dir), spec, notices_in_text: false, file: None };
        let (signals, batches) = mpsc::channel(64);
        let connection = Connection::start(launch, deadlines, signals).await?;
        Ok(Self { connection, batches, cursor: 0, dir })
    }

    /// Started well, with a session open.
    pub async fn ready() -> Self {
        let odd = Self::start("", deadlines()).await.unwrap();
        assert_eq!(odd.open().await.agent_session, "s1");
        odd
    }

    pub async fn open(&self) -> Opened {
        self.connection.new_session("main", Path::new("/")).await.unwrap()
    }

    pub async fn prompt(&self, call: &str, text: &str) {
        self.connection.prompt(Uuid::now_v7(), call, "s1", text, &[]).await.unwrap();
    }

    pub async fn batch(&mut self) -> Batch {
        let batch = timeout(PATIENCE, self.batches.recv()).await.expect("a signal in time").expect("a living connection");
        assert!(batch.cursor >= self.cursor);
        self.cursor = batch.cursor;
        batch
    }

    /// Whether the connection has said its last.
    pub async fn is_over(&mut self) -> bool {
        timeout(PATIENCE, self.batches.recv()).await.unwrap().is_none()
    }

    pub async fn until(&mut self, wanted: impl Fn(&Signal) -> bool) -> Vec<Signal> {
        let mut seen = vec![];
        while !seen.iter().any(&wanted) {
            seen.extend(self.batch().await.signals);
        }
        seen
    }

    /// Everything up to the end of a turn, and how it ended.
    pub async fn turn(&mut self) -> (Vec<Signal>, TurnEnd) {
        let mut signals = self.until(|signal| matches!(signal, Signal::TurnEnd { .. })).await;
        match signals.pop() {
            Some(Signal::TurnEnd { result: Ok(end), .. }) => (signals, end),
            other => panic!("{other:?}"),
        }
    }

    /// As if the server had been killed and started again.
    pub async fn restart(self, known: Known) -> Self {
        let Self { connection, batches, cursor, dir } = self;
        drop((connection, batches));
        let (signals, batches) = mpsc::channel(64);
        let connection = Connection::adopt(&runner_dir(&dir), cursor, known, deadlines(), signals).await.unwrap();
        Self { connection, batches, cursor, dir }
    }
}

fn runner_dir(dir: &TempDir) -> PathBuf {
    dir.path().join("runner")
}

pub fn text(signals: &[Signal]) -> String {
    let texts = signals.iter().filter_map(|signal| match signal {
        Signal::Text { text, .. } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}
