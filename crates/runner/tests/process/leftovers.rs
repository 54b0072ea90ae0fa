//! A runner that was killed: its journal is whole, its agent is found by identity and ended.

use runner::{LeftoverError, ReadError};
use rustix::process::Signal;

use crate::rig::{Rig, assert_dense, gone, is_there, lines, read_lines, signal, within};

#[tokio::test]
async fn a_killed_runner_is_noticed_at_once_and_its_agents_tree_is_ended() {
    // The agent outlives the loss of its input, ignores SIGTERM, and one of its children hides in a session of its own.
    let script = "trap '' TERM; (setsid sh -c 'echo $$; exec sleep 1000' </dev/null &); cat; while :; do sleep 0.05; done";
    let rig = Rig::script(script).start().await;
    let (_handle, mut records) = rig.attach(0).await;
    let hidden: i32 = lines(&read_lines(&mut records, 1).await)[0].parse().unwrap();
    let identity = rig.identity();
    let agent = identity.agent.unwrap().pid;

    let found = runner::find(rig.dir.parent().unwrap()).remove(0);
    assert!(found.runner_alive && found.agent_alive);
    assert!(matches!(runner::end_leftovers(&found).await, Err(LeftoverError::RunnerAlive)));
    assert!(is_there(agent));

    signal(identity.runner.pid, Signal::KILL);
    assert!(matches!(within(records.next()).await, Some(Err(ReadError::Gone))));
    gone(identity.runner.pid).await;
    let found = runner::find(rig.dir.parent().unwrap()).remove(0);
    assert!(!found.runner_alive);
    assert_eq!(found.spec.as_ref().unwrap().id, rig.spec.id);
    within(runner::end_leftovers(&found)).await.unwrap();
    assert!(!is_there(agent) && !is_there(hidden));
    assert_eq!(lines(&rig.journal()), [hidden.to_string()]);
}

#[tokio::test]
async fn a_directory_without_anything_in_it_has_nobody_to_end() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("empty")).unwrap();
    let found = runner::find(home.path());
    assert_eq!(found.len(), 1);
    assert!(!found[0].runner_alive && !found[0].agent_alive && found[0].spec.is_none());
    within(runner::end_leftovers(&found[0])).await.unwrap();
    assert!(runner::find(&home.path().join("nowhere")).is_empty());
}

#[tokio::test]
async fn a_runner_killed_in_a_flood_leaves_a_whole_journal_with_everything_it_told() {
    let rig = Rig::script("seq 1 100000000").start().await;
    let (_handle, mut records) = rig.attach(0).await;
    let mut told = read_lines(&mut records, 50_000).await;
    signal(rig.identity().runner.pid, Signal::KILL);
    while let Some(Ok(batch)) = within(records.next()).await {
        told.extend(batch);
    }
    gone(rig.identity().runner.pid).await;
    within(runner::end_leftovers(&runner::find(rig.dir.parent().unwrap()).remove(0))).await.unwrap();
    let journal = rig.journal();
    assert_dense(&journal, 1);
    assert!(journal.len() >= told.len());
    assert_eq!(journal[..told.len()], told, "nothing was told that is not on disk");
    let last: usize = lines(&journal[journal.len() - 1..])[0].parse().unwrap();
    assert_eq!(last, journal.len(), "no line is missing");
}

#[tokio::test]
async fn a_runner_does_not_come_up_in_a_directory_that_is_barred() {
    let rig = Rig::script("exec cat");
    std::fs::create_dir_all(&rig.dir).unwrap();
    let bar = runner::bar(&rig.dir).unwrap().unwrap();
    assert!(runner::bar(&rig.dir).unwrap().is_none(), "there is one bar");
    let exe = crate::rig::exe();
    let begun = runner::start(&exe, &rig.dir, &rig.spec);
    // It starts itself once more and leaves, and that one finds the bar.
    let words = async {
        while !std::fs::read_to_string(rig.dir.join("runner.log")).is_ok_and(|log| log.contains("another runner has this directory")) {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        came = begun => panic!("{came:?}"),
        () = within(words) => {}
    }
    drop(bar);
    let rig = rig.start().await;
    assert!(runner::bar(&rig.dir).unwrap().is_none(), "whoever is up has it");
}
