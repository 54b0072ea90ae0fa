//! A runner in a directory of its own with a shell script for an agent, and waits that have a deadline.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use runner::{Body, Durability, Handle, Identity, Record, Records, Spec};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use uuid::Uuid;

pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

pub(crate) struct Rig {
    pub home: tempfile::TempDir,
    pub dir: PathBuf,
    pub spec: Spec,
}

impl Rig {
    /// An agent that is this shell script.
    pub(crate) fn script(script: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let id = Uuid::new_v4();
        let dir = home.path().join("runners").join(id.to_string());
        let spec = Spec {
            id,
            command: "/bin/sh".into(),
            args: vec!["-c".to_owned(), script.to_owned()],
            env: vec![("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())],
            cwd: home.path().to_owned(),
            sandbox: None,
            durability: Durability::Process,
            ttl_s: 600,
            term_grace_ms: 300,
            label: "test".to_owned(),
        };
        Self { home, dir, spec }
    }

    pub(crate) async fn start(self) -> Self {
        runner::start(&exe(), &self.dir, &self.spec).await.unwrap();
        self
    }

    pub(crate) async fn attach(&self, cursor: u64) -> (Handle, Records) {
        runner::attach(&self.dir, cursor).await.unwrap()
    }

    pub(crate) fn identity(&self) -> Identity {
        let found = runner::find(self.dir.parent().unwrap());
        found.into_iter().find(|found| found.dir == self.dir).unwrap().identity.unwrap()
    }

    pub(crate) fn journal(&self) -> Vec<Record> {
        runner::read_journal(&self.dir, 0).unwrap().collect()
    }

    pub(crate) fn resident_kb(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.identity().runner.pid)).unwrap();
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        resident.trim().trim_end_matches(" kB").parse().unwrap()
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.dir.join("runner.log")).unwrap()
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        let found = runner::find(self.dir.parent().unwrap());
        for identity in found.into_iter().filter_map(|found| found.identity) {
            if identity.runner_alive() {
                signal(identity.runner.pid, Signal::TERM);
            }
        }
    }
}

/// The example binary, which cargo builds along with the tests.
pub(crate) fn exe() -> PathBuf {
    let exe = std::env::current_exe().unwrap();
    let exe = exe.ancestors().nth(2).unwrap().join("examples/runner");
    assert!(exe.exists(), "{} is missing: build with --examples", exe.display());
    exe
}

pub(crate) async fn within<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(DEADLINE, work).await.expect("the deadline has passed")
}

/// For what nothing tells of: looks again and again, with the deadline of all waits.
pub(crate) async fn eventually(holds: impl Fn() -> bool) {
    let mut look = tokio::time::interval(Duration::from_millis(5));
    within(async {
        while !holds() {
            look.tick().await;
        }
    })
    .await;
}

/// Reads until `enough` says so and returns everything read.
pub(crate) async fn read_until(records: &mut Records, enough: impl Fn(&[Record]) -> bool) -> Vec<Record> {
    let mut all = Vec::new();
    while !enough(&all) {
        let batch = within(records.next()).await.expect("more records should come");
        all.extend(batch.unwrap());
    }
    all
}

pub(crate) async fn read_lines(records: &mut Records, count: usize) -> Vec<Record> {
    let mut all = Vec::new();
    let mut seen = 0;
    while seen < count {
        let batch = within(records.next()).await.expect("more records should come").unwrap();
        seen += batch.iter().filter(|record| matches!(record.body, Body::FromAgent(_))).count();
        all.extend(batch);
    }
    all
}

/// Reads to the exit, and that nothing follows it but the end.
pub(crate) async fn read_to_exit(records: &mut Records) -> Vec<Record> {
    read_until(records, |all| all.iter().any(|record| matches!(record.body, Body::Exit { .. }))).await
}

pub(crate) fn lines(records: &[Record]) -> Vec<String> {
    let line = |record: &Record| match &record.body {
        Body::FromAgent(line) => Some(String::from_utf8_lossy(line).into_owned()),
        _ => None,
    };
    records.iter().filter_map(line).collect()
}

pub(crate) fn exit(records: &[Record]) -> (Option<i32>, Option<i32>, String) {
    match &records.last().unwrap().body {
        Body::Exit { code, signal, stderr_tail } => (*code, *signal, stderr_tail.clone()),
        other => panic!("not an exit: {other:?}"),
    }
}

pub(crate) fn assert_dense(records: &[Record], first: u64) {
    for (expected, record) in (first..).zip(records) {
        assert_eq!(record.seq, expected);
    }
}

pub(crate) fn signal(pid: i32, signal: Signal) {
    kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
}

/// Waits until the process has ended.
pub(crate) async fn gone(pid: i32) {
    let Ok(pinned) = pidfd_open(Pid::from_raw(pid).unwrap(), PidfdFlags::empty()) else { return };
    let wait = move || {
        let limit = Timespec { tv_sec: DEADLINE.as_secs() as i64, tv_nsec: 0 };
        poll(&mut [PollFd::new(&pinned, PollFlags::IN)], Some(&limit)).unwrap()
    };
    assert_eq!(tokio::task::spawn_blocking(wait).await.unwrap(), 1, "process {pid} is still there");
}

pub(crate) fn is_there(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.trim_start().starts_with('Z'))
}

pub(crate) fn run(program: &str, args: &[&str]) {
    let status = Command::new(program).args(args).status().unwrap();
    assert!(status.success(), "{program} {args:?}: {status}");
}

/// A named pipe that a script can wait on, so that a test decides when it goes on.
pub(crate) fn gate(path: &Path) {
    run("mkfifo", &[path.to_str().unwrap()]);
}

pub(crate) async fn open_gate(path: &Path) {
    within(tokio::fs::write(path, "go\n")).await.unwrap();
}
