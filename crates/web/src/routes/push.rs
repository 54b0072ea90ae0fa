//! Notifications on the device that asks: on, off, and whether they arrive.

use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::http::StatusCode;
use axum::{Extension, Json};
use jiff::Timestamp;
use push::{Outcome, Subscription};
use serde::{Deserialize, Serialize};
use store::{DeviceRow, PushRow, ServerRow};
use utoipa::ToSchema;

use crate::App;
use crate::access::Caller;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::notify;
use crate::peer::Peer;

#[derive(Serialize, ToSchema)]
pub(crate) struct PushView {
    /// What the browser subscribes with.
    pub public_key: String,
    /// This device is told.
    pub subscribed: bool,
}

#[utoipa::path(get, operation_id = "push_read", path = "/api/push", responses((status = 200, body = PushView)))]
pub(crate) async fn read(State(app): State<App>, Extension(caller): Extension<Caller>) -> ApiResult<Json<PushView>> {
    let subscribed = match caller.device() {
        Some(device) => own(&app, device).await?.is_some(),
        None => false,
    };
    Ok(Json(PushView { public_key: app.push.public_key(), subscribed }))
}

/// As `PushSubscription` in the browser has it.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PushWanted {
    /// The address that the browser's push service has given it.
    pub endpoint: String,
    pub keys: PushKeys,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PushKeys {
    pub p256dh: String,
    pub auth: String,
}

#[utoipa::path(put, operation_id = "push_subscribe", path = "/api/push", request_body = PushWanted,
    responses((status = 204), (status = 409, body = ErrorBody), (status = 422, body = ErrorBody)))]
pub(crate) async fn subscribe(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(peer): Extension<Peer>,
    body: Result<Json<PushWanted>, JsonRejection>,
) -> ApiResult<StatusCode> {
    let Json(PushWanted { endpoint, keys }) = body?;
    let device = device(&caller)?;
    let bad = |message: String| ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", message);
    let to = Subscription::new(&endpoint, &keys.p256dh, &keys.auth).map_err(|error| bad(error.to_string()))?;
    // No device may make the server send requests into its own network.
    app.push.check(&to).await.map_err(|error| bad(error.to_string()))?;
    let row = PushRow { device: device.id, endpoint, p256dh: keys.p256dh, auth: keys.auth, created_at: Timestamp::now() };
    app.engine.store().save(vec![ServerRow::Push(row)]).await?;
    app.access.tell(&caller, peer, "notifications-on").await;
    Ok(StatusCode::NO_CONTENT)
}

#[utoipa::path(delete, operation_id = "push_unsubscribe", path = "/api/push", responses((status = 204), (status = 409, body = ErrorBody)))]
pub(crate) async fn unsubscribe(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Extension(peer): Extension<Peer>,
) -> ApiResult<StatusCode> {
    let device = device(&caller)?;
    app.engine.store().save(vec![ServerRow::RemovePush(device.id)]).await?;
    app.access.tell(&caller, peer, "notifications-off").await;
    Ok(StatusCode::NO_CONTENT)
}

/// Sends this device a notification that says so.
#[utoipa::path(post, operation_id = "push_test", path = "/api/push/test",
    responses((status = 202), (status = 409, body = ErrorBody), (status = 502, body = ErrorBody)))]
pub(crate) async fn test(State(app): State<App>, Extension(caller): Extension<Caller>) -> ApiResult<StatusCode> {
    let off = || conflict("notifications are off on this device: turn them on first");
    let row = own(&app, device(&caller)?).await?.ok_or_else(off)?;
    let to = Subscription::new(&row.endpoint, &row.p256dh, &row.auth).map_err(ApiError::internal)?;
    match app.push.send_once(&to, &notify::test()).await {
        Outcome::Accepted => Ok(StatusCode::ACCEPTED),
        Outcome::Gone => {
            notify::forget(app.engine.store(), row.endpoint).await;
            Err(conflict("the browser dropped its subscription: turn notifications on again"))
        }
        Outcome::Failed(why) => Err(ApiError::new(StatusCode::BAD_GATEWAY, "push_failed", why)),
    }
}

async fn own(app: &App, device: &DeviceRow) -> ApiResult<Option<PushRow>> {
    Ok(app.engine.store().pushes().await?.into_iter().find(|row| row.device == device.id))
}

fn device(caller: &Caller) -> ApiResult<&DeviceRow> {
    caller.device().ok_or_else(|| conflict("a program with the token is no device: it has no notifications"))
}

fn conflict(message: &str) -> ApiError {
    ApiError::new(StatusCode::CONFLICT, "conflict", message)
}
