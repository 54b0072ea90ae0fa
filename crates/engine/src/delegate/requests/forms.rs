//! Forms: what an agent wants to know from a person. They wait where permissions wait, and whatever the policy, a person answers.

use agents::{Answer, ClientRequest};
use domain::agent::{PermissionAsk, PermissionOption};
use domain::form;
use domain::ids::PermissionId;
use serde_json::{Value, json};

use crate::actor::Actor;
use crate::command::Refusal;

const ACCEPT: &str = "accept";
pub(super) const DECLINE: &str = "decline";

impl Actor {
    pub(super) fn ask_form(&mut self, id: PermissionId) {
        let Some(asked) = self.asked(id) else { return };
        let ClientRequest::Elicit { message, requested_schema, .. } = &asked.request else { return };
        if asked.call_id.is_none() {
            return self.answer_request(id, Answer::Result(json!({ "action": "cancel" })));
        }
        let option = |option_id: &str, name: &str, kind: &str| PermissionOption {
            option_id: option_id.to_owned(),
            name: name.to_owned(),
            kind: kind.to_owned(),
        };
        let ask = PermissionAsk {
            title: message.clone(),
            kind: None,
            command: None,
            diff: None,
            locations: Vec::new(),
            options: vec![
                option(ACCEPT, "Send", "allow_once"),
                option(DECLINE, "Decline", "reject_once"),
                option("cancel", "Cancel", "cancel"),
            ],
            agent_call: None,
            input: None,
            form: Some(requested_schema.clone()),
        };
        self.ask_person(id, ask);
    }

    /// A person has filled in a form: the answer is stored in the write that says so.
    pub(crate) fn fill_form(&mut self, id: PermissionId, schema: &Value, content: Value) -> Result<(), Refusal> {
        form::check(schema, &content).map_err(Refusal::Invalid)?;
        self.answer_request(id, Answer::Result(json!({ "action": ACCEPT, "content": content })));
        Ok(())
    }
}
