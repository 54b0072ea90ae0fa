//! How an agent's process is started, and what it is given.

use std::path::PathBuf;

use agents::{Connection, Launch};
use uuid::Uuid;

use crate::actor::Actor;
use crate::{Refusal, Settings};

/// In the runner's directory, and gone with it.
const MCP_FILE: &str = "mcp.json";

impl Settings {
    /// How an agent's process is started in a directory.
    pub(crate) fn launch(&self, agent: &str, runner: Uuid, cwd: PathBuf, label: String) -> Result<Launch, Refusal> {
        let agent = self.agent(agent)?;
        let env = agent.environment(self.environment.iter().cloned()).map_err(|error| Refusal::Invalid(error.to_string()))?;
        let dir = self.runners_dir().join(runner.to_string());
        let mut args = agent.args.clone();
        // By way of a file: what stands among the arguments can be seen by everybody on the machine.
        let servers = agent.mcp_flag().and_then(|flag| Some((flag, agents::acp::mcp::for_flag(&self.mcp_servers)?)));
        let file = servers.map(|(flag, servers)| {
            args.extend([flag.to_owned(), format!("@{}", dir.join(MCP_FILE).display())]);
            (MCP_FILE, servers.to_string().into_bytes())
        });
        let spec = agents::Spec {
            id: runner,
            command: self.program(agent)?,
            args,
            env,
            cwd,
            durability: self.durability,
            ttl_s: self.agent_ttl.as_secs(),
            term_grace_ms: self.term_grace_ms,
            label,
        };
        Ok(Launch { exe: self.exe.clone(), dir, spec, notices_in_text: agent.notices_in_text, file })
    }
}

impl Actor {
    /// Gives the agent's sessions the configured MCP servers.
    pub(crate) fn offer(&self, connection: Connection, agent: &str) -> Connection {
        let settings = &self.shared.settings;
        let flagged = settings.agent(agent).is_ok_and(|agent| agent.mcp_flag().is_some());
        connection.offering(settings.mcp_servers.clone(), flagged)
    }

    /// Nobody has proved who they are on such a connection, and nothing of it comes back once it is lost.
    pub(super) fn warn_of_remote(&mut self) {
        let Some(address) = self.shared.settings.agent(&self.host.agent).ok().and_then(|agent| agent.remote.clone()) else { return };
        tracing::warn!(session = %self.id, address, "this agent is reached over TCP, without authentication or encryption");
        let text = format!(
            "{} listens at tcp://{address}. The connection has no authentication: whoever can reach that port can use the agent, and \
             whoever listens there in its place gets your prompts. If the connection is lost, the agent's sessions end with it.",
            self.agent_title()
        );
        self.notice("agent_unauthenticated", "warning", "Unauthenticated agent", text, None);
    }
}
