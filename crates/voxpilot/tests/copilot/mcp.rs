//! MCP servers of the configuration: Copilot uses them, and what is secret about them stays where it belongs.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::json;
use testkit::model_server::{Reply, Script, ToolCall};
use testkit::processes;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::replies::delegate;
use crate::setup::{SOON, Setup, start_with};

const SECRET: &str = "hush-hush-very-secret";

/// One tool, `measure`, that says how long its secret is. On stdio, or over HTTP where it is told so.
const SERVER: &str = r#"
const answer = (message, secret) => {
  switch (message.method) {
    case "initialize":
      return { protocolVersion: message.params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "tiny", version: "1" } };
    case "tools/list":
      return { tools: [{ name: "measure", description: "Measures", inputSchema: { type: "object", properties: {} } }] };
    case "tools/call":
      return { content: [{ type: "text", text: `the secret has ${(secret ?? "").length} letters` }] };
    default:
      return {};
  }
};
if (process.argv[2] === "http") {
  const server = require("node:http").createServer((request, response) => {
    let body = "";
    request.on("data", (piece) => (body += piece));
    request.on("end", () => {
      if (request.method !== "POST") return response.writeHead(405).end();
      const message = JSON.parse(body);
      if (message.id === undefined) return response.writeHead(202).end();
      const result = answer(message, request.headers["x-secret"]);
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result }));
    });
  });
  server.listen(0, "127.0.0.1", () => console.log(server.address().port));
} else {
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const message = JSON.parse(line);
    if (message.id === undefined) return;
    console.log(JSON.stringify({ jsonrpc: "2.0", id: message.id, result: answer(message, process.env.TINY_SECRET) }));
  });
}
"#;

fn write_server(dir: &Path) -> PathBuf {
    let path = dir.join("tiny-server.cjs");
    std::fs::write(&path, SERVER).unwrap();
    path
}

/// Copilot's model calls the tool `name`; what the tool said stands in its next request.
async fn use_tool(setup: &mut Setup, name: &str) {
    setup.main([delegate("mcp", "measure it"), Reply::text("Measured.")]);
    setup.coder([Reply::new().and_call(ToolCall::new(name, json!({}))), Reply::text("Done.")]);
    assert_eq!(setup.turn("go").await, "completed", "{}", setup.client.seen.tail());
    let requests = setup.coder_requests();
    let offered = requests.first().unwrap().tool_names().join(" ");
    assert!(offered.contains(name), "{offered}");
    let expected = format!("the secret has {} letters", SECRET.len());
    let results = requests.last().unwrap().tool_results().join("\n");
    assert!(results.contains(&expected), "{results}");
}

/// Nobody but the agent has been told the secret.
fn assert_hidden(setup: &Setup) {
    assert!(!setup.server.log().contains(SECRET));
    for event in &setup.client.seen.events {
        assert!(!event.data.to_string().contains(SECRET), "{} {}", event.kind, event.data);
    }
    for process in processes::of_dir(setup.server.rig().home()) {
        assert!(!process.command.contains(SECRET), "{}", process.command);
    }
}

#[tokio::test]
async fn a_stdio_server_reaches_copilot_through_its_own_flag() {
    let mut setup = start_with(Script::new(), json!({ "permission_policy": "auto" }), |rig| {
        let server = write_server(rig.home());
        rig.config(&format!("[mcp_servers.tiny]\ncommand = \"node\"\nargs = [{server:?}]\nenv = {{ TINY_SECRET = {SECRET:?} }}\n"))
    })
    .await;
    use_tool(&mut setup, "tiny-measure").await;
    assert_hidden(&setup);
    let runners = std::fs::read_dir(setup.server.rig().data_dir().join("runners")).unwrap();
    let files: Vec<_> = runners.flatten().map(|dir| dir.path().join("mcp.json")).filter(|file| file.exists()).collect();
    assert_eq!(files.len(), 1);
    assert_eq!(files[0].metadata().unwrap().permissions().mode() & 0o777, 0o600);
    setup.end().await;
}

#[tokio::test]
async fn an_http_server_is_passed_with_the_session_and_its_headers() {
    let dir = tempfile::tempdir().unwrap();
    let (mut server, port) = http_server(dir.path()).await;
    let mut setup = start_with(Script::new(), json!({ "permission_policy": "auto" }), |rig| {
        rig.config(&format!("[mcp_servers.far]\nurl = \"http://127.0.0.1:{port}/mcp\"\nheaders = {{ x-secret = {SECRET:?} }}\n"))
    })
    .await;
    use_tool(&mut setup, "far-measure").await;
    assert_hidden(&setup);
    let traffic = setup.server.text("GET", &format!("/api/sessions/{}/trace/capture", setup.session)).await;
    assert!(traffic.contains("x-secret") && traffic.contains("[masked]") && !traffic.contains(SECRET), "{traffic}");
    setup.end().await;
    server.kill().await.unwrap();
}

async fn http_server(dir: &Path) -> (Child, u16) {
    let mut command = Command::new("node");
    command.arg(write_server(dir)).arg("http").stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let line = tokio::time::timeout(SOON, lines.next_line()).await.unwrap().unwrap().unwrap();
    (child, line.trim().parse().unwrap())
}
