//! How other devices reach the server, and the address in the network that is opened and closed here.

use axum::extract::rejection::JsonRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::IntoResponse;
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use utoipa::{IntoParams, ToSchema};

use crate::App;
use crate::access::audit::Detail;
use crate::access::{guard, origin};
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::peer::Peer;
use crate::reach::{self, OpenError, ReachAddress, TailscaleView, TurnOnError};

#[derive(Serialize, ToSchema)]
pub(crate) struct ReachView {
    /// The address it was started with.
    pub listens: String,
    pub port: u16,
    /// Only this machine can open that.
    pub local_only: bool,
    /// Where other devices may come in. Each is to be checked before it is given to anybody.
    pub addresses: Vec<ReachAddress>,
    pub network: NetworkView,
    pub tailscale: TailscaleView,
    /// The command that starts this server, without its address and encryption.
    pub command: String,
}

/// A second address in the network, which is opened and closed here.
#[derive(Serialize, ToSchema)]
pub(crate) struct NetworkView {
    /// What can be opened.
    pub candidates: Vec<NetworkAddress>,
    /// What is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// What was opened and is not open just now: this machine has another address, or something else listens there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct NetworkAddress {
    pub address: String,
    /// Only a network of one's own leads there, as far as can be told from it.
    pub private: bool,
}

#[utoipa::path(get, operation_id = "reach_look", path = "/api/reach", responses((status = 200, body = ReachView)))]
pub(crate) async fn look(State(app): State<App>) -> Json<ReachView> {
    Json(view(&app).await)
}

async fn view(app: &App) -> ReachView {
    let reach = &app.reach;
    let candidates = match reach.is_local() {
        true => reach.own().into_iter().map(|ip| NetworkAddress { address: ip.to_string(), private: is_private(ip) }).collect(),
        false => Vec::new(),
    };
    let open = reach.now().map(|door| door.url());
    let missing = reach.wanted().filter(|_| open.is_none()).map(|address| address.to_string());
    ReachView {
        listens: reach.main().to_string(),
        port: reach.main().port(),
        local_only: reach.is_local(),
        addresses: reach.addresses(app.fingerprint().as_deref()),
        network: NetworkView { candidates, url: open, missing },
        tailscale: reach.tailscale().await,
        command: reach.command().to_owned(),
    }
}

fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(four) => {
            let [first, second, ..] = four.octets();
            let is_shared = first == 100 && second & 0b1100_0000 == 64;
            four.is_private() || four.is_loopback() || four.is_link_local() || is_shared
        }
        IpAddr::V6(six) => six.is_unique_local() || six.is_unicast_link_local() || six.is_loopback(),
    }
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Checked {
    /// One of the addresses that the server named.
    pub url: String,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ReachAnswer {
    /// This server answered there, to itself. Whether a firewall keeps others out is not known.
    pub answers: bool,
    /// What happened instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Has the server open one of its own addresses, within some seconds.
#[utoipa::path(get, operation_id = "reach_check", path = "/api/reach/check", params(Checked),
    responses((status = 200, body = ReachAnswer), (status = 422, body = ErrorBody)))]
pub(crate) async fn check(State(app): State<App>, Query(Checked { url }): Query<Checked>) -> ApiResult<Json<ReachAnswer>> {
    let address = named(&app, &url)?;
    let shown = [app.certificate(), app.reach.now().map(|door| door.certificates.current())];
    let own = shown.into_iter().flatten().map(|certificate| certificate.borrow().der.clone()).collect();
    let problem = reach::answers(&address, own, app.reach.instance()).await.err();
    Ok(Json(ReachAnswer { answers: problem.is_none(), problem }))
}

/// One of the addresses that were named: the server opens no other, and gives none to a device.
pub(crate) fn named(app: &App, url: &str) -> ApiResult<ReachAddress> {
    let mut addresses = app.reach.addresses(app.fingerprint().as_deref()).into_iter();
    addresses.find(|address| address.url == url).ok_or_else(|| invalid("this is no longer an address of the server: reload the list"))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OpenNetwork {
    /// One of the candidates.
    pub address: String,
}

/// Opens an address in the network, encrypted, beside the one that the server was started with, until it is closed; also over restarts.
#[utoipa::path(put, operation_id = "reach_open", path = "/api/reach/network", request_body = OpenNetwork,
    responses((status = 200, body = ReachView), (status = 403, body = ErrorBody), (status = 409, body = ErrorBody), (status = 422, body = ErrorBody)))]
pub(crate) async fn open(
    State(app): State<App>,
    Extension(peer): Extension<Peer>,
    asked: Uri,
    headers: HeaderMap,
    body: Result<Json<OpenNetwork>, JsonRejection>,
) -> ApiResult<impl IntoResponse> {
    let Json(OpenNetwork { address }) = body?;
    expect_safe(&headers, &asked, peer)?;
    if !app.reach.is_local() {
        return Err(conflict("the server already listens on the network"));
    }
    let ip = address.parse().ok().filter(|ip| app.reach.own().contains(ip));
    let ip = ip.ok_or_else(|| invalid("this is not an address of the server's machine"))?;
    app.reach.turn_on(ip, app.engine.store()).await?;
    let opened = app.reach.now().map(|door| door.url()).unwrap_or_default();
    Ok((Extension(Detail(opened)), Json(view(&app).await)))
}

/// Whoever came through it is cut off.
#[utoipa::path(delete, operation_id = "reach_close", path = "/api/reach/network", responses((status = 204), (status = 403, body = ErrorBody)))]
pub(crate) async fn close(
    State(app): State<App>,
    Extension(peer): Extension<Peer>,
    asked: Uri,
    headers: HeaderMap,
) -> ApiResult<StatusCode> {
    expect_safe(&headers, &asked, peer)?;
    app.reach.turn_off(app.engine.store()).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn expect_safe(headers: &HeaderMap, asked: &Uri, peer: Peer) -> ApiResult<()> {
    let host = guard::host(headers, asked).unwrap_or_default();
    match origin::is_safe(headers, host, peer.secure) {
        true => Ok(()),
        false => {
            let message = "this can be changed only on the server's machine or over HTTPS: others could read the traffic here";
            Err(ApiError::new(StatusCode::FORBIDDEN, "unsafe_origin", message))
        }
    }
}

fn invalid(message: &str) -> ApiError {
    ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", message)
}

fn conflict(message: impl Into<String>) -> ApiError {
    ApiError::new(StatusCode::CONFLICT, "conflict", message.into())
}

impl From<TurnOnError> for ApiError {
    fn from(error: TurnOnError) -> ApiError {
        match error {
            TurnOnError::Store(error) => error.into(),
            TurnOnError::Open(OpenError::Tls(error)) => ApiError::internal(error),
            TurnOnError::Open(error) => conflict(error.to_string()),
        }
    }
}
