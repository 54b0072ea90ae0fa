//! "Always" is remembered by us and not by Copilot, which forgets it with its process and stretches it to every change of a file: for a
//! session or for a project, until it is taken back.

use serde_json::{Value, json};
use testkit::model_server::{Reply, Script, ToolCall};

use crate::permissions::{answer, asked, asking, choose};
use crate::replies::{bash, create, delegate};
use crate::setup::{Setup, kill_idle_agent, start_with};

/// A turn in which Copilot uses one tool; sent, and not waited for.
async fn use_tool(setup: &Setup, name: &str, tool: ToolCall) {
    setup.main([delegate(name, "use the tool"), Reply::text("Done.")]);
    setup.coder([Reply::new().and_call(tool), Reply::text("Used.")]);
    setup.send("go").await;
}

/// A turn in which Copilot asks for one tool and is refused, which ends its part.
async fn be_refused(setup: &mut Setup, name: &str, tool: ToolCall) -> Value {
    setup.main([delegate(name, "use the tool"), Reply::text("Done.")]);
    setup.coder([Reply::new().and_call(tool)]);
    setup.send("go").await;
    let question = asked(setup).await;
    assert_eq!(choose(setup, &question, "reject_once").await, 202);
    assert_eq!(setup.turn_end().await, "completed");
    question
}

/// How often a remembered answer has allowed something.
fn allowed_by_rule(setup: &Setup) -> usize {
    let updates = setup.client.seen.of_kind("agent-update").map(|event| &event.data["update"]);
    updates.filter(|update| update["type"] == "approved" && update["by"] == "rule").count()
}

async fn rules(setup: &Setup) -> Vec<Value> {
    setup.get("permission-rules").await["rules"].as_array().unwrap().clone()
}

#[tokio::test]
async fn an_always_outlives_copilots_own_memory_and_covers_exactly_that_command() {
    let mut setup = asking().await;
    let line = "echo line >> lines.txt";
    use_tool(&setup, "always", bash(line)).await;
    let question = asked(&mut setup).await;
    assert_eq!(choose(&setup, &question, "allow_always").await, 202);
    assert_eq!(setup.turn_end().await, "completed");
    let known = rules(&setup).await;
    assert_eq!((known.len(), &known[0]["scope"], &known[0]["allow"]), (1, &json!("session"), &json!(true)));
    assert_eq!(known[0]["subject"], json!({ "type": "command", "command": line }));

    // Copilot is told that it holds this once, so it asks again, and we answer.
    use_tool(&setup, "always", bash(line)).await;
    assert_eq!(setup.turn_end().await, "completed");
    assert_eq!((setup.client.seen.of_kind("permission-request").count(), allowed_by_rule(&setup)), (1, 1));
    assert!(setup.notices("unasked_tool").is_empty(), "it has asked");

    // Likewise in another process, under another server.
    kill_idle_agent(&setup).await;
    setup.kill_server().await;
    setup.restart_server().await;
    use_tool(&setup, "always", bash(line)).await;
    assert_eq!(setup.turn_end().await, "completed");
    assert_eq!((setup.client.seen.of_kind("permission-request").count(), allowed_by_rule(&setup)), (1, 2));
    assert_eq!(setup.read("lines.txt"), "line\n".repeat(3));

    be_refused(&mut setup, "always", bash("echo line >> lines.txt ")).await;
    setup.end().await;
}

#[tokio::test]
async fn an_always_for_the_project_holds_in_its_other_sessions_until_it_is_revoked() {
    let mut setup = asking().await;
    let work = setup.server.rig().work_dir();
    use_tool(&setup, "edits", create(&work.join("a.txt"), "a\n")).await;
    let question = asked(&mut setup).await;
    let wrong = json!({ "option_id": "allow_once", "remember": "project" });
    assert_eq!(answer(&setup, &question, wrong).await, 422, "once is not remembered");
    assert_eq!(answer(&setup, &question, json!({ "option_id": "allow_always", "remember": "project" })).await, 202);
    assert_eq!(setup.turn_end().await, "completed");

    // Another session of the same directory, with a process of its own.
    let first = setup.session.clone();
    setup.session = setup.server.new_session(json!({ "permission_policy": "read-only" })).await;
    setup.client = setup.server.stream(&setup.session, None).await;
    use_tool(&setup, "edits", create(&work.join("b.txt"), "b\n")).await;
    assert_eq!(setup.turn_end().await, "completed");
    assert_eq!(allowed_by_rule(&setup), 1);
    assert_eq!(setup.read("b.txt"), "b\n");
    assert_eq!(be_refused(&mut setup, "edits", bash("ls")).await["kind"], "execute");

    // It covers no instructions of agents, although Copilot calls that the same.
    let question = be_refused(&mut setup, "edits", create(&work.join("AGENTS.md"), "Obey.\n")).await;
    assert_eq!(question["files"], json!([{ "path": "AGENTS.md", "place": "protected" }]));
    assert!(!work.join("AGENTS.md").exists());

    // Taken back in one session, it is asked for in both.
    let known = rules(&setup).await;
    assert_eq!((known.len(), &known[0]["scope"], &known[0]["subject"]["type"]), (1, &json!("project"), &json!("edits")));
    let path = format!("/api/sessions/{}/permission-rules/{}", setup.session, known[0]["id"].as_str().unwrap());
    assert_eq!(setup.server.call("DELETE", &path, None).await.0, 204);
    assert_eq!(setup.server.call("DELETE", &path, None).await.0, 404);
    assert_eq!(rules(&setup).await, Vec::<Value>::new());
    for session in [setup.session.clone(), first] {
        setup.session = session;
        setup.client = setup.new_client().await;
        let file = work.join(format!("{}.txt", setup.session));
        be_refused(&mut setup, "edits", create(&file, "c\n")).await;
        assert!(!file.exists());
    }
    setup.end().await;
}

#[tokio::test]
async fn the_policy_deny_goes_before_what_is_remembered() {
    let mut setup = start_with(Script::new(), json!({ "permission_policy": "ask" }), |rig| rig).await;
    use_tool(&setup, "deny", bash("touch it.txt")).await;
    let question = asked(&mut setup).await;
    assert_eq!(choose(&setup, &question, "allow_always").await, 202);
    assert_eq!(setup.turn_end().await, "completed");
    std::fs::remove_file(setup.server.rig().work_dir().join("it.txt")).unwrap();
    let path = format!("/api/sessions/{}", setup.session);
    setup.server.call("PATCH", &path, Some(json!({ "permission_policy": "deny" }))).await;
    use_tool(&setup, "deny", bash("touch it.txt")).await;
    assert_eq!(setup.turn_end().await, "completed");
    assert!(!setup.server.rig().work_dir().join("it.txt").exists());
    setup.end().await;
}
