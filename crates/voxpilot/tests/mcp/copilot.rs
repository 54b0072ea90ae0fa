//! The real Copilot CLI as the client: it hands out work, is killed, and another one comes back for it.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::model_server::{ModelServer, Reply, Script};
use testkit::server::Server;
use testkit::{copilot, processes};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::program::{server, token_for_agents};

const SOON: Duration = Duration::from_secs(90);
const MODEL: &str = "outer";

/// A Copilot of the person's own, in a directory of its own, that knows VoxPilot as an MCP server.
fn copilot(dir: &Path, model: &ModelServer, voxpilot: Value) -> Child {
    let home = dir.join("copilot");
    std::fs::create_dir_all(&home).unwrap();
    let config = dir.join("mcp.json");
    std::fs::write(&config, json!({ "mcpServers": { "voxpilot": voxpilot } }).to_string()).unwrap();
    let mut command = Command::new(copilot::path());
    command
        .args(["-p", "hand it out", "--allow-all-tools", "--additional-mcp-config"])
        .arg(format!("@{}", config.display()))
        .envs(copilot::offline(&home, &model.base_url(), MODEL))
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command.spawn().unwrap()
}

fn stdio(server: &Server) -> Value {
    let rig = server.rig();
    let env = json!({ "VOXPILOT_DATA_DIR": rig.data_dir(), "VOXPILOT_TOKEN": server.token(), "HOME": rig.home().join("home") });
    json!({ "type": "local", "command": testkit::faulty_agent::voxpilot_path(), "args": ["mcp"], "env": env, "tools": ["*"] })
}

async fn http(server: &Server) -> Value {
    let token = token_for_agents(server).await;
    json!({ "type": "http", "url": format!("{}/mcp", server.base), "headers": { "Authorization": format!("Bearer {token}") }, "tools": ["*"] })
}

/// What the tool said, once the model was told.
async fn told(model: &ModelServer, part: &str) -> String {
    let looked = async {
        loop {
            let results: Vec<String> = model.requests_for(MODEL).iter().flat_map(|request| request.tool_results()).collect();
            if let Some(found) = results.into_iter().find(|result| result.contains(part)) {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(SOON, looked).await.unwrap_or_else(|_| {
        let requests: Vec<_> =
            model.requests_for(MODEL).iter().map(|request| (request.tool_names().join(" "), request.tool_results())).collect();
        panic!("no tool said `{part}`: {requests:?}")
    })
}

/// `kill -9` of the wrapper and of the program below it.
async fn kill(mut child: Child, dir: &Path) {
    let all: Vec<i32> = processes::of_dir(dir).iter().map(|process| process.pid).collect();
    all.into_iter().for_each(|pid| processes::signal(pid, "KILL"));
    let _ = child.kill().await;
    processes::none_left(dir, SOON).await.unwrap_or_else(|left| panic!("left running: {left:?}"));
}

/// As a model would find it, in whatever form Copilot passes a result on.
fn job_id(text: &str) -> String {
    let (_, rest) = text.split_once("job_id").unwrap_or_else(|| panic!("no job_id: {text}"));
    let is_part = |letter: char| letter.is_ascii_hexdigit() || letter == '-' || letter == '.';
    rest.trim_start_matches(|letter: char| !letter.is_ascii_hexdigit()).chars().take_while(|letter| is_part(*letter)).collect()
}

async fn comes_back(first: Value, second: Value, server: Server) {
    let dir = tempfile::tempdir().unwrap();
    let model = ModelServer::start(Script::new());
    let prompt = "run `echo delegated > made.txt`; say the work is done";
    model.push(MODEL, Reply::tool_call("voxpilot-delegate", json!({ "prompt": prompt, "session": "Handed out", "wait_seconds": 30 })));
    model.push(MODEL, Reply::text("never").stall());
    let one: PathBuf = dir.path().join("one");
    let child = copilot(&one, &model, first);
    let answer = told(&model, "job_id").await;
    assert!(answer.contains("waiting") && answer.contains("echo delegated"), "{answer}");
    kill(child, &one).await;

    // The person answers while nobody is there.
    let job = job_id(&answer);
    let session = job.split('.').next().unwrap();
    let mut client = server.stream(session, None).await;
    let asked = client.until("the question", SOON, |event| event.kind == "permission-request").await;
    let allow = asked.data["options"].as_array().unwrap().iter().find(|option| option["kind"] == "allow_once").unwrap();
    let path = format!("/api/sessions/{session}/permissions/{}", asked.data["request_id"].as_str().unwrap());
    assert_eq!(server.call("POST", &path, Some(json!({ "option_id": allow["option_id"] }))).await.0, 202);

    let model = ModelServer::start(Script::new());
    model.push(MODEL, Reply::tool_call("voxpilot-job", json!({ "job_id": job, "wait_seconds": 50 })));
    model.push(MODEL, Reply::text("It is done."));
    let two = dir.path().join("two");
    let child = copilot(&two, &model, second);
    let result = told(&model, &job).await;
    assert!(result.contains("completed") && result.contains("the work is done"), "{result}");
    let output = timeout(SOON, child.wait_with_output()).await.unwrap().unwrap();
    assert!(output.status.success() && String::from_utf8_lossy(&output.stdout).contains("It is done."), "{output:?}");
    assert_eq!(std::fs::read_to_string(server.rig().work_dir().join("made.txt")).unwrap(), "delegated\n");
    drop(client);
    server.end().await;
}

#[tokio::test]
async fn a_killed_copilot_on_stdio_leaves_its_work_to_the_next() {
    let server = server().await;
    let (first, second) = (stdio(&server), stdio(&server));
    comes_back(first, second, server).await;
}

#[tokio::test]
async fn a_killed_copilot_over_http_leaves_its_work_to_the_next() {
    let server = server().await;
    let (first, second) = (http(&server).await, http(&server).await);
    comes_back(first, second, server).await;
}
