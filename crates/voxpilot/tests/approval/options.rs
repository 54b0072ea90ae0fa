//! What an agent offers as answers, and what becomes of a "no".

use serde_json::{Value, json};
use testkit::server::Rig;

use super::{SOON, Talk, permission};

const CANCELLED: &str = r#"{"outcome":{"outcome":"cancelled"}}"#;

fn twice() -> Value {
    json!([{ "optionId": "x", "name": "Deny", "kind": "reject_once" }, { "optionId": "x", "name": "Allow", "kind": "allow_once" }])
}

fn asks_and_runs(options: &Value) -> Value {
    let run = json!({ "title": "Run", "kind": "execute", "rawInput": { "command": "touch ran" } });
    json!([permission(run, options), ["terminal/create", { "command": "touch ran" }], ["terminal/wait_for_exit", { "terminalId": "$terminal" }]])
}

#[tokio::test]
async fn a_denied_command_does_not_run_although_its_options_share_an_id() {
    for policy in ["ask", "read-only", "deny"] {
        let mut talk = Talk::under(policy).await;
        talk.calls(asks_and_runs(&twice())).await;
        let asked = talk.deny_all().await;
        assert!(!talk.work().join("ran").exists(), "{policy}: asked {asked:?}");
        assert!(!asked.contains(&"Run".to_owned()), "{policy}: what is malformed is not asked: {asked:?}");
        assert_eq!(talk.answers()[0].to_string(), CANCELLED, "{policy}");
        assert!(talk.malformed()[0].contains("share the id"), "{policy}: {:?}", talk.malformed());
        talk.server.end().await;
    }
}

#[tokio::test]
async fn a_malformed_request_is_not_approved_by_the_policy_that_approves_everything() {
    let mut talk = Talk::under("auto").await;
    let run = json!({ "title": "Run", "kind": "execute", "rawInput": { "command": "touch ran" } });
    let offers = [
        twice(),
        json!([]),
        json!([{ "optionId": "y", "name": "Yes", "kind": "allow_everything" }]),
        json!([{ "optionId": "y", "name": "\u{200b} ", "kind": "allow_once" }]),
        json!([{ "optionId": "", "name": "Yes", "kind": "allow_once" }]),
        json!([{ "name": "Yes", "kind": "allow_once" }, { "optionId": "n", "name": "No", "kind": "reject_once" }]),
        json!([{ "optionId": "y", "kind": "allow_once" }]),
        json!(["allow_once"]),
        json!("allow_once"),
    ];
    for options in &offers {
        talk.calls(json!([permission(run.clone(), options)])).await;
        assert_eq!(talk.question().await, None, "{options}");
    }
    let told: Vec<_> = talk.answers().iter().map(Value::to_string).collect();
    assert_eq!(told, vec![CANCELLED; offers.len()]);
    assert_eq!(talk.malformed().len(), offers.len(), "{:?}", talk.malformed());
    talk.server.end().await;
}

#[tokio::test]
async fn nothing_runs_when_nobody_answers_in_time() {
    let mut talk = Talk::start(Rig::default().env("VOXPILOT_PERMISSION_TIMEOUT", "1"), "ask").await;
    talk.calls(asks_and_runs(&twice())).await;
    assert_eq!(talk.client.turn_end(SOON).await, "completed", "{}", talk.client.seen.tail());
    assert!(!talk.work().join("ran").exists(), "{}", talk.client.seen.tail());
    talk.server.end().await;
}

#[tokio::test]
async fn the_word_reject_rejects_whatever_the_agent_calls_its_options() {
    let lying = json!([{ "optionId": "reject", "name": "Deny", "kind": "allow_once" },
        { "optionId": "reject_once", "name": "Deny it", "kind": "allow_always" }, { "optionId": "allow", "name": "Allow", "kind": "reject_once" }]);
    for (args, ran) in [(&["reject"][..], false), (&["reject_once"], false), (&["allow"], true), (&["--option", "reject"], true)] {
        let mut talk = Talk::under("ask").await;
        talk.calls(asks_and_runs(&lying)).await;
        let question = talk.question().await.unwrap();
        let labels: Vec<_> = question["options"].as_array().unwrap().iter().map(|option| option["label"].as_str().unwrap()).collect();
        assert_eq!(labels, ["Allow", "Always allow", "Deny"], "the words are ours");
        let id = question["request_id"].as_str().unwrap();
        let shown = talk.server.rig().command(&["approve", "--format", "text"]).output().await.unwrap();
        let shown = String::from_utf8(shown.stdout).unwrap();
        assert!(shown.contains("1) Allow") && shown.contains("3) Deny") && !shown.contains("1) Deny"), "{shown}");
        let output = talk.server.rig().command(&[&["approve", id], args].concat()).output().await.unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        talk.client.turn_end(SOON).await;
        assert_eq!(talk.work().join("ran").exists(), ran, "{args:?}: {}", talk.client.seen.tail());
        talk.server.end().await;
    }
}

#[tokio::test]
async fn a_no_stays_a_no_when_the_server_is_killed_before_the_agent_hears_it() {
    let lying =
        json!([{ "optionId": "no", "name": "No", "kind": "allow_once" }, { "optionId": "yes", "name": "Yes", "kind": "reject_once" }]);
    let mut talk = Talk::under("ask").await;
    talk.calls(asks_and_runs(&lying)).await;
    let question = talk.question().await.unwrap();
    talk.server.kill().await;
    talk.server.restart().await;
    talk.answer(&question, "reject_once").await;
    talk.server.kill().await;
    talk.server.restart().await;
    talk.client = talk.server.stream(&talk.session, talk.client.seen.cursor).await.continuing(std::mem::take(&mut talk.client.seen));
    talk.deny_all().await;
    assert!(!talk.work().join("ran").exists(), "{}", talk.client.seen.tail());
    assert_eq!(talk.answers()[0]["outcome"]["optionId"], "yes", "the option that rejects");
    talk.server.end().await;
}
