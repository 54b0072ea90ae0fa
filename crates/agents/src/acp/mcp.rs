//! MCP servers that agents are given to use: in the protocol by what the agent can take, or through a flag of the agent's own.

use std::fmt;
use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::response::Capabilities;

/// A server of the configuration. Its variables and headers may be secrets, so it is never shown beyond its name.
#[derive(Clone, PartialEq, Eq)]
pub struct McpServer {
    pub name: String,
    pub transport: Transport,
}

#[derive(Clone, PartialEq, Eq)]
pub enum Transport {
    Stdio { command: PathBuf, args: Vec<String>, env: Vec<(String, String)> },
    Http { url: String, headers: Vec<(String, String)> },
    Sse { url: String, headers: Vec<(String, String)> },
}

impl fmt::Debug for McpServer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "McpServer({})", self.name)
    }
}

/// Those that the agent takes with a session, as the protocol has them. `flagged`: it was given the stdio ones at its start.
pub fn for_session(servers: &[McpServer], capabilities: &Capabilities, flagged: bool) -> Value {
    let taken = servers.iter().filter(|server| {
        let takes = match server.transport {
            Transport::Stdio { .. } => !flagged,
            Transport::Http { .. } => capabilities.mcp_http,
            Transport::Sse { .. } => capabilities.mcp_sse,
        };
        if !takes && !matches!(server.transport, Transport::Stdio { .. }) {
            tracing::warn!(server = server.name, "the agent does not take MCP servers of this kind");
        }
        takes
    });
    taken.map(McpServer::to_json).collect()
}

/// The stdio servers as Copilot's `--additional-mcp-config` wants them; nothing where there are none.
pub fn for_flag(servers: &[McpServer]) -> Option<Value> {
    let entry = |server: &McpServer| match &server.transport {
        Transport::Stdio { command, args, env } => {
            let env: Map<String, Value> = env.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
            let server_json = json!({ "type": "local", "command": command, "args": args, "env": env, "tools": ["*"] });
            Some((server.name.clone(), server_json))
        }
        _ => None,
    };
    let entries: Map<String, Value> = servers.iter().filter_map(entry).collect();
    (!entries.is_empty()).then(|| json!({ "mcpServers": entries }))
}

impl McpServer {
    fn to_json(&self) -> Value {
        let pairs =
            |pairs: &[(String, String)]| -> Value { pairs.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect() };
        match &self.transport {
            Transport::Stdio { command, args, env } => {
                json!({ "name": self.name, "command": command, "args": args, "env": pairs(env) })
            }
            Transport::Http { url, headers } => json!({ "type": "http", "name": self.name, "url": url, "headers": pairs(headers) }),
            Transport::Sse { url, headers } => json!({ "type": "sse", "name": self.name, "url": url, "headers": pairs(headers) }),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use agent_client_protocol_schema::v1::McpServer as Schema;

    use super::*;

    fn servers() -> Vec<McpServer> {
        let secret = vec![("KEY".to_owned(), "hush".to_owned())];
        let server = |name: &str, transport| McpServer { name: name.to_owned(), transport };
        vec![
            server("local", Transport::Stdio { command: "/bin/tool".into(), args: vec!["-x".into()], env: secret.clone() }),
            server("web", Transport::Http { url: "http://h/mcp".into(), headers: secret.clone() }),
            server("old", Transport::Sse { url: "http://h/sse".into(), headers: secret }),
        ]
    }

    #[test]
    fn an_agent_is_given_what_it_can_take_in_the_protocols_shape() {
        let all = Capabilities { mcp_http: true, mcp_sse: true, ..Capabilities::default() };
        let names = |capabilities: &Capabilities, flagged| {
            let given = for_session(&servers(), capabilities, flagged);
            let read: Vec<Schema> = serde_json::from_value(given.clone()).unwrap();
            assert_eq!(serde_json::to_value(read).unwrap(), given);
            given.as_array().unwrap().iter().map(|server| server["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(names(&all, false), ["local", "web", "old"]);
        assert_eq!(names(&all, true), ["web", "old"]);
        assert_eq!(names(&Capabilities::default(), false), ["local"]);
    }

    #[test]
    fn the_flag_gets_the_stdio_servers_and_nobody_sees_a_secret() {
        let expected = json!({ "mcpServers": { "local": {
            "type": "local", "command": "/bin/tool", "args": ["-x"], "env": { "KEY": "hush" }, "tools": ["*"] } } });
        assert_eq!(for_flag(&servers()), Some(expected));
        assert_eq!(for_flag(&servers()[1..]), None);
        assert!(!format!("{:?}", servers()).contains("hush"));
    }
}
