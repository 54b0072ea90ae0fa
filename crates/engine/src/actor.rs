//! One session's task: takes what comes in, steps the machine, makes the outcome durable, then runs the effects.

mod act;
mod commands;
mod permissions;
mod rows;

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;

use domain::event::{ErrorEvent, Event, Notice, Queue, SessionChange, Turn as TurnEvent, TurnState};
use domain::ids::{ArtifactId, MessageId, PermissionId, RunnerId, SessionId};
use domain::machine::{Context, Effect, Input, Machine};
use domain::text::visible;
use domain::turn;
use domain::{host, policy::Policy};
use futures::FutureExt;
use jiff::Timestamp;
use store::{Row, SessionRow, Write};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio::time::{Duration, Instant};
use uuid::Uuid;

use crate::Shared;
use crate::agent::{Links, options::Replies};
use crate::changes::{Attribution, ScanPlace, Scans, Trees};
use crate::command::{Command, Refusal};
use crate::model_call::{ModelCall, ModelSignal};
use crate::observer::Observer;
use crate::settings::RELAY;
use crate::tasks::Tasks;

pub(crate) use act::Ended;

/// How many signals of one kind are taken at once: they share a commit.
const DRAIN: usize = 256;
const RETRY_PAUSE: Duration = Duration::from_millis(500);
/// What the messages of a session may hold before little is kept of what its agents say.
const MESSAGE_BYTES: u64 = 256 * 1024 * 1024;
const RESTORED: &str =
    "it was running when the backup was made that is restored here, and is not continued: send it again if it is still wanted";

pub(crate) struct Actor {
    pub(crate) id: SessionId,
    pub(crate) shared: Arc<Shared>,
    pub(crate) row: SessionRow,
    /// The work directory as all sessions of it know it.
    pub(crate) project: String,
    pub(crate) machine: Machine,
    turn_settings: turn::Settings,
    /// The runners that this server holds.
    pub(crate) links: Links,
    tasks: Tasks<Ended>,
    pub(crate) model: ModelCall,
    /// Effects that are decided but not yet stored or run.
    effects: Vec<Effect>,
    /// Rows that go into the same transaction as what is in `effects`.
    pub(crate) rows: Vec<Row>,
    /// The queue as it is stored, to tell what a queue event changed.
    stored_queue: Queue,
    /// Artifacts whose diffs go to the database with their event.
    reviews: HashMap<ArtifactId, tools::Review>,
    tool_tasks: HashMap<String, AbortHandle>,
    /// What is being done for an agent, and can be given up.
    demand_tasks: HashMap<PermissionId, AbortHandle>,
    /// When agents are told of the denials that are held.
    hold_ends: HashMap<PermissionId, Instant>,
    /// Who waits until an agent has answered about its options.
    pub(crate) option_replies: Replies,
    /// The work directory before and after each turn.
    pub(crate) trees: Trees,
    /// Which changes of the work directory are this session's.
    attribution: Attribution,
    scans: Scans,
    /// The user's message whose turn begins in the write that is being put together.
    begun_by: Option<MessageId>,
    viewers: Arc<()>,
    /// As people were last shown it.
    rule_count: u32,
    pub(crate) observer: Observer,
    idle_since: Instant,
    /// How much the session's messages hold.
    message_bytes: u64,
    /// Its running turn came with a backup: it is ended, not continued.
    abandoned: bool,
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
    let snapshot = shared.store.snapshot(id, 1).await.ok().flatten();
    let message = "an internal error ended this turn; what was done until then is kept".to_owned();
    let turn_id = snapshot.as_ref().and_then(|snapshot| snapshot.turn).map(|turn| turn.turn_id);
    let mut events = vec![Event::Error(ErrorEvent { turn_id, code: "internal".to_owned(), message: message.clone() })];
    let mut rows = Vec::new();
    if let Some(turn_id) = turn_id {
        events.push(Event::Turn(TurnEvent::new(turn_id, TurnState::Failed, Some(message.clone()))));
        rows.push(rows::turn_row(turn_id, TurnState::Failed, Some(message), None));
    }
    let (write, begun) = (Arc::new(Write { session: id, events, rows }), Instant::now());
    match shared.store.commit(Arc::clone(&write)).await {
        Ok(_) => {
            shared.news.tell(id, &write.events);
            if let Some(snapshot) = snapshot
                && let Ok(mut observer) = shared.observer(&snapshot).await
            {
                observer.committed(&write, &snapshot.session, begun.elapsed());
            }
        }
        Err(error) => tracing::error!(session = %id, %error, "the failure of the session's task could not be recorded"),
    }
}

impl Actor {
    async fn load(shared: Arc<Shared>, id: SessionId, viewers: Arc<()>) -> Result<Actor, Refusal> {
        let snapshot = shared.store.snapshot(id, 1).await?.ok_or(Refusal::NotFound("session"))?;
        let mut state = snapshot.turn_state.clone();
        state.set_queue(&snapshot.queue);
        let machine = Machine::new(state, shared.store.agent_sessions(id).await?);
        let observer = shared.observer(&snapshot).await?;
        let message_bytes = shared.store.message_bytes(id).await?;
        let windows = shared.store.open_windows(id).await?;
        let (attribution, rows) = Attribution::restored(&snapshot, windows, Timestamp::now().as_millisecond());
        let mut actor = Actor {
            id,
            project: crate::rules::project(&snapshot.session.work_dir),
            turn_settings: turn_settings(&snapshot.session, &shared, message_bytes),
            row: snapshot.session,
            machine,
            links: Links::default(),
            tasks: Tasks::default(),
            model: ModelCall::default(),
            effects: Vec::new(),
            rows,
            stored_queue: snapshot.queue,
            reviews: HashMap::new(),
            tool_tasks: HashMap::new(),
            demand_tasks: HashMap::new(),
            hold_ends: HashMap::new(),
            option_replies: Replies::default(),
            trees: Trees::default(),
            attribution,
            scans: Scans::default(),
            begun_by: None,
            viewers,
            rule_count: 0,
            observer,
            idle_since: Instant::now(),
            message_bytes,
            abandoned: snapshot.turn.is_some_and(|turn| turn.abandoned),
            shared,
        };
        actor.rule_count = u32::try_from(actor.rules().len()).unwrap_or(u32::MAX);
        let call_ids = snapshot.confirms.into_iter().map(|call| call.id).collect();
        actor.step(Input::Turn(turn::Input::ConfirmsWaiting { call_ids }));
        Ok(actor)
    }

    async fn run(&mut self, commands: &mut mpsc::Receiver<Command>) {
        let shared = Arc::clone(&self.shared);
        // Asked for once: to register anew for every chunk would cost more than the rest of the loop.
        let stop = shared.stopping().cancelled();
        tokio::pin!(stop);
        self.resume().await;
        let mut batches = Vec::new();
        let mut model_signals = Vec::new();
        loop {
            let (idle, overdue, held) = (self.idle_deadline(), self.permission_deadline(), self.hold_deadline());
            tokio::select! {
                () = &mut stop => break,
                command = commands.recv() => match command {
                    Some(Command::Delete { agent_records, reply }) => {
                        let deleted = self.delete(agent_records).await;
                        let over = deleted.is_ok();
                        let _ = reply.send(deleted);
                        if over { return; }
                    }
                    Some(command) => self.command(command).await,
                    None => break,
                },
                runner = self.links.receive(&mut batches, DRAIN) => {
                    for batch in batches.drain(..) { self.agent_batch(runner, batch).await; }
                }
                count = self.model.receive(&mut model_signals, DRAIN) => {
                    if count == 0 { self.model_over(); }
                    for signal in model_signals.drain(..) { self.model_signal(signal); }
                }
                ended = self.tasks.next() => self.task_ended(ended).await,
                () = tokio::time::sleep_until(idle.unwrap_or_else(Instant::now)), if idle.is_some() => self.idle(),
                () = tokio::time::sleep_until(overdue.unwrap_or_else(Instant::now)), if overdue.is_some() => self.permissions_overdue(),
                () = tokio::time::sleep_until(held.unwrap_or_else(Instant::now)), if held.is_some() => self.holds_over(),
            }
            self.flush().await;
        }
        self.leave().await;
    }

    /// Takes up what an earlier server left undone in this session.
    async fn resume(&mut self) {
        if let Err(error) = self.restore_hosts().await {
            tracing::error!(session = %self.id, %error, "what an earlier server left cannot be read");
        }
        if std::mem::take(&mut self.abandoned) {
            let (code, reason) = ("outcome_unknown".to_owned(), RESTORED.to_owned());
            self.step(Input::Turn(turn::Input::Abort { state: TurnState::Unknown, code, reason }));
        }
        self.step(Input::Resume);
        // The settings may be others by now.
        self.tell_hosts(|| host::Input::PolicyChanged { by_person: false });
        self.flush().await;
    }

    /// The one way in: decides, and keeps what follows for [`Actor::flush`].
    pub(crate) fn step(&mut self, input: Input) {
        let policy = self.policy();
        let Actor { id, shared, row, project, machine, turn_settings, .. } = self;
        let context = Context {
            now: Timestamp::now(),
            turn: turn_settings,
            policy,
            rules: &|| shared.rules.of(*id, project),
            work_dir: Path::new(&row.work_dir),
            new_id: &Uuid::now_v7,
            agents: &shared.words,
        };
        let effects = machine.step(input, &context);
        self.effects.extend(effects);
    }

    pub(crate) fn turn_input(&mut self, input: turn::Input) {
        self.step(Input::Turn(input));
    }

    pub(crate) fn tell_host(&mut self, agent: String, input: host::Input) {
        self.step(Input::Host { agent, input });
    }

    pub(crate) fn tell_hosts(&mut self, input: impl Fn() -> host::Input) {
        let agents: Vec<_> = self.machine.hosts().map(|host| host.agent().to_owned()).collect();
        for agent in agents {
            self.tell_host(agent, input());
        }
    }

    pub(crate) fn turn_settings_changed(&mut self) {
        self.turn_settings = turn_settings(&self.row, &self.shared, self.message_bytes);
    }

    /// The session's own policy, else the server's.
    pub(crate) fn policy(&self) -> Policy {
        self.row.permission_policy.unwrap_or_else(|| self.shared.policy(self.row.model == RELAY))
    }

    /// Stores what was decided, then runs what follows from it, until nothing is left. The order is the promise: nobody is told
    /// and nothing is begun before it is durable.
    pub(crate) async fn flush(&mut self) {
        while !self.effects.is_empty() || !self.rows.is_empty() {
            let acts = self.store_until_done().await;
            self.take_trees();
            for effect in acts {
                self.act(effect).await;
            }
        }
        self.send_option_replies();
    }

    /// What a turn that began or ended asks for, before anything of it goes out.
    fn take_trees(&mut self) {
        let kept = self.shared.settings.trees_dir(self.id);
        if let Some(turn) = self.trees.ended.take() {
            self.scans.stop();
            let place = (self.shared.store.clone(), self.id);
            let work = self.trees.after(place, &self.row.work_dir, kept.clone(), turn);
            self.tasks.start(async move { Ended::Tree(work.await) });
        }
        if let Some(turn) = self.trees.begun.take() {
            let work = self.trees.before(&self.row.work_dir, kept, turn);
            self.tasks.start(async move { Ended::Tree(work.await) });
        }
        if self.attribution.take_ended() && self.machine.turn().turn.is_some() {
            self.scans.want();
        }
        self.scan();
    }

    /// Looks at what the tool calls that have ended wrote.
    pub(crate) fn scan(&mut self) {
        let Some((turn, before)) = self.trees.known_before() else { return };
        let Some(pause) = self.scans.next() else { return };
        let (shared, session, work_dir) = (Arc::clone(&self.shared), self.id, self.row.work_dir.clone());
        let place = ScanPlace { shared, session, work_dir, turn, before };
        let task = self.tasks.start(async move { Ended::Scanned(place.scan(pause).await) });
        self.scans.began(task);
    }

    /// A database that refuses (a full disk, say) holds the session up; it never makes it forget.
    async fn store_until_done(&mut self) -> Vec<Effect> {
        let (write, acts) = self.take_write();
        let (write, begun) = (Arc::new(write), Instant::now());
        let mut logged = false;
        while let Some(error) = self.shared.store.commit(Arc::clone(&write)).await.err() {
            match error {
                store::StoreError::NoSession(_) | store::StoreError::Closed => return Vec::new(),
                _ if self.shared.stopping().is_cancelled() => return Vec::new(),
                store::StoreError::Full | store::StoreError::Failed(_) => {}
                // Nothing else can be wrong with a write of ours, unless we are; the session's task ends and says so.
                defect => panic!("a write was refused: {defect}"),
            }
            if !logged {
                tracing::error!(session = %self.id, %error, "cannot store; trying again until it works");
                logged = true;
            }
            tokio::time::sleep(RETRY_PAUSE).await;
        }
        self.observer.committed(&write, &self.row, begun.elapsed());
        self.shared.news.tell(self.id, &write.events);
        self.tell_stored(&write);
        acts
    }

    /// Where an agent says a lot in one prompt, its runner is told how far that is stored.
    fn tell_stored(&mut self, write: &Write) {
        for row in &write.rows {
            let Row::RunnerCursor { id, cursor } = row else { continue };
            let connection = id.parse().ok().and_then(|runner| self.links.connection(runner).cloned());
            if let Some(connection) = connection.filter(agents::Connection::take_much_said) {
                let cursor = *cursor;
                self.tasks.start(async move {
                    connection.stored(cursor).await;
                    Ended::Nothing
                });
            }
        }
    }

    async fn agent_batch(&mut self, runner: RunnerId, mut batch: agents::Batch) {
        self.touch();
        self.look_at_asked(&mut batch.signals).await;
        let Some(host) = self.machine.host_of_runner(runner) else { return };
        let agent = host.agent().to_owned();
        let answered = batch.signals.iter().any(|signal| matches!(signal, agents::Signal::PromptEnded { .. }));
        let signals = crate::agent::signals::convert(self.id, host, self.asks(host.agent()), batch.signals);
        self.observer.heard(host, &signals);
        self.attribution.heard((batch.since_ms, batch.until_ms), &signals);
        if answered {
            self.keep_names(&agent, runner);
        }
        let input = host::Input::Batch { runner, cursor: batch.cursor, signals };
        self.learn(&agent, &input);
        self.tell_host(agent, input);
    }

    fn model_signal(&mut self, signal: ModelSignal) {
        let input = match signal {
            ModelSignal::Text { message_id, text } => turn::Input::ModelText { message_id, text },
            ModelSignal::End { message_id, text, tool_calls } => turn::Input::ModelEnd { message_id, text, tool_calls },
            ModelSignal::Fault { message_id, code, message, repeat } => turn::Input::ModelFault { message_id, code, message, repeat },
            ModelSignal::Retrying { message_id, notice } => return self.retry_notice(message_id, notice),
        };
        self.turn_input(input);
    }

    /// A call that is over has said how it ended. One that has not has failed inside; where it has, this comes too late to matter.
    fn model_over(&mut self) {
        if let Some(message_id) = self.model.ended() {
            let message = "an internal error ended the model's answer".to_owned();
            self.turn_input(turn::Input::ModelFault { message_id, code: "internal".to_owned(), message, repeat: false });
        }
    }

    fn retry_notice(&mut self, message_id: MessageId, notice: Notice) {
        if self.machine.turn().turn.as_ref().is_some_and(|turn| turn.message_id() == message_id) {
            self.effects.push(Effect::Append(Event::Notice(notice)));
        }
    }

    pub(crate) fn announce(&mut self, change: SessionChange) {
        self.effects.push(Effect::Append(Event::Session(change)));
    }

    pub(crate) fn notice(&mut self, code: &str, level: &str, title: &str, text: String, session_name: Option<String>) {
        let text = visible(&text).into_owned();
        let notice = Notice { code: code.to_owned(), level: level.to_owned(), title: title.to_owned(), text, session_name };
        self.effects.push(Effect::Append(Event::Notice(notice)));
    }

    pub(crate) fn touch(&mut self) {
        self.idle_since = Instant::now();
    }

    /// When agents that nobody needs are ended: no turn, no viewer, for the whole of the time to live. At once where others wait for their
    /// places.
    fn idle_deadline(&self) -> Option<Instant> {
        let idle = self.machine.turn().turn.is_none() && self.machine.hosts().any(host::Host::is_idle);
        let patience = || if self.shared.agents.is_wanted() { Duration::ZERO } else { self.shared.choices().agent_ttl };
        idle.then(|| self.idle_since + patience())
    }

    /// The engine's table and this task hold one each; whatever is beyond that is looking.
    pub(crate) fn is_watched(&self) -> bool {
        Arc::strong_count(&self.viewers) > 2
    }

    fn idle(&mut self) {
        let watched = self.is_watched();
        self.touch();
        if !watched || self.shared.agents.is_wanted() {
            tracing::info!(session = %self.id, "the agents were idle for their time to live, or others need their places: they are ended");
            self.tell_hosts(|| host::Input::Retire);
        }
    }
}

fn turn_settings(row: &SessionRow, shared: &Shared, message_bytes: u64) -> turn::Settings {
    turn::Settings {
        max_iterations: shared.choices().max_iterations,
        relay: row.model == RELAY,
        model: row.model.clone(),
        agent: row.agent.clone(),
        is_full: message_bytes > MESSAGE_BYTES,
        denial_hold_ms: i64::try_from(shared.settings.denial_hold.as_millis()).unwrap_or(i64::MAX),
    }
}
