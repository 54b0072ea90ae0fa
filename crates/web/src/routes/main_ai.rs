//! The main AI, set up while the server runs: its provider and key, the provider's models, and a test call.
//!
//! A key comes in, and never goes out again: not in an answer, not into an event or the log. Only a device with full access may send one, and
//! only over a connection that nobody listens in on.

use axum::extract::rejection::JsonRejection;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::{Extension, Json, RequestExt};
use engine::{MainAi, ModelProblem};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::settings::rows;
use crate::App;
use crate::access::audit::Detail;
use crate::access::{Caller, guard};
use crate::configuration::NewMainAi;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::hosts;
use crate::peer::Peer;

#[derive(Serialize, ToSchema)]
pub(crate) struct MainAiView {
    pub providers: Vec<ProviderView>,
    /// What was set up in the page; none where nothing was, or where it doesn't count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current: Option<CurrentMainAi>,
    /// The variable, flag or file that sets it instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locked: Option<String>,
    /// Why this device can't add a key from where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<KeyRefusal>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ProviderView {
    pub id: String,
    pub host: String,
    pub needs_key: bool,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct CurrentMainAi {
    /// None for an OpenAI-compatible endpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// There is a key; it is never shown.
    pub has_key: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub added_at: Option<Timestamp>,
    /// The device that it came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added_by: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum KeyRefusal {
    /// The page came over plain HTTP from another machine.
    Insecure,
    /// It is no device, but a program with a token.
    Program,
}

/// A provider, the key for it and, where it is known, one of its models.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MainAiWanted {
    /// None for an OpenAI-compatible endpoint, which has a base URL.
    #[serde(default)]
    pub provider: Option<String>,
    #[serde(default)]
    pub base_url: Option<String>,
    #[serde(default)]
    pub api_key: Option<String>,
    #[serde(default)]
    pub model: String,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ProviderModels {
    /// Those to talk to come first.
    pub models: Vec<String>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct MainAiTrial {
    pub took_ms: u64,
    /// It called the tool that it was given.
    pub uses_tools: bool,
}

/// Who asks, and over what.
struct Origin(Result<String, KeyRefusal>);

impl Origin {
    fn of(caller: &Caller, peer: Peer, host: &str) -> Origin {
        let Some(device) = caller.device() else { return Origin(Err(KeyRefusal::Program)) };
        // A browser reaches a name of its own machine without a network in between, or through a tunnel.
        let is_safe = peer.secure || hosts::is_loopback(host);
        Origin(if is_safe { Ok(device.name.clone()) } else { Err(KeyRefusal::Insecure) })
    }

    /// The name of the device that may send a key.
    fn allow(self) -> ApiResult<String> {
        self.0.map_err(|refusal| {
            let message = match refusal {
                KeyRefusal::Insecure => {
                    "keys can't be added from here: this page came over plain HTTP. Open VoxPilot over HTTPS, or on the server itself"
                }
                KeyRefusal::Program => "keys are added in the page, from a device with full access",
            };
            ApiError::new(StatusCode::FORBIDDEN, "unsafe_origin", message)
        })
    }
}

fn origin(caller: &Caller, peer: Peer, request: &Request) -> Origin {
    Origin::of(caller, peer, guard::host(request.headers(), request.uri()).unwrap_or_default())
}

async fn wanted(request: Request) -> ApiResult<MainAiWanted> {
    let body: Result<Json<MainAiWanted>, JsonRejection> = request.extract().await;
    Ok(body?.0)
}

impl MainAiWanted {
    fn main_ai(&self) -> MainAi {
        let filled = |text: &Option<String>| text.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
        MainAi {
            provider: filled(&self.provider),
            base_url: filled(&self.base_url),
            api_key: filled(&self.api_key),
            model: self.model.trim().to_owned(),
        }
    }

    /// With a model.
    fn whole(&self) -> ApiResult<MainAi> {
        let main_ai = self.main_ai();
        if main_ai.model.is_empty() || main_ai.model == "relay" {
            return Err(ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", "choose a model"));
        }
        Ok(main_ai)
    }
}

impl From<ModelProblem> for ApiError {
    fn from(problem: ModelProblem) -> ApiError {
        ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, problem.code, problem.message)
    }
}

#[utoipa::path(get, operation_id = "main_ai_read", path = "/api/main-ai", responses((status = 200, body = MainAiView)))]
pub(crate) async fn read(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(peer): Extension<Peer>,
    request: Request,
) -> ApiResult<Json<MainAiView>> {
    let refused = origin(&caller, peer, &request).0.err();
    let configuration = app.configuration.clone();
    let state = tokio::task::spawn_blocking(move || (configuration.main_ai)()).await.map_err(ApiError::internal)?;
    let provider = |info: engine::ProviderInfo| ProviderView { id: info.id.to_owned(), host: info.host, needs_key: info.needs_key };
    let current = CurrentMainAi {
        provider: state.provider,
        base_url: state.base_url,
        has_key: state.has_key,
        added_at: state.added_at,
        added_by: state.added_by,
    };
    Ok(Json(MainAiView {
        providers: engine::providers().into_iter().map(provider).collect(),
        current: state.is_set.then_some(current),
        locked: state.locked,
        refused,
    }))
}

/// The models that the provider has for this key. Ends within 10 s, and with whoever asks.
#[utoipa::path(post, operation_id = "main_ai_models", path = "/api/main-ai/models", request_body = MainAiWanted,
    responses((status = 200, body = ProviderModels), (status = 403, body = ErrorBody), (status = 422, body = ErrorBody)))]
pub(crate) async fn models(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(peer): Extension<Peer>,
    request: Request,
) -> ApiResult<Json<ProviderModels>> {
    origin(&caller, peer, &request).allow()?;
    let models = app.engine.provider_models(&wanted(request).await?.main_ai()).await?;
    Ok(Json(ProviderModels { models }))
}

/// One short call of the model. Ends within 10 s, and with whoever asks.
#[utoipa::path(post, operation_id = "main_ai_test", path = "/api/main-ai/test", request_body = MainAiWanted,
    responses((status = 200, body = MainAiTrial), (status = 403, body = ErrorBody), (status = 422, body = ErrorBody)))]
pub(crate) async fn test(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(peer): Extension<Peer>,
    request: Request,
) -> ApiResult<Json<MainAiTrial>> {
    origin(&caller, peer, &request).allow()?;
    let tried = app.engine.try_main_ai(&wanted(request).await?.whole()?).await?;
    let took_ms = u64::try_from(tried.took.as_millis()).unwrap_or(u64::MAX);
    Ok(Json(MainAiTrial { took_ms, uses_tools: tried.uses_tools }))
}

/// From now on it is the main AI of new sessions. Nothing is asked of the provider.
#[utoipa::path(put, operation_id = "main_ai_set", path = "/api/main-ai", request_body = MainAiWanted,
    responses((status = 204), (status = 403, body = ErrorBody), (status = 409, body = ErrorBody), (status = 422, body = ErrorBody)))]
pub(crate) async fn set(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(peer): Extension<Peer>,
    request: Request,
) -> ApiResult<impl IntoResponse> {
    let added_by = origin(&caller, peer, &request).allow()?;
    let main_ai = wanted(request).await?.whole()?;
    let told = format!("{} at {}", main_ai.model, main_ai.host()?);
    let MainAi { provider, base_url, api_key, model } = main_ai;
    keep(&app, Some(NewMainAi { provider, base_url, api_key, model, added_at: Timestamp::now(), added_by })).await?;
    Ok((StatusCode::NO_CONTENT, Extension(Detail(told))))
}

/// Forgets the provider and its key.
#[utoipa::path(delete, operation_id = "main_ai_forget", path = "/api/main-ai", responses((status = 204), (status = 409, body = ErrorBody)))]
pub(crate) async fn forget(State(app): State<App>) -> ApiResult<StatusCode> {
    keep(&app, None).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn keep(app: &App, wanted: Option<NewMainAi>) -> ApiResult<()> {
    let _alone = app.choosing.acquire().await.map_err(ApiError::internal)?;
    let before = app.engine.store().preferences().await?;
    let (configuration, here) = (app.configuration.clone(), before.clone());
    let changed = tokio::task::spawn_blocking(move || (configuration.set_main_ai)(&here, wanted)).await;
    let (after, choices) = changed.map_err(ApiError::internal)??;
    app.engine.store().save(rows(&before, &after)).await?;
    app.engine.adopt(choices).await;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::*;

    #[test]
    fn a_program_is_no_device_however_it_comes() {
        let peer = Peer { ip: IpAddr::V4(Ipv4Addr::LOCALHOST), secure: true };
        assert_eq!(Origin::of(&Caller::Token, peer, "localhost:8000").0, Err(KeyRefusal::Program));
    }
}
