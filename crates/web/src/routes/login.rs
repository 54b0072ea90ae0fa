//! An agent's own login: runs it and streams what it prints.

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use engine::Login;
use futures::{Stream, StreamExt};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use crate::App;
use crate::error::{ApiResult, ErrorBody};

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct LoginQuery {
    /// The login was done elsewhere: run nothing, only try again what waits for it.
    #[serde(default)]
    done: bool,
}

#[derive(Deserialize, Default, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LoginBody {
    /// One of the ways that the agent offers (`auth_methods` of its capabilities), by its id; its own command or its first way without one.
    pub method: Option<String>,
}

/// Runs the login and streams its output as text; its last line says how it ended. Prompts that wait for the login are tried again
/// when it has worked.
#[utoipa::path(post, operation_id = "login", path = "/api/agents/{id}/login", params(("id" = String, Path), LoginQuery),
    request_body = Option<LoginBody>,
    responses((status = 200, description = "what the login prints", body = String, content_type = "text/plain"),
              (status = 409, body = ErrorBody), (status = 422, body = ErrorBody)))]
pub(crate) async fn login(
    State(app): State<App>,
    Path(id): Path<String>,
    query: Result<Query<LoginQuery>, QueryRejection>,
    body: Result<Option<Json<LoginBody>>, JsonRejection>,
) -> ApiResult<Response> {
    let Query(query) = query?;
    let method = body?.and_then(|Json(body)| body.method);
    let headers = [(header::CONTENT_TYPE, "text/plain; charset=utf-8"), (header::CACHE_CONTROL, "no-store")];
    if query.done {
        app.engine.logged_in(&id).await;
        return Ok((headers, "trying again\n").into_response());
    }
    let login = app.engine.login(&id, method.as_deref()).await?;
    Ok((headers, Body::from_stream(pieces(app, id, login))).into_response())
}

struct Reader {
    app: App,
    agent: String,
    login: Login,
}

fn pieces(app: App, agent: String, login: Login) -> impl Stream<Item = Result<Bytes, std::convert::Infallible>> {
    futures::stream::unfold(Some(Reader { app, agent, login }), |reader| async move {
        let mut reader = reader?;
        if let Some(piece) = reader.login.output().await {
            return Some((Ok(Bytes::from(plain(&piece))), Some(reader)));
        }
        let worked = reader.login.succeeded().await;
        if worked {
            reader.app.engine.logged_in(&reader.agent).await;
        }
        let last = if worked { "\nlogin finished\n" } else { "\nlogin failed\n" };
        Some((Ok(Bytes::from_static(last.as_bytes())), None))
    })
    .fuse()
}

/// What a terminal would show, without the marks that only a terminal understands.
fn plain(piece: &[u8]) -> String {
    let text = String::from_utf8_lossy(piece);
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\u{1b}' => skip_escape(&mut characters),
            '\n' | '\t' => plain.push(character),
            control if control.is_control() => {}
            other => plain.push(other),
        }
    }
    plain
}

/// Skips an escape sequence: `ESC [ … letter`, or `ESC` and one character.
fn skip_escape(characters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    if characters.next() == Some('[') {
        while characters.next().is_some_and(|next| !next.is_ascii_alphabetic()) {}
    }
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn terminal_marks_are_left_out() {
        assert_eq!(plain(b"\x1b[1;32mcode\x1b[0m: AB-CD\r\n\x07"), "code: AB-CD\n");
        assert_eq!(plain(b"\x1b[2K\x1b]x"), "x");
    }
}
