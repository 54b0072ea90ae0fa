//! `voxpilot probe` on the built binary: what it prints, what it writes down, and what a server then says of the agent.

#![allow(clippy::unwrap_used)]

mod page;

use std::process::Output;
use std::time::Duration;

use serde_json::Value;
use testkit::faulty_agent::voxpilot_path;
use testkit::processes;
use testkit::server::Rig;

/// Generous: these machines are slow at times, and a deadline only ends a test that has failed anyway.
const SOON: Duration = Duration::from_secs(300);

async fn probe(rig: &Rig, agent: &str, env: &[(&str, String)]) -> Output {
    let mut command = tokio::process::Command::new(voxpilot_path());
    command.args(["probe", agent]).env_clear().env("PATH", search_path()).env("HOME", rig.home().join("home"));
    command.env("VOXPILOT_DATA_DIR", rig.data_dir()).env("VOXPILOT_WORK_DIR", rig.work_dir()).env("TMPDIR", rig.home());
    command.envs(env.iter().map(|(name, value)| (name, value))).current_dir(rig.work_dir()).kill_on_drop(true);
    tokio::time::timeout(SOON, command.output()).await.expect("the probe ends in time").unwrap()
}

#[expect(clippy::disallowed_methods, reason = "what is under test finds its programs where the test does")]
fn search_path() -> String {
    std::env::var("PATH").unwrap_or_default()
}

fn written(rig: &Rig, agent: &str) -> Value {
    serde_json::from_slice(&std::fs::read(rig.data_dir().join(format!("probes/{agent}.json"))).unwrap()).unwrap()
}

#[track_caller]
fn held(probe: &Value, expected: &[(&str, &str)]) {
    for (id, value) in expected {
        assert_eq!(probe["held"][id], *value, "{id}: {probe:#}");
    }
}

/// Nothing of the person's was touched and nothing is left.
async fn left_nothing(rig: &Rig) {
    processes::none_left(rig.home(), SOON).await.unwrap();
    let all = std::fs::read_dir(rig.home()).unwrap().flatten().map(|entry| entry.file_name().into_string().unwrap());
    assert!(all.into_iter().all(|name| !name.starts_with("voxpilot-")), "the directory of the probe is still there");
    assert_eq!(std::fs::read_dir(rig.copilot_home()).unwrap().count(), 0);
    assert_eq!(std::fs::read_dir(rig.home().join("home")).unwrap().count(), 0);
    assert_eq!(std::fs::read_dir(rig.work_dir()).unwrap().count(), 0);
}

#[tokio::test]
async fn the_demo_agent_is_probed_and_the_server_says_what_held() {
    let rig = Rig::default();
    let output = probe(&rig, "demo", &[]).await;
    assert!(output.status.success(), "{output:?}");
    let seen = written(&rig, "demo");
    held(&seen, &[("restores", "resumed"), ("resumes", "yes"), ("lists", "yes"), ("cancels", "yes"), ("asks", "yes")]);
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.contains("comes back after a kill  resumed") && table.contains("remembers what was said  yes"), "{table}");
    left_nothing(&rig).await;

    let server = rig.demo_agent().start().await;
    let deadline = tokio::time::Instant::now() + SOON;
    loop {
        let (_, list) = server.call("GET", "/api/agents", None).await;
        let demo = list["agents"].as_array().unwrap().iter().find(|agent| agent["id"] == "demo").unwrap().clone();
        let of = |id: &str| demo["abilities"].as_array().unwrap().iter().find(|ability| ability["id"] == id).unwrap().clone();
        let restores = of("restores");
        assert_eq!(of("second_prompt")["value"], "unknown");
        // Its version is asked for in the background.
        if restores["source"] == "probe" {
            assert_eq!((restores["value"].as_str(), of("asks")["source"].as_str()), (Some("resumed"), Some("probe")));
            break;
        }
        assert!(tokio::time::Instant::now() < deadline, "{demo:#}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    server.end().await;
}

#[tokio::test]
async fn the_real_copilot_is_probed_without_an_account() {
    let rig = Rig::default();
    let env = [
        ("VOXPILOT_COPILOT_CLI_PATH", testkit::copilot::path().display().to_string()),
        ("VOXPILOT_COPILOT_HOME", rig.copilot_home().display().to_string()),
        ("GH_TOKEN", "not-to-be-used".to_owned()),
    ];
    let output = probe(&rig, "copilot", &env).await;
    assert!(output.status.success(), "{output:?}");
    let seen = written(&rig, "copilot");
    let expected = [("restores", "loaded"), ("loads", "yes"), ("lists", "yes"), ("cancels", "yes"), ("asks", "yes"), ("usage", "yes")];
    held(&seen, &expected);
    assert!(seen["version"].as_str().unwrap().starts_with("1.0."), "{seen:#}");
    left_nothing(&rig).await;
}

#[tokio::test]
async fn an_agent_that_is_not_there_or_not_known_is_said_to_be() {
    let rig = Rig::default();
    let missing = [("VOXPILOT_COPILOT_CLI_PATH", "/nowhere/copilot".to_owned())];
    for (agent, words) in [("copilot", "is not installed"), ("nobody", "no agent is called `nobody`")] {
        let output = probe(&rig, agent, &missing).await;
        assert!(!output.status.success() && String::from_utf8_lossy(&output.stderr).contains(words), "{output:?}");
    }
    left_nothing(&rig).await;
}
