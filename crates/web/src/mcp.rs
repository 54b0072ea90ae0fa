//! VoxPilot as an MCP server: other programs hand out work here, and come back for it whenever they like.
//!
//! No MCP session is kept: every request stands alone, so a client goes on after a restart of the server as if nothing had been. What
//! is handed out is a message of a session, and its job is that message's turn: there is nothing here to remember or to lose.

mod ask;
mod delegate;
mod job;
mod read;
mod simple;
mod tool;
mod wait;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use domain::ids::SessionId;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation, JsonObject, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::access::{Caller, audit};
use crate::error::{ApiError, ApiResult, ErrorBody, invalid};
use crate::peer::Peer;
use crate::routes::messages::within;
use crate::{App, BODY_MAX};
use wait::Progress;

const INSTRUCTIONS: &str = "VoxPilot runs coding agents in durable sessions. `delegate` hands out work and gives a job_id; the work goes on \
     whether or not you wait or live. `job` tells how it stands and gives its result, also to another process and after a restart. \
     A job in the state `waiting` needs a person's answer: `waiting` shows what is asked.";

/// One message of the Model Context Protocol (streamable HTTP, without sessions). The tools describe themselves: `tools/list`.
#[utoipa::path(post, operation_id = "mcp", path = "/mcp", request_body = Object,
    responses((status = 200, description = "a JSON-RPC answer, or an event stream that ends with it"), (status = 202),
        (status = 401, body = ErrorBody), (status = 403, body = ErrorBody), (status = 413, body = ErrorBody)))]
pub(crate) async fn serve(State(app): State<App>, request: Request) -> Response {
    let request = match within(request, BODY_MAX, "a message").await {
        Ok(request) => request,
        Err(error) => return error.into_response(),
    };
    let request = match simple::only(request, &app).await {
        Ok(request) => request,
        Err(error) => return error.into_response(),
    };
    // Whose host it is and which page asks was looked at before: `access::guard`.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_sse_retry(None)
        .with_max_request_body_bytes(BODY_MAX);
    let tools = move || Ok(Tools { app: app.clone() });
    StreamableHttpService::new(tools, Arc::new(NeverSessionManager::default()), config).handle(request).await.map(Body::new)
}

struct Tools {
    app: App,
}

/// Who calls a tool, and from where.
#[derive(Clone)]
struct Asker {
    caller: Caller,
    peer: Peer,
}

impl Asker {
    fn of(context: &RequestContext<RoleServer>) -> Option<Asker> {
        let parts = context.extensions.get::<Parts>()?;
        Some(Asker { caller: parts.extensions.get::<Caller>()?.clone(), peer: Peer::of(&parts.extensions) })
    }

    /// An agent must not be able to approve what it asks itself, or what one asks that it has set to work.
    fn may_answer(&self) -> bool {
        !self.is_agent()
    }

    fn is_agent(&self) -> bool {
        matches!(self.caller, Caller::Agent)
    }

    async fn tell(&self, app: &App, action: &str, session: SessionId, detail: &str) {
        let who = self.caller.who(self.peer);
        audit::write_of(app.engine.store(), who, action, Some(session), Some(&format!("MCP: {detail}"))).await;
    }
}

/// What a tool gives back: for programs, and for whoever reads.
struct Outcome {
    structured: Value,
    text: String,
}

impl Outcome {
    fn new(structured: impl Serialize, text: String) -> Outcome {
        Outcome { structured: serde_json::to_value(structured).expect("what tools give back is plain data"), text }
    }
}

impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("voxpilot", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let may_answer = Asker::of(&context).is_some_and(|asker| asker.may_answer());
        Ok(ListToolsResult::with_all_items(tool::all().into_iter().filter(|tool| may_answer || tool.name != tool::ANSWER).collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tool::all().into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(&self, call: CallToolRequestParams, context: RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
        let asker = Asker::of(&context).ok_or_else(|| ErrorData::internal_error("who calls is not known", None))?;
        let outcome = self.call(&asker, &call.name, call.arguments.unwrap_or_default(), Progress::of(&context)).await;
        let result = match outcome {
            Some(Ok(outcome)) => {
                let mut result = CallToolResult::success(vec![ContentBlock::text(outcome.text)]);
                result.structured_content = Some(outcome.structured);
                result
            }
            // As a result, so that a model reads why.
            Some(Err(error)) => CallToolResult::error(vec![ContentBlock::text(error.told().into_owned())]),
            None => return Err(ErrorData::invalid_params(format!("there is no tool `{}`", call.name), None)),
        };
        Ok(result.into())
    }
}

impl Tools {
    /// `None` where there is no such tool for this caller.
    async fn call(&self, asker: &Asker, name: &str, arguments: JsonObject, progress: Option<Progress>) -> Option<ApiResult<Outcome>> {
        let app = &self.app;
        Some(match name {
            tool::DELEGATE => with(arguments, |wanted| delegate::delegate(app, asker, wanted, progress)).await,
            tool::JOB => with(arguments, |wanted| job::job(app, wanted, progress)).await,
            tool::LIST_SESSIONS => with(arguments, |wanted| read::sessions(app, wanted)).await,
            tool::READ_SESSION => with(arguments, |wanted| read::session(app, wanted)).await,
            tool::WAITING => with(arguments, |wanted| ask::waiting(app, wanted)).await,
            tool::ANSWER if asker.may_answer() => with(arguments, |wanted| ask::answer(app, asker, wanted)).await,
            tool::STOP => with(arguments, |wanted| job::stop(app, asker, wanted)).await,
            _ => return None,
        })
    }
}

async fn with<Wanted: DeserializeOwned, Done>(arguments: JsonObject, tool: impl FnOnce(Wanted) -> Done) -> ApiResult<Outcome>
where
    Done: Future<Output = ApiResult<Outcome>>,
{
    let wanted = serde_json::from_value(Value::Object(arguments)).map_err(|error| invalid(format!("the arguments are wrong: {error}")))?;
    tool(wanted).await
}

/// Whoever hangs up in the middle has still done it: it goes on without them, and is told.
async fn undisturbed<Done: Send + 'static>(app: &App, act: impl Future<Output = ApiResult<Done>> + Send + 'static) -> ApiResult<Done> {
    app.access.acting.spawn(act).await.unwrap_or_else(|error| Err(ApiError::internal(error)))
}

/// The first `max` characters, with a word on how many there are more.
fn shortened(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{}… ({} more characters)", &text[..end], text[end..].chars().count()),
        None => text.to_owned(),
    }
}
