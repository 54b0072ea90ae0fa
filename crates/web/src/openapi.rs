//! The description of the API, made from the handlers themselves.

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::response::IntoResponse;
use axum::routing::get;
use domain::event::Event;
use utoipa::OpenApi;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouterExt};
use utoipa_axum::routes;

use crate::routes::{
    agents, artifacts, attachments, audit, changes, conversations, devices, files, health, login, messages, models, queue, reach, rules,
    search, sessions, stream,
};
use crate::routes::{main_ai, metrics, push, review, server, settings, trace, trust, turn};
use crate::{App, mcp};

#[derive(OpenApi)]
#[openapi(
    info(title = "VoxPilot", description = "A self-hosted cockpit for coding agents.", license(name = "MIT OR Apache-2.0")),
    components(schemas(Event, render::hunks::DiffHunk, engine::Side))
)]
struct Document;

/// The calls and their description, which cannot differ.
pub(crate) fn router() -> (Router<App>, utoipa::openapi::OpenApi) {
    of_the_server(of_a_session(OpenApiRouter::with_openapi(Document::openapi()))).split_for_parts()
}

fn of_a_session(router: OpenApiRouter<App>) -> OpenApiRouter<App> {
    router
        .routes(routes!(health::health))
        .routes(routes!(server::read, server::change))
        .routes(routes!(sessions::list, sessions::create))
        .routes(routes!(sessions::read, sessions::change, sessions::delete))
        .routes(routes!(stream::stream))
        .routes(routes!(stream::many))
        .routes(routes!(search::search))
        .routes(routes!(models::list))
        .routes(routes!(main_ai::read, main_ai::set, main_ai::forget))
        .routes(routes!(main_ai::models))
        .routes(routes!(main_ai::test))
        .routes(
            routes!(messages::list, messages::post)
                .layer(DefaultBodyLimit::max(messages::BODY_MAX))
                .layer(axum::middleware::from_fn(messages::refuse_too_large)),
        )
        .routes(routes!(messages::read))
        .routes(routes!(attachments::read))
        .routes(routes!(files::search))
        .routes(routes!(files::view))
        .routes(routes!(files::picture))
        .routes(routes!(files::viewable))
        .routes(routes!(changes::read))
        .routes(routes!(changes::file))
        .routes(routes!(changes::lines))
        .routes(routes!(changes::picture))
        .routes(routes!(changes::revert))
        .routes(routes!(changes::undo))
        .routes(routes!(changes::commit))
        .routes(routes!(changes::draft))
        .routes(routes!(changes::project))
        .routes(routes!(queue::list))
        .routes(routes!(queue::edit, queue::withdraw))
        .routes(routes!(queue::now))
        .routes(routes!(queue::send_next))
        .routes(routes!(turn::cancel))
        .routes(routes!(turn::confirm))
        .routes(routes!(turn::permission))
        .routes(routes!(turn::take_back))
        .routes(routes!(rules::list))
        .routes(routes!(rules::revoke))
        .routes(routes!(agents::sessions))
        .routes(routes!(trace::list))
        .routes(routes!(trace::capture))
        .routes(routes!(trace::entry))
        .routes(routes!(agents::set))
}

fn of_the_server(router: OpenApiRouter<App>) -> OpenApiRouter<App> {
    router
        .routes(routes!(agents::catalogue))
        .routes(routes!(agents::npx))
        .routes(routes!(agents::sign_out))
        .routes(routes!(agents::test))
        .routes(routes!(agents::install))
        .routes(routes!(agents::stop_chore))
        .routes(routes!(agents::own_sessions))
        .routes(routes!(conversations::list, conversations::ask))
        .routes(routes!(login::login))
        .routes(routes!(artifacts::read))
        .routes(routes!(review::artifact_viewed))
        .routes(routes!(review::artifact_comment))
        .routes(routes!(review::artifact_comment_edit, review::artifact_comment_remove))
        .routes(routes!(review::artifact_submit))
        .routes(routes!(review::read))
        .routes(routes!(review::viewed))
        .routes(routes!(review::comment))
        .routes(routes!(review::comment_edit, review::comment_remove))
        .routes(routes!(review::submit))
        .routes(routes!(devices::list))
        .routes(routes!(devices::rename, devices::revoke))
        .routes(routes!(devices::link))
        .routes(routes!(devices::key))
        .routes(routes!(devices::logout))
        .routes(routes!(audit::list))
        .routes(routes!(settings::list, settings::change))
        .routes(routes!(push::read, push::subscribe, push::unsubscribe))
        .routes(routes!(push::test))
        .routes(routes!(reach::look))
        .routes(routes!(reach::check))
        .routes(routes!(reach::open, reach::close))
        .routes(routes!(trust::look, trust::consent, trust::revoke))
        .routes(routes!(metrics::read))
        .routes(routes!(mcp::serve))
}

/// The document alone, for whoever makes types from it.
pub fn document() -> String {
    let (_, document) = router();
    document.to_pretty_json().expect("the description is plain data")
}

pub(crate) fn route(document: utoipa::openapi::OpenApi) -> Router<App> {
    let text = document.to_json().expect("the description is plain data");
    Router::new().route("/api/openapi.json", get(async move || ([("content-type", "application/json")], text.clone()).into_response()))
}
