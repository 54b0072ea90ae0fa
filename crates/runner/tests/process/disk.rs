//! The disk under the journal: full, and with every record forced onto it.

use std::path::{Path, PathBuf};
use std::process::Command;

use runner::{Body, Durability, Record, WriteError};
use uuid::Uuid;

use crate::rig::{Rig, assert_dense, eventually, exit, gate, gone, lines, open_gate, read_lines, read_to_exit, read_until, run, within};

/// A small file system of its own; taken away again at the end.
struct SmallDisk(PathBuf);

/// Root may mount. Whoever is not root becomes it in namespaces of their own, in which the same test is run again, and counts.
fn runs_in_a_namespace(test: &str) -> bool {
    if rustix::process::geteuid().is_root() {
        return false;
    }
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "--"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .output();
    let said = output.map_or_else(|error| error.to_string(), |output| format!("{}{}", text(&output.stdout), text(&output.stderr)));
    assert!(
        said.contains("test result: ok. 1 passed"),
        "a small disk needs root, or a kernel that lets everybody have namespaces (`unshare --user --map-root-user --mount`):\n{said}"
    );
    true
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

impl SmallDisk {
    fn mount(at: &Path) -> Self {
        std::fs::create_dir_all(at).unwrap();
        run("mount", &["-t", "tmpfs", "-o", "size=1m", "tmpfs", at.to_str().unwrap()]);
        Self(at.to_owned())
    }

    fn fill(&self) -> PathBuf {
        let ballast = self.0.join("ballast");
        let written = std::fs::write(&ballast, vec![1; 1024 * 1024]);
        assert!(written.is_err(), "the disk should be full now");
        ballast
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

fn notices(records: &[Record]) -> Vec<&str> {
    fn notice(record: &Record) -> Option<&str> {
        match &record.body {
            Body::Notice(text) => Some(text),
            _ => None,
        }
    }
    records.iter().filter_map(notice).collect()
}

/// A rig on a small disk, its agent waiting at a gate; none where the test of this name has been run in a namespace.
fn on_small_disk(test: &str, script: &str) -> Option<(Rig, SmallDisk, PathBuf)> {
    if runs_in_a_namespace(&format!("disk::{test}")) {
        return None;
    }
    let mut rig = Rig::script(script);
    let disk = SmallDisk::mount(&rig.home.path().join("disk"));
    rig.dir = disk.0.join("runners").join("one");
    let path = rig.home.path().join("gate");
    gate(&path);
    rig.spec.env.push(("GATE".to_owned(), path.to_str().unwrap().to_owned()));
    Some((rig, disk, path))
}

#[tokio::test]
async fn a_full_disk_is_told_refuses_prompts_and_loses_nothing() {
    let Some((rig, disk, path)) =
        on_small_disk("a_full_disk_is_told_refuses_prompts_and_loses_nothing", "echo before; cat $GATE; seq 1 20000; exec cat")
    else {
        return;
    };
    let rig = rig.start().await;
    let (handle, mut records) = rig.attach(0).await;
    let mut seen = read_lines(&mut records, 1).await;

    let ballast = disk.fill();
    open_gate(&path).await;
    seen.extend(read_until(&mut records, |all| !notices(all).is_empty()).await);
    assert!(notices(&seen)[0].contains("No space left"), "{:?}", notices(&seen));
    let refused = within(handle.write(Uuid::new_v4(), b"prompt".to_vec())).await;
    assert!(matches!(refused, Err(WriteError::DiskFull(_))), "{refused:?}");
    assert!(rig.identity().agent_alive());

    std::fs::remove_file(ballast).unwrap();
    seen.extend(read_until(&mut records, |all| notices(all).iter().any(|text| text.contains("written again"))).await);
    within(handle.write(Uuid::new_v4(), b"prompt".to_vec())).await.unwrap();
    seen.extend(read_until(&mut records, |all| lines(all).iter().any(|line| line == "prompt")).await);
    let expected = ["before", "go"].map(str::to_owned).into_iter().chain((1..=20_000).map(|n| n.to_string()));
    assert_eq!(lines(&seen), expected.chain(["prompt".to_owned()]).collect::<Vec<_>>());
    seen.retain(|record| !matches!(&record.body, Body::Notice(text) if text.contains("cannot be written")));
    assert_dense(&seen, 1);
    assert_eq!(rig.journal(), seen);
    within(handle.stop()).await.unwrap();
}

#[tokio::test]
async fn a_prompt_that_meets_a_full_disk_first_is_refused_and_works_later() {
    let Some((rig, disk, _path)) = on_small_disk("a_prompt_that_meets_a_full_disk_first_is_refused_and_works_later", "exec cat") else {
        return;
    };
    let rig = rig.start().await;
    let (handle, mut records) = rig.attach(0).await;
    let ballast = disk.fill();
    let id = Uuid::new_v4();
    let line = vec![b'p'; 100_000];
    let refused = within(handle.write(id, line.clone())).await;
    assert!(matches!(refused, Err(WriteError::DiskFull(_))), "{refused:?}");
    let told = read_until(&mut records, |all| !notices(all).is_empty()).await;
    assert_eq!(told.len(), 1);
    std::fs::remove_file(ballast).unwrap();
    read_until(&mut records, |all| !notices(all).is_empty()).await;
    within(handle.write(id, line)).await.unwrap();
    let seen = read_lines(&mut records, 1).await;
    assert_eq!(lines(&seen)[0].len(), 100_000);
}

#[tokio::test]
async fn a_new_server_is_told_of_a_full_disk_too() {
    let Some((rig, disk, path)) = on_small_disk("a_new_server_is_told_of_a_full_disk_too", "cat $GATE; seq 1 20000; exec cat") else {
        return;
    };
    let rig = rig.start().await;
    let (handle, mut records) = rig.attach(0).await;
    let _ballast = disk.fill();
    open_gate(&path).await;
    read_until(&mut records, |all| !notices(all).is_empty()).await;
    drop((handle, records));
    let (handle, mut records) = rig.attach(0).await;
    let told = read_until(&mut records, |all| !notices(all).is_empty()).await;
    assert!(notices(&told)[0].contains("cannot be written"));
    drop(handle);
}

#[tokio::test]
async fn with_durability_disk_everything_arrives_too() {
    let mut rig = Rig::script("seq 1 1000; exec cat");
    rig.spec.durability = Durability::Disk;
    let rig = rig.start().await;
    let (handle, mut records) = rig.attach(0).await;
    within(handle.write(Uuid::new_v4(), b"end".to_vec())).await.unwrap();
    let seen = read_lines(&mut records, 1001).await;
    assert_eq!(lines(&seen)[1000], "end");
    assert_dense(&seen, 1);
    within(handle.stop()).await.unwrap();
}

#[tokio::test]
async fn an_agent_that_ends_while_the_disk_is_full_is_heard_to_its_end() {
    let Some((rig, disk, path)) =
        on_small_disk("an_agent_that_ends_while_the_disk_is_full_is_heard_to_its_end", "cat $GATE; seq 1 20000; echo bye >&2; exit 5")
    else {
        return;
    };
    let rig = rig.start().await;
    let (_handle, mut records) = rig.attach(0).await;
    let ballast = disk.fill();
    open_gate(&path).await;
    let agent = rig.identity().agent.unwrap().pid;
    read_until(&mut records, |all| !notices(all).is_empty()).await;
    gone(agent).await;
    std::fs::remove_file(ballast).unwrap();
    let seen = read_to_exit(&mut records).await;
    assert_eq!(lines(&seen).len(), 20_001);
    assert_eq!(exit(&seen), (Some(5), None, "bye\n".to_owned()));
}

#[tokio::test]
async fn beyond_the_backlog_the_agent_waits_and_nothing_is_lost() {
    const LINES: usize = 1_000_000;
    let script = format!("cat $GATE; yes {} | head -n {LINES} | cat -n; echo done; exec cat", "x".repeat(99));
    let Some((rig, disk, path)) = on_small_disk("beyond_the_backlog_the_agent_waits_and_nothing_is_lost", &script) else { return };
    let rig = rig.start().await;
    let (handle, mut records) = rig.attach(0).await;
    open_gate(&path).await;
    let mut seen = read_until(&mut records, |all| !notices(all).is_empty()).await;
    eventually(|| rig.resident_kb() > 64 * 1024).await;
    run("mount", &["-o", "remount,size=400m", disk.0.to_str().unwrap()]);
    seen.extend(read_lines(&mut records, LINES + 2 - lines(&seen).len()).await);
    let seen = lines(&seen);
    assert_eq!(seen.len(), LINES + 2);
    for (expected, line) in (1..=LINES).zip(&seen[1..]) {
        let number: usize = line.split_whitespace().next().unwrap().parse().unwrap();
        assert_eq!(number, expected);
    }
    within(handle.stop()).await.unwrap();
}
