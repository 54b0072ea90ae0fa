//! What the model is told about the tools: names, descriptions, schemas, and who may run each.

use serde_json::{Value, json};

/// One tool as the model sees it.
#[derive(Clone, Debug)]
pub struct Definition {
    pub name: &'static str,
    pub description: &'static str,
    /// JSON schema of the arguments.
    pub parameters: Value,
}

/// How a call to the tool is handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Runs at once.
    Plain,
    /// A person must approve it first.
    Confirm,
    /// Handed to an agent; this crate only defines it.
    Delegate,
}

pub fn kind(name: &str) -> Option<Kind> {
    match name {
        "read_file" | "list_directory" | "grep_search" | "glob_search" | "git_diff" | "git_show" => Some(Kind::Plain),
        "read_file_external" => Some(Kind::Confirm),
        "copilot_agent" | "delegate" => Some(Kind::Delegate),
        _ => None,
    }
}

pub fn definitions() -> Vec<Definition> {
    let mut all = Vec::from(files());
    all.extend(searches());
    all.extend(git());
    all.push(delegation());
    all
}

fn files() -> [Definition; 3] {
    [
        Definition {
            name: "read_file",
            description: "Read a text file in the workspace. Large files are cut; use start_line and end_line to read a part.",
            parameters: object(
                json!({
                    "path": text("Path of the file, relative to the workspace"),
                    "start_line": number("First line to read, counted from 1"),
                    "end_line": number("Last line to read, included"),
                }),
                &["path"],
            ),
        },
        Definition {
            name: "list_directory",
            description: "List the entries of a directory in the workspace. Directories end in a slash.",
            parameters: object(
                json!({"path": text("Path of the directory, relative to the workspace; the workspace itself if left out")}),
                &[],
            ),
        },
        Definition {
            name: "read_file_external",
            description: "Read a text file outside the workspace. A person is asked for approval first.",
            parameters: object(
                json!({
                    "path": text("Absolute path of the file"),
                    "start_line": number("First line to read, counted from 1"),
                    "end_line": number("Last line to read, included"),
                }),
                &["path"],
            ),
        },
    ]
}

fn searches() -> [Definition; 2] {
    [
        Definition {
            name: "grep_search",
            description: "Search the contents of files in the workspace with a regular expression (Rust syntax, one line at a \
                          time). Ignored files are skipped unless path names one. Results are 'path:line: text'.",
            parameters: object(
                json!({
                    "pattern": text("Regular expression"),
                    "path": text("File or directory to search, relative to the workspace"),
                    "glob": text("Only files that match, such as '*.rs' or 'src/**/*.ts'; '!' in front excludes"),
                    "case_sensitive": {
                        "type": "boolean",
                        "description": "If left out, case matters only when the pattern has a capital letter",
                    },
                    "max_results": number("Most lines to return; 200 if left out, at most 2000"),
                }),
                &["pattern"],
            ),
        },
        Definition {
            name: "glob_search",
            description: "Find files in the workspace by name. A pattern without a slash matches the file name at any depth. \
                          Ignored files are skipped.",
            parameters: object(
                json!({
                    "pattern": text("Glob such as '*.toml' or 'src/**/*.rs'"),
                    "path": text("Directory to search, relative to the workspace"),
                }),
                &["pattern"],
            ),
        },
    ]
}

fn git() -> [Definition; 2] {
    [
        Definition {
            name: "git_diff",
            description: "Show changes as a diff that people can review: all uncommitted changes by default, or those between \
                          base and the working tree, or between base and head.",
            parameters: object(
                json!({
                    "base": text("Commit, branch or tag to compare from; HEAD if left out"),
                    "head": text("Commit, branch or tag to compare to; the working tree if left out"),
                    "path": text("Only this file or directory, relative to the workspace"),
                    "staged": {"type": "boolean", "description": "Only what is staged for the next commit"},
                    "merge_base": {
                        "type": "boolean",
                        "description": "Compare from the point where head left base, as a pull request does",
                    },
                }),
                &[],
            ),
        },
        Definition {
            name: "git_show",
            description: "Show a commit: its message and its changes as a diff that people can review.",
            parameters: object(json!({"commit": text("Commit, branch or tag")}), &["commit"]),
        },
    ]
}

/// An agent that work can be given to.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub id: String,
    pub title: String,
    /// What it is good at; may be empty.
    pub about: String,
}

impl Candidate {
    fn described(&self) -> String {
        let about = if self.about.is_empty() { String::new() } else { format!(": {}", self.about) };
        format!("{} ({}){about}", self.id, self.title)
    }
}

/// A delegation that names its agent, where there is more than one to choose from.
pub fn delegate(agents: &[Candidate]) -> Option<Definition> {
    if agents.len() < 2 {
        return None;
    }
    let ids: Vec<_> = agents.iter().map(|agent| agent.id.as_str()).collect();
    let known: Vec<_> = agents.iter().map(Candidate::described).collect();
    Some(Definition {
        name: "delegate",
        description: "Delegate a coding task to the agent that you name. It works like copilot_agent: use the same session_name for \
                      follow-up instructions to the same task, and a different session_name for independent tasks. Agents work side by side.",
        parameters: object(
            json!({
                "agent": { "type": "string", "enum": ids, "description": format!("Which agent works on it. {}", known.join("; ")) },
                "prompt": text("The task for the agent, complete in itself"),
                "session_name": text("A short descriptive name of the task; a name belongs to one agent"),
            }),
            &["agent", "prompt", "session_name"],
        ),
    })
}

fn delegation() -> Definition {
    Definition {
        name: "copilot_agent",
        description: "Delegate a coding task to GitHub Copilot. Copilot will autonomously modify files in the workspace. Use the \
                      same session_name for follow-up instructions to the same task. Use a different session_name for \
                      independent tasks.",
        parameters: object(
            json!({
                "prompt": text("The coding task or the follow-up instruction"),
                "session_name": text(
                    "Short descriptive name of the session; the first use creates it, later uses continue it"
                ),
            }),
            &["prompt", "session_name"],
        ),
    }
}

fn object(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

fn number(description: &str) -> Value {
    json!({"type": "integer", "minimum": 1, "description": description})
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_tool_has_a_kind_and_a_closed_schema() {
        let names: Vec<_> = definitions().iter().map(|tool| tool.name).collect();
        assert_eq!(names.len(), 8);
        for tool in definitions() {
            assert!(kind(tool.name).is_some(), "{}", tool.name);
            assert_eq!(tool.parameters["type"], "object", "{}", tool.name);
            for required in tool.parameters["required"].as_array().unwrap() {
                let property = &tool.parameters["properties"][required.as_str().unwrap()];
                assert_eq!(property["type"], "string", "{} {required}", tool.name);
            }
        }
        assert_eq!(kind("read_file_external"), Some(Kind::Confirm));
        assert_eq!(kind("copilot_agent"), Some(Kind::Delegate));
        assert_eq!(kind("rm"), None);
    }

    #[test]
    fn the_delegation_is_described_word_for_word() {
        let tool = definitions().into_iter().find(|tool| tool.name == "copilot_agent").unwrap();
        assert_eq!(
            tool.description,
            "Delegate a coding task to GitHub Copilot. Copilot will autonomously modify files in the workspace. Use the same session_name for follow-up instructions to the same task. Use a different session_name for independent tasks."
        );
        assert_eq!(tool.parameters["required"], json!(["prompt", "session_name"]));
    }

    #[test]
    fn a_choice_of_agents_says_what_each_is_good_at() {
        let candidate = |id: &str, about: &str| Candidate { id: id.into(), title: id.to_uppercase(), about: about.into() };
        assert!(delegate(&[candidate("a", "")]).is_none(), "there is nothing to choose");
        let tool = delegate(&[candidate("a", "small things"), candidate("b", "")]).unwrap();
        let agent = &tool.parameters["properties"]["agent"];
        assert_eq!(agent["enum"], json!(["a", "b"]));
        assert_eq!(agent["description"], "Which agent works on it. a (A): small things; b (B)");
    }
}
