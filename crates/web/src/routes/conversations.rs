//! All conversations, ours and those that only the agents keep.

use axum::Json;
use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use domain::ids::SessionId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::App;
use crate::error::{ApiResult, ErrorBody};

#[derive(Serialize, ToSchema)]
pub(crate) struct Conversations {
    /// By the directory that they are about; the one with the latest activity first.
    pub directories: Vec<ConversationDirectory>,
    /// The agents that may keep some of their own, and whether they were asked.
    pub agents: Vec<AskedAgent>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ConversationDirectory {
    pub work_dir: String,
    /// The latest first.
    pub conversations: Vec<Conversation>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Conversation {
    pub title: String,
    pub agent: String,
    /// The session; null where only the agent keeps it, and then it can be continued by `agent_session_id`.
    pub session_id: Option<SessionId>,
    pub agent_session_id: Option<String>,
    /// waiting (for a person), running, queued, idle; stored where only the agent keeps it.
    pub state: String,
    pub updated_at: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct AskedAgent {
    pub agent: String,
    /// It was asked since the server started.
    pub looked: bool,
    /// Why it could not tell.
    pub problem: Option<String>,
}

#[derive(Deserialize, ToSchema, Default)]
#[serde(deny_unknown_fields)]
pub(crate) struct AskAgents {
    /// Which agents to ask; all that can be, where it is left out.
    pub agents: Option<Vec<String>>,
}

/// Ours, and what the agents said when they were last asked.
#[utoipa::path(get, operation_id = "conversations_list", path = "/api/conversations", responses((status = 200, body = Conversations)))]
pub(crate) async fn list(State(app): State<App>) -> ApiResult<Json<Conversations>> {
    Ok(Json(app.engine.conversations().await?.into()))
}

/// Asks the agents for what they keep themselves. It starts them, one after the other, so it may take a while.
#[utoipa::path(post, operation_id = "conversations_ask", path = "/api/conversations", request_body = AskAgents,
    responses((status = 200, body = Conversations), (status = 422, body = ErrorBody)))]
pub(crate) async fn ask(State(app): State<App>, body: Result<Json<AskAgents>, JsonRejection>) -> ApiResult<Json<Conversations>> {
    let Json(AskAgents { agents }) = body?;
    Ok(Json(app.engine.ask_for_conversations(agents).await?.into()))
}

impl From<engine::Conversations> for Conversations {
    fn from(all: engine::Conversations) -> Conversations {
        let conversation = |conversation: engine::Conversation| Conversation {
            title: conversation.title,
            agent: conversation.agent,
            session_id: conversation.session,
            agent_session_id: conversation.agent_session,
            state: conversation.state.to_owned(),
            updated_at: conversation.updated_at,
        };
        let directory = |directory: engine::Directory| ConversationDirectory {
            work_dir: directory.work_dir,
            conversations: directory.conversations.into_iter().map(conversation).collect(),
        };
        let asked = |asked: engine::Asked| AskedAgent { agent: asked.agent, looked: asked.looked, problem: asked.problem };
        Conversations {
            directories: all.directories.into_iter().map(directory).collect(),
            agents: all.agents.into_iter().map(asked).collect(),
        }
    }
}
