//! What waits for a person, and the answer to it. The answer goes the way of a person's own, by the same rules.

use domain::agent::{OptionKind, PermissionOption, Run};
use domain::decision::Verdict;
use domain::event::{PermissionRequest, ToolCall};
use domain::ids::{PermissionId, SessionId};
use domain::runs_later;
use engine::AnsweredBy;

use super::tool::{self, OptionView, RequestList, RequestView};
use super::{Asker, Outcome, shortened, undisturbed};
use crate::App;
use crate::error::{ApiResult, invalid, not_found};

/// In characters: of a command or a diff, of anything else.
const LONG_MAX: usize = 4_000;
const SHORT_MAX: usize = 300;
const FILES_MAX: usize = 50;
/// How much of what waits is shown.
const REQUESTS_MAX: usize = 100;

const CONFIRM_OPTIONS: [(&str, &str, OptionKind); 2] =
    [("allow", "Allow", OptionKind::AllowOnce), ("reject", "Deny", OptionKind::RejectOnce)];

/// Only turns that run can wait, so only their sessions are looked at.
async fn sessions(app: &App) -> ApiResult<Vec<SessionId>> {
    let mut sessions: Vec<_> = app.engine.store().open_turns().await?.into_iter().map(|(session, _)| session).collect();
    sessions.dedup();
    Ok(sessions)
}

pub(super) async fn of_session(app: &App, session: SessionId) -> ApiResult<Vec<RequestView>> {
    let store = app.engine.store();
    let permissions = store.permissions(session).await?.into_iter().map(|row| permission(session, row.request));
    let confirms = store.confirms(session).await?.into_iter().map(|call| confirmation(session, call));
    Ok(permissions.chain(confirms).take(REQUESTS_MAX).collect())
}

fn permission(session: SessionId, request: PermissionRequest) -> RequestView {
    let warnings = runs_later::warnings(&request.ask);
    let ask = request.ask;
    let option = |option: &PermissionOption| OptionView {
        option_id: option.option_id.clone(),
        name: shortened(&ask.label(option), SHORT_MAX),
        kind: option.kind,
    };
    let options = ask.options.iter().take(FILES_MAX).map(option).collect();
    RequestView {
        request_id: request.request_id.to_string(),
        session_id: session.to_string(),
        kind: if ask.form.is_some() { "form" } else { "permission" },
        title: shortened(&ask.title, SHORT_MAX),
        command: ask.command.map(|command| shortened(&command, LONG_MAX)),
        cwd: ask.cwd.map(|cwd| shortened(&cwd, SHORT_MAX)),
        files: ask.files.iter().take(FILES_MAX).map(|file| shortened(&file.path, SHORT_MAX)).collect(),
        warnings: warnings
            .iter()
            .take(FILES_MAX)
            .map(|warning| shortened(&format!("{}: {}", warning.path, warning.text), SHORT_MAX))
            .collect(),
        diff: ask.diff.map(|diff| shortened(&diff, LONG_MAX)),
        words: ask.run.as_deref().and_then(Run::words).map(<[String]>::to_vec),
        options,
    }
}

fn confirmation(session: SessionId, call: ToolCall) -> RequestView {
    let option = |(id, name, kind): (&str, &str, OptionKind)| OptionView { option_id: id.into(), name: name.into(), kind };
    RequestView {
        request_id: call.id,
        session_id: session.to_string(),
        kind: "confirmation",
        title: shortened(&call.name, SHORT_MAX),
        command: Some(shortened(&call.arguments, LONG_MAX)),
        words: None,
        cwd: None,
        files: Vec::new(),
        warnings: Vec::new(),
        diff: None,
        options: CONFIRM_OPTIONS.into_iter().map(option).collect(),
    }
}

pub(super) fn told(request: &RequestView) -> String {
    let RequestView { request_id, session_id, kind, title, .. } = request;
    let mut text = format!("{kind}: {title}\n  request_id: {request_id}\n  session_id: {session_id}\n");
    let mut line = |name: &str, value: &Option<String>| {
        if let Some(value) = value {
            text.push_str(&format!("  {name}: {value}\n"));
        }
    };
    line("command", &request.command);
    line("words", &request.words.as_ref().map(|_| "it runs without a shell".to_owned()));
    line("in", &request.cwd);
    line("diff", &request.diff);
    if !request.files.is_empty() {
        text.push_str(&format!("  files: {}\n", request.files.join(", ")));
    }
    request.warnings.iter().for_each(|warning| text.push_str(&format!("  warning: {warning}\n")));
    let options = request.options.iter().map(|option| format!("{} ({}, {})", option.option_id, option.name, option.kind.as_str()));
    text.push_str(&format!("  options: {}\n", options.collect::<Vec<_>>().join("; ")));
    text
}

pub(super) async fn waiting(app: &App, wanted: tool::Waiting) -> ApiResult<Outcome> {
    let sessions = match wanted.session_id {
        Some(session) => vec![session.parse().map_err(|_| invalid("this is no session_id: `list_sessions` shows them"))?],
        None => sessions(app).await?,
    };
    let mut waiting = Vec::new();
    for session in sessions {
        app.engine.row(session).await?;
        waiting.extend(of_session(app, session).await?);
        waiting.truncate(REQUESTS_MAX);
    }
    let text = waiting.iter().map(told).collect::<Vec<_>>().join("\n");
    Ok(Outcome::new(RequestList { waiting }, if text.is_empty() { "nothing waits for a person".to_owned() } else { text }))
}

pub(super) async fn answer(app: &App, asker: &Asker, wanted: tool::Answer) -> ApiResult<Outcome> {
    let (session, request) = find(app, &wanted.request_id).await?;
    let option = chosen(&request, wanted.option_id.as_deref(), wanted.approved)?;
    let (own, asker, said) = (app.clone(), asker.clone(), option.clone());
    undisturbed(app, async move {
        let detail = format!("{}: {}", said.name, request.title);
        if request.kind == "confirmation" {
            own.engine.confirm(session, request.request_id, said.kind.verdict() == Verdict::Allow).await?;
            asker.tell(&own, "tool-answered", session, &detail).await;
        } else {
            let id: PermissionId = request.request_id.parse().map_err(|_| not_found("request"))?;
            own.engine.answer(session, id, engine::Answer::once(said.option_id, AnsweredBy::Mcp)).await?;
            asker.tell(&own, "permission-answered", session, &detail).await;
        }
        Ok(())
    })
    .await?;
    let done = tool::Answered { request_id: wanted.request_id, session_id: session.to_string(), answer: option.option_id };
    let text = format!("answered with {} ({})", done.answer, option.name);
    Ok(Outcome::new(done, text))
}

async fn find(app: &App, request_id: &str) -> ApiResult<(SessionId, RequestView)> {
    for session in sessions(app).await? {
        if let Some(request) = of_session(app, session).await?.into_iter().find(|request| request.request_id == request_id) {
            return Ok((session, request));
        }
    }
    Err(invalid("nothing of that request_id waits: it is answered or gone; `waiting` shows what does"))
}

/// `approved` goes by the kind of an option alone, and a yes is for this once; whatever the agent calls its options, a no is no yes.
fn chosen(request: &RequestView, option_id: Option<&str>, approved: Option<bool>) -> ApiResult<OptionView> {
    let of = |kinds: &[OptionKind]| kinds.iter().find_map(|kind| request.options.iter().find(|option| option.kind == *kind));
    let found = match (option_id, approved) {
        (Some(id), None) => request.options.iter().find(|option| option.option_id == id),
        (None, Some(true)) => of(&[OptionKind::AllowOnce]),
        (None, Some(false)) => of(&OptionKind::REJECT),
        _ => return Err(invalid("say either `option_id` or `approved`")),
    };
    let offered = || request.options.iter().map(|option| option.option_id.as_str()).collect::<Vec<_>>().join(", ");
    found.cloned().ok_or_else(|| invalid(format!("that is not offered: there is {}", offered())))
}
