//! Approvals on the built server: "no" is carried out as no, and what happens is what was shown. The agent is hostile.

#![allow(clippy::unwrap_used)]

mod grants;
mod options;
mod races;

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::client::Client;
use testkit::server::{Rig, Server};

/// Generous: these machines are slow at times, and a deadline only ends a test that has failed anyway.
const SOON: Duration = Duration::from_secs(60);

/// A session of the faulty agent, and what it shows.
struct Talk {
    server: Server,
    session: String,
    client: Client,
}

/// A permission request as the agent sends it.
fn permission(call: Value, options: &Value) -> Value {
    let mut call = call;
    call["toolCallId"] = json!("k");
    json!(["session/request_permission", { "toolCall": call, "options": options }])
}

fn plain_options() -> Value {
    json!([{ "optionId": "yes", "name": "Yes", "kind": "allow_once" }, { "optionId": "no", "name": "No", "kind": "reject_once" }])
}

impl Talk {
    async fn start(rig: Rig, policy: &str) -> Talk {
        Talk::configured(rig.faulty_agent(), policy).await
    }

    /// The rig has its agent.
    async fn configured(rig: Rig, policy: &str) -> Talk {
        let server = rig.start().await;
        let session = server.new_session(json!({ "model": "relay", "permission_policy": policy })).await;
        let client = server.stream(&session, None).await;
        Talk { server, session, client }
    }

    async fn under(policy: &str) -> Talk {
        Talk::start(Rig::default(), policy).await
    }

    fn work(&self) -> PathBuf {
        self.server.rig().work_dir()
    }

    async fn calls(&self, calls: Value) {
        self.server.send(&self.session, &format!("calls {calls}")).await;
    }

    /// The next question; none where the turn ends before.
    async fn question(&mut self) -> Option<Value> {
        let over = |data: &Value| data["state"].as_str().is_some_and(|state| state != "running" && state != "queued");
        let next = self.client.until("a question or the end", SOON, |event| {
            event.kind == "permission-request" || (event.kind == "turn" && over(&event.data))
        });
        let event = next.await;
        (event.kind == "permission-request").then_some(event.data)
    }

    /// Answers as the page does: the first option of this kind.
    async fn answer(&self, question: &Value, kind: &str) {
        let options = question["options"].as_array().unwrap();
        let option = options.iter().find(|option| option["kind"] == kind).unwrap_or_else(|| panic!("{kind}: {question}"));
        let path = format!("/api/sessions/{}/permissions/{}", self.session, question["request_id"].as_str().unwrap());
        let (status, body) = self.server.call("POST", &path, Some(json!({ "option_id": option["option_id"] }))).await;
        assert_eq!(status, 202, "{body}");
    }

    /// Denies everything that is asked until the turn ends; the titles of what was asked.
    async fn deny_all(&mut self) -> Vec<String> {
        let mut asked = Vec::new();
        while let Some(question) = self.question().await {
            asked.push(question["title"].as_str().unwrap().to_owned());
            self.answer(&question, "reject_once").await;
        }
        asked
    }

    /// What the agent got for its requests, in order.
    fn answers(&self) -> Vec<Value> {
        self.client.seen.agent_text("main").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The rows of the turn that say that a request was malformed.
    fn malformed(&self) -> Vec<String> {
        let updates = self.client.seen.of_kind("agent-update").map(|event| &event.data["update"]);
        updates.filter(|update| update["type"] == "denied").filter_map(|update| update["malformed"].as_str().map(str::to_owned)).collect()
    }
}
