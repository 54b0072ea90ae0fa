//! A tool call as the client sees it: announced, permitted by a person, ended exactly once.

use std::path::PathBuf;

use serde_json::{Value, json};
use uuid::Uuid;

use super::{Stop, Turn};
use crate::archive::Record;

pub(super) struct ToolCall {
    pub id: String,
    pub title: String,
    pub kind: &'static str,
    pub path: Option<PathBuf>,
    pub raw_input: Value,
    /// What is about to happen, for the person who decides: a diff, or nothing.
    pub content: Vec<Value>,
}

impl ToolCall {
    pub(super) fn new(kind: &'static str, title: String) -> Self {
        Self { id: format!("call_{}", Uuid::new_v4().simple()), title, kind, path: None, raw_input: json!({}), content: Vec::new() }
    }

    fn to_json(&self, status: &str) -> Value {
        let mut call = json!({
            "toolCallId": self.id, "title": self.title, "kind": self.kind, "status": status,
            "rawInput": self.raw_input,
        });
        if !self.content.is_empty() {
            call["content"] = json!(self.content);
        }
        if let Some(path) = &self.path {
            call["locations"] = json!([{ "path": path }]);
        }
        call
    }
}

/// A text as tool call content.
pub(super) fn text_content(text: &str) -> Value {
    json!({ "type": "content", "content": { "type": "text", "text": text } })
}

impl Turn<'_> {
    pub(super) fn announce(&mut self, call: &ToolCall, status: &str) {
        let mut update = json!({ "sessionUpdate": "tool_call" });
        if let (Some(update), Value::Object(fields)) = (update.as_object_mut(), call.to_json(status)) {
            update.extend(fields);
        }
        self.open_call = Some(call.id.clone());
        self.session.record(&Record::ToolCall { call: update.clone() });
        self.update(&update);
    }

    pub(super) fn progress(&self, call: &ToolCall, fields: Value) {
        self.update(&call_update(&call.id, fields));
    }

    /// Ends the call; `fields` are what changes with it.
    pub(super) fn finish(&mut self, call: &ToolCall, fields: Value) {
        self.end_call(&call.id, fields);
    }

    /// Ends a call that went wrong, with what went wrong as its content.
    pub(super) fn fail(&mut self, call: &ToolCall, message: &str) {
        let mut fields = failure("failed", message);
        fields["content"] = json!([text_content(message)]);
        self.end_call(&call.id, fields);
    }

    /// Ends the call that a cancel interrupted, if there is one.
    pub(super) fn close_call(&mut self) {
        if let Some(id) = self.open_call.take() {
            self.end_call(&id, failure("cancelled", "The turn was cancelled."));
        }
    }

    fn end_call(&mut self, id: &str, fields: Value) {
        let update = call_update(id, fields);
        self.open_call = None;
        self.session.record(&Record::ToolUpdate { update: update.clone() });
        self.update(&update);
    }

    /// Asks the person. Only the one valid form of answer allows; everything else declines and ends the turn.
    pub(super) fn permission(&mut self, call: &ToolCall) -> Result<(), Stop> {
        if !self.session.is_allowed(call.kind) {
            let params = json!({
                "sessionId": self.session.id,
                "toolCall": call.to_json("pending"),
                "options": [
                    { "optionId": "allow_once", "kind": "allow_once", "name": "Allow once" },
                    { "optionId": "allow_always", "kind": "allow_always", "name": "Always allow" },
                    { "optionId": "reject_once", "kind": "reject_once", "name": "Deny" },
                ],
            });
            let answer = self.peer.ask("session/request_permission", &params, self.gate)?;
            match decision(answer.as_ref()) {
                Decision::Once => {}
                Decision::Always => self.session.allow_always(call.kind),
                Decision::Cancelled => return Err(Stop::Cancelled),
                Decision::No(code, reason) => {
                    self.end_call(&call.id, failure(code, reason));
                    self.say("The operation was declined, so I stopped here. Nothing was changed by it.")?;
                    return Err(Stop::Declined);
                }
            }
        }
        self.progress(call, json!({ "status": "in_progress" }));
        Ok(())
    }
}

#[derive(Debug, PartialEq)]
enum Decision {
    Once,
    Always,
    /// The client cancels the whole turn.
    Cancelled,
    No(&'static str, &'static str),
}

fn decision(answer: Option<&Value>) -> Decision {
    let Some(answer) = answer else {
        return Decision::No("denied", "The permission request was answered with an error.");
    };
    let outcome = &answer["outcome"];
    match (outcome["outcome"].as_str(), outcome["optionId"].as_str()) {
        (Some("cancelled"), _) => Decision::Cancelled,
        (Some("selected"), Some("allow_once")) => Decision::Once,
        (Some("selected"), Some("allow_always")) => Decision::Always,
        (Some("selected"), Some("reject_once")) => Decision::No("rejected", "The user rejected this tool call."),
        _ => Decision::No("denied", "The answer to the permission request was not understood."),
    }
}

/// Leaves the content as it is: the diff that was declined, the output up to the cancel.
fn failure(code: &str, message: &str) -> Value {
    json!({ "status": "failed", "rawOutput": { "message": message, "code": code } })
}

fn call_update(id: &str, fields: Value) -> Value {
    let mut update = json!({ "sessionUpdate": "tool_call_update", "toolCallId": id });
    if let (Some(update), Value::Object(fields)) = (update.as_object_mut(), fields) {
        update.extend(fields);
    }
    update
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_valid_form_allows() {
        let decide = |answer: Value| decision(Some(&answer));
        let selected = |option: &str| json!({ "outcome": { "outcome": "selected", "optionId": option } });
        assert_eq!(decide(selected("allow_once")), Decision::Once);
        assert_eq!(decide(selected("allow_always")), Decision::Always);
        assert_eq!(decide(json!({ "outcome": { "outcome": "cancelled" } })), Decision::Cancelled);
        for answer in [
            selected("reject_once"),
            selected("something"),
            json!({ "outcome": { "outcome": "allowed" } }),
            json!({ "outcome": { "selected": { "optionId": "allow_once" } } }),
            json!({ "selected": { "optionId": "allow_once" } }),
            json!({ "outcome": "selected", "optionId": "allow_once" }),
            json!({ "optionId": "allow_once" }),
            json!(null),
        ] {
            assert!(matches!(decide(answer.clone()), Decision::No(..)), "{answer}");
        }
        assert!(matches!(decision(None), Decision::No(..)));
    }
}
