//! The file: who may open it, what is refused, and what a kill leaves.

use std::io::{BufRead, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use store::{OpenError, Store};

use crate::fixture::*;

#[tokio::test]
async fn the_file_is_private_and_what_was_closed_is_there_again() {
    let (fixture, id) = Fixture::with_session().await;
    for file in ["log.db", "log.db-wal", "log.db.lock"] {
        let mode = std::fs::metadata(fixture.dir.path().join(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
    // Handed over only; closing writes it.
    let write = events(id, vec![notice("a"), notice("b")]);
    let (committed, ()) = tokio::join!(fixture.store.commit(write), fixture.store.close());
    assert_eq!(committed.unwrap().last_seq, 2);
    assert!(!fixture.dir.path().join("log.db-wal").exists(), "the log was not brought into the file");

    let store = Store::open(&fixture.path(), true).await.unwrap();
    assert_eq!(store.commit(events(id, vec![notice("c")])).await.unwrap().last_seq, 3);
}

#[tokio::test]
async fn a_second_opener_is_refused_until_the_first_is_done() {
    let (fixture, _) = Fixture::with_session().await;
    let refused = Store::open(&fixture.path(), false).await.err().unwrap();
    assert!(matches!(refused, OpenError::InUse { .. }), "{refused}");
    fixture.store.close().await;
    Store::open(&fixture.path(), false).await.unwrap().close().await;
}

#[tokio::test]
async fn what_is_not_our_database_is_refused_and_not_touched() {
    let dir = tempfile::tempdir().unwrap();
    for (name, content) in [("short", "hello".as_bytes()), ("long", &[7; 20_000][..])] {
        let path = dir.path().join(name);
        std::fs::write(&path, content).unwrap();
        let refused = Store::open(&path, false).await.err().unwrap();
        assert!(matches!(refused, OpenError::Foreign { .. }), "{name}: {refused:?}");
        assert_eq!(std::fs::read(&path).unwrap(), content);
    }
}

#[tokio::test]
async fn a_damaged_database_is_refused() {
    let fixture = Fixture::new().await;
    for n in 0..200 {
        fixture.store.commit(create(session_id(n))).await.unwrap();
    }
    fixture.store.close().await;
    let mut file = std::fs::OpenOptions::new().write(true).open(fixture.path()).unwrap();
    let pages = std::fs::metadata(fixture.path()).unwrap().len() / 4096;
    // Everything but the page that says what kind of file it is.
    std::io::Seek::seek(&mut file, std::io::SeekFrom::Start(4096)).unwrap();
    file.write_all(&vec![0xaa; usize::try_from((pages - 1) * 4096).unwrap()]).unwrap();
    drop(file);
    let refused = Store::open(&fixture.path(), false).await.err().unwrap();
    assert!(matches!(refused, OpenError::Damaged { .. }), "{refused:?}");
}

#[tokio::test]
async fn a_store_that_is_dropped_shows_only_what_was_committed() {
    let (fixture, id) = Fixture::with_session().await;
    for n in 0..20 {
        fixture.store.commit(events(id, vec![notice(n.to_string())])).await.unwrap();
    }
    let Fixture { dir, store } = fixture;
    drop(store);
    // Whoever opens next waits for nothing but the lock, which goes with the writer.
    let path = dir.path().join("log.db");
    let store = within(async {
        loop {
            match Store::open(&path, false).await {
                Ok(store) => return store,
                Err(OpenError::InUse { .. }) => tokio::task::yield_now().await,
                Err(error) => panic!("{error}"),
            }
        }
    })
    .await;
    assert_eq!(store.session(id).await.unwrap().unwrap().last_seq, 20);
    let frames = stored(&path, id);
    assert_eq!(frames.len(), 20);
    assert_dense(&frames, 0);
}

const CHILD: &str = "VOXPILOT_STORE_TEST_CHILD";

/// The other half of the next test: commits and says so, until it is killed. Without its variable it is not the child.
#[tokio::test]
#[allow(clippy::disallowed_methods, reason = "how a test tells its own child from itself")]
async fn child_that_commits_until_it_is_killed() {
    let Some(path) = std::env::var_os(CHILD) else { return };
    let store = Store::open(Path::new(&path), false).await.unwrap();
    let id = session_id(1);
    store.commit(create(id)).await.unwrap();
    loop {
        let group = ["a", "b", "c", "d", "e"].map(|text| events(id, vec![notice(text)]));
        let committed = commit_all(&store, group).await.pop().unwrap();
        println!("\ncommitted {}", committed.unwrap().last_seq);
    }
}

#[tokio::test]
async fn after_a_kill_everything_that_was_committed_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.db");
    for round in 0..3 {
        let path = path.with_extension(round.to_string());
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "file::child_that_commits_until_it_is_killed", "--nocapture"])
            .env(CHILD, &path)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut committed = 0;
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            if let Some(seq) = line.unwrap().strip_prefix("committed ") {
                committed = seq.parse::<u64>().unwrap();
                if committed > 200 * (round + 1) {
                    break;
                }
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(committed > 0, "the child never committed");

        let store = Store::open(&path, false).await.unwrap();
        let last = store.session(session_id(1)).await.unwrap().unwrap().last_seq;
        assert!(last >= committed, "{last} of at least {committed}");
        let frames = stored(&path, session_id(1));
        assert_eq!(frames.len() as u64, last);
        assert_dense(&frames, 0);
        store.close().await;
    }
}
