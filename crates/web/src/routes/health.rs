//! Whether the server answers; the one call that needs no secret.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::App;

#[derive(Serialize, ToSchema)]
pub(crate) struct Health {
    pub status: &'static str,
    pub version: &'static str,
    /// Of this server until it ends: by it, it knows itself again where a proxy stands before it.
    pub instance: String,
}

#[utoipa::path(get, operation_id = "health", path = "/api/health", responses((status = 200, body = Health)), security(()))]
pub(crate) async fn health(State(app): State<App>) -> Json<Health> {
    Json(Health { status: "ok", version: env!("CARGO_PKG_VERSION"), instance: app.reach.instance().to_owned() })
}
