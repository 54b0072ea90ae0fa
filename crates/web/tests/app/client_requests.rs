//! What an agent asks of its client: files, terminals and forms, under the session's policy.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::client::Client;

use crate::rig::{Rig, SOON, of_kind, only};

async fn session(rig: &Rig, policy: &str) -> String {
    rig.session_with(json!({ "model": "relay", "permission_policy": policy })).await
}

/// The answers that the agent got, in order.
fn answers(client: &Client) -> Vec<Value> {
    client.seen.agent_text("main").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

async fn run_calls(rig: &Rig, policy: &str, calls: Value) -> (Vec<Value>, Client) {
    let session = session(rig, policy).await;
    let (state, client) = rig.turn(&session, &format!("calls {calls}")).await;
    assert_eq!(state, "completed", "{}", client.seen.tail());
    (answers(&client), client)
}

async fn ask(rig: &Rig, session: &str, calls: Value) -> (Client, Value, String) {
    let mut client = rig.watch(session).await;
    rig.say(session, &format!("calls {calls}")).await;
    let request = client.until("question", SOON, |event| event.kind == "permission-request").await.data;
    let path = format!("/api/sessions/{session}/permissions/{}", request["request_id"].as_str().unwrap());
    (client, request, path)
}

fn tool_calls<'a>(client: &'a Client, prefix: &'a str) -> Vec<&'a Value> {
    let updates = of_kind(client, "agent-update").into_iter().map(|event| &event.data["update"]);
    updates.filter(|update| update["id"].as_str().is_some_and(|id| id.starts_with(prefix))).collect()
}

/// S2-9, S2-10: an agent names files by absolute paths and lines from 1.
/// Holds C4.
#[tokio::test(flavor = "multi_thread")]
async fn files_are_read_and_written_inside_the_work_directory() {
    let rig = Rig::replies([]).await;
    let work = rig.dir.path().join("work");
    std::fs::write(work.join("a"), "1\n2\n3\n").unwrap();
    let absolute = work.join("deep/b");
    let (answers, client) = run_calls(
        &rig,
        "auto",
        json!([
            ["fs/read_text_file", { "path": work.join("a"), "line": 2, "limit": 1 }],
            ["fs/read_text_file", { "path": work.join("none") }],
            ["fs/read_text_file", { "path": "/etc/hostname" }],
            ["fs/write_text_file", { "path": absolute, "content": "new\n" }],
            ["fs/write_text_file", { "path": "../out", "content": "x" }],
            ["fs/rename", { "path": "a" }],
        ]),
    )
    .await;
    assert_eq!(answers[0], json!({ "content": "2\n" }));
    assert_eq!(answers[3], json!({}));
    let codes: Vec<_> = [1, 2, 4, 5].iter().map(|at| answers[*at]["code"].as_i64().unwrap()).collect();
    assert_eq!(codes, [-32002, -32602, -32602, -32601]);
    assert_eq!(std::fs::read_to_string(&absolute).unwrap(), "new\n");
    assert!(!rig.dir.path().join("out").exists());
    let shown = tool_calls(&client, "write:");
    assert_eq!(shown.len(), 1);
    assert_eq!((&shown[0]["kind"], &shown[0]["content"][0]["new_text"]), (&json!("edit"), &json!("new\n")));
    assert!(of_kind(&client, "permission-request").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_and_a_command_are_asked_for_with_what_they_would_do() {
    let rig = Rig::replies([]).await;
    let work = rig.dir.path().join("work");
    for policy in ["ask", "read-only"] {
        std::fs::write(work.join("a"), "old\n").unwrap();
        let id = session(&rig, policy).await;
        let calls = json!([["fs/read_text_file", { "path": "a" }], ["fs/write_text_file", { "path": "a", "content": "new\n" }],
            ["terminal/create", { "command": "touch", "args": ["it's"] }]]);
        let (mut client, request, path) = ask(&rig, &id, calls).await;
        assert_eq!(request["diff"], "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-old\n+new\n");
        assert_eq!((&request["kind"], &request["locations"][0]["path"]), (&json!("edit"), &json!("a")));
        assert_eq!(std::fs::read_to_string(work.join("a")).unwrap(), "old\n");
        assert_eq!(rig.post(&path, json!({ "option_id": "allow_once" })).await.status, 202);
        let command = client.until("command", SOON, |event| event.kind == "permission-request").await.data;
        assert_eq!((&command["kind"], &command["command"]), (&json!("execute"), &json!(r"touch 'it'\''s'")));
        let path = format!("/api/sessions/{id}/permissions/{}", command["request_id"].as_str().unwrap());
        assert_eq!(rig.post(&path, json!({ "option_id": "reject_once" })).await.status, 202);
        assert_eq!(client.turn_end(SOON).await, "completed");
        assert_eq!(answers(&client)[1], json!({}));
        assert_eq!(answers(&client)[2]["code"], -32001);
        assert_eq!(std::fs::read_to_string(work.join("a")).unwrap(), "new\n");
        assert!(!work.join("it's").exists());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn always_counts_for_what_is_done_for_an_agent_too() {
    let rig = Rig::replies([]).await;
    let work = rig.dir.path().join("work");
    let id = session(&rig, "ask").await;
    let write = |name: &str| json!(["fs/write_text_file", { "path": work.join(name), "content": "x" }]);
    let run = json!(["terminal/create", { "command": "true" }]);
    let (mut client, _, path) = ask(&rig, &id, json!([write("a"), write("b"), run, run])).await;
    assert_eq!(rig.post(&path, json!({ "option_id": "allow_always" })).await.status, 202);
    let command = client.until("command", SOON, |event| event.kind == "permission-request" && event.data["kind"] == "execute").await.data;
    let path = format!("/api/sessions/{id}/permissions/{}", command["request_id"].as_str().unwrap());
    assert_eq!(rig.post(&path, json!({ "option_id": "allow_always" })).await.status, 202);
    assert_eq!(client.turn_end(SOON).await, "completed");
    let by: Vec<_> = of_kind(&client, "permission-resolved").iter().map(|event| event.data["by"].as_str().unwrap().to_owned()).collect();
    assert_eq!(by, ["person", "person"]);
    let approved: Vec<_> =
        of_kind(&client, "agent-update").into_iter().filter(|event| event.data["update"]["type"] == "approved").collect();
    assert_eq!(approved.len(), 2);
    assert_eq!(approved[0].data["update"]["files"], json!([{ "path": "b", "place": "inside" }]));
    assert_eq!((&approved[1].data["update"]["command"], &approved[1].data["update"]["cwd"]), (&json!("true"), &json!(".")));
    assert!(work.join("a").exists() && work.join("b").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn deny_refuses_what_changes_anything() {
    let rig = Rig::replies([]).await;
    let calls =
        json!([["fs/write_text_file", { "path": "a", "content": "x" }], ["terminal/create", { "command": "touch", "args": ["b"] }]]);
    let (answers, client) = run_calls(&rig, "deny", calls).await;
    assert_eq!(answers.len(), 2);
    assert!(answers.iter().all(|answer| answer["code"] == -32001), "{answers:?}");
    assert!(of_kind(&client, "permission-request").is_empty());
    let left: Vec<_> = std::fs::read_dir(rig.dir.path().join("work")).unwrap().collect();
    assert_eq!(left.len(), 1, "only the directory of the rig: {left:?}");
}

/// Holds C4.
#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_runs_is_killed_and_released_and_its_output_stays_shown() {
    let rig = Rig::replies([]).await;
    let env = json!([{ "name": "WORD", "value": "hallo" }]);
    let (answers, client) = run_calls(
        &rig,
        "auto",
        json!([
            ["terminal/create", { "command": "sh", "args": ["-c", "pwd; echo $WORD; exit 4"], "env": env, "cwd": "sub" }],
            ["terminal/wait_for_exit", { "terminalId": "$terminal" }],
            ["terminal/output", { "terminalId": "$terminal" }],
            ["terminal/release", { "terminalId": "$terminal" }],
            ["terminal/output", { "terminalId": "$terminal" }],
            ["terminal/create", { "command": "echo äöü; sleep 1000", "outputByteLimit": 4 }],
            ["terminal/kill", { "terminalId": "$terminal" }],
            ["terminal/wait_for_exit", { "terminalId": "$terminal" }],
            ["terminal/output", { "terminalId": "$terminal" }],
            ["terminal/create", { "command": "/nowhere/at/all" }],
            ["terminal/create", { "command": "pwd", "cwd": "/" }],
        ]),
    )
    .await;
    let sub = rig.dir.path().join("work/sub").canonicalize().unwrap();
    assert_eq!(answers[1], json!({ "exitCode": 4, "signal": null }));
    let output = format!("{}\nhallo\n", sub.display());
    assert_eq!(answers[2], json!({ "output": output, "truncated": false, "exitStatus": { "exitCode": 4, "signal": null } }));
    assert_eq!((&answers[3], &answers[4]["code"]), (&json!({}), &json!(-32002)));
    assert_eq!(answers[7], json!({ "exitCode": null, "signal": "SIGKILL" }));
    assert_eq!(answers[8]["exitStatus"]["signal"], "SIGKILL");
    assert!(answers[9]["message"].as_str().unwrap().contains("cannot run /nowhere"), "{}", answers[9]);
    assert_eq!(answers[10]["code"], -32602);
    let shown = tool_calls(&client, "terminal-");
    let first = shown.iter().rfind(|update| update["id"] == shown[0]["id"]).unwrap();
    assert_eq!((&first["status"], &first["exit_code"], &first["kind"]), (&json!("failed"), &json!(4), &json!("execute")));
    assert_eq!(first["content"][0]["text"], output);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_kills_what_runs_and_answers_what_is_asked() {
    let rig = Rig::replies([]).await;
    let id = session(&rig, "auto").await;
    let mut client = rig.watch(&id).await;
    let calls = json!([["terminal/create", { "command": "sleep 1000" }], ["terminal/wait_for_exit", { "terminalId": "$terminal" }]]);
    rig.say(&id, &format!("calls {calls}")).await;
    client.until("terminal", SOON, |event| event.data["update"]["kind"] == "execute").await;
    rig.post(&format!("/api/sessions/{id}/cancel"), json!({})).await;
    assert_eq!(client.turn_end(SOON).await, "cancelled");
    let log = || std::fs::read_to_string(rig.dir.path().join("agent.log")).unwrap();
    let deadline = std::time::Instant::now() + SOON;
    while !log().contains("SIGKILL") {
        assert!(std::time::Instant::now() < deadline, "{}", log());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_taken_back_is_answered_all_the_same() {
    let rig = Rig::replies([]).await;
    let calls = json!([
        ["withdraw", ["fs/write_text_file", { "path": "a", "content": "x" }]],
        ["withdraw", form()[0]],
        ["fs/read_text_file", { "path": "a" }],
    ]);
    let (answers, client) = run_calls(&rig, "ask", calls).await;
    assert_eq!((&answers[0]["code"], &answers[1]), (&json!(-32800), &json!({ "action": "cancel" })));
    assert_eq!(answers[2]["code"], -32002, "nothing was written");
    assert_eq!(of_kind(&client, "permission-request").len(), of_kind(&client, "permission-resolved").len());
    let calls = json!([
        ["terminal/create", { "command": "sleep 1000" }],
        ["withdraw", ["terminal/wait_for_exit", { "terminalId": "$terminal" }]],
        ["terminal/release", { "terminalId": "$terminal" }],
    ]);
    let (answers, _) = run_calls(&rig, "auto", calls).await;
    assert_eq!((&answers[1]["code"], &answers[2]), (&json!(-32800), &json!({})));
}

fn form() -> Value {
    let schema = json!({ "type": "object", "required": ["name"], "properties": {
        "name": { "type": "string", "title": "Your name" }, "count": { "type": "integer", "minimum": 1 } } });
    json!([["elicitation/create", { "mode": "form", "message": "Who are you?", "requestedSchema": schema }]])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_is_filled_in_by_a_person_whatever_the_policy() {
    let rig = Rig::replies([]).await;
    let id = session(&rig, "auto").await;
    let (mut client, request, path) = ask(&rig, &id, form()).await;
    assert_eq!((&request["title"], &request["form"]["required"]), (&json!("Who are you?"), &json!(["name"])));
    assert_eq!(only(&rig.watch(&id).await, "permission-request"), &request);
    for content in [json!({}), json!({ "name": 1 }), json!({ "name": "Ada", "count": 0 }), Value::Null] {
        rig.post(&path, json!({ "option_id": "accept", "content": content })).await.refuses(422, "invalid");
    }
    let answer = json!({ "option_id": "accept", "content": { "name": "Ada", "count": 2 } });
    assert_eq!(rig.post(&path, answer.clone()).await.status, 202);
    rig.post(&path, answer).await.refuses(409, "conflict");
    assert_eq!(client.turn_end(SOON).await, "completed");
    assert_eq!(answers(&client), [json!({ "action": "accept", "content": { "name": "Ada", "count": 2 } })]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_can_be_declined_and_a_stop_cancels_it() {
    let rig = Rig::replies([]).await;
    let id = session(&rig, "deny").await;
    let (mut client, _, path) = ask(&rig, &id, form()).await;
    rig.post(&path, json!({ "option_id": "decline", "content": {} })).await.refuses(422, "invalid");
    assert_eq!(rig.post(&path, json!({ "option_id": "decline" })).await.status, 202);
    assert_eq!(client.turn_end(SOON).await, "completed");
    assert_eq!(answers(&client), [json!({ "action": "decline" })]);
    let id = session(&rig, "ask").await;
    let (mut client, _, _) = ask(&rig, &id, form()).await;
    rig.post(&format!("/api/sessions/{id}/cancel"), json!({})).await;
    assert_eq!(client.turn_end(SOON).await, "cancelled");
    let log = || std::fs::read_to_string(rig.dir.path().join("agent.log")).unwrap();
    let deadline = std::time::Instant::now() + SOON;
    while !log().contains(r#""action":"cancel""#) {
        assert!(std::time::Instant::now() < deadline, "{}", log());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn permission(call: Value) -> Value {
    let options =
        json!([{ "optionId": "yes", "name": "Yes", "kind": "allow_once" }, { "optionId": "no", "name": "No", "kind": "reject_once" }]);
    json!(["session/request_permission", { "toolCall": call, "options": options }])
}

/// An agent asks, and then has us do what it asked for: a person sees one card, and the answer counts for both. A card that does not show
/// what would be written allows nothing to be written.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_just_allowed_or_rejected_is_not_asked_again() {
    let rig = Rig::replies([]).await;
    let work = rig.dir.path().join("work");
    for (option, shown, asked, outcome, exists) in [
        ("yes", true, 1, Value::Null, true),
        ("no", true, 1, json!(-32001), false),
        ("no", false, 1, json!(-32001), false),
        ("yes", false, 2, json!(-32001), false),
    ] {
        let id = session(&rig, "ask").await;
        let file = work.join(format!("{option}-{shown}"));
        let mut edit = json!({ "toolCallId": "k", "title": "Write", "kind": "edit", "rawInput": { "file_path": file } });
        if shown {
            edit["content"] = json!([{ "type": "diff", "path": file, "oldText": null, "newText": "new\n" }]);
        }
        let write = json!(["fs/write_text_file", { "path": file, "content": "new\n" }]);
        let (mut client, _, path) = ask(&rig, &id, json!([permission(edit), write])).await;
        assert_eq!(rig.post(&path, json!({ "option_id": option })).await.status, 202);
        if asked == 2 {
            let second = client.until("question", SOON, |event| event.kind == "permission-request").await.data;
            assert_eq!(second["files"], json!([{ "path": format!("{option}-{shown}"), "place": "inside" }]));
            let path = format!("/api/sessions/{id}/permissions/{}", second["request_id"].as_str().unwrap());
            assert_eq!(rig.post(&path, json!({ "option_id": "reject_once" })).await.status, 202);
        }
        client.turn_end(SOON).await;
        assert_eq!(of_kind(&client, "permission-request").len(), asked, "{}", client.seen.tail());
        assert_eq!(answers(&client)[1]["code"], outcome, "{option} {shown}");
        assert_eq!(file.exists(), exists, "{option} {shown}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_covers_the_one_call_that_it_was_given_for() {
    let rig = Rig::replies([]).await;
    let work = rig.dir.path().join("work");
    let id = session(&rig, "ask").await;
    let run = json!({ "toolCallId": "k", "title": "Run", "kind": "execute", "rawInput": { "command": "touch a" } });
    let terminal = |name: &str| json!(["terminal/create", { "command": "sh", "args": ["-c", format!("touch {name}")] }]);
    // The same again, and another, are asked about.
    let (mut client, _, path) = ask(&rig, &id, json!([permission(run), terminal("a"), terminal("a"), terminal("b")])).await;
    assert_eq!(rig.post(&path, json!({ "option_id": "yes" })).await.status, 202);
    for command in ["sh -c 'touch a'", "sh -c 'touch b'"] {
        let asked =
            client.until("command", SOON, |event| event.kind == "permission-request" && event.data["command"] == command).await.data;
        let path = format!("/api/sessions/{id}/permissions/{}", asked["request_id"].as_str().unwrap());
        assert_eq!(rig.post(&path, json!({ "option_id": "reject_once" })).await.status, 202);
    }
    client.turn_end(SOON).await;
    assert_eq!(of_kind(&client, "permission-request").len(), 3);
    assert!(answers(&client)[1]["terminalId"].is_string() && !work.join("b").exists());
}
