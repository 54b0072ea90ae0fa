//! "Always" is remembered by us, since Copilot forgets it with its process: for a session or for a project, until it is taken back.

use serde_json::{Value, json};
use testkit::model_server::{Reply, Script, ToolCall};

use crate::permissions::{answer, asked, asking, choose};
use crate::script::{bash, create, delegate};
use crate::stage::Stage;

/// A turn in which Copilot uses one tool; sent, and not waited for.
async fn use_tool(stage: &Stage, name: &str, tool: ToolCall) {
    stage.main([delegate(name, "use the tool"), Reply::text("Done.")]);
    stage.coder([Reply::new().and_call(tool), Reply::text("Used.")]);
    stage.send("go").await;
}

/// A turn in which Copilot asks for one tool and is refused, which ends its part.
async fn be_refused(stage: &mut Stage, name: &str, tool: ToolCall) -> Value {
    stage.main([delegate(name, "use the tool"), Reply::text("Done.")]);
    stage.coder([Reply::new().and_call(tool)]);
    stage.send("go").await;
    let question = asked(stage).await;
    assert_eq!(choose(stage, &question, "reject_once").await, 202);
    assert_eq!(stage.turn_end().await, "completed");
    question
}

/// Who answered the last question.
fn last_by(stage: &Stage) -> String {
    stage.client.seen.of_kind("permission-resolved").last().unwrap().data["by"].as_str().unwrap().to_owned()
}

async fn rules(stage: &Stage) -> Vec<Value> {
    stage.get("permission-rules").await["rules"].as_array().unwrap().clone()
}

#[tokio::test]
async fn an_always_outlives_copilots_own_memory_and_covers_exactly_that_command() {
    let mut stage = asking().await;
    let line = "echo line >> lines.txt";
    use_tool(&stage, "always", bash(line)).await;
    let question = asked(&mut stage).await;
    assert_eq!(choose(&stage, &question, "allow_always").await, 202);
    assert_eq!(stage.turn_end().await, "completed");
    let known = rules(&stage).await;
    assert_eq!((known.len(), &known[0]["scope"], &known[0]["allow"]), (1, &json!("session"), &json!(true)));
    assert_eq!(known[0]["subject"], json!({ "type": "command", "command": line }));

    // Copilot itself remembers as long as it lives.
    use_tool(&stage, "always", bash(line)).await;
    assert_eq!(stage.turn_end().await, "completed");
    assert_eq!(stage.client.seen.of_kind("permission-request").count(), 1);
    assert!(stage.notices("unasked_tool").is_empty(), "it need not ask");

    // Restored in another process, under another server, it asks again, and we answer.
    stage.kill_idle_agent().await;
    stage.kill_server().await;
    stage.restart_server().await;
    use_tool(&stage, "always", bash(line)).await;
    assert_eq!(stage.turn_end().await, "completed");
    assert_eq!((stage.client.seen.of_kind("permission-request").count(), last_by(&stage).as_str()), (2, "rule"));
    assert_eq!(stage.read("lines.txt"), "line\n".repeat(3));

    be_refused(&mut stage, "always", bash("echo line >> lines.txt ")).await;
    stage.end().await;
}

#[tokio::test]
async fn an_always_for_the_project_holds_in_its_other_sessions_until_it_is_revoked() {
    let mut stage = asking().await;
    let work = stage.server.rig().work_dir();
    use_tool(&stage, "edits", create(&work.join("a.txt"), "a\n")).await;
    let question = asked(&mut stage).await;
    let wrong = json!({ "option_id": "allow_once", "remember": "project" });
    assert_eq!(answer(&stage, &question, wrong).await, 422, "once is not remembered");
    assert_eq!(answer(&stage, &question, json!({ "option_id": "allow_always", "remember": "project" })).await, 202);
    assert_eq!(stage.turn_end().await, "completed");

    // Another session of the same directory, with a process of its own.
    let first = stage.session.clone();
    stage.session = stage.server.new_session(json!({ "permission_policy": "read-only" })).await;
    stage.client = stage.server.stream(&stage.session, None).await;
    use_tool(&stage, "edits", create(&work.join("b.txt"), "b\n")).await;
    assert_eq!(stage.turn_end().await, "completed");
    assert_eq!(last_by(&stage), "rule");
    assert_eq!(stage.read("b.txt"), "b\n");
    assert_eq!(be_refused(&mut stage, "edits", bash("ls")).await["kind"], "execute");

    // Taken back in one session, it is asked for in both: also by the Copilot that was told "always".
    let known = rules(&stage).await;
    assert_eq!((known.len(), &known[0]["scope"], &known[0]["subject"]["type"]), (1, &json!("project"), &json!("edits")));
    let path = format!("/api/sessions/{}/permission-rules/{}", stage.session, known[0]["id"].as_str().unwrap());
    assert_eq!(stage.server.call("DELETE", &path, None).await.0, 204);
    assert_eq!(stage.server.call("DELETE", &path, None).await.0, 404);
    assert_eq!(rules(&stage).await, Vec::<Value>::new());
    for session in [stage.session.clone(), first] {
        stage.session = session;
        stage.client = stage.newcomer().await;
        let file = work.join(format!("{}.txt", stage.session));
        be_refused(&mut stage, "edits", create(&file, "c\n")).await;
        assert!(!file.exists());
    }
    stage.end().await;
}

#[tokio::test]
async fn the_policy_deny_goes_before_what_is_remembered() {
    let mut stage = Stage::with(Script::new(), json!({ "permission_policy": "ask" }), |rig| rig).await;
    use_tool(&stage, "deny", bash("touch it.txt")).await;
    let question = asked(&mut stage).await;
    assert_eq!(choose(&stage, &question, "allow_always").await, 202);
    assert_eq!(stage.turn_end().await, "completed");
    std::fs::remove_file(stage.server.rig().work_dir().join("it.txt")).unwrap();
    let path = format!("/api/sessions/{}", stage.session);
    // Also Copilot, which was told "always" and would not ask, is made to.
    stage.server.call("PATCH", &path, Some(json!({ "permission_policy": "deny" }))).await;
    use_tool(&stage, "deny", bash("touch it.txt")).await;
    assert_eq!(stage.turn_end().await, "completed");
    assert!(!stage.server.rig().work_dir().join("it.txt").exists());
    stage.end().await;
}
