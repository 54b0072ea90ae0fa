//! One session's task: takes what comes in, steps the turn machine, makes the outcome durable, then runs the effects.

mod commands;
mod permissions;
mod rows;

use std::collections::{HashMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use domain::event::{ErrorEvent, Event, Queue, SessionChange, Turn as TurnEvent, TurnState};
use domain::ids::{ArtifactId, MessageId, SessionId};
use domain::turn::{CallState, Effect, Input, Now, Session, Settings as TurnSettings};
use futures::FutureExt;
use jiff::Timestamp;
use store::{Row, SessionRow, Write};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Duration, Instant};

use crate::command::{Command, Refusal};
use crate::delegate::AgentTask;
use crate::host::Host;
use crate::model_call::{ModelCall, ModelSignal};
use crate::settings::RELAY;
use crate::{Shared, tool_call};

/// How many signals of one kind are taken at once: they share a commit.
const DRAIN: usize = 256;
const RETRY_PAUSE: Duration = Duration::from_millis(500);

pub(crate) struct Actor {
    pub(crate) id: SessionId,
    pub(crate) shared: Arc<Shared>,
    pub(crate) row: SessionRow,
    /// The work directory as all sessions of it know it.
    pub(crate) project: String,
    pub(crate) state: Session,
    pub(crate) host: Host,
    pub(crate) tasks: JoinSet<TaskEnd>,
    pub(crate) model: ModelCall,
    /// Effects that are decided but not yet stored or run.
    pub(crate) effects: Vec<Effect>,
    /// Rows that go into the same transaction as the events in `effects`.
    pub(crate) rows: Vec<Row>,
    /// The queue as it is stored, to tell what a queue event changed.
    pub(crate) stored_queue: Queue,
    /// Artifacts whose diffs go to the database with their event.
    pub(crate) reviews: HashMap<ArtifactId, tools::Review>,
    tool_tasks: HashMap<String, tokio::task::AbortHandle>,
    /// Every tool call id of the session, since models use the same one twice.
    call_ids: HashSet<String>,
    /// The user's message whose turn begins in the write that is being put together.
    begun_by: Option<MessageId>,
    viewers: Arc<()>,
    idle_since: Instant,
}

/// What a task of the session's came to.
pub(crate) enum TaskEnd {
    Tool { call_id: String, output: tools::Output },
    ConfirmTimeout { call_id: String },
    Agent(AgentTask),
}

/// Runs a session until the server stops or the session is deleted.
pub(crate) async fn run(shared: Arc<Shared>, id: SessionId, mut commands: mpsc::Receiver<Command>, viewers: Arc<()>) {
    let work = async {
        match Actor::load(shared.clone(), id, viewers).await {
            Ok(mut actor) => actor.run(&mut commands).await,
            Err(error) => tracing::error!(session = %id, %error, "the session cannot be opened"),
        }
    };
    // A defect in one session must not take the others along; its turn ends with a word about it.
    if AssertUnwindSafe(work).catch_unwind().await.is_err() {
        tracing::error!(session = %id, "the session's task failed");
        report_panic(&shared, id).await;
    }
}

async fn report_panic(shared: &Shared, id: SessionId) {
    let turn = shared.store.snapshot(id, 1).await.ok().flatten().and_then(|snapshot| snapshot.turn);
    let message = "an internal error ended this turn; what was done until then is kept".to_owned();
    let turn_id = turn.as_ref().map(|turn| turn.turn_id);
    let mut events = vec![Event::Error(ErrorEvent { turn_id, code: "internal".to_owned(), message: message.clone() })];
    let mut rows = Vec::new();
    if let Some(turn_id) = turn_id {
        events.push(Event::Turn(TurnEvent { turn_id, state: TurnState::Failed, reason: Some(message.clone()) }));
        rows.push(rows::turn_row(turn_id, TurnState::Failed, Some(message), None));
    }
    if let Err(error) = shared.store.commit(Write { session: id, events, rows }).await {
        tracing::error!(session = %id, %error, "the failure of the session's task could not be recorded");
    }
}

impl Actor {
    async fn load(shared: Arc<Shared>, id: SessionId, viewers: Arc<()>) -> Result<Actor, Refusal> {
        let snapshot = shared.store.snapshot(id, 1).await?.ok_or(Refusal::NotFound("session"))?;
        let mut state = Session::default();
        for event in &snapshot.turn_events {
            state.apply(event);
        }
        state.queue = snapshot.queue.iter().cloned().collect();
        state.confirmed(&snapshot.confirms);
        let call_ids = shared.store.tool_call_ids(id).await?.into_iter().collect();
        let host = Host::load(&shared, id).await?;
        Ok(Actor {
            id,
            project: crate::rules::project(&snapshot.session.work_dir),
            row: snapshot.session,
            state,
            host,
            tasks: JoinSet::new(),
            model: ModelCall::default(),
            effects: Vec::new(),
            rows: Vec::new(),
            stored_queue: Queue { items: snapshot.queue },
            reviews: HashMap::new(),
            tool_tasks: HashMap::new(),
            call_ids,
            begun_by: None,
            viewers,
            idle_since: Instant::now(),
            shared,
        })
    }

    async fn run(&mut self, commands: &mut mpsc::Receiver<Command>) {
        let stop = self.shared.stopping().clone();
        self.resume().await;
        let mut agent_batches = Vec::new();
        let mut model_signals = Vec::new();
        loop {
            let (idle, overdue) = (self.idle_deadline(), self.permission_deadline());
            tokio::select! {
                () = stop.cancelled() => break,
                command = commands.recv() => match command {
                    Some(Command::Delete { reply }) => {
                        let deleted = self.delete().await;
                        let over = deleted.is_ok();
                        let _ = reply.send(deleted);
                        if over { return; }
                    }
                    Some(command) => self.command(command).await,
                    None => break,
                },
                count = self.host.receive(&mut agent_batches, DRAIN) => {
                    if count == 0 { self.host.signals_ended(); }
                    for batch in agent_batches.drain(..) { self.agent_batch(batch); }
                }
                count = self.model.receive(&mut model_signals, DRAIN) => {
                    if count == 0 { self.model_over(); }
                    for signal in model_signals.drain(..) { self.model_signal(signal); }
                }
                Some(end) = self.tasks.join_next(), if !self.tasks.is_empty() => self.task_end(end),
                () = tokio::time::sleep_until(idle.unwrap_or_else(Instant::now)), if idle.is_some() => self.idle(),
                () = tokio::time::sleep_until(overdue.unwrap_or_else(Instant::now)), if overdue.is_some() => self.permissions_overdue(),
            }
            self.settle().await;
        }
        self.leave().await;
    }

    /// Takes up what an earlier server left undone in this session.
    async fn resume(&mut self) {
        if let Err(error) = self.take_up_agent().await {
            tracing::error!(session = %self.id, %error, "what an earlier server left cannot be read");
        }
        self.await_open_confirms();
        let settings = self.turn_settings();
        let effects = self.state.resume(&settings, Now(Timestamp::now()));
        self.effects.extend(effects);
        // The settings may be others by now, and another session may have been told what to remember.
        self.reconsider();
        self.align_allow_all();
        self.settle().await;
    }

    /// The time that a person has to agree begins anew: the old server's clock stopped with it.
    fn await_open_confirms(&mut self) {
        let calls = self.state.turn.iter().flat_map(|turn| turn.calls());
        let asking: Vec<_> = calls.filter(|call| call.state == CallState::Asking).map(|call| call.call.id.clone()).collect();
        for call_id in asking {
            self.await_confirm(call_id);
        }
    }

    pub(crate) fn step(&mut self, input: Input) {
        let settings = self.turn_settings();
        let effects = self.state.step(input, &settings, Now(Timestamp::now()));
        self.effects.extend(effects);
    }

    fn turn_settings(&self) -> TurnSettings {
        TurnSettings { max_iterations: self.shared.settings.max_iterations, relay: self.row.model == RELAY, model: self.row.model.clone() }
    }

    /// Stores what was decided, then runs what follows from it, until nothing is left. The order is the promise: nobody is told
    /// and nothing is begun before it is durable.
    pub(crate) async fn settle(&mut self) {
        loop {
            if !self.effects.is_empty() || !self.rows.is_empty() {
                let acts = self.store_until_done().await;
                for effect in acts {
                    self.act(effect);
                }
            }
            if self.effects.is_empty() && self.rows.is_empty() {
                self.advance();
            }
            if self.effects.is_empty() && self.rows.is_empty() {
                return;
            }
        }
    }

    /// A database that refuses (a full disk, say) holds the session up; it never makes it forget.
    async fn store_until_done(&mut self) -> Vec<Effect> {
        let (write, acts) = self.take_write();
        let write = Arc::new(write);
        let mut told = false;
        while let Some(error) = self.shared.store.commit(Arc::clone(&write)).await.err() {
            match error {
                store::StoreError::NoSession(_) | store::StoreError::Closed => return Vec::new(),
                _ if self.shared.stopping().is_cancelled() => return Vec::new(),
                store::StoreError::Full | store::StoreError::Failed(_) => {}
                // Nothing else can be wrong with a write of ours, unless we are; the session's task ends and says so.
                defect => panic!("a write was refused: {defect}"),
            }
            if !told {
                tracing::error!(session = %self.id, %error, "cannot store; trying again until it works");
                told = true;
            }
            tokio::time::sleep(RETRY_PAUSE).await;
        }
        acts
    }

    fn act(&mut self, effect: Effect) {
        match effect {
            Effect::Append(_) | Effect::Save(_) => unreachable!("these are stored, not run"),
            Effect::CallModel { turn_id, message_id } => self.call_model(turn_id, message_id),
            Effect::StopModel => self.model.stop(),
            Effect::RunTool(call) => {
                let work_dir = self.row.work_dir.clone();
                let id = call.id.clone();
                let task = async move {
                    let output = tools::run(work_dir.as_ref(), &call.name, &call.arguments).await;
                    TaskEnd::Tool { call_id: call.id, output }
                };
                let handle = self.tasks.spawn(task);
                self.tool_tasks.insert(id, handle);
            }
            Effect::StopTool { call_id } => {
                if let Some(task) = self.tool_tasks.remove(&call_id) {
                    task.abort();
                }
            }
            Effect::Prompt { turn_id, call_id, session_name, prompt } => self.delegate(turn_id, call_id, session_name, prompt),
            Effect::StopPrompt { call_id } => self.stop_prompt(&call_id),
            Effect::AnswerPermission { request_id, option_id } => self.answer_permission(request_id, option_id),
        }
    }

    fn model_signal(&mut self, signal: ModelSignal) {
        let input = match signal {
            ModelSignal::Text { message_id, text } => Input::ModelText { message_id, text },
            ModelSignal::End { message_id, text, tool_calls } => {
                let tool_calls = tool_call::unique(tool_calls, message_id, &mut self.call_ids);
                Input::ModelEnd { message_id, text, tool_calls }
            }
            ModelSignal::Fault { message_id, code, message, repeat } => Input::ModelFault { message_id, code, message, repeat },
            ModelSignal::Retrying { message_id, notice } => return self.retry_notice(message_id, notice),
        };
        self.step(input);
    }

    /// A call that is over has said how it ended. One that has not has failed inside; where it has, this comes too late to matter.
    fn model_over(&mut self) {
        if let Some(message_id) = self.model.ended() {
            let message = "an internal error ended the model's answer".to_owned();
            self.step(Input::ModelFault { message_id, code: "internal".to_owned(), message, repeat: false });
        }
    }

    fn retry_notice(&mut self, message_id: MessageId, notice: domain::event::Notice) {
        if self.state.turn.as_ref().is_some_and(|turn| turn.message_id() == message_id) {
            self.effects.push(Effect::Append(Event::Notice(notice)));
        }
    }

    fn task_end(&mut self, end: Result<TaskEnd, tokio::task::JoinError>) {
        match end {
            Ok(TaskEnd::Tool { call_id, output }) => {
                self.tool_tasks.remove(&call_id);
                let end = tool_call::end(output, &mut self.reviews);
                self.step(Input::ToolEnd { call_id, end });
            }
            Ok(TaskEnd::ConfirmTimeout { call_id }) => {
                let reason = "nobody agreed in time, so the file was not read".to_owned();
                self.close_confirm(&call_id);
                self.step(Input::Confirm { call_id, approved: false, reason });
            }
            Ok(TaskEnd::Agent(task)) => self.agent_task(task),
            Err(error) if error.is_cancelled() => {}
            Err(error) => self.task_panicked(&error),
        }
    }

    /// A tool that panicked has no result of its own; the call it belonged to gets one, so that the turn can go on.
    fn task_panicked(&mut self, error: &tokio::task::JoinError) {
        tracing::error!(session = %self.id, %error, "a task of the session failed");
        let found = self.tool_tasks.iter().find(|(_, handle)| handle.id() == error.id()).map(|(call_id, _)| call_id.clone());
        match found {
            Some(call_id) => {
                self.tool_tasks.remove(&call_id);
                let content = "the tool failed with an internal error".to_owned();
                let end = domain::turn::ToolEnd { content, is_error: true, ..domain::turn::ToolEnd::default() };
                self.step(Input::ToolEnd { call_id, end });
            }
            None => self.step(Input::Abort {
                state: TurnState::Failed,
                code: "internal".to_owned(),
                reason: "an internal error ended this turn".to_owned(),
            }),
        }
    }

    pub(crate) fn announce(&mut self, change: SessionChange) {
        self.effects.push(Effect::Append(Event::Session(change)));
    }

    pub(crate) fn touch(&mut self) {
        self.idle_since = Instant::now();
    }

    /// When an agent that nobody needs is ended: no turn, no viewer, for the whole of the time to live.
    fn idle_deadline(&self) -> Option<Instant> {
        (self.state.turn.is_none() && self.host.is_up()).then(|| self.idle_since + self.shared.settings.agent_ttl)
    }

    fn idle(&mut self) {
        // The engine's table and this task hold one each; whatever is beyond that is looking.
        let watched = Arc::strong_count(&self.viewers) > 2;
        if watched {
            self.touch();
        } else {
            tracing::info!(session = %self.id, "the agent was idle for its time to live and is ended");
            self.stop_agent();
        }
    }
}
