//! A data directory on which one engine after another is started, with a scripted model and a faulty agent.

use std::time::Duration;

use agents::catalogue::{self, Agent, Catalogue};
use domain::event::{Event, TurnState};
use domain::ids::SessionId;
use engine::{Engine, Settings};
use serde_json::Value;
use store::{Batch, Store};
use tempfile::TempDir;
use testkit::model_server::{ModelServer, Reply, Script};
use testkit::{faulty_agent, processes};

const SOON: Duration = Duration::from_secs(60);

pub(crate) struct Setup {
    pub dir: TempDir,
    pub confirm_timeout: Duration,
    pub permission_timeout: Option<Duration>,
    pub denial_hold: Duration,
    pub agents_most: usize,
    model: ModelServer,
}

impl Setup {
    pub(crate) fn new(replies: impl IntoIterator<Item = Reply>) -> Setup {
        let dir = TempDir::new().unwrap();
        std::fs::create_dir(dir.path().join("work")).unwrap();
        let model = ModelServer::start(Script::replies(replies));
        Setup { dir, confirm_timeout: SOON, permission_timeout: None, denial_hold: Duration::ZERO, agents_most: engine::AGENTS_MOST, model }
    }

    pub(crate) async fn engine(&self) -> Engine {
        let store = Store::open(&self.dir.path().join("voxpilot.db"), false).await.unwrap();
        Engine::start(store, self.settings()).await.unwrap()
    }

    fn settings(&self) -> Settings {
        let (dir, exe) = (self.dir.path(), faulty_agent::voxpilot_path());
        let faulty = Agent {
            id: "faulty".to_owned(),
            title: "Faulty agent".to_owned(),
            command: faulty_agent::path(),
            args: Vec::new(),
            env: vec![("FAULTY_LOG".to_owned(), dir.join("agent.log").display().to_string())],
            ..Agent::default()
        };
        Settings {
            exe: exe.clone(),
            flags: vec![],
            data_dir: dir.to_owned(),
            work_dir: dir.join("work"),
            work_dirs: Vec::new(),
            ignore: Vec::new(),
            model: "main".to_owned(),
            endpoint: model::Settings::Endpoint {
                model: "main".to_owned(),
                base_url: Some(self.model.base_url()),
                api_key: None,
                provider: None,
            },
            model_tuning: model::Tuning { first_backoff_ms: 1, stall_ms: 30_000, tries: 2 },
            max_iterations: 25,
            default_agent: "faulty".to_owned(),
            catalogue: Catalogue::new(catalogue::Settings {
                copilot_command: "/nowhere/copilot".into(),
                copilot_home: None,
                copilot_token_file: None,
                own_exe: exe,
                configured: vec![faulty],
            }),
            environment: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
            sandbox: None,
            private: Vec::new(),
            mcp_servers: std::sync::Arc::default(),
            pinned: std::sync::Arc::default(),
            permission_policy: None,
            chosen_policy: None,
            least_policy: None,
            project_title: None,
            suggestions: Vec::new(),
            disk_quota: None,
            durability: agents::Durability::Process,
            agent_ttl: Duration::from_secs(120),
            agents_most: self.agents_most,
            term_grace_ms: 200,
            confirm_timeout: self.confirm_timeout,
            permission_timeout: self.permission_timeout,
            denial_hold: self.denial_hold,
            cancel_timeout: SOON,
            deadlines: agents::Deadlines::default(),
            spans: telemetry::Spans::default(),
        }
    }

    /// Every line that the agent was sent.
    pub(crate) fn agent_log(&self) -> Vec<Value> {
        let log = std::fs::read_to_string(self.dir.path().join("agent.log")).unwrap();
        log.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Drop for Setup {
    fn drop(&mut self) {
        // A test that failed leaves no agent behind either.
        for process in processes::of_dir(self.dir.path()) {
            processes::signal(process.pid, "TERM");
        }
    }
}

/// Reads the log from its start up to the first event that fits; everything up to there.
pub(crate) async fn until(engine: &Engine, id: SessionId, mut fits: impl FnMut(&Event) -> bool) -> Vec<Event> {
    let mut feed = engine.store().feed(id);
    let mut events = Vec::new();
    loop {
        let Ok(Ok(Batch::Frames { frames })) = tokio::time::timeout(SOON, feed.after(events.len() as u64, 1)).await else {
            panic!("the event does not come: {events:#?}");
        };
        let event = frames[0].event().unwrap();
        let found = fits(&event);
        events.push(event);
        if found {
            return events;
        }
    }
}

pub(crate) fn is_end(event: &Event) -> bool {
    matches!(event, Event::Turn(turn) if turn.state != TurnState::Running)
}

/// What the agent said, checked piece by piece: every piece begins where the one before it ended.
pub(crate) fn agent_text(events: &[Event]) -> String {
    let (mut text, mut last) = (String::new(), None);
    let mut length = 0;
    for event in events {
        if let Event::CopilotDelta(delta) = event {
            if last.replace(&delta.tool_call_id) != Some(&delta.tool_call_id) {
                length = 0;
            }
            assert_eq!(delta.offset, length, "a gap or an overlap");
            length += delta.content.encode_utf16().count() as u64;
            text.push_str(&delta.content);
        }
    }
    text
}

/// The kinds of the events; turns with their state.
pub(crate) fn kinds(events: &[Event]) -> Vec<String> {
    let name = |event: &Event| match event {
        Event::Turn(turn) => format!("turn {}", serde_json::to_value(turn.state).unwrap().as_str().unwrap()),
        other => other.kind().to_owned(),
    };
    events.iter().map(name).collect()
}
