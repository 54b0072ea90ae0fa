//! The devices that are let in: list, rename, revoke, add another; and what a device does about itself.

use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{AppendHeaders, IntoResponse};
use axum::{Extension, Json};
use domain::device::DeviceKind;
use domain::ids::DeviceId;
use jiff::Timestamp;
use qrcode::QrCode;
use qrcode::render::svg;
use serde::{Deserialize, Serialize};
use store::DeviceRow;
use utoipa::ToSchema;

use crate::App;
use crate::access::audit::Detail;
use crate::access::{Caller, device, guard, name};
use crate::error::{ApiError, ApiResult, ErrorBody, not_found};
use crate::id::Id;
use crate::peer::Peer;
use crate::routes::reach;

const QR_PIXELS: u32 = 240;

#[derive(Serialize, ToSchema)]
pub(crate) struct DeviceList {
    /// The latest used first.
    pub devices: Vec<DeviceView>,
}

/// A browser or program that is let in.
#[derive(Serialize, ToSchema)]
pub(crate) struct DeviceView {
    pub id: DeviceId,
    pub name: String,
    pub kind: DeviceKind,
    #[schema(value_type = String, format = "date-time")]
    pub created_at: Timestamp,
    /// To the minute.
    #[schema(value_type = String, format = "date-time")]
    pub last_used_at: Timestamp,
    /// Later where it is used before.
    #[schema(value_type = String, format = "date-time")]
    pub expires_at: Timestamp,
    /// Where it was last seen.
    pub address: String,
    /// It is the one that asks.
    pub current: bool,
}

impl DeviceView {
    fn new(row: DeviceRow, caller: &Caller) -> DeviceView {
        DeviceView {
            current: caller.device().is_some_and(|own| own.id == row.id),
            expires_at: device::expires_at(&row),
            id: row.id,
            name: row.name,
            kind: row.kind,
            created_at: row.created_at,
            last_used_at: row.last_used_at,
            address: row.address,
        }
    }
}

#[utoipa::path(get, operation_id = "devices_list", path = "/api/devices", responses((status = 200, body = DeviceList)))]
pub(crate) async fn list(State(app): State<App>, Extension(caller): Extension<Caller>) -> Json<DeviceList> {
    let devices = app.access.devices.list().into_iter().map(|row| DeviceView::new(row, &caller)).collect();
    Json(DeviceList { devices })
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DevicePatch {
    pub name: String,
}

#[utoipa::path(patch, operation_id = "devices_rename", path = "/api/devices/{device_id}", params(("device_id" = DeviceId, Path)),
    request_body = DevicePatch,
    responses((status = 200, body = DeviceView), (status = 404, body = ErrorBody), (status = 422, body = ErrorBody)))]
pub(crate) async fn rename(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<DeviceId>,
    body: Result<Json<DevicePatch>, JsonRejection>,
) -> ApiResult<impl IntoResponse> {
    let Json(patch) = body?;
    let name = given_name(&patch.name)?;
    let row = app.access.devices.rename(id, name).await?.ok_or_else(|| not_found("device"))?;
    Ok((Extension(Detail(row.name.clone())), Json(DeviceView::new(row, &caller))))
}

/// It is let in no more, and what it reads ends at once.
#[utoipa::path(delete, operation_id = "devices_revoke", path = "/api/devices/{device_id}", params(("device_id" = DeviceId, Path)),
    responses((status = 204), (status = 404, body = ErrorBody)))]
pub(crate) async fn revoke(State(app): State<App>, Id(id): Id<DeviceId>) -> ApiResult<impl IntoResponse> {
    let row = app.access.devices.remove(id).await?.ok_or_else(|| not_found("device"))?;
    Ok((Extension(Detail(row.name)), StatusCode::NO_CONTENT))
}

#[derive(Deserialize, ToSchema, Default)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewLink {
    /// What the device that it lets in may do; everything where nothing is said.
    #[serde(default)]
    pub kind: DeviceKind,
    /// How that device is called; what its browser says of itself where nothing is said.
    pub name: Option<String>,
    /// Where it comes in: one of the addresses of `GET /api/reach`. Where nothing is said, the one that this request came to.
    pub address: Option<String>,
}

/// Lets in one device, once.
#[derive(Serialize, ToSchema)]
pub(crate) struct DeviceLink {
    /// To open on the other device.
    pub url: String,
    /// To type on its login page instead.
    pub code: String,
    /// The address as a QR code, an SVG image.
    pub qr_svg: String,
    pub kind: DeviceKind,
    #[schema(value_type = String, format = "date-time")]
    pub expires_at: Timestamp,
    /// Of the server's own certificate, where it has one: what the other device shows must be the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
}

#[utoipa::path(post, operation_id = "devices_link", path = "/api/devices/link", request_body = NewLink,
    responses((status = 201, body = DeviceLink), (status = 422, body = ErrorBody)))]
pub(crate) async fn link(
    State(app): State<App>,
    Extension(peer): Extension<Peer>,
    address: Uri,
    headers: HeaderMap,
    body: Result<Json<NewLink>, JsonRejection>,
) -> ApiResult<impl IntoResponse> {
    let Json(new) = body?;
    let name = new.name.as_deref().map(given_name).transpose()?;
    let chosen = new.address.as_deref().map(|url| reach::named(&app, url)).transpose()?;
    let made = app.access.links.make(new.kind, name).await?;
    let (base, fingerprint) = match chosen {
        Some(chosen) => (chosen.url, chosen.fingerprint),
        None => {
            let base = app.access.url_for_others(peer, guard::host(&headers, &address).unwrap_or_default());
            let named = reach::named(&app, &base).ok().and_then(|address| address.fingerprint);
            (base, named.or_else(|| app.fingerprint()))
        }
    };
    let url = format!("{base}/login?link={}", made.secret);
    let qr_svg = QrCode::new(&url).map(|code| code.render::<svg::Color>().min_dimensions(QR_PIXELS, QR_PIXELS).build());
    let detail = if new.kind == DeviceKind::Full { "full" } else { "read-only" };
    let link = DeviceLink {
        url,
        code: made.shown_code(),
        qr_svg: qr_svg.expect("an address is short enough for a QR code"),
        kind: new.kind,
        expires_at: made.expires_at,
        fingerprint,
    };
    Ok((StatusCode::CREATED, Extension(Detail(detail.to_owned())), Json(link)))
}

fn given_name(text: &str) -> ApiResult<String> {
    name::given(text).ok_or_else(|| ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", name::FORM))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PageKey {
    /// The key that the sign-in page was given. The page keeps it where only pages of this very address can read it.
    pub key: String,
}

/// Says whether this is the key of the device's page. Browsers send the cookie to every port of a host, so it is accepted only along with
/// the key that came with the sign-in, as the header `X-VoxPilot-Key`, or as `key=` in the address of what cannot send one.
#[utoipa::path(post, operation_id = "devices_key", path = "/api/devices/key", request_body = PageKey,
    responses((status = 204), (status = 409, body = ErrorBody, description = "it is not the key of this device")))]
pub(crate) async fn key(Extension(caller): Extension<Caller>, body: Result<Json<PageKey>, JsonRejection>) -> ApiResult<StatusCode> {
    let Json(PageKey { key }) = body?;
    let conflict = |message: &str| ApiError::new(StatusCode::CONFLICT, "conflict", message);
    let device = caller.device().ok_or_else(|| conflict("a program with the token is no device: it has no page"))?;
    match device::is_key_of(device, &key) {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(conflict("this device belongs to another page: sign in again with a link of `voxpilot link`")),
    }
}

/// Ends the device that asks. One whose page has lost its key only forgets its cookie: whoever just has the cookie cannot end it.
#[utoipa::path(post, operation_id = "logout", path = "/api/logout", responses((status = 204), (status = 409, body = ErrorBody)))]
pub(crate) async fn logout(
    State(app): State<App>,
    Extension(peer): Extension<Peer>,
    Extension(caller): Extension<Caller>,
) -> ApiResult<impl IntoResponse> {
    let Caller::Device { device, proven } = &caller else {
        let message = "a program with the token is no device: change the token to lock it out";
        return Err(ApiError::new(StatusCode::CONFLICT, "conflict", message));
    };
    if *proven {
        app.access.devices.remove(device.row.id).await?;
        app.access.tell(&caller, peer, "sign-out").await;
    }
    Ok((StatusCode::NO_CONTENT, AppendHeaders([(header::SET_COOKIE, app.access.clear_cookie(peer))])))
}
