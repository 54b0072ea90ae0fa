//! The answers to permissions that are remembered: list, revoke.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use domain::ids::{RuleId, SessionId};
use domain::rule::Rule;
use serde::Serialize;
use utoipa::ToSchema;

use crate::App;
use crate::error::{ApiResult, ErrorBody};
use crate::id::Id;

#[derive(Serialize, ToSchema)]
pub(crate) struct RuleList {
    /// Those of the session and those of its work directory, oldest first.
    pub rules: Vec<RuleView>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct RuleView {
    #[serde(flatten)]
    pub rule: Rule,
    /// What it covers, in words.
    pub text: String,
}

#[utoipa::path(get, operation_id = "rules_list", path = "/api/sessions/{id}/permission-rules", params(("id" = SessionId, Path)),
    responses((status = 200, body = RuleList), (status = 404, body = ErrorBody)))]
pub(crate) async fn list(State(app): State<App>, Id(session): Id<SessionId>) -> ApiResult<Json<RuleList>> {
    let rules = app.engine.rules(session).await?.into_iter();
    Ok(Json(RuleList { rules: rules.map(|rule| RuleView { text: rule.text(), rule }).collect() }))
}

#[utoipa::path(delete, operation_id = "rules_revoke", path = "/api/sessions/{id}/permission-rules/{rule_id}",
    params(("id" = SessionId, Path), ("rule_id" = RuleId, Path)),
    responses((status = 204), (status = 404, body = ErrorBody)))]
pub(crate) async fn revoke(State(app): State<App>, Id(session): Id<SessionId>, Id(rule): Id<RuleId>) -> ApiResult<StatusCode> {
    app.engine.revoke(session, rule).await?;
    Ok(StatusCode::NO_CONTENT)
}
