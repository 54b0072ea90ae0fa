//! Commands that run for an agent: their output, their end, and that nothing of them is left.

use std::path::Path;
use std::time::Duration;

use runner::{Terminal, TerminalExit, TerminalSpec};
use tokio::time::{Instant, sleep, timeout};
use uuid::Uuid;

use crate::rig::{DEADLINE, exe};

async fn start(script: &str, limit_bytes: Option<u64>) -> std::io::Result<Terminal> {
    let args = vec!["-c".to_owned(), script.to_owned()];
    let env = vec![("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())];
    let spec = TerminalSpec {
        exe: exe(),
        command: "sh".to_owned(),
        args,
        env,
        cwd: "/".into(),
        sandbox: None,
        limit_bytes,
        runner: Uuid::new_v4(),
    };
    Terminal::start(spec).await
}

async fn output_with(terminal: &Terminal, needle: &str) -> String {
    timeout(DEADLINE, async {
        loop {
            let more = terminal.changed();
            let (output, _) = terminal.output();
            if output.contains(needle) {
                return output;
            }
            more.await;
        }
    })
    .await
    .unwrap()
}

async fn gone(pid: &str) {
    let deadline = Instant::now() + DEADLINE;
    let alive = || std::fs::read_to_string(Path::new("/proc").join(pid).join("stat")).is_ok_and(|stat| !stat.contains(") Z"));
    while alive() {
        assert!(Instant::now() < deadline, "{pid} is still there");
        sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn what_it_prints_and_how_it_ends_is_told() {
    let terminal = start("echo out; echo err >&2; exit 3", None).await.unwrap();
    let exit = timeout(DEADLINE, terminal.ended()).await.unwrap();
    assert_eq!(exit, TerminalExit { code: Some(3), signal: None });
    assert_eq!(terminal.output(), ("out\nerr\n".to_owned(), false));
    let terminal = start("kill -TERM $$", None).await.unwrap();
    assert_eq!(timeout(DEADLINE, terminal.ended()).await.unwrap(), TerminalExit { code: None, signal: Some(15) });
}

#[tokio::test]
async fn only_the_end_is_kept() {
    let terminal = start("seq 1 100000", Some(12)).await.unwrap();
    timeout(DEADLINE, terminal.ended()).await.unwrap();
    assert_eq!(terminal.output(), ("99999\n100000\n"[1..].to_owned(), true));
}

#[tokio::test]
async fn a_killed_command_takes_its_children_along_and_keeps_its_output() {
    let terminal = start("setsid sleep 1000 & echo pid $!; sleep 1000", None).await.unwrap();
    let output = output_with(&terminal, "\n").await;
    terminal.kill();
    assert_eq!(timeout(DEADLINE, terminal.ended()).await.unwrap().signal, Some(9));
    gone(output.trim().trim_start_matches("pid ")).await;
    assert_eq!(terminal.output().0, output);
}

#[tokio::test]
async fn nothing_outlives_the_servers_end() {
    let terminal = start("setsid sleep 1000 & echo pid $! $$; wait", None).await.unwrap();
    let output = output_with(&terminal, "\n").await;
    drop(terminal);
    for pid in output.trim().trim_start_matches("pid ").split(' ') {
        gone(pid).await;
    }
}

#[tokio::test]
async fn a_command_that_is_too_long_is_refused() {
    let error = start(&"x".repeat(64 * 1024 * 1024), None).await.err().unwrap();
    assert_eq!(error.kind(), std::io::ErrorKind::ArgumentListTooLong, "{error}");
    let error = start(&"x".repeat(4 * 1024 * 1024), None).await.err().unwrap();
    assert!(error.to_string().contains("Argument list too long"), "what the system itself refuses: {error}");
}

#[tokio::test]
async fn a_command_that_is_not_there_is_an_error() {
    let spec = TerminalSpec {
        exe: exe(),
        command: "/nowhere/at/all".to_owned(),
        args: vec![],
        env: vec![],
        cwd: "/".into(),
        sandbox: None,
        limit_bytes: None,
        runner: Uuid::new_v4(),
    };
    let error = Terminal::start(spec).await.err().unwrap();
    assert!(error.to_string().contains("No such file"), "{error}");
}
