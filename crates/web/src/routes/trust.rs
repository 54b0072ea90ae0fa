//! The work directory's own settings: what of them needs the person's consent, and the consent.

use axum::Json;
use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::trust::{ProjectFile, TrustRefusal};
use crate::{App, Trust};

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TrustConsent {
    /// Of the content that the person has seen.
    pub hash: String,
}

/// The file in the work directory as it is now.
#[utoipa::path(get, operation_id = "trust_look", path = "/api/trust", responses((status = 200, body = ProjectFile)))]
pub(crate) async fn look(State(app): State<App>) -> ApiResult<Json<ProjectFile>> {
    ask(&app, |trust| (trust.look)()).await.map(Json)
}

/// The server starts again with all of the file; clients reconnect.
#[utoipa::path(post, operation_id = "trust_consent", path = "/api/trust", request_body = TrustConsent,
    responses((status = 202), (status = 409, body = ErrorBody), (status = 422, body = ErrorBody)))]
pub(crate) async fn consent(State(app): State<App>, body: Result<Json<TrustConsent>, JsonRejection>) -> ApiResult<StatusCode> {
    let Json(consent) = body?;
    ask(&app, move |trust| (trust.consent)(&consent.hash)).await?;
    Ok(StatusCode::ACCEPTED)
}

/// The server starts again without what needs consent; clients reconnect.
#[utoipa::path(delete, operation_id = "trust_revoke", path = "/api/trust", responses((status = 202)))]
pub(crate) async fn revoke(State(app): State<App>) -> ApiResult<StatusCode> {
    ask(&app, |trust| (trust.revoke)()).await?;
    Ok(StatusCode::ACCEPTED)
}

async fn ask<T: Send + 'static>(app: &App, ask: impl FnOnce(&Trust) -> Result<T, TrustRefusal> + Send + 'static) -> ApiResult<T> {
    let trust = app.trust.clone();
    let asked = tokio::task::spawn_blocking(move || ask(&trust)).await;
    asked.map_err(ApiError::internal)?.map_err(ApiError::from)
}

impl From<TrustRefusal> for ApiError {
    fn from(refusal: TrustRefusal) -> ApiError {
        match refusal {
            TrustRefusal::Changed => {
                ApiError::new(StatusCode::CONFLICT, "conflict", "the file has changed: review it again before you trust it")
            }
            TrustRefusal::Unusable(problem) => ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", problem),
            TrustRefusal::Failed(problem) => ApiError::internal(problem),
        }
    }
}
