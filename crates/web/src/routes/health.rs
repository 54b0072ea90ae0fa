//! Whether the server answers; the one call that needs no secret.

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Serialize, ToSchema)]
pub(crate) struct Health {
    pub status: &'static str,
    pub version: &'static str,
}

#[utoipa::path(get, operation_id = "health", path = "/api/health", responses((status = 200, body = Health)), security(()))]
pub(crate) async fn health() -> Json<Health> {
    Json(Health { status: "ok", version: env!("CARGO_PKG_VERSION") })
}
