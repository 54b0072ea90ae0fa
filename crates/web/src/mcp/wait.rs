//! Waiting for a job: until it is over, needs a person, or enough time has passed; and what is told meanwhile to a client that wants to
//! hear of it. The reader of the log that does this holds up nobody.

use std::collections::HashSet;
use std::time::Duration;

use domain::agent::Update;
use domain::event::{AgentUpdate, Event};
use domain::text::{clip, clip_start};
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use rmcp::{RoleServer, service::ServiceError};
use store::{Batch, Frame};
use tokio::time::Instant;

use super::job::{self, JobId};
use super::tool::State;
use crate::App;
use crate::error::ApiResult;

pub(super) const LONGEST: Duration = Duration::from_secs(600);
/// How often a client is told something, at most and at least.
const PAUSE: Duration = Duration::from_millis(500);
const SILENCE: Duration = Duration::from_secs(15);
/// How much is told at once, in bytes.
const TOLD_MAX: usize = 240;
/// How many events are taken at once.
const FRAMES: usize = 512;

/// A client that wants to hear how it goes on.
pub(super) struct Progress {
    peer: Peer<RoleServer>,
    token: ProgressToken,
    count: u32,
    last: Option<Instant>,
    /// The end of what the agent has written.
    said: String,
    untold: Option<String>,
}

/// Waits until the job is over, something waits for a person that is not among `known`, `longest` has passed, or the server ends.
pub(super) async fn for_news(
    app: &App,
    job: JobId,
    longest: Duration,
    known: HashSet<String>,
    mut progress: Option<Progress>,
) -> ApiResult<()> {
    let deadline = Instant::now() + longest;
    let mut feed = app.engine.store().feed(job.session);
    loop {
        let standing = job::standing(app, job).await?;
        let news = standing.waiting.iter().any(|request| !known.contains(&request.request_id));
        if standing.state.is_over() || news || Instant::now() >= deadline {
            if let Some(progress) = progress.as_mut().filter(|progress| progress.untold.is_some()) {
                progress.tell(Instant::now() + SILENCE).await;
            }
            return Ok(());
        }
        // Of what stood before it, others' work is told to nobody.
        let mut hearing = progress.as_mut().filter(|_| standing.state != State::Queued);
        let mut cursor = standing.session.last_seq;
        loop {
            let due = hearing.as_ref().map(|progress| progress.due());
            tokio::select! {
                () = app.stopping.cancelled() => return Ok(()),
                () = tokio::time::sleep_until(deadline) => break,
                () = sleep_until(due) => if let Some(progress) = &mut hearing {
                    progress.tell(deadline).await;
                },
                batch = feed.after(cursor, FRAMES) => {
                    let Ok(Batch::Frames { frames }) = batch else { break };
                    cursor = frames.last().map_or(cursor, |frame| frame.seq);
                    if let Some(progress) = &mut hearing {
                        frames.iter().filter_map(Frame::event).for_each(|event| progress.hear(event));
                    }
                    if frames.iter().any(|frame| changes_standing(&frame.kind)) {
                        break;
                    }
                }
            }
        }
    }
}

fn changes_standing(kind: &str) -> bool {
    matches!(kind, "turn" | "queue" | "permission-request" | "permission-resolved" | "tool-confirm" | "tool-result")
}

async fn sleep_until(when: Option<Instant>) {
    match when {
        Some(when) => tokio::time::sleep_until(when).await,
        None => std::future::pending().await,
    }
}

impl Progress {
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Option<Progress> {
        let token = context.meta.get_progress_token()?;
        Some(Progress { peer: context.peer.clone(), token, count: 0, last: None, said: String::new(), untold: None })
    }

    /// Something that is to be told at once, whatever follows.
    pub(super) async fn say(&mut self, text: String) {
        self.untold = Some(text);
        self.tell(Instant::now() + SILENCE).await;
    }

    fn due(&self) -> Instant {
        let pause = if self.untold.is_some() { PAUSE } else { SILENCE };
        self.last.map_or_else(Instant::now, |last| last + pause)
    }

    fn hear(&mut self, event: Event) {
        let text = match event {
            Event::CopilotDelta(delta) => self.written(&delta.content),
            Event::TextDelta(delta) => self.written(&delta.content),
            Event::AgentUpdate(AgentUpdate { update: Update::ToolCall(call), .. }) => {
                let status = call.status.as_deref().unwrap_or("pending");
                format!("{} ({status})", call.title.as_deref().unwrap_or("a tool"))
            }
            Event::PermissionRequest(request) => format!("waits for a person: {}", request.ask.title),
            Event::ToolConfirm(call) => format!("waits for a person: {}", call.name),
            Event::Notice(notice) => notice.title,
            _ => return,
        };
        self.untold = Some(clip(&text, TOLD_MAX).to_owned());
    }

    fn written(&mut self, more: &str) -> String {
        self.said.push_str(more);
        self.said = clip_start(&self.said, TOLD_MAX).to_owned();
        self.said.clone()
    }

    /// A client that takes nothing is not waited for beyond the deadline.
    async fn tell(&mut self, deadline: Instant) {
        self.count += 1;
        self.last = Some(Instant::now());
        let text = self.untold.take().unwrap_or_else(|| "at work".to_owned());
        let told = ProgressNotificationParam::new(self.token.clone(), f64::from(self.count)).with_message(text);
        let told: Result<Result<(), ServiceError>, _> = tokio::time::timeout_at(deadline, self.peer.notify_progress(told)).await;
        if let Ok(Err(error)) = told {
            tracing::debug!(%error, "a client of MCP hears no more of its job");
        }
    }
}
