//! Copilot without a login: said, with what to do about it; what waits is done after the login, and nobody else suffers.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::json;
use testkit::client::Client;
use testkit::model_server::{ModelServer, Reply, Script};
use testkit::server::{Rig, Server};

use crate::replies::delegate;
use crate::setup::SOON;

/// Copilot reads its credentials when it starts. Here they are a file that is not there before somebody has logged in.
fn copilot_with_a_login(rig: Rig) -> Rig {
    let program = rig.home().join("copilot-cli");
    let login = credentials(rig.home());
    let script = format!("#!/bin/sh\n[ -e '{0}' ] && . '{0}'\nexec '{1}' \"$@\"\n", login.display(), testkit::copilot::path().display());
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let home = rig.copilot_home().display().to_string();
    rig.env("VOXPILOT_COPILOT_CLI_PATH", program.display().to_string()).env("COPILOT_HOME", home).env("COPILOT_AUTO_UPDATE", "false")
}

fn credentials(home: &Path) -> std::path::PathBuf {
    home.join("credentials.sh")
}

fn log_in(server: &Server, model: &ModelServer) {
    let vars = testkit::copilot::offline(&server.rig().copilot_home(), &model.base_url(), "coder");
    let lines: String = vars.iter().map(|(name, value)| format!("export {name}='{value}'\n")).collect();
    std::fs::write(credentials(server.rig().home()), lines).unwrap();
}

async fn told_to_log_in(client: &mut Client) {
    let notice = client.until("the notice", SOON, |event| event.kind == "notice").await.data;
    assert_eq!((notice["code"].as_str(), notice["level"].as_str()), (Some("auth_required"), Some("error")));
    let text = notice["text"].as_str().unwrap();
    assert!(text.contains("`copilot login`") && text.contains("`gh auth login`") && text.contains("COPILOT_GITHUB_TOKEN"), "{text}");
}

/// S2-53, S2-54, S2-60: the login is Copilot's own business; where it asks for one (-32000), the person is told what to run.
/// Holds C10, C35.
#[tokio::test]
async fn a_logged_out_copilot_says_what_to_do_waits_for_it_and_other_sessions_go_on() {
    let model = ModelServer::start(Script::new().route("main", [delegate("task", "do it"), Reply::text("It is done.")]));
    let server = copilot_with_a_login(Rig::default().model(&model.base_url()).demo_agent()).start().await;
    let straight = server.new_session(json!({ "agent": "copilot", "model": "relay" })).await;
    let asked = server.new_session(json!({ "agent": "copilot" })).await;
    let given_up = server.new_session(json!({ "agent": "copilot", "model": "relay" })).await;
    let mut clients = Vec::new();
    for session in [&straight, &asked, &given_up] {
        let mut client = server.stream(session, None).await;
        server.send(session, "do it").await;
        told_to_log_in(&mut client).await;
        clients.push(client);
    }

    // Who does not want to wait, stops; and who has another agent, is not concerned.
    let (status, _) = server.call("POST", &format!("/api/sessions/{given_up}/cancel"), None).await;
    assert_eq!(status, 202);
    assert_eq!(clients[2].turn_end(SOON).await, "cancelled");
    let other = server.new_session(json!({ "model": "relay", "permission_policy": "auto" })).await;
    let mut client = server.stream(&other, None).await;
    server.send(&other, "create made.txt with hello").await;
    assert_eq!(client.turn_end(SOON).await, "completed");
    assert_eq!(std::fs::read_to_string(server.rig().work_dir().join("made.txt")).unwrap(), "hello");

    // Trying again without having logged in asks for it again, once.
    assert_eq!(server.call("POST", "/api/agents/copilot/login?done=true", None).await.0, 200);
    for client in &mut clients[..2] {
        told_to_log_in(client).await;
    }
    log_in(&server, &model);
    model.push("coder", Reply::text("Done at last."));
    model.push("coder", Reply::text("Done at last."));
    assert_eq!(server.call("POST", "/api/agents/copilot/login?done=true", None).await.0, 200);
    for client in &mut clients[..2] {
        assert_eq!(client.turn_end(SOON).await, "completed");
        assert_eq!(client.seen.of_kind("notice").count(), 2, "{}", client.seen.tail());
    }
    assert_eq!(clients[0].seen.agent_text("main"), "Done at last.");
    assert_eq!(model.requests_for("coder").len(), 2);
    drop((client, clients));
    server.end().await;
}
