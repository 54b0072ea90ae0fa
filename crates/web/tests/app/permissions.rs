//! `POST /api/sessions/{id}/permissions/{request_id}`

use std::time::Duration;

use domain::policy::Policy;
use serde_json::json;

use crate::rig::{Options, Rig, SOON, of_kind, only};

/// Holds C24.
#[tokio::test(flavor = "multi_thread")]
async fn a_person_answers_once() {
    let rig = Rig::replies([]).await;
    let session = rig.relay().await;
    let mut client = rig.watch(&session).await;
    rig.say(&session, "ask").await;
    let request = client.until("permission", SOON, |event| event.kind == "permission-request").await.data;
    assert_eq!((&request["title"], &request["kind"], &request["command"]), (&json!("Say 1"), &json!("execute"), &json!("echo 1")));
    let path = format!("/api/sessions/{session}/permissions/{}", request["request_id"].as_str().unwrap());
    rig.post(&path, json!({ "option_id": "perhaps" })).await.refuses(422, "invalid");
    rig.post(&path, json!({ "option": "yes" })).await.refuses(422, "invalid");
    for (other, status, code) in [("00000000-0000-0000-0000-000000000000", 409, "conflict"), ("garbage", 404, "not_found")] {
        let path = format!("/api/sessions/{session}/permissions/{other}");
        rig.post(&path, json!({ "option_id": "yes" })).await.refuses(status, code);
    }
    let answers = futures::future::join_all((0..4).map(|_| rig.post(&path, json!({ "option_id": "yes" })))).await;
    let mut statuses: Vec<_> = answers.iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [202, 409, 409, 409]);
    assert_eq!(client.turn_end(SOON).await, "completed");
    let resolved = only(&client, "permission-resolved");
    assert_eq!((&resolved["option_id"], &resolved["by"]), (&json!("yes"), &json!("person")));
    assert!(client.seen.agent_text("main").contains(r#""optionId":"yes""#), "{}", client.seen.tail());
}

#[tokio::test(flavor = "multi_thread")]
async fn three_at_once_are_answered_each_by_its_own() {
    let rig = Rig::replies([]).await;
    let session = rig.relay().await;
    let mut client = rig.watch(&session).await;
    rig.say(&session, "ask3").await;
    for _ in 0..3 {
        client.until("permission", SOON, |event| event.kind == "permission-request").await;
    }
    assert_eq!(of_kind(&rig.watch(&session).await, "permission-request").len(), 3);
    let requests: Vec<_> = of_kind(&client, "permission-request").iter().map(|event| event.data.clone()).collect();
    for (request, option) in requests.iter().zip(["yes", "no", "always"]).rev() {
        let path = format!("/api/sessions/{session}/permissions/{}", request["request_id"].as_str().unwrap());
        assert_eq!(rig.post(&path, json!({ "option_id": option })).await.status, 202);
    }
    assert_eq!(client.turn_end(SOON).await, "completed");
    let text = client.seen.agent_text("main");
    let told: Vec<_> =
        text.lines().map(|line| ["yes", "no", "always"].into_iter().find(|option| line.contains(&format!("\"{option}\"")))).collect();
    assert_eq!(told, [Some("yes"), Some("no"), Some("yes")], "what is for always we remember ourselves: {text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_policy_answers_by_itself() {
    let rig = Rig::replies([]).await;
    for (policy, option) in [("auto", "yes"), ("deny", "no")] {
        let session = rig.session_with(json!({ "model": "relay", "permission_policy": policy })).await;
        let (state, client) = rig.turn(&session, "ask").await;
        assert_eq!(state, "completed");
        assert!(of_kind(&client, "permission-request").is_empty(), "{policy}");
        assert!(client.seen.agent_text("main").contains(&format!("\"{option}\"")), "{policy}: {}", client.seen.tail());
    }
    let session = rig.session_with(json!({ "model": "relay", "permission_policy": "read-only" })).await;
    let mut client = rig.watch(&session).await;
    rig.say(&session, "ask").await;
    client.until("permission", SOON, |event| event.kind == "permission-request").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_project_asks_for_makes_the_default_stricter_and_never_weaker() {
    let strict = Rig::start(Options { least_policy: Some(Policy::Deny), ..Options::default() }).await;
    let (state, client) = strict.turn(&strict.relay().await, "ask").await;
    assert_eq!((state.as_str(), of_kind(&client, "permission-request").len()), ("completed", 0));
    assert!(client.seen.agent_text("main").contains("\"no\""), "{}", client.seen.tail());
    let own = strict.session_with(json!({ "model": "relay", "permission_policy": "auto" })).await;
    let (_, client) = strict.turn(&own, "ask").await;
    assert!(client.seen.agent_text("main").contains("\"yes\""), "what the person chose for the session holds: {}", client.seen.tail());

    let weak = Rig::start(Options { least_policy: Some(Policy::Auto), ..Options::default() }).await;
    let session = weak.relay().await;
    let mut client = weak.watch(&session).await;
    weak.say(&session, "ask").await;
    client.until("permission", SOON, |event| event.kind == "permission-request").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_the_policy_answers_what_waits() {
    let rig = Rig::replies([]).await;
    for (policy, option) in [("auto", "yes"), ("deny", "no")] {
        let session = rig.relay().await;
        let mut client = rig.watch(&session).await;
        rig.say(&session, "ask3").await;
        for _ in 0..3 {
            client.until("permission", SOON, |event| event.kind == "permission-request").await;
        }
        rig.patch(&format!("/api/sessions/{session}"), json!({ "permission_policy": "read-only" })).await;
        assert_eq!(of_kind(&rig.watch(&session).await, "permission-request").len(), 3, "a command still waits");
        rig.patch(&format!("/api/sessions/{session}"), json!({ "permission_policy": policy })).await;
        assert_eq!(client.turn_end(SOON).await, "completed");
        let resolved = of_kind(&client, "permission-resolved");
        assert_eq!(resolved.len(), 3);
        assert!(resolved.iter().all(|event| event.data["by"] == "policy" && event.data["option_id"] == option), "{policy}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_answers_and_the_time_runs_out() {
    let rig = Rig::start(Options { permission_timeout: Some(Duration::from_millis(100)), ..Options::default() }).await;
    let session = rig.relay().await;
    let (state, client) = rig.turn(&session, "ask").await;
    assert_eq!(state, "completed");
    let resolved = only(&client, "permission-resolved");
    assert_eq!((&resolved["option_id"], &resolved["by"]), (&json!("no"), &json!("timeout")));
    let notices = of_kind(&client, "notice");
    assert!(notices.iter().any(|event| event.data["code"] == "permission_timeout"), "{}", client.seen.tail());
    assert!(client.seen.agent_text("main").contains("\"no\""));
}

/// Holds C25.
#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_ran_without_asking_is_told_once_where_it_should_have_asked() {
    let rig = Rig::replies([]).await;
    let told = async |policy: &str, prompt: &str| {
        let session = rig.session_with(json!({ "model": "relay", "permission_policy": policy })).await;
        let (_, client) = rig.turn(&session, prompt).await;
        of_kind(&client, "notice").iter().filter(|event| event.data["code"] == "unasked_tool").count()
    };
    for policy in ["ask", "read-only", "deny"] {
        for kind in ["execute", "edit", "delete"] {
            assert_eq!(told(policy, &format!("unasked {kind}")).await, 1, "{policy} {kind}");
        }
        assert_eq!(told(policy, "unasked read").await, 0, "{policy}");
    }
    assert_eq!(told("auto", "unasked execute").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_answers_what_is_open() {
    let rig = Rig::replies([]).await;
    let session = rig.relay().await;
    let mut client = rig.watch(&session).await;
    rig.say(&session, "ask3").await;
    for _ in 0..3 {
        client.until("permission", SOON, |event| event.kind == "permission-request").await;
    }
    rig.post(&format!("/api/sessions/{session}/cancel"), json!({})).await;
    assert_eq!(client.turn_end(SOON).await, "cancelled");
    let resolved = of_kind(&client, "permission-resolved");
    assert_eq!(resolved.len(), 3);
    assert!(resolved.iter().all(|event| event.data["by"] == "cancel" && event.data["option_id"].is_null()));
    assert!(of_kind(&rig.watch(&session).await, "permission-request").is_empty());
}

/// An unattended session that stands still says so in the list; the policy that includes protected files doesn't stand still.
#[tokio::test(flavor = "multi_thread")]
async fn under_auto_a_protected_file_waits_and_the_list_says_so() {
    let rig = Rig::replies([]).await;
    let edit = json!([["fs/write_text_file", { "path": "AGENTS.md", "content": "new" }]]);
    let session = rig.session_with(json!({ "model": "relay", "permission_policy": "auto" })).await;
    let mut client = rig.watch(&session).await;
    rig.say(&session, &format!("calls {edit}")).await;
    let question = client.until("the question", SOON, |event| event.kind == "permission-request").await.data;
    assert_eq!(question["files"][0]["place"], "protected");
    let path = format!("/api/sessions/{session}");
    let waits = rig.get(&path).await.json();
    assert_eq!((&waits["waiting"], &waits["question_protected"]), (&json!(1), &json!(true)), "{waits}");
    assert_eq!(rig.patch(&path, json!({ "permission_policy": "auto-all" })).await.json()["permission_policy"], "auto-all");
    assert_eq!(client.turn_end(SOON).await, "completed");
    assert_eq!(only(&client, "permission-resolved")["by"], "policy");
    assert_eq!(std::fs::read_to_string(rig.dir.path().join("work/AGENTS.md")).unwrap_or_default(), "new");

    let (state, client) = rig.turn(&session, &format!("calls {edit}")).await;
    assert_eq!((state.as_str(), of_kind(&client, "permission-request").len()), ("completed", 0), "nobody is asked any more");
    let stands = rig.get(&path).await.json();
    assert_eq!((&stands["waiting"], &stands["question_protected"]), (&json!(0), &json!(false)));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_for_another_reason_is_not_called_protected() {
    let rig = Rig::replies([]).await;
    let session = rig.relay().await;
    let mut client = rig.watch(&session).await;
    rig.say(&session, "ask").await;
    client.until("the question", SOON, |event| event.kind == "permission-request").await;
    let waits = rig.get(&format!("/api/sessions/{session}")).await.json();
    assert_eq!((&waits["waiting"], &waits["question_protected"]), (&json!(1), &json!(false)));
}
