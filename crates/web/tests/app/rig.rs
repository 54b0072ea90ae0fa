//! A server with a scripted model and a faulty agent, and what a test asks of it.

use std::path::Path;
use std::time::Duration;

use agents::catalogue::{self, Agent, Catalogue};
use engine::Engine;
use reqwest::Method;
use reqwest::header::HeaderMap;
use serde_json::{Value, json};
use store::{DeviceRow, LinkRow, ServerRow, Store};
use tempfile::TempDir;
use testkit::client::{Client, Event};
use testkit::model_server::{ModelServer, Reply, Script};
use testkit::{faulty_agent, processes};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

pub(crate) const TOKEN: &str = "the-access-secret-0123456789";
pub(crate) const METRICS_TOKEN: &str = "the-metrics-secret-0123456789";
pub(crate) const CONTACT: &str = "mailto:ada@example.org";
pub(crate) const API_KEY: &str = "sk-the-model-key-0123456789";
/// Far above any healthy test, also on a busy machine.
pub(crate) const SOON: Duration = Duration::from_secs(60);

pub(crate) struct Options {
    pub script: Script,
    /// The address of a model that is not the scripted one.
    pub endpoint: Option<String>,
    pub confirm_timeout: Duration,
    pub permission_timeout: Option<Duration>,
    pub denial_hold: Duration,
    pub cancel_timeout: Duration,
    pub max_iterations: u32,
    pub agent_env: Vec<(&'static str, &'static str)>,
    pub quirks: agents::Quirks,
    pub tries: u32,
    /// The agent is to be sandboxed, and nothing here can.
    pub confined: bool,
    /// Silence of the model for this long is a stall.
    pub stall: Duration,
    pub trust: web::Trust,
    /// What an earlier server has left of them.
    pub devices: Vec<DeviceRow>,
    pub links: Vec<LinkRow>,
    pub limits: web::Limits,
    pub allowed_hosts: Vec<String>,
    pub trusted_proxies: Vec<(std::net::IpAddr, u8)>,
    /// What this machine is called in its network; loopback, as nothing else is there for sure.
    pub addresses: Vec<std::net::IpAddr>,
    /// What an earlier server has left of them.
    pub preferences: Vec<(&'static str, String)>,
    pub least_policy: Option<domain::policy::Policy>,
    /// Push services that need not be public: the one of the tests is here.
    pub push_hosts: Vec<&'static str>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            script: Script::new(),
            endpoint: None,
            confirm_timeout: SOON,
            permission_timeout: None,
            denial_hold: Duration::ZERO,
            cancel_timeout: SOON,
            max_iterations: 25,
            agent_env: Vec::new(),
            quirks: agents::Quirks::default(),
            tries: 3,
            confined: false,
            stall: Duration::from_millis(1500),
            trust: crate::trust::no_file(),
            devices: Vec::new(),
            links: Vec::new(),
            limits: web::Limits::default(),
            allowed_hosts: Vec::new(),
            trusted_proxies: Vec::new(),
            addresses: vec!["127.0.0.2".parse().unwrap()],
            preferences: Vec::new(),
            least_policy: None,
            push_hosts: vec!["127.0.0.1:*"],
        }
    }
}

impl Options {
    fn push_hosts(&self) -> Vec<push::AllowedHost> {
        self.push_hosts.iter().map(|host| host.parse().unwrap()).collect()
    }
}

pub(crate) struct Rig {
    pub dir: TempDir,
    pub model: ModelServer,
    pub engine: Engine,
    pub base: String,
    pub http: reqwest::Client,
    pub stopping: CancellationToken,
    _server: JoinSet<std::io::Result<()>>,
}

/// An answer to a request.
pub(crate) struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub text: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("not JSON ({error}): {}", self.text))
    }

    /// Checks that it is a refusal in the form that all of them have, with this status and code.
    #[track_caller]
    pub(crate) fn refuses(&self, status: u16, code: &str) {
        assert_eq!(self.status, status, "{}", self.text);
        let body = self.json();
        assert_eq!(body["error"]["code"], code, "{body}");
        assert!(body["error"]["message"].as_str().is_some_and(|message| message.len() > 5), "{body}");
        assert_eq!(body.as_object().unwrap().len(), 1, "{body}");
    }
}

impl Rig {
    pub(crate) async fn replies(replies: impl IntoIterator<Item = Reply>) -> Rig {
        Rig::start(Options { script: Script::replies(replies), ..Options::default() }).await
    }

    pub(crate) async fn start(mut options: Options) -> Rig {
        let dir = TempDir::new().unwrap();
        for name in ["work", "data", "work/sub"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        let model = ModelServer::start(std::mem::take(&mut options.script));
        let store = Store::open(&dir.path().join("data/voxpilot.db"), false).await.unwrap();
        let known = options.devices.drain(..).map(ServerRow::Device).chain(options.links.drain(..).map(ServerRow::Link));
        let chosen = options.preferences.drain(..).map(|(key, value)| ServerRow::Preference { key: key.to_owned(), value });
        store.save(known.chain(chosen).collect()).await.unwrap();
        let settings = settings(dir.path(), &model, &options);
        let engine = Engine::start(store, settings).await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stopping = CancellationToken::new();
        let addresses = options.addresses.clone();
        let reach = web::ReachSettings {
            certificates: dir.path().join("data/tls"),
            addresses: std::sync::Arc::new(move || addresses.clone()),
            tailscale: std::sync::Arc::new(|| Box::pin(async { web::TailscaleView::default() })),
            command: "voxpilot serve".to_owned(),
        };
        let web_settings = web::Settings {
            reach,
            address,
            token: TOKEN.to_owned(),
            metrics_token: Some(METRICS_TOKEN.to_owned()),
            allowed_hosts: options.allowed_hosts.clone(),
            trusted_proxies: options.trusted_proxies.clone(),
            tls: web::Tls::Off,
            trust: options.trust.clone(),
            configuration: crate::settings::policy_alone(engine::Choices::of(engine.settings())),
            push: std::sync::Arc::new(
                push::Sender::new(push::Keys::load_or_make(&dir.path().join("data")).unwrap(), CONTACT.to_owned(), options.push_hosts())
                    .unwrap(),
            ),
        };
        let app = web::App::new(engine.clone(), web_settings, stopping.clone()).await.unwrap().limited(options.limits.clone());
        let mut server = JoinSet::new();
        server.spawn(web::serve(listener, app));
        // A connection for each request: the server closes one whose body it did not read to the end.
        let http = tls::client().pool_max_idle_per_host(0).build().unwrap();
        Rig { dir, model, engine, base: format!("http://{address}"), http, stopping, _server: server }
    }

    pub(crate) async fn send(&self, method: Method, path: &str, body: Option<Value>) -> Answer {
        let mut request = self.http.request(method, format!("{}{path}", self.base)).bearer_auth(TOKEN);
        if let Some(body) = body {
            request = request.json(&body);
        }
        answer(request).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, None).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        self.send(Method::POST, path, Some(body)).await
    }

    pub(crate) async fn patch(&self, path: &str, body: Value) -> Answer {
        self.send(Method::PATCH, path, Some(body)).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        self.send(Method::DELETE, path, None).await
    }

    /// A new session with the scripted model and the faulty agent.
    pub(crate) async fn session(&self) -> String {
        self.session_with(json!({})).await
    }

    /// A new session that talks straight to the agent.
    pub(crate) async fn relay(&self) -> String {
        self.session_with(json!({ "model": "relay" })).await
    }

    pub(crate) async fn session_with(&self, body: Value) -> String {
        let answer = self.post("/api/sessions", body).await;
        assert_eq!(answer.status, 201, "{}", answer.text);
        answer.json()["id"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn say(&self, session: &str, content: &str) -> Value {
        let answer = self.post(&format!("/api/sessions/{session}/messages"), json!({ "content": content })).await;
        assert_eq!(answer.status, 202, "{}", answer.text);
        answer.json()
    }

    pub(crate) async fn stream(&self, session: &str, cursor: Option<u64>) -> Client {
        Client::open(&self.http, &self.base, TOKEN, session, cursor).await.unwrap()
    }

    /// A stream that has caught up with an untouched session.
    pub(crate) async fn watch(&self, session: &str) -> Client {
        let mut client = self.stream(session, None).await;
        client.until("ready", SOON, |event| event.kind == "ready").await;
        client
    }

    /// Says it and reads to the end of the turn: how it ended, and everything that was seen.
    pub(crate) async fn turn(&self, session: &str, content: &str) -> (String, Client) {
        let mut client = self.watch(session).await;
        self.say(session, content).await;
        let state = client.turn_end(SOON).await;
        (state, client)
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        // Runners outlive their server by design; a test leaves none behind. Each takes its agent along.
        for process in processes::of_dir(self.dir.path()) {
            processes::signal(process.pid, "TERM");
        }
    }
}

fn settings(dir: &Path, model: &ModelServer, options: &Options) -> engine::Settings {
    let exe = faulty_agent::voxpilot_path();
    let mut env = vec![("FAULTY_LOG".to_owned(), dir.join("agent.log").display().to_string())];
    env.extend(options.agent_env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    let faulty = Agent {
        id: "faulty".to_owned(),
        title: "Faulty agent".to_owned(),
        command: faulty_agent::path(),
        args: Vec::new(),
        env,
        quirks: options.quirks,
        confined: options.confined,
        ..Agent::default()
    };
    let catalogue = Catalogue::new(catalogue::Settings {
        copilot_command: "/nowhere/copilot".into(),
        copilot_home: None,
        copilot_token_file: None,
        own_exe: exe.clone(),
        configured: vec![faulty],
    });
    engine::Settings {
        exe,
        flags: vec![],
        data_dir: dir.join("data"),
        work_dir: dir.join("work"),
        work_dirs: Vec::new(),
        ignore: Vec::new(),
        model: "main".to_owned(),
        endpoint: model::Settings::Endpoint {
            model: "main".to_owned(),
            base_url: Some(options.endpoint.clone().unwrap_or_else(|| model.base_url())),
            api_key: Some(API_KEY.into()),
            provider: None,
        },
        model_tuning: model::Tuning { first_backoff_ms: 1, stall_ms: options.stall.as_millis() as u64, tries: options.tries },
        max_iterations: options.max_iterations,
        default_agent: "faulty".to_owned(),
        catalogue,
        environment: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()), ("HOME".into(), dir.into())],
        sandbox: None,
        private: Vec::new(),
        mcp_servers: std::sync::Arc::default(),
        pinned: std::sync::Arc::default(),
        permission_policy: None,
        chosen_policy: None,
        least_policy: options.least_policy,
        project_title: None,
        suggestions: Vec::new(),
        disk_quota: None,
        durability: agents::Durability::Process,
        agent_ttl: Duration::from_secs(120),
        agents_most: engine::AGENTS_MOST,
        term_grace_ms: 200,
        confirm_timeout: options.confirm_timeout,
        permission_timeout: options.permission_timeout,
        denial_hold: options.denial_hold,
        cancel_timeout: options.cancel_timeout,
        deadlines: agents::Deadlines::default(),
        spans: telemetry::Spans::default(),
    }
}

pub(crate) async fn answer(request: reqwest::RequestBuilder) -> Answer {
    let response = request.timeout(SOON).send().await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    Answer { status, headers, text: response.text().await.unwrap() }
}

/// An answer of the model that delegates these prompts: session name and prompt.
pub(crate) fn delegate(prompts: &[(&str, &str)]) -> Reply {
    let call = |(name, prompt): &(&str, &str)| {
        testkit::model_server::ToolCall::new("copilot_agent", json!({ "prompt": prompt, "session_name": name }))
    };
    Reply::tool_calls(prompts.iter().map(call))
}

pub(crate) fn of_kind<'a>(client: &'a Client, kind: &'a str) -> Vec<&'a Event> {
    client.seen.of_kind(kind).collect()
}

/// The one event of this kind.
#[track_caller]
pub(crate) fn only<'a>(client: &'a Client, kind: &'a str) -> &'a Value {
    let found = of_kind(client, kind);
    assert_eq!(found.len(), 1, "of {kind}:\n{}", client.seen.tail());
    &found[0].data
}
