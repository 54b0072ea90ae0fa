//! What the program asks: to run a command, to change files, to go beyond its sandbox, or for words of the person's.

use domain::agent::{AskedFile, Demand, FilePlace, OptionKind, PermissionAsk, PermissionOption, Problem, ToolCall, ToolContent};
use domain::text::clip;
use serde_json::{Map, Value, json};

use super::reply::Kind;
use super::{item, shell};
use crate::bounds::bounded_id;

pub(super) const ACCEPT: &str = "accept";
pub(super) const ACCEPT_FOR_SESSION: &str = "acceptForSession";
pub(super) const DECLINE: &str = "decline";
/// More than are looked at, and few enough to be kept.
const MOST_NAMED: usize = 256;

/// What is asked, and in which form it is answered. `known` is what was told of the item that it is about.
pub(super) fn read(method: &str, params: &Value, known: Option<&ToolCall>) -> (Kind, Demand) {
    match method {
        "item/commandExecution/requestApproval" => (Kind::Approval, Demand::Permission(command(params))),
        "item/fileChange/requestApproval" => (Kind::Approval, Demand::Permission(file_change(params, known))),
        "item/permissions/requestApproval" => (Kind::Permissions, Demand::Permission(permissions(params))),
        "item/tool/requestUserInput" => (Kind::Questions, questions(params)),
        "mcpServer/elicitation/request" => (Kind::Elicitation, elicitation(params)),
        _ => (Kind::Approval, refused(Problem::Unsupported, format!("\"Method not found\": {}", clip(method, 200)))),
    }
}

/// Whether what a person is shown comes from what was told of the item before.
pub(super) fn relies_on(method: &str) -> bool {
    method == "item/fileChange/requestApproval"
}

fn refused(problem: Problem, message: String) -> Demand {
    Demand::Unknown { problem, message }
}

fn command(params: &Value) -> PermissionAsk {
    let text = |key: &str| params[key].as_str().filter(|text| !text.is_empty());
    let host = params["networkApprovalContext"]["host"].as_str();
    let script = text("command").map(shell::script);
    let title = match (text("reason"), host, &script) {
        (Some(reason), _, _) => reason.to_owned(),
        (None, Some(host), _) => format!("Use the network: {host}"),
        (None, None, Some(script)) => script.clone(),
        (None, None, None) => "Run a command".to_owned(),
    };
    // Not the decisions that change the program's own rules: those hold for all its sessions, and what it does by them it does not ask.
    let options = vec![
        PermissionOption::new(ACCEPT, "Allow once", OptionKind::AllowOnce),
        PermissionOption::new(ACCEPT_FOR_SESSION, "Allow this for the rest of the session", OptionKind::AllowAlways),
        PermissionOption::new(DECLINE, "Reject", OptionKind::RejectOnce),
    ];
    PermissionAsk {
        title,
        reason: text("reason").map(str::to_owned),
        kind: Some("execute".to_owned()),
        command: script,
        cwd: text("cwd").map(str::to_owned),
        options,
        agent_call: text("itemId").map(|id| bounded_id(id).into_owned()),
        input: Some(about(params)),
        ..PermissionAsk::default()
    }
}

/// Everything that is said of it but who it belongs to.
fn about(params: &Value) -> Value {
    let own = ["threadId", "turnId", "itemId", "startedAtMs", "availableDecisions", "environmentId", "approvalId"];
    let fields = params.as_object().into_iter().flatten();
    fields
        .filter(|(name, value)| !own.contains(&name.as_str()) && !value.is_null())
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect::<Map<_, _>>()
        .into()
}

fn file_change(params: &Value, known: Option<&ToolCall>) -> PermissionAsk {
    let known = known.cloned().unwrap_or_default();
    let reason = params["reason"].as_str().filter(|reason| !reason.is_empty());
    let root = params["grantRoot"].as_str();
    let for_session = match root {
        Some(root) => format!("Allow changes below {root} for the rest of the session"),
        None => "Allow changes to these files for the rest of the session".to_owned(),
    };
    let files = known.locations.iter().flatten().map(|location| location.path.clone()).chain(root.map(str::to_owned)).take(MOST_NAMED);
    PermissionAsk {
        title: reason.map(str::to_owned).or(known.title).unwrap_or_else(|| "Change files".to_owned()),
        reason: reason.map(str::to_owned),
        kind: known.kind.or_else(|| Some("edit".to_owned())),
        diff: known
            .input
            .as_ref()
            .and_then(|input| item::unified(&input.parse()["changes"]))
            .or_else(|| made_again(known.content.as_deref())),
        files: files.map(|path| AskedFile { path, place: FilePlace::Outside }).collect(),
        locations: known.locations.unwrap_or_default(),
        options: vec![
            PermissionOption::new(ACCEPT, "Allow once", OptionKind::AllowOnce),
            PermissionOption::new(ACCEPT_FOR_SESSION, for_session, OptionKind::AllowAlways),
            PermissionOption::new(DECLINE, "Reject", OptionKind::RejectOnce),
        ],
        agent_call: params["itemId"].as_str().map(|id| bounded_id(id).into_owned()),
        input: Some(about(params)),
        ..PermissionAsk::default()
    }
}

/// For a call that an earlier server had read: it is stored with both sides of its changes.
fn made_again(content: Option<&[ToolContent]>) -> Option<String> {
    let made: String = content
        .unwrap_or_default()
        .iter()
        .filter_map(|content| match content {
            ToolContent::Diff { path, old_text, new_text, .. } => Some(crate::acp::diff::unified(path, old_text.as_deref(), new_text)),
            _ => None,
        })
        .collect();
    (!made.is_empty()).then_some(made)
}

/// The program wants to be allowed more than its sandbox does: paths, or the network.
fn permissions(params: &Value) -> PermissionAsk {
    let wanted: Map<String, Value> = params["permissions"]
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let granted = |scope: &str| json!({ "permissions": wanted, "scope": scope }).to_string();
    let reason = params["reason"].as_str().filter(|reason| !reason.is_empty());
    PermissionAsk {
        title: reason.unwrap_or("More access than the sandbox gives").to_owned(),
        reason: reason.map(str::to_owned),
        kind: Some("other".to_owned()),
        cwd: params["cwd"].as_str().map(str::to_owned),
        options: vec![
            PermissionOption::new(granted("turn"), "Allow for this turn", OptionKind::AllowOnce),
            PermissionOption::new(granted("session"), "Allow for the rest of the session", OptionKind::AllowAlways),
            PermissionOption::new(DECLINE, "Reject", OptionKind::RejectOnce),
        ],
        agent_call: params["itemId"].as_str().map(|id| bounded_id(id).into_owned()),
        input: Some(about(params)),
        ..PermissionAsk::default()
    }
}

/// The questions as a form, a field each.
fn questions(params: &Value) -> Demand {
    let questions: Vec<&Value> = params["questions"].as_array().into_iter().flatten().collect();
    let mut fields = Map::new();
    for question in &questions {
        let Some(id) = question["id"].as_str() else { continue };
        let options: Vec<&Value> =
            question["options"].as_array().into_iter().flatten().filter(|option| option["label"].is_string()).collect();
        let mut field = json!({ "type": "string", "title": question["header"], "description": question["question"] });
        let choices: Vec<Value> = options.iter().map(|option| json!({ "const": option["label"], "title": titled(option) })).collect();
        if !choices.is_empty() && question["isOther"] != true {
            field["oneOf"] = json!(choices);
        } else if !choices.is_empty() {
            let labels: Vec<&str> = options.iter().filter_map(|option| option["label"].as_str()).collect();
            field["description"] =
                json!(format!("{} ({}, or something else)", question["question"].as_str().unwrap_or_default(), labels.join(", ")));
        }
        fields.insert(id.to_owned(), field);
    }
    if fields.is_empty() {
        return refused(Problem::Invalid, "Invalid params: no questions".to_owned());
    }
    let message = match questions[..] {
        [only] => only["question"].as_str().unwrap_or("A question").to_owned(),
        _ => format!("{} questions", questions.len()),
    };
    Demand::Form { message, schema: json!({ "type": "object", "properties": fields }) }
}

fn titled(option: &Value) -> String {
    let label = option["label"].as_str().unwrap_or_default();
    match option["description"].as_str().filter(|description| !description.is_empty()) {
        Some(description) => format!("{label}: {description}"),
        None => label.to_owned(),
    }
}

fn elicitation(params: &Value) -> Demand {
    match params["mode"].as_str() {
        Some("form") => {
            Demand::Form { message: params["message"].as_str().unwrap_or_default().to_owned(), schema: params["requestedSchema"].clone() }
        }
        mode => refused(Problem::Invalid, format!("only the mode \"form\" is supported, not {mode:?}")),
    }
}
