//! What can be set of a thread, as options: how free it is, its model, and how long that thinks.

use serde_json::{Value, json};

use crate::fault::RpcError;

pub(crate) const MODE: &str = "mode";
pub(crate) const MODEL: &str = "model";
pub(crate) const EFFORT: &str = "reasoning_effort";

/// How free a thread is. The sandbox is the program's own; what it does not let through is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    ReadOnly,
    WorkspaceWrite,
}

impl Mode {
    const ALL: [Mode; 2] = [Mode::ReadOnly, Mode::WorkspaceWrite];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Mode::ReadOnly => "read-only",
            Mode::WorkspaceWrite => "workspace-write",
        }
    }

    pub(crate) fn approval_policy(self) -> &'static str {
        "on-request"
    }

    fn sandbox_policy(self) -> Value {
        match self {
            Mode::ReadOnly => json!({ "type": "readOnly", "networkAccess": false }),
            Mode::WorkspaceWrite => json!({
                "type": "workspaceWrite", "writableRoots": [], "networkAccess": false, "excludeTmpdirEnvVar": false, "excludeSlashTmp": false,
            }),
        }
    }

    fn described(self) -> Value {
        let (name, description) = match self {
            Mode::ReadOnly => ("Read only", "reads by itself; asks before it changes anything or uses the network"),
            Mode::WorkspaceWrite => {
                ("Workspace", "changes files in the work directory without asking; asks before it goes beyond or uses the network")
            }
        };
        json!({ "value": self.as_str(), "name": name, "description": description })
    }

    /// Of the policy that a thread is said to have; none of ours where it was set by somebody else.
    pub(crate) fn of(approval_policy: &Value, sandbox: &Value) -> Option<Mode> {
        let mode = match sandbox["type"].as_str()? {
            "readOnly" => Mode::ReadOnly,
            "workspaceWrite" => Mode::WorkspaceWrite,
            _ => return None,
        };
        (approval_policy == mode.approval_policy()).then_some(mode)
    }
}

/// The options of a thread that was just opened; `models` is what `model/list` says.
pub(crate) fn options(opened: &Value, models: &[Value]) -> Value {
    let mut list = Vec::new();
    if let Some(mode) = Mode::of(&opened["approvalPolicy"], &opened["sandbox"]) {
        list.push(select(MODE, "Mode", MODE, &json!(mode.as_str()), Mode::ALL.map(Mode::described).to_vec()));
    }
    let model = &opened["model"];
    if model.is_string() {
        let mut choices: Vec<Value> = models.iter().filter(|known| known["hidden"] != true).filter_map(choice_of_model).collect();
        if !choices.iter().any(|choice| choice["value"] == *model) {
            choices.insert(0, json!({ "value": model, "name": model }));
        }
        list.push(select(MODEL, "Model", MODEL, model, choices));
    }
    let known = models.iter().find(|known| known["model"] == *model);
    let efforts: Vec<Value> =
        known.and_then(|known| known["supportedReasoningEfforts"].as_array()).into_iter().flatten().filter_map(choice_of_effort).collect();
    let current = [&opened["reasoningEffort"], known.map_or(&Value::Null, |known| &known["defaultReasoningEffort"])];
    if let Some(current) = current.into_iter().find(|effort| effort.is_string())
        && !efforts.is_empty()
    {
        list.push(select(EFFORT, "Reasoning effort", "thought_level", current, efforts));
    }
    Value::Array(list)
}

fn select(id: &str, name: &str, category: &str, current: &Value, options: Vec<Value>) -> Value {
    json!({ "id": id, "name": name, "category": category, "type": "select", "currentValue": current, "options": options })
}

fn choice_of_model(model: &Value) -> Option<Value> {
    let value = model["model"].as_str()?;
    Some(json!({ "value": value, "name": model["displayName"].as_str().unwrap_or(value), "description": model["description"] }))
}

fn choice_of_effort(effort: &Value) -> Option<Value> {
    let value = effort["reasoningEffort"].as_str()?;
    Some(json!({ "value": value, "name": value, "description": effort["description"] }))
}

/// The parameters that set an option for the turns to come.
pub(crate) fn change(thread: &str, id: &str, value: &Value) -> Result<Value, RpcError> {
    let unknown = || RpcError::Unsupported(format!("`{id}` cannot be set to {value}"));
    let text = value.as_str().ok_or_else(unknown)?;
    match id {
        MODE => {
            let mode = Mode::ALL.into_iter().find(|mode| mode.as_str() == text).ok_or_else(unknown)?;
            Ok(
                json!({ "threadId": thread, "approvalPolicy": mode.approval_policy(), "approvalsReviewer": "user", "sandboxPolicy": mode.sandbox_policy() }),
            )
        }
        MODEL => Ok(json!({ "threadId": thread, "model": text })),
        EFFORT => Ok(json!({ "threadId": thread, "effort": text })),
        _ => Err(unknown()),
    }
}
