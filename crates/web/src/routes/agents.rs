//! Agents: the named sessions of a conversation, and the catalogue.

use axum::Json;
use axum::extract::{Path, State};
use domain::ids::SessionId;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::sessions::session_id;
use crate::App;
use crate::error::{ApiResult, ErrorBody};

#[derive(Serialize, ToSchema)]
pub struct AgentSessions {
    pub agents: Vec<AgentSessionView>,
}

#[derive(Serialize, ToSchema)]
pub struct AgentSessionView {
    pub name: String,
    pub agent: String,
    /// stored, opening, idle or running.
    pub state: String,
    pub mode: Option<String>,
    #[schema(value_type = Option<Object>)]
    pub options: Option<Value>,
    #[schema(value_type = Option<Object>)]
    pub usage: Option<Value>,
    pub title: Option<String>,
    /// The slash commands that it offers.
    #[schema(value_type = Option<Vec<domain::agent::Command>>)]
    pub commands: Option<Value>,
    /// new, resumed, loaded or lost: how it came to be in the running process.
    pub restored: Option<String>,
}

#[utoipa::path(get, operation_id = "agents_sessions", path = "/api/sessions/{id}/agents", params(("id" = SessionId, Path)),
    responses((status = 200, body = AgentSessions), (status = 404, body = ErrorBody)))]
pub async fn sessions(State(app): State<App>, Path(id): Path<String>) -> ApiResult<Json<AgentSessions>> {
    let views = app.engine.agent_sessions(session_id(&id)?).await?;
    let agents = views.into_iter().map(|view| AgentSessionView {
        name: view.name,
        agent: view.agent,
        state: view.state,
        mode: view.mode,
        options: view.options,
        usage: view.usage,
        title: view.title,
        commands: view.commands,
        restored: view.restored,
    });
    Ok(Json(AgentSessions { agents: agents.collect() }))
}

#[derive(Serialize, ToSchema)]
pub struct Catalogue {
    pub agents: Vec<CatalogueAgent>,
    /// The agent of a new session that names none.
    pub default: String,
}

#[derive(Serialize, ToSchema)]
pub struct CatalogueAgent {
    pub id: String,
    pub title: String,
    pub installed: bool,
    pub version: Option<String>,
}

#[utoipa::path(get, operation_id = "agents_catalogue", path = "/api/agents", responses((status = 200, body = Catalogue)))]
pub async fn catalogue(State(app): State<App>) -> Json<Catalogue> {
    let mut agents = Vec::new();
    for agent in app.engine.catalogue().await {
        agents.push(CatalogueAgent { id: agent.id, title: agent.title, installed: agent.installed, version: agent.version });
    }
    Json(Catalogue { agents, default: app.engine.settings().default_agent.clone() })
}
