//! What the server says of its address when it starts.

use std::process::Stdio;

use sha2::{Digest, Sha256};
use testkit::faulty_agent;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;
use tokio::time::timeout;

use crate::SOON;

/// What it prints up to the last line that fits.
async fn said(bind: &str, tls: &str, last: &str) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let work = dir.path().join("work");
    std::fs::create_dir(&work).unwrap();
    let mut server = Command::new(faulty_agent::voxpilot_path())
        .args(["serve", "--bind", bind, "--tls", tls])
        .env_clear()
        .env("HOME", dir.path())
        .env("VOXPILOT_DATA_DIR", dir.path().join("data"))
        .env("VOXPILOT_AGENT", "demo")
        .current_dir(work)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let mut said: Vec<String> = Vec::new();
    while !said.last().is_some_and(|line| line.contains(last)) {
        let line = timeout(SOON, lines.next_line()).await.expect("the server starts").unwrap();
        said.push(line.unwrap_or_else(|| panic!("it ended after {said:?}")));
    }
    if tls == "self-signed" {
        // What is shown is what people will see in their browser.
        let digest = Sha256::digest(std::fs::read(dir.path().join("data/server.der")).unwrap());
        let expected: Vec<String> = digest.iter().map(|byte| format!("{byte:02X}")).collect();
        assert_eq!(said.last().unwrap().strip_prefix("certificate SHA-256 "), Some(expected.join(":").as_str()));
    }
    server.kill().await.unwrap();
    said
}

#[tokio::test]
async fn on_this_machine_alone_there_is_one_link_and_no_warning() {
    let said = said("127.0.0.1:0", "off", "open http").await;
    assert!(said.iter().any(|line| line.starts_with("listening on http://127.0.0.1:")), "{said:?}");
    assert!(!said.iter().any(|line| line.contains("warning") || line.contains("other devices")), "{said:?}");
}

#[tokio::test]
async fn in_the_clear_for_others_it_says_what_to_do_instead() {
    let said = said("0.0.0.0:0", "off", "SSH tunnel").await;
    let warning = said.last().unwrap();
    assert!(warning.starts_with("warning: ") && warning.contains("--tls self-signed") && warning.contains("Tailscale"), "{said:?}");
}

#[tokio::test]
async fn encrypted_it_says_https_and_the_fingerprint() {
    let said = said("0.0.0.0:0", "self-signed", "certificate SHA-256 ").await;
    assert!(said.iter().any(|line| line.starts_with("listening on https://0.0.0.0:")), "{said:?}");
    assert!(said.iter().any(|line| line.starts_with("open https://127.0.0.1:")), "{said:?}");
    assert!(!said.iter().any(|line| line.contains("warning")), "{said:?}");
    for line in said.iter().filter(|line| line.starts_with("from other devices: ")) {
        assert!(line.contains("https://") && !line.contains("127.0.0.1"), "{line}");
    }
}

/// A cloned project chooses the names of its directories.
#[tokio::test]
async fn a_terminal_obeys_nothing_in_the_name_of_a_directory() {
    let dir = tempfile::tempdir().unwrap();
    let work = dir.path().join("w\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{202e}\r\nopen http://evil.example/");
    std::fs::create_dir_all(&work).unwrap();
    let run = |args: &[&str]| {
        let mut command = Command::new(faulty_agent::voxpilot_path());
        command.args(args).env_clear().env("HOME", dir.path()).env("VOXPILOT_DATA_DIR", dir.path().join("data\u{1b}[5m"));
        command.env("VOXPILOT_AGENT", "demo").current_dir(&work).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        command
    };
    let mut server = run(&["serve", "--bind", "127.0.0.1:0"]).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let mut said = String::new();
    while !said.contains("\nopen ") {
        let line = timeout(SOON, lines.next_line()).await.expect("the server starts").unwrap();
        said.push_str(&format!("\n{}", line.unwrap_or_else(|| panic!("it ended after {said:?}"))));
    }
    harmless("serve", &said);
    assert!(said.contains("⟨U+001B⟩]0;owned⟨U+0007⟩"), "{said:?}");
    assert!(!said.contains("\nopen http://evil.example"), "{said:?}");
    for args in [
        &["doctor"][..],
        &["config"],
        &["stop"],
        &["stop"],
        &["backup", "b\u{1b}[1m.db"],
        &["backup", "b\u{1b}[1m.db"],
        &["restore", "x\u{1b}[1m"],
        &["vacuum"],
    ] {
        let output = timeout(SOON, run(args).output()).await.expect("the command ends").unwrap();
        harmless(args[0], &String::from_utf8_lossy(&output.stdout));
        harmless(args[0], &String::from_utf8_lossy(&output.stderr));
    }
}

#[track_caller]
fn harmless(command: &str, text: &str) {
    let obeyed = |letter: char| letter.is_control() && letter != '\n' || letter == '\u{202e}';
    assert!(!text.contains(obeyed), "{command}: {text:?}");
}
