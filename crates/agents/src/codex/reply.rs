//! Answers to what the program asks, made of what is stored alone: the id that a request is kept by says in which form it is answered,
//! and the id of an option is the decision itself.

use domain::agent::{FormAction, Reply};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::approval::DECLINE;
use crate::acp::reply::code;
use crate::jsonrpc::{self, INVALID_PARAMS, RpcId};

/// To a question that nobody answers any more: it stops the turn.
const CANCEL: &str = "cancel";

/// In which form a request is answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// With a decision.
    Approval,
    /// With what is granted.
    Permissions,
    /// With an answer to each question.
    Questions,
    Elicitation,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    id: RpcId,
    #[serde(rename = "for")]
    kind: Kind,
}

/// What a request is kept by: its bare id for an approval, as most are.
pub(super) fn kept(id: &RpcId, kind: Kind) -> String {
    match kind {
        Kind::Approval => id.to_json(),
        kind => serde_json::to_string(&Kept { id: id.clone(), kind }).expect("ids and words always become JSON"),
    }
}

/// The line that answers the request kept by `rpc_id`; `None` where that is no such thing.
pub(crate) fn line(rpc_id: &str, reply: &Reply) -> Option<Vec<u8>> {
    let Kept { id, kind } =
        serde_json::from_str(rpc_id).or_else(|_| serde_json::from_str::<RpcId>(rpc_id).map(|id| Kept { id, kind: Kind::Approval })).ok()?;
    let result = match (kind, reply) {
        (_, Reply::Refused { problem, message }) => return Some(jsonrpc::refusal(&id, code(*problem), message)),
        (Kind::Approval, Reply::Chosen { option_id }) => json!({ "decision": option_id.as_deref().unwrap_or(CANCEL) }),
        (Kind::Permissions, Reply::Chosen { option_id }) => granted(option_id.as_deref()),
        (Kind::Questions, Reply::Form { action, content }) => answers(*action, content.as_ref()),
        (Kind::Elicitation, Reply::Form { action, content }) => elicited(*action, content.as_ref()),
        _ => return Some(jsonrpc::refusal(&id, INVALID_PARAMS, "there is no such answer to this request")),
    };
    Some(jsonrpc::answer(&id, &result))
}

fn granted(option_id: Option<&str>) -> Value {
    match serde_json::from_str(option_id.unwrap_or(DECLINE)) {
        Ok(granted @ Value::Object(_)) => granted,
        _ => json!({ "permissions": {}, "scope": "turn" }),
    }
}

fn answers(action: FormAction, content: Option<&Value>) -> Value {
    let given = content.filter(|_| action == FormAction::Accept).and_then(Value::as_object).into_iter().flatten();
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let answers: Map<String, Value> = given.map(|(id, value)| (id.clone(), json!({ "answers": [text(value)] }))).collect();
    json!({ "answers": answers })
}

fn elicited(action: FormAction, content: Option<&Value>) -> Value {
    match action {
        FormAction::Accept => json!({ "action": "accept", "content": content.cloned().unwrap_or_else(|| json!({})), "_meta": null }),
        FormAction::Decline => json!({ "action": "decline", "content": null, "_meta": null }),
        FormAction::Cancel => json!({ "action": "cancel", "content": null, "_meta": null }),
    }
}
