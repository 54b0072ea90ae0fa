//! Agents that ask only where they are set to, and agents that do not ask at all.

use agents::Quirks;
use agents::catalogue::{Asks, Offers};
use serde_json::{Value, json};

use crate::rig::{Options, Rig, of_kind};

const LOG: &str = "received.ndjson";

fn options(asks: Asks) -> Options {
    let agent_env = vec![("FAULTY_MODES", "1"), ("FAULTY_LOG", LOG)];
    Options { agent_env, quirks: Quirks { asks, offers: Offers::NONE, ..Quirks::default() }, ..Options::default() }
}

async fn session(rig: &Rig, policy: &str) -> String {
    rig.session_with(json!({ "model": "relay", "permission_policy": policy })).await
}

fn received(rig: &Rig) -> Vec<Value> {
    let text = std::fs::read_to_string(rig.dir.path().join("work").join(LOG)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Before its first prompt, by the policy: under `auto` it stays as it is.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_asks_only_in_one_mode_is_set_to_it() {
    let rig = Rig::start(options(Asks::InMode { option: "mode", value: "bold" })).await;
    for (policy, set) in [("ask", true), ("deny", true), ("auto", false)] {
        let before = if set && policy == "ask" { 0 } else { received(&rig).len() };
        let (state, client) = rig.turn(&session(&rig, policy).await, "say hello").await;
        assert_eq!(state, "completed", "{policy}: {}", client.seen.tail());
        let asked: Vec<Value> = received(&rig).split_off(before);
        let methods: Vec<_> = asked.iter().filter_map(|line| line["method"].as_str()).collect();
        let expected: &[&str] =
            if set { &["session/new", "session/set_mode", "session/prompt"] } else { &["session/new", "session/prompt"] };
        assert_eq!(methods[1..4.min(methods.len())][..expected.len()], *expected, "{policy}");
        assert_eq!(asked[0]["params"]["clientCapabilities"]["terminal"], false, "it is offered nothing of ours");
    }
    // A person who would set it to another mode is refused, unless everything is allowed anyway.
    for (policy, status) in [("ask", 422), ("auto", 200)] {
        let id = session(&rig, policy).await;
        rig.turn(&id, "say hello").await;
        let answer = rig.send(reqwest::Method::PATCH, &format!("/api/sessions/{id}/agents/main"), Some(json!({ "mode": "careful" }))).await;
        assert_eq!(answer.status, status, "{policy}: {}", answer.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_cannot_be_brought_to_ask_is_not_run_under_deny() {
    for asks in [Asks::InMode { option: "mode", value: "none such" }, Asks::Never] {
        let rig = Rig::start(options(asks)).await;
        let (state, client) = rig.turn(&session(&rig, "deny").await, "say hello").await;
        assert_eq!(state, "failed", "{asks:?}");
        assert!(client.seen.tail().contains("cannot be kept from acting without asking"), "{}", client.seen.tail());
        let (state, client) = rig.turn(&session(&rig, "ask").await, "say hello").await;
        assert_eq!(state, "completed", "{asks:?}");
        let warned = of_kind(&client, "notice").into_iter().filter(|event| event.data["code"] == "acts_unasked").count();
        assert_eq!(warned, 1, "{}", client.seen.tail());
    }
}
