//! Every setting, and the choice of those that can be chosen here.

use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::{Extension, Json};
use serde::Serialize;
use serde_json::{Map, Value};
use store::ServerRow;
use utoipa::ToSchema;

use crate::App;
use crate::access::audit::Detail;
use crate::configuration::{Here, SettingRefusal, SettingView};
use crate::error::{ApiError, ApiResult, ErrorBody};

#[derive(Serialize, ToSchema)]
pub(crate) struct SettingList {
    pub settings: Vec<SettingView>,
}

#[utoipa::path(get, operation_id = "settings_list", path = "/api/settings", responses((status = 200, body = SettingList)))]
pub(crate) async fn list(State(app): State<App>) -> ApiResult<Json<SettingList>> {
    let here = app.engine.store().preferences().await?;
    let configuration = app.configuration.clone();
    let listed = tokio::task::spawn_blocking(move || (configuration.list)(&here)).await;
    Ok(Json(SettingList { settings: listed.map_err(ApiError::internal)? }))
}

/// Values by their key; null takes back what was chosen here. All of them, or none.
#[utoipa::path(patch, operation_id = "settings_change", path = "/api/settings", request_body = HashMap<String, Value>,
    responses((status = 204), (status = 409, body = ErrorBody), (status = 422, body = ErrorBody)))]
pub(crate) async fn change(State(app): State<App>, body: Result<Json<Map<String, Value>>, JsonRejection>) -> ApiResult<impl IntoResponse> {
    let Json(values) = body?;
    let named = values.keys().cloned().collect::<Vec<_>>().join(", ");
    choose(&app, values).await?;
    Ok((StatusCode::NO_CONTENT, Extension(Detail(named))))
}

/// Stored first: what holds is never weaker or other than what the next server would go by.
pub(crate) async fn choose(app: &App, values: Map<String, Value>) -> ApiResult<()> {
    let _alone = app.choosing.acquire().await.map_err(ApiError::internal)?;
    let before = app.engine.store().preferences().await?;
    let (configuration, here) = (app.configuration.clone(), before.clone());
    let changed = tokio::task::spawn_blocking(move || (configuration.change)(&here, &values)).await;
    let (after, choices) = changed.map_err(ApiError::internal)??;
    app.engine.store().save(rows(&before, &after)).await?;
    app.engine.adopt(choices).await;
    Ok(())
}

pub(super) fn rows(before: &Here, after: &Here) -> Vec<ServerRow> {
    let removed = before.keys().filter(|key| !after.contains_key(*key)).map(|key| ServerRow::RemovePreference { key: key.clone() });
    let set = after.iter().filter(|(key, value)| before.get(*key) != Some(value));
    removed.chain(set.map(|(key, value)| ServerRow::Preference { key: key.clone(), value: value.clone() })).collect()
}

impl From<SettingRefusal> for ApiError {
    fn from(refusal: SettingRefusal) -> ApiError {
        match refusal {
            SettingRefusal::Fixed(message) => ApiError::new(StatusCode::CONFLICT, "conflict", message),
            SettingRefusal::Unknown(message) | SettingRefusal::Bad(message) => {
                ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", message)
            }
        }
    }
}
