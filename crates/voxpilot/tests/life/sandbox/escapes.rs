//! Ways out of the sandbox that a hostile agent tries on the built server: by the environment it asks for, by its login, by its version,
//! and by what Landlock alone does not hold.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use agents::Feature;
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::server::{Rig, Server};

use crate::SOON;

/// A library that writes the file named by `TOUCH` as soon as it is loaded.
const PRELOAD: &str = r#"
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((constructor)) static void touch(void) {
    const char *path = getenv("TOUCH");
    if (path) { int fd = open(path, O_CREAT | O_WRONLY | O_APPEND, 0600); if (fd >= 0) { (void)!write(fd, "x", 1); close(fd); } }
}
"#;

/// Connects to the socket that it is given.
const CONNECT: &str = r#"
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
int main(int count, char **words) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    strncpy(address.sun_path, words[1], sizeof address.sun_path - 1);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof address)) { perror("connect"); return 1; }
    return 0;
}
"#;

/// A directory that no sandbox lets anybody write to: temporary directories are the agent's to use.
struct Outside(TempDir);

impl Outside {
    fn new() -> Self {
        let outside = Self(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap());
        fs::write(outside.path("kept"), "as it was").unwrap();
        fs::set_permissions(outside.path("kept"), fs::Permissions::from_mode(0o640)).unwrap();
        outside
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

fn compile(source: &str, flags: &[&str], target: &Path) {
    let file = target.with_extension("c");
    fs::write(&file, source).unwrap();
    let done = Command::new("cc").args(flags).arg("-o").arg(target).arg(&file).status().unwrap();
    assert!(done.success(), "a program for the test cannot be compiled");
}

/// Has the agent run commands in terminals, each as a request of its own, and gives what it was answered.
async fn terminals(server: &Server, commands: &[Value]) -> String {
    let session = server.new_session(json!({ "permission_policy": "auto" })).await;
    let mut client = server.stream(&session, None).await;
    let calls: Vec<Value> = commands
        .iter()
        .flat_map(|command| {
            [
                json!(["terminal/create", command]),
                json!(["terminal/wait_for_exit", { "terminalId": "$terminal" }]),
                json!(["terminal/output", { "terminalId": "$terminal" }]),
            ]
        })
        .collect();
    server.send(&session, &format!("calls {}", json!(calls))).await;
    assert_eq!(client.turn_end(SOON).await, "completed", "{}", client.seen.tail());
    client.seen.agent_text("main")
}

fn sh(script: &str) -> Value {
    json!({ "command": "/bin/sh", "args": ["-c", script] })
}

#[tokio::test]
async fn variables_of_a_terminal_take_effect_only_inside_the_sandbox() {
    if !super::can_hold() {
        return;
    }
    let outside = Outside::new();
    for section in ["sandbox = \"workdir\"\n", ""] {
        let server = Rig::default().faulty_agent().config(section).start().await;
        let library = server.rig().work_dir().join("preload.so");
        compile(PRELOAD, &["-shared", "-fPIC"], &library);
        let touched = outside.path("touched");
        let inside = server.rig().work_dir().join("inside");
        let variables = |touch: &Path| json!([{ "name": "LD_PRELOAD", "value": library }, { "name": "TOUCH", "value": touch }]);
        let text = terminals(
            &server,
            &[json!({ "command": "/bin/true", "env": variables(&touched) }), json!({ "command": "/bin/true", "env": variables(&inside) })],
        )
        .await;
        // Once, by the command itself: neither the keeper nor what confines the command has loaded it.
        assert_eq!(fs::read_to_string(&inside).unwrap_or_default(), "x", "{text}");
        let written = fs::read_to_string(&touched).unwrap_or_default();
        let expected = if section.is_empty() { "x" } else { "" };
        assert_eq!(written, expected, "sandboxed: {}: {text}", !section.is_empty());
        server.end().await;
    }
}

#[tokio::test]
async fn a_sandboxed_agent_changes_no_file_and_reaches_no_socket_outside() {
    let Some(mechanism) = super::mechanism() else { return };
    if mechanism.open.iter().any(|open| [Feature::Metadata, Feature::Sockets].contains(open)) {
        println!("skipped: this kernel does not hold {:?}", mechanism.open);
        return;
    }
    let outside = Outside::new();
    let server = Rig::default().faulty_agent().config("sandbox = \"workdir\"\n").start().await;
    let connect = server.rig().work_dir().join("connect");
    compile(CONNECT, &[], &connect);
    let _earlier = UnixListener::bind(outside.path("socket")).unwrap();
    // Temporary directories are the agent's to write to, and what others listen to there is not.
    let shared = tempfile::tempdir_in("/tmp").unwrap();
    let _in_tmp = UnixListener::bind(shared.path().join("socket")).unwrap();
    let before = fs::metadata(outside.path("kept")).unwrap();
    let kept = outside.path("kept").display().to_string();
    let scripts = [
        format!("chmod 777 {kept} && echo OPEN"),
        format!("chown 1 {kept} && echo OPEN"),
        format!("touch -d 2001-01-01 {kept} && echo OPEN"),
        format!("chmod 700 {} && echo OPEN", outside.0.path().display()),
        format!("{} {} && echo OPEN", connect.display(), outside.path("socket").display()),
        format!("{} {} && echo OPEN", connect.display(), shared.path().join("socket").display()),
        format!("mv {0} moved; {1} moved/socket && echo OPEN", shared.path().display(), connect.display()),
        "chmod 700 connect && echo WORKS".to_owned(),
    ];
    let text = terminals(&server, &scripts.map(|script| sh(&script))).await;
    assert!(!text.contains("OPEN"), "{text}");
    assert!(text.contains("WORKS"), "{text}");
    let after = fs::metadata(outside.path("kept")).unwrap();
    assert_eq!((before.mode(), before.uid(), before.mtime()), (after.mode(), after.uid(), after.mtime()));
    server.end().await;
}

/// A program that leaves a trace outside whenever it is run, and says who it is.
fn tracing_program(server_home: &Path, outside: &Outside) -> PathBuf {
    let program = server_home.join("home/tracing-agent");
    let script = format!(
        "#!/bin/sh\necho \"$*\" >> {0}/ran\necho 1.2.3\ncat {1}/data/secret 2>/dev/null && cp {1}/data/secret {0}/read\nexit 0\n",
        outside.0.path().display(),
        server_home.display()
    );
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    program
}

#[tokio::test]
async fn the_login_and_the_version_of_a_sandboxed_agent_run_inside_the_sandbox() {
    if !super::can_hold() {
        return;
    }
    let outside = Outside::new();
    let rig = Rig::default().demo_agent();
    let program = tracing_program(rig.home(), &outside);
    let section = format!("[agents.tracing]\ncommand = {:?}\nlogin = [\"login\"]\nsandbox = \"workdir\"\n", program.display().to_string());
    fs::write(rig.data_dir().join("secret"), "the secret").unwrap();
    let server = rig.config(&section).start().await;
    let said = server.text("POST", "/api/agents/tracing/login").await;
    assert!(said.contains("1.2.3"), "the login ran: {said}");
    let known = async || {
        let agents = server.call("GET", "/api/agents", None).await.1;
        agents["agents"].as_array().unwrap().iter().find(|agent| agent["id"] == "tracing").unwrap()["version"].clone()
    };
    let deadline = tokio::time::Instant::now() + SOON;
    while known().await != "1.2.3" {
        assert!(tokio::time::Instant::now() < deadline, "its version is not known: {}", server.log());
    }
    assert!(!outside.path("ran").exists(), "{}", fs::read_to_string(outside.path("ran")).unwrap_or_default());
    assert!(!said.contains("the secret") && !outside.path("read").exists(), "{said}");
    server.end().await;
}
