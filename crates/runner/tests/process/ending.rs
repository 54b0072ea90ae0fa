//! How a runner ends, and that nothing of the agent is left when it has.

use std::process::Command;
use std::time::{Duration, Instant};

use runner::StartError;
use rustix::process::Signal;

use crate::rig::{Rig, exit, gone, is_there, lines, read_lines, read_to_exit, signal, within};

#[tokio::test]
async fn stop_ends_the_agent_and_the_runner() {
    let rig = Rig::script("cat; echo closed").start().await;
    let identity = rig.identity();
    let (handle, mut records) = rig.attach(0).await;
    within(handle.stop()).await.unwrap();
    let seen = read_to_exit(&mut records).await;
    assert_eq!(lines(&seen), ["closed"], "its input was closed before anything else");
    assert_eq!(exit(&seen).0, Some(0));
    assert!(within(records.next()).await.is_none());
    gone(identity.runner.pid).await;
    gone(identity.agent.unwrap().pid).await;
}

#[tokio::test]
async fn an_agent_that_ignores_sigterm_is_killed() {
    let rig = Rig::script("trap '' TERM; echo ready; while :; do sleep 0.05; done").start().await;
    let (handle, mut records) = rig.attach(0).await;
    read_lines(&mut records, 1).await;
    within(handle.stop()).await.unwrap();
    assert_eq!(exit(&read_to_exit(&mut records).await).1, Some(9));
    gone(rig.identity().agent.unwrap().pid).await;
}

#[tokio::test]
async fn a_grandchild_in_a_session_of_its_own_is_killed_on_stop() {
    let script = "setsid sh -c 'trap \"\" TERM; echo $$; exec sleep 1000' & cat";
    let rig = Rig::script(script).start().await;
    let (handle, mut records) = rig.attach(0).await;
    let pid: i32 = lines(&read_lines(&mut records, 1).await)[0].parse().unwrap();
    assert!(is_there(pid));
    within(handle.stop()).await.unwrap();
    assert!(!is_there(pid), "gone before stop returns");
}

#[tokio::test]
async fn an_orphan_left_behind_by_a_crash_is_killed_and_the_exit_still_comes() {
    // The orphan holds the agent's stdout, so the pipe's end alone would never tell.
    let script = "(setsid sh -c 'echo $$; exec sleep 1000' &); read line; kill -9 $$";
    let rig = Rig::script(script).start().await;
    let (handle, mut records) = rig.attach(0).await;
    let pid: i32 = lines(&read_lines(&mut records, 1).await)[0].parse().unwrap();
    within(handle.write(uuid::Uuid::new_v4(), b"go".to_vec())).await.unwrap();
    assert_eq!(exit(&read_to_exit(&mut records).await).1, Some(9));
    assert!(!is_there(pid));
}

#[tokio::test]
async fn a_runner_left_alone_ends_after_its_time_to_live() {
    let mut rig = Rig::script("exec cat");
    rig.spec.ttl_s = 1;
    let rig = rig.start().await;
    let identity = rig.identity();
    let begun = Instant::now();
    drop(rig.attach(0).await);
    gone(identity.runner.pid).await;
    assert!(begun.elapsed() >= Duration::from_secs(1));
    gone(identity.agent.unwrap().pid).await;
    assert!(rig.log().contains("time to live"), "{}", rig.log());
    assert_eq!(exit(&rig.journal()).0, Some(0));
}

#[tokio::test]
async fn a_running_prompt_keeps_it_beyond_its_time_to_live() {
    let mut rig = Rig::script("exec cat");
    rig.spec.ttl_s = 1;
    let rig = rig.start().await;
    let identity = rig.identity();
    let (handle, records) = rig.attach(0).await;
    within(handle.busy(true)).await.unwrap();
    drop((handle, records));
    let early = tokio::time::timeout(Duration::from_secs(3), gone(identity.runner.pid)).await;
    assert!(early.is_err(), "it must not end while a prompt runs");
    let (handle, records) = rig.attach(0).await;
    within(handle.busy(false)).await.unwrap();
    drop((handle, records));
    gone(identity.runner.pid).await;
}

#[tokio::test]
async fn sigterm_means_stop_and_hangup_and_interrupt_mean_nothing() {
    let rig = Rig::script("exec cat").start().await;
    let identity = rig.identity();
    signal(identity.runner.pid, Signal::HUP);
    signal(identity.runner.pid, Signal::INT);
    let (handle, mut records) = rig.attach(0).await;
    within(handle.write(uuid::Uuid::new_v4(), b"still here".to_vec())).await.unwrap();
    assert_eq!(lines(&read_lines(&mut records, 1).await), ["still here"]);
    signal(identity.runner.pid, Signal::TERM);
    assert_eq!(exit(&read_to_exit(&mut records).await).0, Some(0));
    gone(identity.runner.pid).await;
}

#[tokio::test]
async fn a_runner_without_its_directory_ends() {
    let rig = Rig::script("exec cat").start().await;
    let identity = rig.identity();
    std::fs::remove_dir_all(&rig.dir).unwrap();
    gone(identity.runner.pid).await;
    gone(identity.agent.unwrap().pid).await;
}

#[tokio::test]
async fn a_directory_has_one_runner() {
    let rig = Rig::script("exec cat").start().await;
    let before = rig.identity();
    let second = runner::start(&crate::rig::exe(), &rig.dir, &rig.spec).await;
    assert!(matches!(second, Err(StartError::Running)), "{second:?}");
    let forced = Command::new(crate::rig::exe()).arg("runner").arg(&rig.dir).env("RUNNER_DETACHED", "1").status().unwrap();
    assert!(!forced.success());
    assert!(rig.log().contains("another runner"), "{}", rig.log());
    assert_eq!(rig.identity(), before);
    assert!(before.runner_alive() && before.agent_alive());
}

#[tokio::test]
async fn it_is_nobodys_child_and_in_a_session_of_its_own() {
    let rig = Rig::script("exec cat").start().await;
    let identity = rig.identity();
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", identity.runner.pid)).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    assert_ne!(fields[1], std::process::id().to_string());
    assert_eq!(fields[3], identity.runner.pid.to_string());
    let agent = identity.agent.unwrap().pid.to_string();
    let stat = std::fs::read_to_string(format!("/proc/{agent}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    assert_eq!(fields[2], agent, "the agent leads a group of its own");
}

#[tokio::test]
async fn an_idle_runner_is_small() {
    let rig = Rig::script("exec cat").start().await;
    let (_handle, _records) = rig.attach(0).await;
    println!("idle runner: {} kB resident", rig.resident_kb());
    assert!(rig.resident_kb() < 8 * 1024, "{} kB", rig.resident_kb());
}

#[tokio::test]
async fn a_runner_that_cannot_start_says_why() {
    let rig = Rig::script("exec cat");
    let missing = runner::start("/no/such/binary".as_ref(), &rig.dir, &rig.spec).await;
    assert!(matches!(missing, Err(StartError::Spawn(_))), "{missing:?}");
    let failing = runner::start("/bin/false".as_ref(), &rig.dir, &rig.spec).await;
    assert!(matches!(failing, Err(StartError::Ended(_))), "{failing:?}");
    std::fs::create_dir_all(rig.dir.join("socket/in the way")).unwrap();
    let blocked = runner::start(&crate::rig::exe(), &rig.dir, &rig.spec).await;
    let Err(StartError::Ended(words)) = blocked else { panic!("{blocked:?}") };
    assert!(words.contains("cannot start"), "{words}");
    assert!(exit(&rig.journal()).2.contains("directory"), "the journal says it too");
}

#[tokio::test]
async fn stop_right_after_attaching_still_tells_the_end() {
    for _ in 0..10 {
        let rig = Rig::script("exec cat").start().await;
        let (handle, mut records) = rig.attach(0).await;
        within(handle.stop()).await.unwrap();
        assert_eq!(exit(&read_to_exit(&mut records).await).0, Some(0));
    }
}

#[tokio::test]
async fn stop_does_not_wait_for_records_that_nobody_reads() {
    let rig = Rig::script("exec cat").start().await;
    let (handle, records) = rig.attach(0).await;
    drop(records);
    within(handle.stop()).await.unwrap();
    assert_eq!(exit(&rig.journal()).0, Some(0));
}

/// Many lines wait for an agent that reads slowly; the stop comes behind them and not in their place.
#[tokio::test]
async fn what_was_written_before_a_stop_reaches_the_agent() {
    let mut rig = Rig::script("echo ready; sleep 0.3; wc -l");
    rig.spec.term_grace_ms = 10_000;
    let rig = rig.start().await;
    let (handle, mut records) = rig.attach(0).await;
    read_lines(&mut records, 1).await;
    for _ in 0..200 {
        within(handle.write(uuid::Uuid::new_v4(), vec![b'x'; 1000])).await.unwrap();
    }
    within(handle.stop()).await.unwrap();
    drop(records);
    gone(rig.identity().runner.pid).await;
    assert_eq!(lines(&rig.journal()).iter().map(|line| line.trim()).collect::<Vec<_>>(), ["ready", "200"]);
}
