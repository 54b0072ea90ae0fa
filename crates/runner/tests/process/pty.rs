//! Commands in a pseudo-terminal, and that nothing of one that was given up is left.

use std::path::Path;
use std::time::Duration;

use runner::{Invocation, Pty};
use tokio::time::{Instant, sleep, timeout};

use crate::rig::DEADLINE;

fn start(script: &str) -> Pty {
    let env = vec![("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())];
    let args = vec!["-c".to_owned(), script.to_owned()];
    Pty::start(Invocation { command: "/bin/sh".into(), args, env, cwd: Some("/".into()), ..Invocation::default() }).unwrap()
}

async fn line(pty: &mut Pty) -> String {
    let mut text = String::new();
    while !text.contains('\n') {
        let piece = timeout(DEADLINE, pty.output()).await.unwrap().expect("more output");
        text.push_str(&String::from_utf8_lossy(&piece));
    }
    text.trim().to_owned()
}

/// Ended and reaped.
async fn gone(pid: &str) {
    let deadline = Instant::now() + DEADLINE;
    while Path::new("/proc").join(pid).exists() {
        assert!(Instant::now() < deadline, "{pid} is still there");
        sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn it_has_a_terminal_and_says_how_it_ended() {
    let mut good = start("test -t 0 && test -t 1 && echo yes");
    assert_eq!(line(&mut good).await, "yes");
    assert!(timeout(DEADLINE, good.succeeded()).await.unwrap());
    assert_eq!(timeout(DEADLINE, good.output()).await.unwrap(), None);
    let mut bad = start("exit 3");
    assert!(!timeout(DEADLINE, bad.succeeded()).await.unwrap());
}

#[tokio::test]
async fn given_up_it_ends_with_a_grandchild_that_ignores_every_gentle_signal() {
    let mut pty = start("(trap '' HUP TERM INT; echo $$ $(exec sh -c 'echo $PPID'); sleep 600) & wait");
    let first = line(&mut pty).await;
    let (shell, grandchild) = first.split_once(' ').unwrap();
    drop(pty);
    gone(shell).await;
    gone(grandchild).await;
}

#[tokio::test]
async fn given_up_it_ends_with_what_left_its_session() {
    let mut pty = start("setsid sh -c 'trap \"\" HUP TERM; echo $$; sleep 600 >/dev/null 2>&1 </dev/null' & wait");
    let pid = line(&mut pty).await;
    drop(pty);
    gone(&pid).await;
}

#[tokio::test]
async fn what_a_successful_command_leaves_does_not_hold_up_its_end() {
    let mut pty = start("sleep 600 & echo $!; exit 0");
    let left = line(&mut pty).await;
    assert!(timeout(DEADLINE, pty.succeeded()).await.unwrap());
    assert_eq!(timeout(DEADLINE, pty.output()).await.unwrap(), None);
    drop(pty);
    let pid = rustix::process::Pid::from_raw(left.parse().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}
