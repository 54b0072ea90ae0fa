//! Who did what, from which device.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use domain::ids::DeviceId;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use store::AuditRow;
use utoipa::{IntoParams, ToSchema};

use crate::App;
use crate::error::{ApiResult, ErrorBody};

const PAGE: u32 = 50;
const PAGE_MAX: u32 = 200;

#[derive(Serialize, ToSchema)]
pub(crate) struct AuditList {
    /// Newest first.
    pub entries: Vec<AuditEntry>,
    /// Give it back as `before` to go on; missing where nothing older is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct AuditEntry {
    pub id: u64,
    #[schema(value_type = String, format = "date-time")]
    pub at: Timestamp,
    /// Missing for programs with the token, and for strangers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_id: Option<DeviceId>,
    /// What the device was called then; `token` for programs.
    pub device: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// sign-in, sign-out, prompt, permission-answered, device-revoked, …
    pub action: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct AuditQuery {
    before: Option<u64>,
    limit: Option<u32>,
}

#[utoipa::path(get, operation_id = "audit", path = "/api/audit", params(AuditQuery),
    responses((status = 200, body = AuditList), (status = 400, body = ErrorBody)))]
pub(crate) async fn list(State(app): State<App>, query: Result<Query<AuditQuery>, QueryRejection>) -> ApiResult<Json<AuditList>> {
    let Query(query) = query?;
    let limit = query.limit.unwrap_or(PAGE).clamp(1, PAGE_MAX);
    let mut rows = app.engine.store().audit(query.before, limit + 1).await?;
    let more = rows.len() > limit as usize;
    rows.truncate(limit as usize);
    let next = rows.last().filter(|_| more).map(|row| row.id);
    Ok(Json(AuditList { entries: rows.into_iter().map(AuditEntry::from).collect(), next }))
}

impl From<AuditRow> for AuditEntry {
    fn from(row: AuditRow) -> AuditEntry {
        AuditEntry {
            id: row.id,
            at: row.at,
            device_id: row.device_id,
            device: row.device,
            address: row.address,
            action: row.action,
            detail: row.detail,
        }
    }
}
