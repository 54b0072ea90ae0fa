//! Logging in to an agent: by its own command in a terminal, or by asking the agent for it.

use agents::catalogue::Agent;
use agents::{Capabilities, Dialect, Invocation, Login, LoginCommand, login};

use crate::sandbox::Run;
use crate::{Engine, Refusal};

impl Engine {
    /// Starts a login; what it prints can be read from the answer until it ends. `method` is the id of one that the agent offers; without
    /// one it is the agent's own command, or else the first that it offers.
    pub async fn login(&self, agent: &str, method: Option<&str>) -> Result<Login, Refusal> {
        let settings = &self.shared.settings;
        let found = settings.agent(agent)?;
        let program = settings.program(found)?;
        let env = settings.environment_of(found, &program)?;
        let offered = self.offered_logins(agent).await?;
        if let (Some(wanted), Some(can)) = (method, &offered)
            && !can.auth_methods.iter().any(|offered| offered["id"] == wanted)
        {
            let ids: Vec<_> = can.auth_methods.iter().filter_map(|offered| offered["id"].as_str()).collect();
            return Err(Refusal::Invalid(format!("{} offers no such login: it offers {}", found.title, ids.join(", "))));
        }
        let in_terminal = offered.as_ref().and_then(|can| match method {
            Some(wanted) => LoginCommand::of_method(&can.auth_methods, wanted),
            None => can.login.clone(),
        });
        let own_command = method.is_none() && !found.login.is_empty() && found.remote.is_none();
        let sandbox = settings.confine(found, Run { work_dir: Some(&settings.work_dir), env: &env, shown: Vec::new() })?;
        if in_terminal.is_some() || own_command || !may_be_asked(found, method, offered.as_ref()) {
            return login::start(found, &program, in_terminal.as_ref(), env, &settings.work_dir, sandbox).map_err(Refusal::Conflict);
        }
        let args = found.arguments(&program, &found.args);
        let program = Invocation { command: program.path, args, env, cwd: Some(settings.work_dir.clone().into()), mark: None, sandbox };
        login::ask(login::Asked { agent: found, program, method }).map_err(Refusal::Conflict)
    }

    /// The ways to log in that the agent named, where it was ever started.
    async fn offered_logins(&self, agent: &str) -> Result<Option<Capabilities>, Refusal> {
        let learned = self.shared.learned(agent).capabilities;
        let stored = self.store().runners().await?.into_iter().rev().find(|row| row.agent == agent).and_then(|row| row.capabilities);
        Ok(learned.or(stored).and_then(|value| serde_json::from_value(value).ok()))
    }
}

/// Whether the agent itself may have a way: one that was never started may.
fn may_be_asked(agent: &Agent, method: Option<&str>, offered: Option<&Capabilities>) -> bool {
    let offers = |can: &Capabilities| method.is_some() || login::first_offered(&can.auth_methods).is_some();
    agent.dialect == Dialect::Acp && offered.is_none_or(offers)
}
