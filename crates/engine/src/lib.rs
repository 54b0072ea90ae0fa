//! The engine: one task a session. It folds the log, runs the effects that the turn machine decides on, and recovers at start.
//!
//! It owns the sessions' tasks and, through `agents`, the runners. It must not know HTTP, HTML or SQL.

mod abilities;
mod actor;
mod agent;
mod attachments;
mod browse;
mod catalogue;
mod changes;
mod choices;
mod chores;
mod command;
mod conversations;
mod disk;
mod history;
mod instructions;
mod login;
mod main_ai;
mod model_call;
mod models;
mod news;
mod observer;
mod places;
mod pulse;
mod recover;
mod review;
mod room;
mod rules;
mod sandbox;
mod settings;
mod tasks;
mod title;
mod tool_call;
mod trace;
mod trial;
mod view;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use domain::event::{Message, SessionChange};
use domain::ids::{MessageId, PermissionId, RuleId, SessionId};
use domain::machine::AgentWords;
use domain::rule::{Rule, Scope};
use jiff::Timestamp;
use serde_json::Value;
use store::{Marks, NewSession, Row, SessionRow, Store, StoreError, Write};
use telemetry::Metrics;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use command::{Cancelled, Command};
use tasks::Tasks;

pub use abilities::{Ability, Probe};
pub use agents::Login;
pub use agents::trace::{Entry, Filter, Payload};
pub use attachments::{ATTACHMENT_MAX, MESSAGE_MAX, NewAttachment};
pub use browse::{AgentsOwn, KeptRecord};
pub use catalogue::{CatalogueEntry, Install, Tested};
pub use changes::{Changes, Counted, ProjectView, Scope as ChangesScope, Since, Source};
pub use choices::Choices;
pub use chores::{Chore, ChoreKind};
pub use command::{AgentSessionView, Answer, AnsweredBy, Posted, Refusal};
pub use conversations::{Asked, Conversation, Conversations, Directory};
pub use disk::{Disk, size};
pub use main_ai::{MainAi, ModelProblem, ModelTrial, ProviderInfo, providers};
pub use models::{ListedModel, Models};
pub use news::{Happening, Heard};
pub use review::{CHANGES, NewComment, Submission};
pub use room::AGENTS_MOST;
pub use sandbox::Run;
pub use settings::{PinnedFile, Settings};
pub use tools::{Commit, FileChange, FileLines, FileView, Picture, Side, Status};
pub use trace::{Capture, TraceCursor, TracePage, TracedRunner};
pub use trial::{Trial, try_agent};

/// How many sessions there may be.
const SESSIONS_MAX: u64 = 10_000;
/// How many commands may wait for one session's task; a sender that meets the bound waits.
const INBOX: usize = 64;

#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

/// What every session's task can see.
pub(crate) struct Shared {
    pub store: Store,
    pub settings: Settings,
    rules: rules::Rules,
    current: choices::Current,
    news: news::News,
    pub metrics: Arc<Metrics>,
    sessions: Mutex<HashMap<SessionId, Live>>,
    /// By agent id.
    learned: Mutex<HashMap<String, catalogue::Learned>>,
    chores: chores::Chores,
    /// When the data directory was last measured, and what came out.
    disk: Mutex<Option<(Instant, Disk)>>,
    /// One at a time takes over a session of an agent's own.
    taking_over: Semaphore,
    /// What agents said that they keep, by agent id.
    own: Mutex<HashMap<String, conversations::Own>>,
    /// One at a time asks the agents for what they keep.
    asking_agents: Semaphore,
    /// One at a time asks the agents for their versions.
    asking_versions: Semaphore,
    /// What the endpoint said of its models; held while it is asked.
    models: tokio::sync::Mutex<models::Asked>,
    /// A few at a time ask a provider that is being set up.
    trying_providers: Semaphore,
    /// A few at a time look at what changed.
    looking: Semaphore,
    undos: changes::Undos,
    agents: room::Room,
    /// The sessions' tasks.
    tasks: Mutex<Tasks<()>>,
    /// How people call each agent, by its id.
    words: BTreeMap<String, AgentWords>,
    /// Ends every session's task; its agents are left or stopped as the shutdown says.
    stop: CancellationToken,
}

struct Live {
    inbox: mpsc::Sender<Command>,
    /// How many clients look at the session right now: an agent that somebody watches is not idle.
    viewers: Arc<()>,
}

/// What a new session may be given; the rest comes from the settings.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Chosen by whoever may ask twice for the same session; a new one where there is none.
    pub id: Option<SessionId>,
    pub title: Option<String>,
    pub work_dir: Option<std::path::PathBuf>,
    pub model: Option<String>,
    pub agent: Option<String>,
    pub permission_policy: Option<domain::policy::Policy>,
    /// A session that the agent keeps by itself, to go on with.
    pub agent_session: Option<String>,
}

impl Wanted {
    pub(crate) fn new_id(&self) -> SessionId {
        self.id.unwrap_or_else(|| SessionId(Uuid::now_v7()))
    }
}

impl Engine {
    /// Takes the store and picks up whatever an earlier server left running.
    pub async fn start(store: Store, settings: Settings) -> Result<Engine, Refusal> {
        let rules = rules::Rules::new(store.rules().await?);
        catalogue::recall_npx(&store, &settings).await?;
        let current = choices::Current::new(Choices::of(&settings));
        let metrics = Arc::new(pulse::metrics(&settings));
        let words = settings.catalogue.iter().map(|agent| (agent.id.clone(), words(agent))).collect();
        let agents = room::Room::new(settings.agents_most);
        let shared = Shared {
            store,
            settings,
            words,
            rules,
            current,
            news: news::News::default(),
            metrics,
            sessions: Mutex::default(),
            learned: Mutex::default(),
            chores: chores::Chores::default(),
            disk: Mutex::default(),
            taking_over: Semaphore::new(1),
            own: Mutex::default(),
            asking_agents: Semaphore::new(1),
            asking_versions: Semaphore::new(1),
            models: tokio::sync::Mutex::default(),
            trying_providers: Semaphore::new(main_ai::AT_ONCE),
            looking: Semaphore::new(changes::LOOKING),
            undos: changes::Undos::default(),
            agents,
            tasks: Mutex::default(),
            stop: CancellationToken::new(),
        };
        let engine = Engine { shared: Arc::new(shared) };
        recover::recover(&engine).await?;
        Ok(engine)
    }

    pub fn store(&self) -> &Store {
        &self.shared.store
    }

    /// As the server was started with; what can be changed since is in [`Engine::choices`].
    pub fn settings(&self) -> &Settings {
        &self.shared.settings
    }

    /// Asked twice for the same id, it gives what there is.
    pub async fn create(&self, mut wanted: Wanted) -> Result<SessionRow, Refusal> {
        if let Some(found) = self.made_before(&wanted).await? {
            return Ok(found);
        }
        if self.shared.store.session_count().await? >= SESSIONS_MAX {
            return Err(Refusal::Conflict(format!("there are {SESSIONS_MAX} sessions already: delete some you no longer need")));
        }
        self.shared.check_room().await?;
        if let Some(agent_session) = wanted.agent_session.take() {
            return self.take_over(wanted, agent_session).await;
        }
        let (id, settings) = (wanted.new_id(), &self.shared.settings);
        let work_dir = settings.work_dir(wanted.work_dir.as_deref())?;
        let choices = self.choices();
        let model = wanted.model.unwrap_or_else(|| choices.model.clone());
        let agent = wanted.agent.unwrap_or_else(|| choices.default_agent.clone());
        settings.agent(&agent)?;
        choices.check_model(&model)?;
        let new = NewSession {
            title: wanted.title.unwrap_or_default(),
            work_dir: work_dir.to_string_lossy().into_owned(),
            model,
            agent,
            permission_policy: wanted.permission_policy,
            created_at: Timestamp::now(),
        };
        match self.shared.store.commit(Write { session: id, events: vec![], rows: vec![Row::CreateSession(new)] }).await {
            // Whoever asked at the same time was first.
            Err(StoreError::Conflict { .. }) if wanted.id.is_some() => {}
            done => drop(done?),
        }
        self.row(id).await
    }

    /// The session that whoever asks has asked for already.
    pub async fn made_before(&self, wanted: &Wanted) -> Result<Option<SessionRow>, Refusal> {
        match wanted.id {
            Some(id) => Ok(self.shared.store.session(id).await?),
            None => Ok(None),
        }
    }

    pub async fn row(&self, id: SessionId) -> Result<SessionRow, Refusal> {
        self.shared.store.session(id).await?.ok_or(Refusal::NotFound("session"))
    }

    pub async fn change(&self, id: SessionId, change: SessionChange) -> Result<SessionRow, Refusal> {
        if let Some(agent) = &change.agent {
            self.shared.settings.agent(agent)?;
        }
        if let Some(model) = &change.model {
            self.choices().check_model(model)?;
        }
        self.ask(id, |reply| Command::Change { change, reply }).await?;
        self.row(id).await
    }

    /// How people keep it in their list; its task need not know.
    pub async fn mark(&self, id: SessionId, marks: Marks) -> Result<SessionRow, Refusal> {
        self.row(id).await?;
        self.shared.store.commit(Write { session: id, events: vec![], rows: vec![Row::MarkSession(marks)] }).await?;
        self.row(id).await
    }

    /// Ends the session's processes and removes all its data, with `agent_records` also what its agents keep of it and can delete.
    pub async fn delete(&self, id: SessionId, agent_records: bool) -> Result<Vec<KeptRecord>, Refusal> {
        let kept = self.ask(id, |reply| Command::Delete { agent_records, reply }).await?;
        self.live().remove(&id);
        Ok(kept)
    }

    pub async fn post(
        &self,
        id: SessionId,
        content: String,
        client_id: Option<String>,
        attachments: Vec<NewAttachment>,
    ) -> Result<Posted, Refusal> {
        if content.trim().is_empty() {
            return Err(Refusal::Invalid("the message is empty: write what you want".to_owned()));
        }
        attachments::check(&attachments)?;
        self.ask(id, |reply| Command::Post { content, client_id, attachments, sent: Vec::new(), reply }).await
    }

    /// `position` is its place among those that wait, 0 being the next.
    pub async fn edit_queued(
        &self,
        id: SessionId,
        message_id: MessageId,
        content: Option<String>,
        position: Option<usize>,
    ) -> Result<(), Refusal> {
        if content.is_none() && position.is_none() {
            return Err(Refusal::Invalid("nothing is to be changed: give `content` or `position`".to_owned()));
        }
        if content.as_ref().is_some_and(|content| content.trim().is_empty()) {
            return Err(Refusal::Invalid("the message is empty: remove it instead".to_owned()));
        }
        self.ask(id, |reply| Command::Edit { message_id, content, position, reply }).await
    }

    /// The message is the next to run, and what runs is stopped for it.
    pub async fn run_queued(&self, id: SessionId, message_id: MessageId) -> Result<(), Refusal> {
        self.ask(id, |reply| Command::Now { message_id, reply }).await
    }

    pub async fn withdraw(&self, id: SessionId, message_id: MessageId) -> Result<(), Refusal> {
        self.ask(id, |reply| Command::Withdraw { message_id, reply }).await
    }

    pub async fn cancel(&self, id: SessionId, call_id: Option<String>) -> Result<(), Refusal> {
        let what = call_id.map_or(Cancelled::Turn, Cancelled::Call);
        self.ask(id, |reply| Command::Cancel { what, reply }).await
    }

    /// Ends the turn that runs, for the program that began it. Unlike a person's stop it does not hold what is queued.
    pub async fn cancel_own(&self, id: SessionId) -> Result<(), Refusal> {
        self.ask(id, |reply| Command::Cancel { what: Cancelled::OwnTurn, reply }).await
    }

    /// What is queued is held no more: the next message of it begins as soon as nothing runs.
    pub async fn send_next(&self, id: SessionId) -> Result<(), Refusal> {
        self.ask(id, |reply| Command::SendNext { reply }).await
    }

    pub async fn confirm(&self, id: SessionId, call_id: String, approved: bool) -> Result<(), Refusal> {
        self.ask(id, |reply| Command::Confirm { call_id, approved, reply }).await
    }

    pub async fn answer(&self, id: SessionId, request_id: PermissionId, answer: Answer) -> Result<(), Refusal> {
        let remembered = self.ask(id, |reply| Command::Answer { request_id, answer, reply }).await?;
        if remembered == Some(Scope::Project) {
            self.rules_changed(id, false).await?;
        }
        Ok(())
    }

    /// Takes back a denial that its agent was not told yet.
    pub async fn take_back(&self, id: SessionId, request_id: PermissionId) -> Result<(), Refusal> {
        self.ask(id, |reply| Command::TakeBack { request_id, reply }).await
    }

    /// The answers that are remembered for this session and for its work directory, oldest first.
    pub async fn rules(&self, id: SessionId) -> Result<Vec<Rule>, Refusal> {
        let row = self.row(id).await?;
        Ok(self.shared.rules.of(id, &rules::project(&row.work_dir)))
    }

    /// How many of them there are.
    pub fn rule_count(&self, row: &SessionRow) -> u32 {
        u32::try_from(self.shared.rules.count(row.id, &row.work_dir)).unwrap_or(u32::MAX)
    }

    pub async fn revoke(&self, id: SessionId, rule: RuleId) -> Result<(), Refusal> {
        let scope = self.ask(id, |reply| Command::Revoke { id: rule, reply }).await?;
        if scope == Scope::Project {
            self.rules_changed(id, true).await?;
        }
        Ok(())
    }

    async fn rules_changed(&self, id: SessionId, revoked: bool) -> Result<(), Refusal> {
        let project = rules::project(&self.row(id).await?.work_dir);
        self.tell_all(|| Command::RulesChanged { project: project.clone(), revoked }).await;
        Ok(())
    }

    pub async fn agent_sessions(&self, id: SessionId) -> Result<Vec<AgentSessionView>, Refusal> {
        self.ask(id, |reply| Command::Agents { reply }).await
    }

    /// What the model has written so far of a message that it has not finished; none where it writes no such message.
    pub async fn unfinished(&self, id: SessionId, message_id: MessageId) -> Result<Option<Message>, Refusal> {
        // A session whose task does not run writes nothing.
        if self.live().get(&id).is_none_or(|live| live.inbox.is_closed()) {
            return Ok(None);
        }
        self.ask(id, |reply| Command::Unfinished { message_id, reply }).await
    }

    /// Paths of the session's work directory that fit the query, the best first.
    pub async fn search_files(&self, id: SessionId, query: &str, limit: usize) -> Result<Vec<String>, Refusal> {
        let work_dir = self.row(id).await?.work_dir;
        Ok(tools::search(&self.shared.project(&work_dir), query, limit).await)
    }

    /// Sets mode, model or options of a named agent session: at once where it is open, else when it is next brought back.
    pub async fn set_options(&self, id: SessionId, name: String, set: BTreeMap<String, Value>) -> Result<AgentSessionView, Refusal> {
        self.ask(id, |reply| Command::SetOptions { name, set, reply }).await
    }

    /// Says that somebody looks at the session, for as long as the value lives.
    pub fn watch(&self, id: SessionId) -> Viewer {
        self.wake(id);
        Viewer { _count: self.live().get(&id).map(|live| live.viewers.clone()) }
    }

    /// Ends all sessions' tasks. Agents in the middle of a turn are left to their runners, which go on; idle ones are ended.
    /// Gives the number of those left running.
    pub async fn shutdown(&self) -> usize {
        self.shared.stop.cancel();
        let mut tasks = std::mem::take(&mut *self.shared.tasks());
        tasks.wait().await;
        self.shared.store.close().await;
        recover::count_running(&self.shared.settings)
    }

    /// Somebody has logged in: sessions whose prompts wait for that try again.
    pub async fn logged_in(&self, agent: &str) {
        // Whether it worked is known when the agent is next asked.
        self.shared.learn(agent, |learned| learned.logged_in = None);
        // A login may have brought a newer program along.
        self.learn_versions();
        self.tell_all(|| Command::LoggedIn { agent: agent.to_owned() }).await;
    }

    async fn tell_all(&self, command: impl Fn() -> Command) {
        let inboxes: Vec<_> = self.live().values().map(|live| live.inbox.clone()).collect();
        for inbox in inboxes {
            // A session that has just ended has nothing that waits.
            let _ = inbox.send(command()).await;
        }
    }

    async fn ask<T>(&self, id: SessionId, command: impl FnOnce(oneshot::Sender<Result<T, Refusal>>) -> Command) -> Result<T, Refusal> {
        let inbox = self.inbox(id).await?;
        let (reply, answer) = oneshot::channel();
        inbox.send(command(reply)).await.map_err(|_| Refusal::stopping())?;
        answer.await.map_err(|_| Refusal::stopping())?
    }

    /// The inbox of the session's task, which is started if it does not run.
    async fn inbox(&self, id: SessionId) -> Result<mpsc::Sender<Command>, Refusal> {
        if let Some(live) = self.live().get(&id).filter(|live| !live.inbox.is_closed()) {
            return Ok(live.inbox.clone());
        }
        self.row(id).await?;
        Ok(self.wake(id))
    }

    /// Starts the session's task unless it runs already.
    pub(crate) fn wake(&self, id: SessionId) -> mpsc::Sender<Command> {
        let mut live = self.live();
        if let Some(found) = live.get(&id).filter(|live| !live.inbox.is_closed()) {
            return found.inbox.clone();
        }
        let (inbox, commands) = mpsc::channel(INBOX);
        let viewers = Arc::new(());
        live.insert(id, Live { inbox: inbox.clone(), viewers: viewers.clone() });
        let mut tasks = self.shared.tasks();
        tasks.reap();
        tasks.start(actor::run(self.shared.clone(), id, commands, viewers));
        inbox
    }

    fn live(&self) -> std::sync::MutexGuard<'_, HashMap<SessionId, Live>> {
        self.shared.sessions.lock().expect("no code panics while it holds the table of sessions")
    }
}

/// See [`Engine::watch`].
pub struct Viewer {
    _count: Option<Arc<()>>,
}

impl Shared {
    pub(crate) fn stopping(&self) -> &CancellationToken {
        &self.stop
    }

    pub(crate) fn tasks(&self) -> std::sync::MutexGuard<'_, Tasks<()>> {
        self.tasks.lock().expect("no code panics while it holds the tasks")
    }

    pub(crate) fn agent_title(&self, agent: &str) -> String {
        self.words.get(agent).map_or_else(|| agent.to_owned(), |words| words.title.clone())
    }
}

fn words(agent: &agents::catalogue::Agent) -> AgentWords {
    AgentWords {
        title: agent.title.clone(),
        short_title: agent.short_title().to_owned(),
        login_advice: agent.login_advice(),
        unasked: agent.acts_unasked(),
    }
}
