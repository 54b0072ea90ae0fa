//! What the page has to know of the server itself, and what people choose for all of it.

use axum::Json;
use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::http::StatusCode;
use domain::policy::Policy;
use engine::Disk;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::App;
use crate::error::{ApiResult, ErrorBody};
use crate::routes::settings;

#[derive(Serialize, ToSchema)]
pub(crate) struct ServerView {
    pub version: &'static str,
    /// What the project calls itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What one might begin with, as the project suggests.
    pub suggestions: Vec<String>,
    /// The last part of the work directory's path.
    pub work_dir_name: String,
    pub model: String,
    pub agent: String,
    /// What a new session with a main AI gets.
    pub permission_policy: Policy,
    /// What a new session gets in which the person talks straight to an agent.
    pub relay_policy: Policy,
    /// Somebody has chosen the policy, here or in the configuration.
    pub policy_chosen: bool,
    /// It serves HTTPS itself.
    pub tls: bool,
    /// Left out where it cannot be measured just now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk: Option<DiskView>,
}

/// How much room the data directory takes.
#[derive(Serialize, ToSchema)]
pub(crate) struct DiskView {
    pub used_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quota_bytes: Option<u64>,
    pub free_bytes: u64,
    /// What people should know before the disk is full.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

impl From<Disk> for DiskView {
    fn from(disk: Disk) -> DiskView {
        let Disk { used_bytes, quota_bytes, free_bytes, warning } = disk;
        DiskView { used_bytes, quota_bytes, free_bytes, warning }
    }
}

#[utoipa::path(get, operation_id = "server_read", path = "/api/server", responses((status = 200, body = ServerView)))]
pub(crate) async fn read(State(app): State<App>) -> Json<ServerView> {
    let (settings, choices) = (app.engine.settings(), app.engine.choices());
    Json(ServerView {
        version: env!("CARGO_PKG_VERSION"),
        title: choices.project_title.clone(),
        suggestions: choices.suggestions.clone(),
        work_dir_name: settings.work_dir.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
        model: choices.model.clone(),
        agent: choices.default_agent.clone(),
        permission_policy: app.engine.default_policy(false),
        relay_policy: app.engine.default_policy(true),
        policy_chosen: app.engine.is_policy_chosen(),
        tls: app.certificate().is_some(),
        disk: app.engine.disk().await.ok().map(DiskView::from),
    })
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ServerPatch {
    /// For all sessions with a main AI that have no policy of their own.
    pub permission_policy: Policy,
}

#[utoipa::path(patch, operation_id = "server_change", path = "/api/server", request_body = ServerPatch,
    responses((status = 204), (status = 409, body = ErrorBody), (status = 422, body = ErrorBody)))]
pub(crate) async fn change(State(app): State<App>, body: Result<Json<ServerPatch>, JsonRejection>) -> ApiResult<StatusCode> {
    let Json(patch) = body?;
    let chosen = serde_json::Value::from(patch.permission_policy.as_str());
    settings::choose(&app, [("permission_policy".to_owned(), chosen)].into_iter().collect()).await?;
    Ok(StatusCode::NO_CONTENT)
}
