//! The models that a session can be given.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::App;
use crate::error::ApiResult;

#[derive(Serialize, ToSchema)]
pub(crate) struct ModelView {
    pub id: String,
    pub title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ModelList {
    /// The server's default first.
    pub models: Vec<ModelView>,
    /// Other models than `relay` can be asked.
    pub has_provider: bool,
    /// Why the provider's own list is not among them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

#[utoipa::path(get, operation_id = "models_list", path = "/api/models", responses((status = 200, body = ModelList)))]
pub(crate) async fn list(State(app): State<App>) -> ApiResult<Json<ModelList>> {
    let known = app.engine.models().await?;
    let view = |model: engine::ListedModel| ModelView { id: model.id, title: model.title, note: model.note.map(str::to_owned) };
    let has_provider = app.engine.choices().has_provider();
    Ok(Json(ModelList { has_provider, models: known.models.into_iter().map(view).collect(), error: known.error }))
}
