//! Handing out work: the session that it goes to, found or made, and the message that it is.

use domain::ids::{SessionId, TurnId};
use engine::{Refusal, Wanted};
use store::SessionRow;
use uuid::Uuid;

use super::job::{self, JobId};
use super::tool;
use super::wait::{self, Progress};
use super::{Asker, Outcome, undisturbed};
use crate::App;
use crate::error::{ApiError, ApiResult, invalid, not_found};
use crate::routes::messages::check_client_id;
use crate::routes::sessions::check_title;

/// So many turns may be at work when another is handed out: an agent that delegates to agents that delegate comes to an end.
const AT_WORK_MAX: usize = 32;
const NAME_MAX: usize = 60;
/// What the main AI without a model is called: it passes on what it is given.
const RELAY: &str = "relay";
/// What ids of sessions are made in from a client's own id.
const SESSIONS_BY_CLIENT: Uuid = Uuid::from_u128(0x7a0f_63a1_5d1e_4c39_9a55_0c1d_e1e6_a7e5);

pub(super) async fn delegate(app: &App, asker: &Asker, wanted: tool::Delegate, mut progress: Option<Progress>) -> ApiResult<Outcome> {
    check(&wanted)?;
    let wait = job::seconds(wanted.wait_seconds);
    let (own, asker) = (app.clone(), asker.clone());
    let job = undisturbed(app, async move { start(&own, &asker, wanted).await }).await?;
    if !wait.is_zero() {
        if let Some(progress) = &mut progress {
            // Whoever hears this can come back, whatever happens to the answer.
            progress.say(format!("job_id: {job}")).await;
        }
        wait::for_news(app, job, wait, Default::default(), progress).await?;
    }
    job::view(app, job, 0).await
}

fn check(wanted: &tool::Delegate) -> ApiResult<()> {
    check_client_id(wanted.client_id.as_deref())?;
    check_title(wanted.session.as_deref())?;
    let sound = |name: &str| {
        name.len() <= NAME_MAX && !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
    };
    if wanted.name.as_deref().is_some_and(|name| !sound(name)) {
        return Err(invalid(format!("`name` has 1 to {NAME_MAX} letters, digits, `.`, `_` and `-`")));
    }
    if wanted.prompt.trim().is_empty() {
        return Err(invalid("the prompt is empty: say in words what is to be done"));
    }
    if wanted.session.as_deref().is_some_and(|session| session.trim().is_empty()) {
        return Err(invalid("`session` is empty: give an id or a title, or leave it out for a new session"));
    }
    Ok(())
}

/// Begins the work, or finds what the same `client_id` has begun before.
async fn start(app: &App, asker: &Asker, wanted: tool::Delegate) -> ApiResult<JobId> {
    let one_at_a_time = app.delegating.acquire().await.map_err(ApiError::internal)?;
    let found = find(app, &wanted).await?;
    if let (Some(found), Some(client_id)) = (&found, &wanted.client_id)
        && let Some(turn) = begun(app, found.id, client_id).await?
    {
        return Ok(JobId { session: found.id, turn });
    }
    let at_work = app.engine.store().open_turns().await?.len();
    if at_work >= AT_WORK_MAX {
        let message = format!("{at_work} turns are at work already: wait until one of them is over (`list_sessions`), or stop one");
        return Err(Refusal::Conflict(message).into());
    }
    let session = match found {
        Some(found) => {
            // One that the same call has made fits, be it that nothing was sent to it yet.
            if wanted.session.is_some() {
                fits(app, asker, &found, &wanted)?;
            }
            found
        }
        None => make(app, asker, &wanted).await?,
    };
    drop(one_at_a_time);
    let content = addressed(&wanted.prompt, wanted.name.as_deref(), session.model == RELAY);
    // With an id of its own in any case: by it a job is known that was withdrawn before it began.
    let client_id = wanted.client_id.unwrap_or_else(|| Uuid::now_v7().to_string());
    let posted = app.engine.post(session.id, content, Some(client_id), Vec::new()).await?;
    let job = JobId { session: session.id, turn: posted.turn_id };
    asker.tell(app, "prompt", session.id, &format!("job {job}")).await;
    Ok(job)
}

async fn begun(app: &App, session: SessionId, client_id: &str) -> ApiResult<Option<TurnId>> {
    Ok(app.engine.store().message_by_client_id(session, client_id).await?.map(|(_, turn, _)| turn))
}

/// The session that is meant, if it is there.
async fn find(app: &App, wanted: &tool::Delegate) -> ApiResult<Option<SessionRow>> {
    let store = app.engine.store();
    let Some(session) = &wanted.session else {
        let Some(id) = wanted.client_id.as_deref().map(made_from) else { return Ok(None) };
        return Ok(store.session(id).await?);
    };
    if let Ok(id) = session.parse::<SessionId>() {
        return store.session(id).await?.map(Some).ok_or_else(|| not_found("session"));
    }
    let mut titled = store.sessions_titled(session, 2).await?;
    if titled.len() > 1 {
        return Err(invalid(format!("more than one session is called “{session}”: give the id of one, which `list_sessions` shows")));
    }
    Ok(titled.pop())
}

/// A call that is repeated comes to the session that it made the first time.
fn made_from(client_id: &str) -> SessionId {
    SessionId(Uuid::new_v5(&SESSIONS_BY_CLIENT, client_id.as_bytes()))
}

async fn make(app: &App, asker: &Asker, wanted: &tool::Delegate) -> ApiResult<SessionRow> {
    let new = Wanted {
        // One that goes by a title is found by it.
        id: wanted.client_id.as_deref().filter(|_| wanted.session.is_none()).map(made_from),
        title: wanted.session.clone(),
        work_dir: wanted.work_dir.as_ref().map(Into::into),
        // Whoever delegates is a main AI already.
        model: Some(RELAY.to_owned()),
        agent: wanted.agent.clone(),
        permission_policy: None,
        agent_session: None,
    };
    let made = app.engine.create(new).await?;
    asker.tell(app, "session-created", made.id, &format!("session {}", made.id)).await;
    Ok(made)
}

/// Whether the work can go to a session that is there already.
fn fits(app: &App, asker: &Asker, session: &SessionRow, wanted: &tool::Delegate) -> ApiResult<()> {
    if wanted.work_dir.is_some() {
        return Err(invalid("this session has its work directory already: leave `work_dir` out, or let a new session be made"));
    }
    if let Some(agent) = wanted.agent.as_ref().filter(|agent| **agent != session.agent) {
        let message =
            format!("the agent of this session is {}, not {agent}: leave `agent` out, or let a new session be made", session.agent);
        return Err(invalid(message));
    }
    if wanted.name.is_some() && session.model != RELAY {
        return Err(invalid("this session has a main AI, which names the agents' conversations itself: leave `name` out"));
    }
    let decides = |session: &SessionRow| session.permission_policy.unwrap_or_else(|| app.engine.default_policy(session.model == RELAY));
    let (here, otherwise) = (decides(session), app.engine.default_policy(true));
    if asker.is_agent() && here.is_automatic() && here.stricter(otherwise) != here {
        return Err(invalid("in this session everything is allowed, so an agent may not send it work: let a new session be made"));
    }
    Ok(())
}

/// The relay takes `@name` for the agent's conversation; a prompt that only looks like it goes to `main`.
fn addressed(prompt: &str, name: Option<&str>, relayed: bool) -> String {
    match name {
        Some(name) => format!("@{name} {prompt}"),
        None if relayed && prompt.starts_with('@') => format!("@main {prompt}"),
        None => prompt.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_addressed_to_the_name_that_was_given_and_to_no_other() {
        let table = [
            (("do it", None, true), "do it"),
            (("do it", Some("docs"), true), "@docs do it"),
            (("@docs do it", None, true), "@main @docs do it"),
            (("@docs do it", Some("x"), true), "@x @docs do it"),
            (("@docs do it", None, false), "@docs do it"),
        ];
        for ((prompt, name, relayed), expected) in table {
            assert_eq!(addressed(prompt, name, relayed), expected);
        }
    }
}
