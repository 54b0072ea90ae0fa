//! An agent's own login: a command, run in a pseudo-terminal because that is what such commands expect, or the agent itself, asked for it.

mod asked;

use std::path::{Path, PathBuf};

use bytes::Bytes;
use runner::{Invocation, Pty, Sandbox};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::catalogue::{Agent, Program};
pub use asked::Asked;
use asked::Exchange;

/// The login that an agent names among its ways to authenticate.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct LoginCommand {
    /// What the agent calls it.
    pub label: String,
    /// `None` is the agent's own command as it is started, with the arguments behind its own.
    pub command: Option<PathBuf>,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
}

impl LoginCommand {
    /// The first that can be run from here: the protocol's own way, or the older one that agents put beside it.
    pub(crate) fn advertised(methods: &[Value]) -> Option<LoginCommand> {
        methods.iter().find_map(LoginCommand::in_terminal)
    }

    /// The one of this id, where it can be run from here.
    pub fn of_method(methods: &[Value], id: &str) -> Option<LoginCommand> {
        methods.iter().find(|method| method["id"] == id).and_then(LoginCommand::in_terminal)
    }

    fn in_terminal(method: &Value) -> Option<LoginCommand> {
        match method["type"].as_str() {
            Some("terminal") => Some(LoginCommand::read(method, method["name"].as_str(), None)),
            _ => {
                let older = method["_meta"].get("terminal-auth")?;
                let label = older["label"].as_str().or(method["name"].as_str());
                Some(LoginCommand::read(older, label, Some(older["command"].as_str()?.into())))
            }
        }
    }

    fn read(described: &Value, label: Option<&str>, command: Option<PathBuf>) -> LoginCommand {
        let args = described["args"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let env = described["env"].as_object().into_iter().flatten();
        LoginCommand {
            label: label.unwrap_or("Login").to_owned(),
            command,
            args: args.map(str::to_owned).collect(),
            env: env.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect(),
        }
    }
}

/// Whether a way to log in is one that the agent itself goes, which is what one is that says nothing of its kind.
fn is_agents(method: &Value) -> bool {
    method["id"].is_string() && method["type"].as_str().is_none_or(|kind| kind == "agent")
}

/// The first way that the agent itself goes.
pub fn first_offered(methods: &[Value]) -> Option<&Value> {
    methods.iter().find(|method| is_agents(method))
}

/// Whether there is such a way of this id.
fn offers(methods: &[Value], id: &str) -> bool {
    methods.iter().any(|method| is_agents(method) && method["id"] == id)
}

/// A login under way. Dropped, it ends with everything that it started.
pub struct Login(Way);

enum Way {
    Command(Pty),
    Asked(Box<Exchange>),
}

/// Starts the agent and asks it to log in. The error is for a person.
pub fn ask(asked: Asked<'_>) -> Result<Login, String> {
    Ok(Login(Way::Asked(Box::new(Exchange::start(asked)?))))
}

/// Runs the login that the agent advertised, else the catalogue's. `program` is the agent's, `env` its whole environment, `sandbox` what
/// holds it. The error is for a person.
pub fn start(
    agent: &Agent,
    program: &Program,
    advertised: Option<&LoginCommand>,
    env: Vec<(String, String)>,
    cwd: &Path,
    sandbox: Option<Sandbox>,
) -> Result<Login, String> {
    let (command, args, own_env) = match advertised {
        Some(LoginCommand { command: Some(command), args, env, .. }) => (command.clone(), args.clone(), env.as_slice()),
        // What is started for one that listens elsewhere only carries its lines.
        _ if agent.remote.is_some() => return Err(elsewhere(agent)),
        Some(LoginCommand { args, env, .. }) => {
            let args: Vec<_> = agent.args.iter().chain(args).cloned().collect();
            (program.path.clone(), agent.arguments(program, &args), env.as_slice())
        }
        None if agent.login.is_empty() => return Err(elsewhere(agent)),
        None => (program.path.clone(), agent.arguments(program, &agent.login), &[][..]),
    };
    let mut env = env;
    env.retain(|(name, _)| name != "TERM" && own_env.iter().all(|(own, _)| own != name));
    env.push(("TERM".to_owned(), "dumb".to_owned()));
    env.extend(own_env.iter().filter(|(name, _)| name != "TERM").cloned());
    let pty = Pty::start(Invocation { command, args, env, cwd: Some(cwd.to_owned().into()), sandbox, mark: None });
    pty.map(|pty| Login(Way::Command(pty))).map_err(|error| format!("the login of {} could not be started: {error}", agent.title))
}

/// What a person can do where nothing can be run for them.
fn elsewhere(agent: &Agent) -> String {
    let title = &agent.title;
    match agent.login_command() {
        Some(command) => format!("{title} has no login that can be run from here: run `{command}` in a terminal, where {title} runs"),
        None => format!("{title} has no login that can be run from here, and none is known: see its own documentation"),
    }
}

impl Login {
    /// The next piece of what it prints; nothing once it has ended.
    pub async fn output(&mut self) -> Option<Bytes> {
        match &mut self.0 {
            Way::Command(pty) => pty.output().await,
            Way::Asked(exchange) => Box::pin(exchange.output()).await,
        }
    }

    /// Waits for the end; whether it says that the login worked.
    pub async fn succeeded(&mut self) -> bool {
        match &mut self.0 {
            Way::Command(pty) => pty.succeeded().await,
            Way::Asked(exchange) => exchange.outcome == Some(true),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::json;

    use super::*;
    use crate::catalogue::Found;

    fn shell(login: &[&str]) -> Agent {
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        Agent {
            id: "x".into(),
            title: "X".into(),
            command: "/bin/sh".into(),
            args: words(&["-c", "echo \"$0 $1 $EXTRA\"", "own"]),
            env: vec![],
            login: words(login),
            ..Agent::default()
        }
    }

    fn program() -> Program {
        Program { path: "/bin/sh".into(), how: Found::Path }
    }

    async fn printed(agent: &Agent, advertised: Option<&LoginCommand>) -> (String, bool) {
        let env = vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned()), ("EXTRA".to_owned(), "base".to_owned())];
        let mut login = start(agent, &program(), advertised, env, Path::new("/"), None).unwrap();
        let mut text = String::new();
        while let Some(piece) = login.output().await {
            text.push_str(&String::from_utf8_lossy(&piece));
        }
        (text.trim().to_owned(), login.succeeded().await)
    }

    #[tokio::test]
    async fn the_advertised_login_is_the_one_that_is_run() {
        let agent = shell(&["-c", "echo catalogue"]);
        assert_eq!(printed(&agent, None).await, ("catalogue".to_owned(), true));
        let terminal =
            LoginCommand::advertised(&[json!({ "type": "terminal", "id": "t", "name": "T", "args": ["in"], "env": { "EXTRA": "e" } })]);
        assert_eq!(printed(&agent, terminal.as_ref()).await, ("own in e".to_owned(), true));
        let older = json!({ "id": "l", "name": "L", "_meta": { "terminal-auth":
            { "command": "/bin/sh", "args": ["-c", "echo older; exit 1"], "label": "Log in" } } });
        let older = LoginCommand::advertised(&[json!({ "id": "agent" }), older]);
        assert_eq!(older.as_ref().unwrap().label, "Log in");
        assert_eq!(printed(&agent, older.as_ref()).await, ("older".to_owned(), false));
    }

    #[tokio::test]
    async fn where_there_is_none_to_run_it_says_so() {
        let start = |agent: &Agent, advertised: Option<&LoginCommand>| {
            start(agent, &program(), advertised, vec![], Path::new("/"), None).err().unwrap()
        };
        assert_eq!(start(&shell(&[]), None), "X has no login that can be run from here, and none is known: see its own documentation");
        let named = Agent { login_command: Some("x sign-in".into()), ..shell(&[]) };
        assert_eq!(start(&named, None), "X has no login that can be run from here: run `x sign-in` in a terminal, where X runs");
        let remote = Agent { remote: Some("127.0.0.1:1".into()), ..shell(&["login"]) };
        assert!(start(&remote, Some(&LoginCommand::default())).contains("`sh login`"));
        assert!(start(&remote, None).contains("no login"), "it is not the bridge that logs in");
        let missing = LoginCommand { command: Some("/nowhere/login".into()), ..LoginCommand::default() };
        assert!(start(&shell(&[]), Some(&missing)).starts_with("the login of X could not be started"));
    }
}
