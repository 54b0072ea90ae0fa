//! A program that uses the tools: the SDK's client, over HTTP or through the command.

use std::process::Stdio;
use std::sync::{Arc, Mutex};

use rmcp::model::{CallToolRequestParams, CallToolResult, ProgressNotificationParam};
use rmcp::service::{NotificationContext, RunningService, ServiceError};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, RoleClient, ServiceExt};
use serde_json::{Value, json};
use testkit::server::{Rig, Server};
use tokio::process::Child;
use tokio::time::timeout;

use crate::SOON;

/// What it was told while it waited.
#[derive(Clone, Default)]
pub(crate) struct Heard(Arc<Mutex<Vec<String>>>);

impl ClientHandler for Heard {
    async fn on_progress(&self, told: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.0.lock().unwrap().push(told.message.unwrap_or_default());
    }
}

pub(crate) struct Program {
    service: RunningService<RoleClient, Heard>,
    heard: Heard,
    /// The command, where it goes through it.
    child: Option<Child>,
}

/// A server with the demo agent, which asks before it runs something.
pub(crate) async fn server() -> Server {
    Rig::default().demo_agent().start().await
}

/// The token that agents may have.
pub(crate) async fn token_for_agents(server: &Server) -> String {
    let output = timeout(SOON, server.rig().command(&["mcp", "--print-token"]).output()).await.unwrap().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

impl Program {
    pub(crate) async fn try_http(base: &str, token: &str) -> Result<Program, String> {
        let http = tls::client().no_proxy().build().unwrap();
        let config = StreamableHttpClientTransportConfig::with_uri(format!("{base}/mcp")).auth_header(token);
        let heard = Heard::default();
        let served = timeout(SOON, heard.clone().serve(StreamableHttpClientTransport::with_client(http, config))).await;
        let service = served.map_err(|_| "no handshake".to_owned())?.map_err(|error| format!("{error:?}"))?;
        Ok(Program { service, heard, child: None })
    }

    pub(crate) async fn http(server: &Server) -> Program {
        Program::try_http(&server.base, server.token()).await.unwrap()
    }

    pub(crate) async fn stdio(server: &Server, args: &[&str]) -> Program {
        let mut child = server.rig().command(&[&["mcp"], args].concat()).stderr(Stdio::inherit()).spawn().unwrap();
        let pipes = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
        let heard = Heard::default();
        let service = timeout(SOON, heard.clone().serve(pipes)).await.expect("a handshake").unwrap();
        Program { service, heard, child: Some(child) }
    }

    /// `kill -9` of the command.
    pub(crate) fn kill(&self) {
        let pid = self.child.as_ref().and_then(|child| i32::try_from(child.id()?).ok());
        testkit::processes::signal(pid.expect("it goes through the command"), "KILL");
    }

    pub(crate) fn info(&self) -> Value {
        serde_json::to_value(self.service.peer_info().unwrap()).unwrap()
    }

    pub(crate) async fn tools(&self) -> Vec<Value> {
        let tools = timeout(SOON, self.service.list_all_tools()).await.unwrap().unwrap();
        tools.into_iter().map(|tool| serde_json::to_value(tool).unwrap()).collect()
    }

    pub(crate) async fn try_call(&self, name: &str, arguments: Value) -> Result<CallToolResult, ServiceError> {
        let call = CallToolRequestParams::new(name.to_owned()).with_arguments(arguments.as_object().unwrap().clone());
        timeout(SOON, self.service.call_tool(call)).await.unwrap_or_else(|_| panic!("{name}: no answer"))
    }

    /// The structured result of a call that works; its text says the same.
    pub(crate) async fn call(&self, name: &str, arguments: Value) -> Value {
        let result = self.try_call(name, arguments.clone()).await.unwrap();
        assert_ne!(result.is_error, Some(true), "{name} {arguments}: {result:?}");
        let structured = result.structured_content.clone().unwrap();
        for part in ["job_id", "state", "result"] {
            if let Some(part) = structured[part].as_str() {
                assert!(text(&result).contains(part), "{part}: {result:?}");
            }
        }
        structured
    }

    /// Why a call was refused, in words.
    pub(crate) async fn refused(&self, name: &str, arguments: Value) -> String {
        let result = self.try_call(name, arguments.clone()).await.unwrap();
        assert_eq!(result.is_error, Some(true), "{name} {arguments}: {result:?}");
        text(&result)
    }

    pub(crate) fn heard(&self) -> Vec<String> {
        self.heard.0.lock().unwrap().clone()
    }

    /// Waits for the job's end.
    pub(crate) async fn end_of(&self, job: &Value) -> Value {
        self.call("job", json!({ "job_id": job["job_id"], "wait_seconds": 50 })).await
    }

    pub(crate) async fn close(self) {
        self.service.cancel().await.unwrap();
    }
}

pub(crate) fn text(result: &CallToolResult) -> String {
    result.content.iter().filter_map(|block| block.as_text()).map(|text| text.text.clone()).collect()
}
