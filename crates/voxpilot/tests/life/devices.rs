//! Devices of the built server: the printed link, `voxpilot link`, and what survives a restart.

use std::process::{Output, Stdio};

use serde_json::{Value, json};
use testkit::browser::SignedIn;
use testkit::faulty_agent;
use testkit::server::{Rig, Server};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;
use tokio::time::timeout;

use crate::SOON;

/// What an address answers, and whom it signs in.
async fn open(http: &reqwest::Client, url: &str, device: Option<&SignedIn>) -> (u16, String, Option<SignedIn>) {
    let request = http.get(url).timeout(SOON);
    let answer = device.map_or_else(|| request.try_clone().unwrap(), |device| device.sends(request.try_clone().unwrap()));
    let answer = answer.send().await.unwrap();
    let set = answer.headers().get("set-cookie").map(|set| set.to_str().unwrap().to_owned());
    let (status, page) = (answer.status().as_u16(), answer.text().await.unwrap());
    let signed_in = SignedIn::of(set.as_deref(), &page);
    (status, page, signed_in)
}

async fn run(server: &Server, args: &[&str]) -> Output {
    let mut command = Command::new(faulty_agent::voxpilot_path());
    command.args(args).env_clear().env("HOME", server.rig().home().join("home")).env("VOXPILOT_DATA_DIR", server.rig().data_dir());
    command.env("VOXPILOT_TOKEN", server.token()).current_dir(server.rig().home());
    timeout(SOON, command.output()).await.expect("the command ends in time").unwrap()
}

/// What `voxpilot link` prints: the link and the code.
async fn link(server: &Server, args: &[&str]) -> (String, String) {
    let output = run(server, &[&["link"], args].concat()).await;
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let mut lines = text.lines();
    let url = lines.next().unwrap().strip_prefix("open ").unwrap().to_owned();
    let code = lines.next().unwrap().strip_prefix("or type ").unwrap().split(' ').next().unwrap().to_owned();
    assert!(lines.next().unwrap().starts_with("single use, expires at ") && lines.next().is_none(), "no picture for a pipe: {text}");
    (url, code)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_survives_a_restart_and_a_revoked_one_does_not_come_back() {
    let mut server = Rig::default().demo_agent().start().await;
    let http = tls::client().no_proxy().build().unwrap();
    let (url, _) = link(&server, &["--name", "desk"]).await;
    let (unused, _) = link(&server, &[]).await;
    let (status, page, device) = open(&http, &url, None).await;
    let device = device.unwrap_or_else(|| panic!("{status} {page}"));
    assert!(!device.cookie.contains(server.token()), "the cookie is the device's own");
    let sessions = format!("{}/api/sessions", server.base);
    assert_eq!(open(&http, &sessions, Some(&device)).await.0, 200);

    server.kill().await;
    server.restart().await;
    assert_eq!(open(&http, &sessions, Some(&device)).await.0, 200);
    let (status, page, _) = open(&http, &url, None).await;
    assert!(status == 401 && page.contains("already used"), "{page}");
    assert!(open(&http, &unused, None).await.2.is_some(), "a link that was just given out still works");

    let (_, devices) = server.call("GET", "/api/devices", None).await;
    let desk = devices["devices"].as_array().unwrap().iter().find(|device| device["name"] == "desk").unwrap().clone();
    assert_eq!(server.call("DELETE", &format!("/api/devices/{}", desk["id"].as_str().unwrap()), None).await.0, 204);
    assert_eq!(open(&http, &sessions, Some(&device)).await.0, 401);
    server.kill().await;
    server.restart().await;
    assert_eq!(open(&http, &sessions, Some(&device)).await.0, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_makes_read_only_devices_and_codes() {
    let server = Rig::default().demo_agent().start().await;
    let http = tls::client().no_proxy().build().unwrap();
    let (_, code) = link(&server, &["--read-only"]).await;
    let form = http.post(format!("{}/login", server.base)).header("content-type", "application/x-www-form-urlencoded");
    let typed = form.body(format!("code={code}")).timeout(SOON).send().await.unwrap();
    let set = typed.headers()["set-cookie"].to_str().unwrap().to_owned();
    let device = SignedIn::of(Some(&set), &typed.text().await.unwrap()).unwrap();
    let stolen = http.get(format!("{}/api/sessions", server.base)).header("cookie", &device.cookie).send().await.unwrap();
    assert_eq!(stolen.status(), 401, "the cookie alone is of no use, not even before the page has called");
    let claim = http.post(format!("{}/api/devices/key", server.base)).header("cookie", &device.cookie);
    assert_eq!(claim.json(&json!({ "key": "y".repeat(43) })).send().await.unwrap().status(), 409);
    let prompt = device.sends(http.post(format!("{}/api/sessions", server.base))).json(&json!({})).send().await.unwrap();
    assert_eq!(prompt.status(), 403);
    assert_eq!(prompt.json::<Value>().await.unwrap()["error"]["code"], "read_only");
    let lost = run(&server, &["link", "--token", "a-token-that-is-not-the-right-one"]).await;
    assert!(!lost.status.success() && String::from_utf8_lossy(&lost.stderr).contains("refused the token"));
}

/// The secret of programs stands neither in what the server prints nor in its links.
#[tokio::test(flavor = "multi_thread")]
async fn the_printed_link_works_once_and_is_not_the_token() {
    const TOKEN: &str = "a-token-of-our-own-choice";
    let rig = Rig::default();
    let mut server = Command::new(faulty_agent::voxpilot_path())
        .args(["serve", "--bind", "127.0.0.1:0"])
        .env_clear()
        .env("HOME", rig.home().join("home"))
        .env("VOXPILOT_DATA_DIR", rig.data_dir())
        .env("VOXPILOT_TOKEN", TOKEN)
        .current_dir(rig.work_dir())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let mut printed = Vec::new();
    while printed.last().is_none_or(|line: &String| !line.starts_with("open ")) {
        printed.push(timeout(SOON, lines.next_line()).await.unwrap().unwrap().unwrap());
    }
    assert!(!printed.concat().contains(TOKEN), "{printed:?}");
    let url = printed.last().unwrap().strip_prefix("open ").unwrap();
    assert!(url.contains("/login?link="), "{url}");
    let http = tls::client().no_proxy().build().unwrap();
    assert!(open(&http, url, None).await.2.is_some());
    assert_eq!(open(&http, url, None).await.0, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn looking_at_the_agents_starts_none_of_them() {
    let rig = Rig::default();
    let (marks, script) = (rig.home().join("marks"), rig.home().join("agent.sh"));
    std::fs::write(&script, format!("#!/bin/sh\necho started >> {}\necho version 7\n", marks.display())).unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let server = rig.agent("marked", &script, &[]).start().await;
    let known = async {
        loop {
            let (_, body) = server.call("GET", "/api/agents", None).await;
            let agent = body["agents"].as_array().unwrap().iter().find(|agent| agent["id"] == "marked").unwrap().clone();
            if agent["version"] == "version 7" {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    timeout(SOON, known).await.expect("the version is found out in the background");
    for _ in 0..5 {
        server.call("GET", "/api/agents", None).await;
    }
    assert_eq!(server.call("GET", "/api/agents/marked/sessions", None).await.0, 405, "what starts an agent is no GET");
    assert_eq!(std::fs::read_to_string(&marks).unwrap(), "started\n");
}
