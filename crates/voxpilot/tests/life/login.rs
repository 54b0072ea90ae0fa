//! An agent that wants a login first: the prompt waits, the agent's own login runs, and the prompt is sent once.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;
use testkit::faulty_agent;
use testkit::server::Rig;

use crate::SOON;

#[tokio::test]
async fn the_waiting_prompt_is_sent_once_after_the_login() {
    let rig = Rig::default();
    let mark = rig.home().join("logged-in");
    let script = rig.home().join("agent.sh");
    let text = format!(
        "#!/bin/sh\nif [ \"$1\" = login ]; then test -t 1 && echo 'your code is AB-CD'; touch {mark}; exit 0; fi\n\
         [ -e {mark} ] || export FAULTY_AUTH=1\nexec {agent}\n",
        mark = mark.display(),
        agent = faulty_agent::path().display()
    );
    std::fs::write(&script, text).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let server = rig.agent("guarded", &script, &[]).config("login = [\"login\"]\n").start().await;
    let session = server.new_session(json!({ "permission_policy": "auto" })).await;
    let mut client = server.stream(&session, None).await;
    server.send(&session, "prompts").await;
    client.until("notice", SOON, |event| event.kind == "notice" && event.data["code"] == "auth_required").await;
    let said = server.text("POST", "/api/agents/guarded/login").await;
    assert!(said.contains("your code is AB-CD"), "{said}");
    assert!(said.trim_end().ends_with("login finished"), "{said}");
    assert_eq!(client.turn_end(SOON).await, "completed", "{}", client.seen.tail());
    assert_eq!(client.seen.agent_text("main").matches("prompts").count(), 1, "{}", client.seen.agent_text("main"));
    server.end().await;
}

#[tokio::test]
async fn a_prompt_that_waits_for_a_login_can_be_stopped() {
    let rig = Rig::default().faulty_agent().config("[agents.faulty.env]\nFAULTY_AUTH = \"1\"\n");
    let server = rig.start().await;
    let session = server.new_session(json!({})).await;
    let mut client = server.stream(&session, None).await;
    server.send(&session, "hello").await;
    client.until("notice", SOON, |event| event.kind == "notice" && event.data["code"] == "auth_required").await;
    server.call("POST", &format!("/api/sessions/{session}/cancel"), None).await;
    assert_eq!(client.turn_end(SOON).await, "cancelled");
    server.end().await;
}
