//! Agents: the named sessions of a conversation, and the catalogue.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use domain::ids::SessionId;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use crate::App;
use crate::error::{ApiResult, ErrorBody};
use crate::id::Id;

#[derive(Serialize, ToSchema)]
pub(crate) struct AgentSessions {
    pub agents: Vec<AgentSessionView>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct AgentSessionView {
    pub name: String,
    pub agent: String,
    /// stored, opening, idle or running.
    pub state: String,
    pub mode: Option<String>,
    /// What can be set and how it is, as the agent describes it; modes and models are among them.
    #[schema(value_type = Option<Vec<AgentOption>>)]
    pub options: Option<Value>,
    /// What was set and the agent has not been told yet, by option id; it is told with the next prompt.
    #[schema(value_type = Option<HashMap<String, Value>>)]
    pub wanted: Option<Value>,
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
pub(crate) async fn sessions(State(app): State<App>, Id(session): Id<SessionId>) -> ApiResult<Json<AgentSessions>> {
    let views = app.engine.agent_sessions(session).await?;
    Ok(Json(AgentSessions { agents: views.into_iter().map(AgentSessionView::from).collect() }))
}

impl From<engine::AgentSessionView> for AgentSessionView {
    fn from(view: engine::AgentSessionView) -> AgentSessionView {
        AgentSessionView {
            name: view.name,
            agent: view.agent,
            state: view.state,
            mode: view.mode,
            options: view.options,
            wanted: view.wanted,
            usage: view.usage,
            title: view.title,
            commands: view.commands,
            restored: view.restored,
        }
    }
}

/// An option as agents describe it; more fields may come.
#[derive(Serialize, ToSchema)]
pub(crate) struct AgentOption {
    pub id: String,
    pub name: Option<String>,
    pub description: Option<String>,
    /// mode, model, thought_level, or what the agent says.
    pub category: Option<String>,
    /// select or boolean.
    #[serde(rename = "type")]
    pub kind: String,
    /// A text, or true or false.
    #[serde(rename = "currentValue")]
    pub current_value: Value,
    /// What can be chosen, perhaps in groups.
    pub options: Option<Vec<AgentChoice>>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct AgentChoice {
    pub value: Option<String>,
    pub name: Option<String>,
    pub description: Option<String>,
    /// Of a group: its choices.
    #[schema(no_recursion)]
    pub options: Option<Vec<AgentChoice>>,
}

/// Each may be named as the agent does, by the name that people see, or by the last part of an address (`plan`).
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentPatch {
    pub mode: Option<String>,
    pub model: Option<String>,
    /// By option id: a text, or true or false.
    #[serde(default)]
    #[schema(value_type = Option<HashMap<String, Value>>)]
    pub options: BTreeMap<String, Value>,
}

/// The session's own id is read apart from the name.
#[derive(Deserialize)]
pub(crate) struct AgentName {
    name: String,
}

#[utoipa::path(patch, operation_id = "agents_set", path = "/api/sessions/{id}/agents/{name}",
    params(("id" = SessionId, Path), ("name" = String, Path)), request_body = AgentPatch,
    responses((status = 200, body = AgentSessionView), (status = 404, body = ErrorBody), (status = 422, body = ErrorBody)))]
pub(crate) async fn set(
    State(app): State<App>,
    Id(session): Id<SessionId>,
    Path(agent): Path<AgentName>,
    body: Result<Json<AgentPatch>, JsonRejection>,
) -> ApiResult<Json<AgentSessionView>> {
    let Json(patch) = body?;
    let mut wanted = patch.options;
    let named = [("mode", patch.mode), ("model", patch.model)];
    wanted.extend(named.into_iter().filter_map(|(key, value)| Some((key.to_owned(), Value::String(value?)))));
    let view = app.engine.set_options(session, agent.name, wanted).await?;
    Ok(Json(view.into()))
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Catalogue {
    pub agents: Vec<CatalogueAgent>,
    /// The agent of a new session that names none.
    pub default: String,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct CatalogueAgent {
    pub id: String,
    pub title: String,
    /// What it is good at, in a line; may be empty.
    pub about: String,
    pub installed: bool,
    /// How its program is found: path, npm (npm's own directory, which is not in PATH), npx (fetched at its start), built_in or remote;
    /// null where it is missing.
    pub found: Option<String>,
    pub version: Option<String>,
    /// Whether it let us work when it was last asked; null where that is not known.
    pub logged_in: Option<bool>,
    /// What it said that it can do; null until it was started.
    #[schema(value_type = Option<Object>)]
    pub capabilities: Option<Value>,
    /// What it can do, in the same words for every agent.
    pub abilities: Vec<Ability>,
    /// missing, installing, unknown, ok, login_required or failing.
    pub health: String,
    /// Why it could not be started last time, or cannot be at all; while it is installed, what was last said about that.
    pub problem: Option<String>,
    /// What holds an agent that is to be sandboxed: landlock, bubblewrap, or unavailable, and then it is not started; null where it is
    /// not to be sandboxed.
    pub sandbox: Option<String>,
    /// What the sandbox does not hold on this machine: metadata, sockets, signals, processes or sharing. SECURITY.md says what they mean.
    pub sandbox_open: Vec<String>,
    /// How one that is missing can be had; null where it is there, or nobody knows.
    pub install: Option<AgentInstall>,
    /// How a person logs in by hand; null where nobody knows.
    pub login: Option<AgentLogin>,
    /// There is a login that `POST /api/agents/{id}/login` can run.
    pub can_login: bool,
    /// When this version was tested last; null where it never was.
    pub tested: Option<AgentTested>,
    /// A test or an installation that is under way, or has failed.
    pub chore: Option<AgentChore>,
    /// `POST /api/agents/{id}/logout` can sign out of it.
    pub can_logout: bool,
    /// It can delete its own record of a session, see `agent_records` of `DELETE /api/sessions/{id}`.
    pub deletes_records: bool,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct AgentInstall {
    /// What to type in a terminal of the server's machine.
    pub command: String,
    /// It could be fetched by npx when it is started, and may not yet.
    pub npx: bool,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct AgentTested {
    #[schema(format = "date-time")]
    pub at: String,
    pub version: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct AgentChore {
    /// test or install.
    pub kind: String,
    /// What it does now, or did last; may be empty.
    pub step: String,
    pub done: u32,
    /// How many steps there are; 0 where nobody knows.
    pub of: u32,
    #[schema(value_type = String, format = "date-time")]
    pub since: Timestamp,
    /// Why it failed; null while it is under way.
    pub problem: Option<String>,
}

impl From<engine::Chore> for AgentChore {
    fn from(chore: engine::Chore) -> AgentChore {
        let engine::Chore { kind, step, done, of, since, problem } = chore;
        AgentChore { kind: kind.as_str().to_owned(), step, done, of, since, problem }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct AgentLogin {
    /// What to type in a terminal of the machine on which the agent runs.
    pub command: String,
}

impl From<engine::CatalogueEntry> for CatalogueAgent {
    fn from(entry: engine::CatalogueEntry) -> CatalogueAgent {
        CatalogueAgent {
            id: entry.id,
            title: entry.title,
            about: entry.about,
            installed: entry.installed,
            found: entry.found.map(str::to_owned),
            version: entry.version,
            logged_in: entry.logged_in,
            capabilities: entry.capabilities,
            abilities: entry.abilities.into_iter().map(Ability::from).collect(),
            health: entry.health.to_owned(),
            problem: entry.problem,
            sandbox: entry.sandbox.map(str::to_owned),
            sandbox_open: entry.sandbox_open.into_iter().map(str::to_owned).collect(),
            install: entry.install.map(|install| AgentInstall { command: install.command, npx: install.npx }),
            login: entry.login.map(|command| AgentLogin { command }),
            can_login: entry.can_login,
            tested: entry.tested.map(|tested| AgentTested { at: tested.at, version: tested.version }),
            chore: entry.chore.map(AgentChore::from),
            can_logout: entry.can_logout,
            deletes_records: entry.deletes_records,
        }
    }
}

/// One thing that an agent can or cannot do.
#[derive(Serialize, ToSchema)]
pub(crate) struct Ability {
    pub id: String,
    pub title: String,
    /// yes, no or unknown; of `restores` loaded, resumed, recap or no; of `second_prompt` queued, cancels or steers.
    pub value: String,
    /// Who says so: probe (it was tried), agent (its own words) or known; null where nobody does.
    pub source: Option<String>,
}

impl From<engine::Ability> for Ability {
    fn from(ability: engine::Ability) -> Ability {
        let source = ability.source.map(str::to_owned);
        Ability { id: ability.id.to_owned(), title: ability.title.to_owned(), value: ability.value.to_owned(), source }
    }
}

#[utoipa::path(get, operation_id = "agents_catalogue", path = "/api/agents", responses((status = 200, body = Catalogue)))]
pub(crate) async fn catalogue(State(app): State<App>) -> Json<Catalogue> {
    let agents = app.engine.catalogue().into_iter().map(CatalogueAgent::from).collect();
    Json(Catalogue { agents, default: app.engine.choices().default_agent.clone() })
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NpxPermission {
    pub allowed: bool,
}

/// Lets npx fetch an agent that is not installed when it is started, or no longer. Nothing is fetched by this.
#[utoipa::path(post, operation_id = "agents_npx", path = "/api/agents/{id}/npx", params(("id" = String, Path)), request_body = NpxPermission,
    responses((status = 200, body = CatalogueAgent), (status = 409, body = ErrorBody), (status = 422, body = ErrorBody)))]
pub(crate) async fn npx(
    State(app): State<App>,
    Path(id): Path<String>,
    body: Result<Json<NpxPermission>, JsonRejection>,
) -> ApiResult<Json<CatalogueAgent>> {
    let Json(permission) = body?;
    Ok(Json(app.engine.allow_npx(&id, permission.allowed).await?.into()))
}

/// Tries out what the agent can do, offline and in a directory of its own. `GET /api/agents` says how far it is.
#[utoipa::path(post, operation_id = "agents_test", path = "/api/agents/{id}/test", params(("id" = String, Path)),
    responses((status = 200, body = CatalogueAgent), (status = 409, body = ErrorBody), (status = 422, body = ErrorBody)))]
pub(crate) async fn test(State(app): State<App>, Path(id): Path<String>) -> ApiResult<Json<CatalogueAgent>> {
    Ok(Json(app.engine.test_agent(&id)?.into()))
}

/// Runs `install.command` as the server's user. `GET /api/agents` says how far it is.
#[utoipa::path(post, operation_id = "agents_install", path = "/api/agents/{id}/install", params(("id" = String, Path)),
    responses((status = 200, body = CatalogueAgent), (status = 409, body = ErrorBody), (status = 422, body = ErrorBody)))]
pub(crate) async fn install(State(app): State<App>, Path(id): Path<String>) -> ApiResult<Json<CatalogueAgent>> {
    Ok(Json(app.engine.install_agent(&id)?.into()))
}

/// Stops a test or an installation, or forgets that it failed.
#[utoipa::path(delete, operation_id = "agents_stop_chore", path = "/api/agents/{id}/chore", params(("id" = String, Path)),
    responses((status = 200, body = CatalogueAgent), (status = 422, body = ErrorBody)))]
pub(crate) async fn stop_chore(State(app): State<App>, Path(id): Path<String>) -> ApiResult<Json<CatalogueAgent>> {
    Ok(Json(app.engine.stop_chore(&id)?.into()))
}

/// Has the agent forget who is signed in. Starts the agent for as long as it takes. A process of it that runs keeps what it knows until it ends.
#[utoipa::path(post, operation_id = "agents_logout", path = "/api/agents/{id}/logout", params(("id" = String, Path)),
    responses((status = 200, body = CatalogueAgent), (status = 409, body = ErrorBody), (status = 422, body = ErrorBody), (status = 503, body = ErrorBody)))]
pub(crate) async fn sign_out(State(app): State<App>, Path(id): Path<String>) -> ApiResult<Json<CatalogueAgent>> {
    Ok(Json(app.engine.sign_out(&id).await?.into()))
}

#[derive(Serialize, ToSchema)]
pub(crate) struct AgentsOwnList {
    /// The latest first.
    pub sessions: Vec<AgentsOwn>,
}

/// A session that an agent keeps by itself.
#[derive(Serialize, ToSchema)]
pub(crate) struct AgentsOwn {
    pub agent_session_id: String,
    pub work_dir: String,
    pub title: Option<String>,
    pub updated_at: Option<String>,
    /// The session that it belongs to already; without one it can be continued.
    pub session_id: Option<SessionId>,
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct OwnQuery {
    /// Only those of this directory; all below the server's work directory otherwise.
    work_dir: Option<String>,
}

/// What an agent has stored, also from outside of VoxPilot. Starts the agent for as long as it takes, so it is no `GET`.
#[utoipa::path(post, operation_id = "agents_own_sessions", path = "/api/agents/{id}/sessions", params(("id" = String, Path), OwnQuery),
    responses((status = 200, body = AgentsOwnList), (status = 409, body = ErrorBody), (status = 422, body = ErrorBody), (status = 503, body = ErrorBody)))]
pub(crate) async fn own_sessions(
    State(app): State<App>,
    Path(id): Path<String>,
    query: Result<Query<OwnQuery>, QueryRejection>,
) -> ApiResult<Json<AgentsOwnList>> {
    let Query(query) = query?;
    let found = app.engine.agents_own(&id, query.work_dir.as_deref().map(std::path::Path::new)).await?;
    let sessions = found.into_iter().map(|own| AgentsOwn {
        agent_session_id: own.agent_session,
        work_dir: own.work_dir.to_string_lossy().into_owned(),
        title: own.title,
        updated_at: own.updated_at,
        session_id: own.owner,
    });
    Ok(Json(AgentsOwnList { sessions: sessions.collect() }))
}
