//! What an agent asks of its client beside permissions: files, terminals, forms. Read leniently; what makes no sense is a demand
//! too, which says what is wrong with it.

use domain::agent::{Demand, Problem, StartTerminal};
use domain::text::clip;
use serde::Deserialize;
use serde_json::Value;

use super::update;

/// A question that nobody could read is not asked: the agent is told so at once. What it wants written is as long as a file is.
const PERMISSION_BYTES: usize = 4 * 1024 * 1024;
const FORM_BYTES: usize = 64 * 1024;
const OTHER_BYTES: usize = 1024 * 1024;
const METHOD_BYTES: usize = 200;

pub(super) fn most_bytes(method: &str) -> usize {
    match method {
        "fs/write_text_file" => usize::MAX,
        "session/request_permission" => PERMISSION_BYTES,
        "elicitation/create" => FORM_BYTES,
        _ => OTHER_BYTES,
    }
}

/// Of a request that is too large, or of which something was left out, only the session is read: half of it would be another request.
pub(super) fn oversized(json: &str) -> (String, Demand) {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Params {
        session_id: String,
    }
    let session = serde_json::from_str::<Params>(json).map(|params| params.session_id).unwrap_or_default();
    let (problem, message) = invalid("the request is too large");
    (session, Demand::Unknown { problem, message })
}

/// The agent session it comes from, empty where none is named, and what is asked.
pub(super) fn read(method: &str, json: &str) -> (String, Demand) {
    let params = update::value(json);
    let session = params["sessionId"].as_str().unwrap_or_default().to_owned();
    let demand = demand(method, &session, params).unwrap_or_else(|(problem, message)| Demand::Unknown { problem, message });
    (session, demand)
}

fn demand(method: &str, session: &str, params: Value) -> Result<Demand, (Problem, String)> {
    let read = match method {
        "fs/read_text_file" => of::<ReadFile>,
        "fs/write_text_file" => of::<WriteFile>,
        "terminal/create" => of::<Create>,
        "terminal/output" => of::<Output>,
        "terminal/wait_for_exit" => of::<Wait>,
        "terminal/kill" => of::<Kill>,
        "terminal/release" => of::<Release>,
        "elicitation/create" => of::<Form>,
        _ => return Err((Problem::Unsupported, format!("\"Method not found\": {}", clip(method, METHOD_BYTES)))),
    };
    if session.is_empty() && method != "elicitation/create" {
        return Err(invalid("sessionId is required"));
    }
    if method == "elicitation/create" && params["mode"] != "form" {
        return Err(invalid("only the mode \"form\" is supported"));
    }
    read(params)
}

fn of<T: for<'de> Deserialize<'de> + Into<Demand>>(params: Value) -> Result<Demand, (Problem, String)> {
    serde_json::from_value::<T>(params).map(Into::into).map_err(|error| invalid(&error.to_string()))
}

pub(super) fn invalid(what: &str) -> (Problem, String) {
    (Problem::Invalid, format!("Invalid params: {what}"))
}

#[derive(Deserialize)]
struct ReadFile {
    path: String,
    line: Option<u64>,
    limit: Option<u64>,
}

#[derive(Deserialize)]
struct WriteFile {
    path: String,
    content: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Create {
    command: String,
    args: Option<Vec<String>>,
    env: Option<Vec<Variable>>,
    cwd: Option<String>,
    output_byte_limit: Option<u64>,
}

#[derive(Deserialize)]
struct Variable {
    name: String,
    value: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Form {
    message: String,
    requested_schema: Value,
}

impl From<ReadFile> for Demand {
    fn from(ReadFile { path, line, limit }: ReadFile) -> Self {
        Demand::ReadFile { path, line, limit }
    }
}

impl From<WriteFile> for Demand {
    fn from(WriteFile { path, content }: WriteFile) -> Self {
        Demand::WriteFile { path, content }
    }
}

impl From<Create> for Demand {
    fn from(create: Create) -> Self {
        Demand::StartTerminal(StartTerminal {
            command: create.command,
            args: create.args.unwrap_or_default(),
            env: create.env.unwrap_or_default().into_iter().map(|Variable { name, value }| (name, value)).collect(),
            cwd: create.cwd,
            output_byte_limit: create.output_byte_limit,
        })
    }
}

impl From<Form> for Demand {
    fn from(Form { message, requested_schema }: Form) -> Self {
        Demand::Form { message, schema: requested_schema }
    }
}

macro_rules! about_a_terminal {
    ($($name:ident => $demand:ident),* $(,)?) => {$(
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct $name {
            terminal_id: String,
        }

        impl From<$name> for Demand {
            fn from($name { terminal_id }: $name) -> Self {
                Demand::$demand { terminal_id }
            }
        }
    )*};
}

about_a_terminal! {
    Output => TerminalOutput,
    Wait => WaitForTerminal,
    Kill => KillTerminal,
    Release => ReleaseTerminal,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::json;

    use super::*;

    #[test]
    fn every_method_is_read_and_survives_being_stored() {
        let terminal_id = || "t".to_owned();
        let start = |args: &[&str], env: &[(&str, &str)], output_byte_limit| {
            Demand::StartTerminal(StartTerminal {
                command: "ls".into(),
                args: args.iter().map(|&arg| arg.into()).collect(),
                env: env.iter().map(|&(name, value)| (name.into(), value.into())).collect(),
                cwd: None,
                output_byte_limit,
            })
        };
        for (method, params, expected) in [
            (
                "fs/read_text_file",
                json!({ "path": "/w/a", "line": 2 }),
                Demand::ReadFile { path: "/w/a".into(), line: Some(2), limit: None },
            ),
            (
                "fs/write_text_file",
                json!({ "path": "/w/a", "content": "x", "_meta": null }),
                Demand::WriteFile { path: "/w/a".into(), content: "x".into() },
            ),
            (
                "terminal/create",
                json!({ "command": "ls", "args": ["-l"], "env": [{ "name": "A", "value": "b" }] }),
                start(&["-l"], &[("A", "b")], None),
            ),
            ("terminal/create", json!({ "command": "ls", "args": null, "outputByteLimit": 10 }), start(&[], &[], Some(10))),
            ("terminal/output", json!({ "terminalId": "t" }), Demand::TerminalOutput { terminal_id: terminal_id() }),
            ("terminal/wait_for_exit", json!({ "terminalId": "t" }), Demand::WaitForTerminal { terminal_id: terminal_id() }),
            ("terminal/kill", json!({ "terminalId": "t" }), Demand::KillTerminal { terminal_id: terminal_id() }),
            ("terminal/release", json!({ "terminalId": "t" }), Demand::ReleaseTerminal { terminal_id: terminal_id() }),
            (
                "elicitation/create",
                json!({ "mode": "form", "message": "m", "requestedSchema": {} }),
                Demand::Form { message: "m".into(), schema: json!({}) },
            ),
        ] {
            let mut params = params;
            params["sessionId"] = json!("s");
            let (session, demand) = read(method, &params.to_string());
            assert_eq!((session.as_str(), &demand), ("s", &expected), "{method}");
            let stored = serde_json::to_string(&demand).unwrap();
            assert_eq!(serde_json::from_str::<Demand>(&stored).unwrap(), demand);
        }
    }

    #[test]
    fn what_is_not_understood_says_why() {
        for (method, params, problem) in [
            ("_vendor/x", "{}", Problem::Unsupported),
            ("fs/delete", r#"{"sessionId":"s"}"#, Problem::Unsupported),
            ("fs/read_text_file", r#"{"path":"/a"}"#, Problem::Invalid),
            ("fs/read_text_file", r#"{"sessionId":"s","path":"/a","line":-1}"#, Problem::Invalid),
            ("fs/read_text_file", "null", Problem::Invalid),
            ("terminal/create", r#"{"sessionId":"s"}"#, Problem::Invalid),
            ("elicitation/create", r#"{"sessionId":"s","mode":"url","url":"https://x","message":"m"}"#, Problem::Invalid),
        ] {
            let (_, demand) = read(method, params);
            assert!(matches!(demand, Demand::Unknown { problem: given, .. } if given == problem), "{method} {params}: {demand:?}");
        }
    }
}
