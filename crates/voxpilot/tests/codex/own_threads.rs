//! Threads that Codex made without VoxPilot: found by their work directory, continued here with everything they know, and left alone
//! while another process has them open.

use std::process::Stdio;

use serde_json::{Value, json};
use testkit::model_server::{Reply, Script};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::setup::{SOON, Setup, said, start_with};

/// A Codex that somebody else has started.
struct Outside {
    codex: Child,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    asked: u64,
}

impl Outside {
    async fn start(setup: &Setup) -> Outside {
        let rig = setup.server.rig();
        let mut codex = Command::new(testkit::codex::path())
            .arg("app-server")
            .env("CODEX_HOME", rig.codex_home())
            .env("TMPDIR", rig.codex_home().join("tmp"))
            .env("HOME", rig.home())
            .current_dir(rig.work_dir())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let (stdin, stdout) = (codex.stdin.take().unwrap(), codex.stdout.take().unwrap());
        let mut outside = Outside { codex, stdin, lines: BufReader::new(stdout).lines(), asked: 0 };
        outside.ask("initialize", json!({ "clientInfo": { "name": "other", "title": "Other", "version": "1" } })).await;
        outside.write(json!({ "method": "initialized" })).await;
        outside
    }

    async fn write(&mut self, message: Value) {
        self.stdin.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn until(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            let line = tokio::time::timeout(SOON, self.lines.next_line()).await.unwrap().unwrap().unwrap();
            let message: Value = serde_json::from_str(&line).unwrap();
            if fits(&message) {
                return message;
            }
        }
    }

    async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let id = self.asked;
        self.write(json!({ "id": id, "method": method, "params": params })).await;
        self.until(|message| message["id"] == id && message["method"].is_null()).await["result"].clone()
    }

    /// Makes a thread, has one turn in it, and gives its id.
    async fn thread(&mut self, setup: &Setup, prompt: &str) -> String {
        let thread = self.ask("thread/start", json!({ "cwd": setup.server.rig().work_dir() })).await["thread"]["id"].clone();
        self.ask("turn/start", json!({ "threadId": thread, "input": [{ "type": "text", "text": prompt }] })).await;
        let ended = self.until(|message| message["method"] == "turn/completed").await;
        assert_eq!(ended["params"]["turn"]["status"], "completed", "{ended}");
        thread.as_str().unwrap().to_owned()
    }

    async fn end(mut self) {
        drop(self.stdin);
        tokio::time::timeout(SOON, self.codex.wait()).await.unwrap().unwrap();
    }
}

async fn straight() -> Setup {
    start_with(Script::new(), json!({ "model": "relay", "permission_policy": "auto" }), |rig| rig).await
}

/// The thread in what Codex is asked to list.
async fn listed(setup: &Setup, thread: &str) -> Value {
    let (status, found) = setup.server.call("POST", "/api/agents/codex/sessions", None).await;
    assert_eq!(status, 200, "{found}");
    let own = found["sessions"].as_array().unwrap().iter().find(|own| own["agent_session_id"] == thread);
    own.unwrap_or_else(|| panic!("no {thread} in {found}")).clone()
}

#[tokio::test]
async fn a_thread_made_outside_is_found_and_goes_on_here_with_what_was_said_before() {
    let mut setup = straight().await;
    setup.coder([Reply::text("I shall remember the heron.")]);
    let mut outside = Outside::start(&setup).await;
    let thread = outside.thread(&setup, "remember the word heron").await;
    outside.end().await;

    let own = listed(&setup, &thread).await;
    assert!(own["session_id"].is_null() && own["updated_at"].is_string(), "{own}");
    assert!(setup.processes().natives.is_empty(), "nothing of the looking is left");

    let body = json!({ "agent": "codex", "agent_session_id": thread, "permission_policy": "auto" });
    let (status, session) = setup.server.call("POST", "/api/sessions", Some(body.clone())).await;
    assert_eq!(status, 201, "{session}");
    setup.session = session["id"].as_str().unwrap().to_owned();
    let earlier = setup.messages().await;
    let told: Vec<_> = earlier.iter().map(|message| (message["role"].as_str().unwrap(), message["content"].as_str().unwrap())).collect();
    assert_eq!(told, [("user", "remember the word heron"), ("assistant", "I shall remember the heron.")]);
    let (status, refused) = setup.server.call("POST", "/api/sessions", Some(body)).await;
    assert_eq!(status, 409, "one owner: {refused}");
    assert_eq!(listed(&setup, &thread).await["session_id"], session["id"]);

    setup.client = setup.server.stream(&setup.session, None).await;
    setup.coder([Reply::text("It was heron.")]);
    assert_eq!(setup.turn("which word was it?").await, "completed", "{}", setup.client.seen.tail());
    let asked = said(setup.coder_requests().last().unwrap());
    assert!(asked.contains("remember the word heron") && asked.contains("which word was it?"), "{asked}");
    assert_eq!(setup.client.seen.agent_text("main"), "It was heron.", "what was said before is not said again");
    assert!(setup.notices("session_lost").is_empty());
    setup.end().await;
}

/// Codex lets one process at a time write to a thread. The other one is told, and nothing is replaced behind anybody's back.
#[tokio::test]
async fn a_thread_that_another_process_has_open_is_said_to_be_owned_elsewhere() {
    let mut setup = straight().await;
    setup.coder([Reply::text("Mine.")]);
    let mut outside = Outside::start(&setup).await;
    let thread = outside.thread(&setup, "this is mine").await;

    // What was said in it can be read meanwhile.
    let body = json!({ "agent": "codex", "agent_session_id": thread, "permission_policy": "auto" });
    let (status, session) = setup.server.call("POST", "/api/sessions", Some(body)).await;
    assert_eq!(status, 201, "{session}");
    setup.session = session["id"].as_str().unwrap().to_owned();
    setup.client = setup.server.stream(&setup.session, None).await;
    assert_eq!(setup.turn("and now mine").await, "failed", "{}", setup.client.seen.tail());
    let reason = setup.client.seen.of_kind("turn").last().unwrap().data["reason"].as_str().unwrap().to_owned();
    assert!(reason.contains("another"), "it says who has it: {reason}");
    assert!(setup.notices("session_lost").is_empty(), "nothing was put in its place: {}", setup.client.seen.tail());
    assert_eq!(setup.coder_requests().len(), 1, "nobody was asked");

    outside.end().await;
    setup.coder([Reply::text("It was yours.")]);
    assert_eq!(setup.turn("whose was it?").await, "completed", "{}", setup.client.seen.tail());
    assert!(said(setup.coder_requests().last().unwrap()).contains("this is mine"));
    setup.end().await;
}
