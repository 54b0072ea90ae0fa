//! `voxpilot mcp`: a client of the running server, and nothing else.

use serde_json::{Value, json};
use testkit::server::Rig;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::time::timeout;

use crate::SOON;
use crate::program::{Program, server, token_for_agents};

#[tokio::test]
async fn the_command_carries_every_tool_and_what_is_told_meanwhile() {
    let server = server().await;
    let program = Program::stdio(&server, &[]).await;
    assert_eq!(program.info()["serverInfo"]["name"], "voxpilot");
    assert_eq!(program.tools().await.len(), 6, "all but `answer`");
    let job = program.call("delegate", json!({ "prompt": "count to 2000", "wait_seconds": 50 })).await;
    assert_eq!(program.end_of(&job).await["state"], "completed");
    let heard = program.heard();
    assert!(heard.first().is_some_and(|first| first.starts_with("job_id: ")), "{heard:?}");
    assert!(heard.iter().skip(1).any(|told| told.contains('1')), "what the agent writes: {heard:?}");
    assert!(heard.iter().all(|told| told.len() <= 300), "{heard:?}");
    let answering = Program::stdio(&server, &["--answer"]).await;
    assert_eq!(answering.tools().await.len(), 7);
    answering.close().await;
    program.close().await;
    server.end().await;
}

#[tokio::test]
async fn where_no_server_runs_it_says_so_and_starts_none() {
    let rig = Rig::default();
    let output = timeout(SOON, rig.command(&["mcp"]).output()).await.unwrap().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && output.stdout.is_empty(), "{said}");
    assert!(said.contains("no server runs on ") && said.contains("`voxpilot serve`"), "{said}");
    assert!(!rig.data_dir().join("voxpilot.db").exists());
}

#[tokio::test]
async fn a_wrong_token_is_told_at_once() {
    let server = server().await;
    let mut command = server.rig().command(&["mcp"]);
    let output = timeout(SOON, command.env("VOXPILOT_TOKEN", "wrong-token-0123456789").output()).await.unwrap().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.contains("refused the token"), "{said}");
    server.end().await;
}

#[tokio::test]
async fn garbage_and_long_lines_are_refused_and_the_next_line_counts() {
    let server = server().await;
    let mut child = server.rig().command(&["mcp"]).spawn().unwrap();
    let (mut stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut lines = BufReader::new(stdout).lines();
    let long = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{}\"}}", "x".repeat(5 * 1024 * 1024));
    let ping = json!({ "jsonrpc": "2.0", "id": "last", "method": "ping" });
    let sent = async {
        for line in ["not json", "[1]", "", &long, &ping.to_string()] {
            stdin.write_all(format!("{line}\n").as_bytes()).await.unwrap();
        }
    };
    let heard = async {
        let mut heard = Vec::new();
        while let Some(line) = lines.next_line().await.unwrap() {
            heard.push(serde_json::from_str::<Value>(&line).unwrap_or_else(|error| panic!("{error}: {line}")));
            if heard.iter().any(|message| message["id"] == "last") && heard.len() == 4 {
                break;
            }
        }
        heard
    };
    let (_, heard) = timeout(SOON, async { tokio::join!(sent, heard) }).await.unwrap();
    let mut codes: Vec<_> = heard.iter().filter_map(|message| message["error"]["code"].as_i64()).collect();
    codes.sort_unstable();
    assert_eq!(codes, [-32700, -32700, -32600], "{heard:?}");
    drop(stdin);
    let ended = timeout(SOON, child.wait()).await.unwrap().unwrap();
    assert!(ended.success(), "it ends with its client: {ended}");
    server.end().await;
}

#[tokio::test]
async fn a_configuration_that_hands_the_servers_own_token_to_agents_is_refused() {
    let server = server().await;
    let token = token_for_agents(&server).await;
    server.end().await;
    for (given, starts) in [("test-token-0123456789", false), (token.as_str(), true)] {
        let rig = Rig::default().demo_agent();
        let config = format!("[mcp_servers.me]\nurl = \"http://127.0.0.1:1/mcp\"\nheaders = {{ Authorization = \"Bearer {given}\" }}\n");
        let dir = rig.home().join("home/.config/voxpilot");
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join("voxpilot.toml"), config).unwrap();
        let mut serve = rig.command(&["serve", "--bind", "127.0.0.1:0"]);
        let mut child = serve.env("VOXPILOT_WORK_DIR", rig.work_dir()).spawn().unwrap();
        if starts {
            let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
            let listens = async { while !lines.next_line().await.unwrap().unwrap().starts_with("listening on ") {} };
            timeout(SOON, listens).await.unwrap();
            child.kill().await.unwrap();
        } else {
            let output = timeout(SOON, child.wait_with_output()).await.unwrap().unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            assert!(!output.status.success() && said.contains("mcp_servers.me would hand") && said.contains("--print-token"), "{said}");
        }
    }
}

/// A runner's agent that starts the command with `--answer` is refused, whatever lies between.
#[tokio::test]
async fn below_a_runner_it_does_not_answer() {
    let binary = testkit::faulty_agent::voxpilot_path();
    let script = format!("#!/bin/sh\nexec 2>\"$(dirname \"$0\")/said\"\n{} mcp --answer < /dev/null\nexit 1\n", binary.display());
    let rig = Rig::default();
    let agent = rig.home().join("agent.sh");
    std::fs::write(&agent, script).unwrap();
    std::fs::set_permissions(&agent, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let server = rig.agent("odd", &agent, &[]).start().await;
    let job = Program::http(&server).await.call("delegate", json!({ "prompt": "x", "wait_seconds": 50 })).await;
    assert_ne!(job["state"], "completed", "{job}");
    let said = std::fs::read_to_string(server.rig().home().join("said")).unwrap();
    assert!(said.contains("may not answer what agents ask"), "{said}");
    server.end().await;
}
