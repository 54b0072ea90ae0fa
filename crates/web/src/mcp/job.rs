//! A job: a turn, by the session it belongs to and its own id. All that is told of it is read from the store.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use domain::event::{Role, TurnState};
use domain::ids::{MessageId, SessionId, TurnId};
use store::SessionRow;

use super::tool::{self, JobView, State};
use super::wait::{self, Progress};
use super::{Asker, Outcome, ask, undisturbed};
use crate::App;
use crate::error::{ApiError, ApiResult, invalid, not_found};

/// In characters.
const RESULT_MAX: usize = 20_000;
const RELAY: &str = "relay";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct JobId {
    pub(super) session: SessionId,
    pub(super) turn: TurnId,
}

impl fmt::Display for JobId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}", self.session, self.turn)
    }
}

impl FromStr for JobId {
    type Err = ApiError;

    fn from_str(text: &str) -> Result<JobId, ApiError> {
        let parsed = text
            .trim()
            .split_once('.')
            .and_then(|(session, turn)| Some(JobId { session: session.parse().ok()?, turn: turn.parse().ok()? }));
        parsed.ok_or_else(|| invalid("this is no job_id: `delegate` gives one, and `list_sessions` shows those of the latest jobs"))
    }
}

/// How far a job has come.
pub(super) struct Standing {
    pub(super) session: SessionRow,
    pub(super) state: State,
    reason: Option<String>,
    /// Of one that has not begun: what would be withdrawn.
    queued: Option<MessageId>,
    pub(super) waiting: Vec<tool::RequestView>,
}

pub(super) async fn standing(app: &App, job: JobId) -> ApiResult<Standing> {
    let store = app.engine.store();
    let gone = || not_found("job");
    let session = store.session(job.session).await?.ok_or_else(gone)?;
    // What waits is looked at before the turn: one that begins in between is found in the second place.
    let queue = store.queue(job.session).await?;
    let Some(turn) = store.turn(job.session, job.turn).await? else {
        let queued = queue.items.iter().find(|item| item.turn_id == job.turn).map(|item| item.message_id);
        let (state, reason) = match queued {
            Some(_) => (State::Queued, None),
            None if store.was_promised(job.session, job.turn).await? => (State::Cancelled, Some("withdrawn before it began".to_owned())),
            None => return Err(gone()),
        };
        return Ok(Standing { session, state, reason, queued, waiting: Vec::new() });
    };
    let waiting = if turn.state == TurnState::Running { ask::of_session(app, job.session).await? } else { Vec::new() };
    let state = match turn.state {
        TurnState::Running if !waiting.is_empty() => State::Waiting,
        TurnState::Running => State::Running,
        TurnState::Completed => State::Completed,
        TurnState::Failed => State::Failed,
        TurnState::Cancelled => State::Cancelled,
        TurnState::Interrupted => State::Interrupted,
        TurnState::Unknown => State::Unknown,
    };
    Ok(Standing { session, state, reason: turn.reason, queued: None, waiting })
}

/// What the agent wrote, or the main AI where there is one. What did not complete gives what there was until then.
async fn result(app: &App, job: JobId, session: &SessionRow) -> ApiResult<String> {
    let messages = app.engine.store().turn_messages(job.session, job.turn).await?;
    let of_role = |role: Role| messages.iter().filter(move |message| message.role == role);
    let said = of_role(Role::Assistant).map(|message| message.content.as_str()).rfind(|text| !text.trim().is_empty());
    let agents = of_role(Role::Tool).map(|message| {
        let whole = message.display.as_deref().filter(|text| !message.is_error && !text.trim().is_empty());
        whole.unwrap_or(&message.content)
    });
    let agents = || agents.collect::<Vec<_>>().join("\n\n");
    Ok(match said {
        // The relay repeats what the agent wrote, shortened.
        Some(said) if session.model != RELAY => said.to_owned(),
        _ => agents(),
    })
}

/// The part of a text from `offset` on, in characters, how long the whole is, and where to read on.
fn part(text: &str, offset: usize) -> (String, usize, Option<usize>) {
    let total = text.chars().count();
    let part: String = text.chars().skip(offset).take(RESULT_MAX).collect();
    let end = offset.saturating_add(RESULT_MAX);
    (part, total, (end < total).then_some(end))
}

pub(super) async fn view(app: &App, job: JobId, offset: usize) -> ApiResult<Outcome> {
    let Standing { session, state, reason, waiting, .. } = standing(app, job).await?;
    let mut view = JobView {
        job_id: job.to_string(),
        session_id: job.session.to_string(),
        session_title: session.title.clone(),
        state,
        reason,
        result: None,
        result_length: None,
        next_offset: None,
        waiting,
    };
    if state.is_over() {
        let (part, total, next) = part(&result(app, job, &session).await?, offset);
        (view.result, view.result_length, view.next_offset) = (Some(part), Some(total), next);
    }
    let text = told(&view);
    Ok(Outcome::new(view, text))
}

fn told(view: &JobView) -> String {
    let JobView { job_id, session_id, .. } = view;
    let state = serde_json::to_value(view.state).unwrap_or_default();
    let mut text = format!("job_id: {job_id}\nsession_id: {session_id}\nstate: {}\n", state.as_str().unwrap_or_default());
    if let Some(reason) = &view.reason {
        text.push_str(&format!("reason: {reason}\n"));
    }
    for request in &view.waiting {
        text.push_str(&format!("\nwaits for a person:\n{}", ask::told(request)));
    }
    match (&view.result, view.next_offset) {
        (Some(result), next) => {
            text.push_str(&format!("\n{result}"));
            if let (Some(next), Some(total)) = (next, view.result_length) {
                text.push_str(&format!("\n\n(… up to character {next} of {total}: call `job` with offset {next} for more)"));
            }
        }
        (None, _) => {
            text.push_str("\nIt goes on by itself. Call `job` with this job_id to see how it stands; wait_seconds waits for its end.")
        }
    }
    text
}

pub(super) async fn job(app: &App, wanted: tool::Job, progress: Option<Progress>) -> ApiResult<Outcome> {
    let job: JobId = wanted.job_id.parse()?;
    // What was waiting when one asked is known: only its end, or something new, is news.
    let known = standing(app, job).await?.waiting.into_iter().map(|request| request.request_id).collect();
    wait::for_news(app, job, seconds(wanted.wait_seconds), known, progress).await?;
    view(app, job, wanted.offset.unwrap_or(0)).await
}

pub(super) fn seconds(wanted: Option<u32>) -> Duration {
    Duration::from_secs(u64::from(wanted.unwrap_or(0))).min(wait::LONGEST)
}

pub(super) async fn stop(app: &App, asker: &Asker, wanted: tool::Stop) -> ApiResult<Outcome> {
    let job = match (&wanted.job_id, &wanted.session_id) {
        (Some(job), None) => job.parse()?,
        (None, Some(session)) => running(app, session).await?,
        _ => return Err(invalid("say either `job_id` or `session_id`")),
    };
    let (own, asker) = (app.clone(), asker.clone());
    undisturbed(app, async move {
        let Standing { state, queued, .. } = standing(&own, job).await?;
        match queued {
            _ if state.is_over() => return Err(invalid("this job is over: there is nothing to stop")),
            Some(message) => own.engine.withdraw(job.session, message).await?,
            None => own.engine.cancel_own(job.session).await?,
        }
        asker.tell(&own, "stopped", job.session, &format!("job {job}")).await;
        Ok(())
    })
    .await?;
    view(app, job, 0).await
}

async fn running(app: &App, session: &str) -> ApiResult<JobId> {
    let session: SessionId = session.parse().map_err(|_| invalid("this is no session_id: `list_sessions` shows them"))?;
    app.engine.row(session).await?;
    let latest = app.engine.store().latest_turn(session).await?.filter(|turn| turn.state == TurnState::Running);
    let turn = latest.ok_or_else(|| invalid("nothing runs in this session"))?;
    Ok(JobId { session, turn: turn.id })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_result_is_read_in_parts_that_make_the_whole() {
        let text = "ä€😀x".repeat(12_000);
        let (mut whole, mut offset) = (String::new(), Some(0));
        while let Some(at) = offset {
            let (piece, total, next) = part(&text, at);
            assert_eq!(total, 48_000);
            assert!(piece.chars().count() <= RESULT_MAX);
            whole.push_str(&piece);
            offset = next;
        }
        assert!(whole == text);
        assert_eq!(part(&text, usize::MAX), (String::new(), 48_000, None));
    }

    #[test]
    fn nobody_waits_longer_than_the_longest() {
        assert_eq!(seconds(None), Duration::ZERO);
        assert_eq!(seconds(Some(7)), Duration::from_secs(7));
        assert_eq!(seconds(Some(u32::MAX)), wait::LONGEST);
        assert_eq!(wait::LONGEST.as_secs(), 600);
    }

    #[test]
    fn a_job_is_named_by_its_session_and_its_turn() {
        let job = JobId { session: SessionId(uuid::Uuid::now_v7()), turn: TurnId(uuid::Uuid::now_v7()) };
        assert_eq!(job.to_string().parse::<JobId>().unwrap(), job);
        for wrong in ["", ".", "x.y", &job.session.to_string(), &format!("{job}.{job}")] {
            assert!(wrong.parse::<JobId>().is_err(), "{wrong}");
        }
    }
}
