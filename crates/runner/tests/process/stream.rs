//! Lines in both directions, cursors, write ids, and servers that come and go.

use std::os::unix::fs::PermissionsExt;

use runner::{AttachError, Body, ReadError, WriteError};
use uuid::Uuid;

use crate::rig::{Rig, assert_dense, gate, lines, open_gate, read_lines, read_to_exit, within};

#[tokio::test]
async fn a_line_goes_to_the_agent_and_comes_back() {
    let rig = Rig::script("exec cat").start().await;
    let (handle, mut records) = rig.attach(0).await;
    let id = Uuid::new_v4();
    within(handle.write(id, b"hello".to_vec())).await.unwrap();
    let seen = read_lines(&mut records, 1).await;
    assert_dense(&seen, 1);
    let Body::ToAgent { write_id, line } = &seen[0].body else { panic!("{seen:?}") };
    assert_eq!((*write_id, &line[..]), (id, &b"hello"[..]));
    assert_eq!(lines(&seen), ["hello"]);
    assert_eq!(rig.journal(), seen);
    within(handle.stop()).await.unwrap();
}

#[tokio::test]
async fn everything_is_for_its_owner_only_and_the_environment_does_not_stay() {
    let mut rig = Rig::script("echo $SECRET; exec cat");
    rig.spec.env.push(("SECRET".to_owned(), "hunter2".to_owned()));
    let rig = rig.start().await;
    let (_handle, mut records) = rig.attach(0).await;
    assert_eq!(lines(&read_lines(&mut records, 1).await), ["hunter2"]);
    let mode = |name: &str| std::fs::metadata(rig.dir.join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!([mode(""), mode("journal")], [0o700, 0o700]);
    assert_eq!([mode("socket"), mode("spec.json"), mode("journal/0000000001.seg")], [0o600; 3]);
    for name in ["spec.json", "identity.json", "runner.log"] {
        assert!(!std::fs::read_to_string(rig.dir.join(name)).unwrap().contains("hunter2"), "{name}");
    }
}

#[tokio::test]
async fn the_agent_gets_the_environment_it_was_given_and_its_mark() {
    let rig = Rig::script("exec env").start().await;
    let (_handle, mut records) = rig.attach(0).await;
    let mut seen = lines(&read_to_exit(&mut records).await);
    seen.retain(|line| !line.starts_with("PWD=") && !line.starts_with("_=") && !line.starts_with("SHLVL="));
    seen.sort();
    let mark = format!("{}={}", runner::MARK, rig.spec.id);
    assert_eq!(seen, [mark, "PATH=/usr/local/bin:/usr/bin:/bin".to_owned()]);
}

#[tokio::test]
async fn a_server_that_comes_back_sees_exactly_what_it_missed() {
    let rig = Rig::script("echo one; cat $GATE; echo two; echo three; exec cat");
    let path = rig.home.path().join("gate");
    let mut rig = rig;
    rig.spec.env.push(("GATE".to_owned(), path.to_str().unwrap().to_owned()));
    gate(&path);
    let rig = rig.start().await;
    let (handle, mut records) = rig.attach(0).await;
    assert_eq!(lines(&read_lines(&mut records, 1).await), ["one"]);
    drop((handle, records));
    open_gate(&path).await;
    let (_handle, mut records) = rig.attach(1).await;
    let missed = read_lines(&mut records, 3).await;
    assert_eq!(lines(&missed), ["go", "two", "three"]);
    assert_dense(&missed, 2);
}

#[tokio::test]
async fn the_agent_goes_on_without_a_server_and_its_end_is_in_the_journal() {
    let mut rig = Rig::script("cat $GATE; seq 1 5000; echo last words >&2; exit 7");
    let path = rig.home.path().join("gate");
    rig.spec.env.push(("GATE".to_owned(), path.to_str().unwrap().to_owned()));
    gate(&path);
    let rig = rig.start().await;
    let identity = rig.identity();
    drop(rig.attach(0).await);
    open_gate(&path).await;
    crate::rig::gone(identity.runner.pid).await;
    let journal = rig.journal();
    assert_dense(&journal, 1);
    assert_eq!(lines(&journal).len(), 5001);
    assert_eq!(crate::rig::exit(&journal), (Some(7), None, "last words\n".to_owned()));
    assert!(matches!(runner::attach(&rig.dir, 0).await, Err(AttachError::Gone(_))));
    assert!(!rig.dir.join("socket").exists());
}

#[tokio::test]
async fn a_repeated_write_id_is_written_once() {
    let rig = Rig::script("exec cat").start().await;
    let (handle, records) = rig.attach(0).await;
    let id = Uuid::new_v4();
    within(handle.write(id, b"once".to_vec())).await.unwrap();
    within(handle.write(id, b"once".to_vec())).await.unwrap();
    drop((handle, records));
    let (handle, mut records) = rig.attach(0).await;
    within(handle.write(id, b"once".to_vec())).await.unwrap();
    within(handle.write(Uuid::new_v4(), b"end".to_vec())).await.unwrap();
    let seen = read_lines(&mut records, 2).await;
    assert_eq!(lines(&seen), ["once", "end"]);
    assert_eq!(seen.iter().filter(|record| matches!(record.body, Body::ToAgent { .. })).count(), 2);
}

#[tokio::test]
async fn a_new_server_takes_the_place_of_the_old() {
    let rig = Rig::script("exec cat").start().await;
    let (old, mut old_records) = rig.attach(0).await;
    let (new, mut new_records) = rig.attach(0).await;
    assert!(matches!(within(old_records.next()).await, Some(Err(ReadError::Gone))));
    assert!(within(old_records.next()).await.is_none());
    within(old.closed()).await;
    assert!(matches!(within(old.write(Uuid::new_v4(), b"old".to_vec())).await, Err(WriteError::Gone)));
    within(new.write(Uuid::new_v4(), b"new".to_vec())).await.unwrap();
    assert_eq!(lines(&read_lines(&mut new_records, 1).await), ["new"]);
}

#[tokio::test]
async fn a_write_is_answered_although_nobody_reads_the_records() {
    let rig = Rig::script("seq 1 200000; exec cat").start().await;
    let (handle, mut records) = rig.attach(0).await;
    within(handle.write(Uuid::new_v4(), b"mine".to_vec())).await.unwrap();
    let seen = lines(&read_lines(&mut records, 200_001).await);
    assert_eq!(seen.last().unwrap(), "mine");
}

#[tokio::test]
async fn what_is_not_one_line_is_refused() {
    let rig = Rig::script("exec cat").start().await;
    let (handle, mut records) = rig.attach(0).await;
    assert!(matches!(handle.write(Uuid::new_v4(), b"a\nb".to_vec()).await, Err(WriteError::NotALine)));
    within(handle.write(Uuid::new_v4(), b"with its newline\n".to_vec())).await.unwrap();
    assert_eq!(lines(&read_lines(&mut records, 1).await), ["with its newline"]);
}

#[tokio::test]
async fn a_directory_with_a_very_long_name_works() {
    let mut rig = Rig::script("exec cat");
    rig.dir = rig.home.path().join("d".repeat(120)).join("runners").join("x".repeat(100));
    let rig = rig.start().await;
    let (handle, mut records) = rig.attach(0).await;
    within(handle.write(Uuid::new_v4(), b"far".to_vec())).await.unwrap();
    assert_eq!(lines(&read_lines(&mut records, 1).await), ["far"]);
    within(handle.stop()).await.unwrap();
}

#[tokio::test]
async fn acknowledged_segments_are_deleted() {
    let mut rig = Rig::script("yes $(printf '%0999d' 0) | head -n 20000; exec cat");
    rig.spec.env.push(("LC_ALL".to_owned(), "C".to_owned()));
    let rig = rig.start().await;
    let (handle, mut records) = rig.attach(0).await;
    read_lines(&mut records, 20_000).await;
    let segments = || std::fs::read_dir(rig.dir.join("journal")).unwrap().count();
    assert!(segments() >= 3, "{}", segments());
    within(handle.ack(20_000)).await.unwrap();
    assert_eq!(segments(), 1);
    within(handle.write(Uuid::new_v4(), b"goes on".to_vec())).await.unwrap();
    assert_eq!(lines(&read_lines(&mut records, 1).await), ["goes on"]);
}

/// A prompt runs, so nothing may be acknowledged; the agent says more than anybody keeps.
#[tokio::test]
async fn stored_lines_are_dropped_while_a_prompt_runs_and_what_was_written_stays() {
    let mut rig = Rig::script("read prompt; yes $(printf '%0999d' 0) | head -n 120000; exec cat");
    rig.spec.env.push(("LC_ALL".to_owned(), "C".to_owned()));
    let rig = rig.start().await;
    let (handle, mut records) = rig.attach(0).await;
    let prompt = Uuid::new_v4();
    within(handle.write(prompt, b"a prompt".to_vec())).await.unwrap();
    let last = read_lines(&mut records, 120_000).await.last().unwrap().seq;
    let disk = || {
        let segments = std::fs::read_dir(rig.dir.join("journal")).unwrap();
        segments.map(|segment| segment.unwrap().metadata().unwrap().len()).sum::<u64>()
    };
    assert!(disk() > 120_000_000, "{}", disk());
    within(handle.stored(last)).await.unwrap();
    assert!(disk() < 76_000_000, "{}", disk());
    let kept: Vec<_> = runner::read_journal(&rig.dir, 0).unwrap().collect();
    assert!(matches!(&kept[0].body, Body::ToAgent { write_id, .. } if *write_id == prompt), "{:?}", kept[0]);
    assert_eq!(kept.last().unwrap().seq, last);
    within(handle.write(Uuid::new_v4(), b"goes on".to_vec())).await.unwrap();
    assert_eq!(lines(&read_lines(&mut records, 1).await), ["goes on"]);
    within(handle.stop()).await.unwrap();
}

#[tokio::test]
async fn an_agent_that_does_not_read_holds_up_nothing_else() {
    let rig = Rig::script("seq 1 3; sleep 1000").start().await;
    let (handle, mut records) = rig.attach(0).await;
    let big = vec![b'x'; 40 * 1024 * 1024];
    within(handle.write(Uuid::new_v4(), big.clone())).await.unwrap();
    assert!(matches!(within(handle.write(Uuid::new_v4(), big)).await, Err(WriteError::Stuck(_))));
    assert_eq!(lines(&read_lines(&mut records, 3).await), ["1", "2", "3"]);
    within(handle.stop()).await.unwrap();
}
