//! The real server on loopback, without a model and without an agent that could be started.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use agents::catalogue::{self, Catalogue};
use engine::Engine;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use web::{Configuration, Limits, ProjectFile, Trust, TrustRefusal, TrustState};

use super::response::Response;
use crate::scratch;

pub(super) const TOKEN: &str = "the-access-secret-0123456789";

/// A server that is silent for longer hangs. Its own patience with half a request is shorter.
const DEADLINE: Duration = Duration::from_secs(60);
const PATIENCE: Duration = Duration::from_secs(2);
/// No answer of a case is larger; the page's own files are.
const MAX_ANSWER_BYTES: usize = 1 << 20;

pub(super) static SERVER: LazyLock<Server> = LazyLock::new(Server::start);

pub(super) struct Server {
    runtime: Runtime,
    address: SocketAddr,
    /// Of the next client: each has an address of its own, so that none waits for a port that was just used.
    client: AtomicU32,
    _serving: JoinSet<std::io::Result<()>>,
}

impl Server {
    fn start() -> Server {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let dir = scratch::dir("http");
        let (address, app, listener) = runtime.block_on(app(&dir));
        let mut serving = JoinSet::new();
        serving.spawn_on(web::serve(listener, app), runtime.handle());
        Server { runtime, address, client: AtomicU32::new(0), _serving: serving }
    }

    /// The input with the server's own host and secret in it.
    pub(super) fn filled_in(&self, input: &[u8]) -> Vec<u8> {
        let host = self.address.to_string();
        replaced(&replaced(input, b"@HOST@", host.as_bytes()), b"@TOKEN@", TOKEN.as_bytes())
    }

    /// Writes the request and reads what comes back: one whole response where the request is complete, else all until the server
    /// closes. `None` where nothing comes and nothing is closed.
    pub(super) fn exchange(&self, request: &[u8], complete: bool) -> Option<Vec<u8>> {
        self.runtime.block_on(async { tokio::time::timeout(DEADLINE, self.talk(request, complete)).await.ok() })
    }

    async fn talk(&self, request: &[u8], complete: bool) -> Vec<u8> {
        let number = self.client.fetch_add(1, Ordering::Relaxed) % 0x00ff_fff0;
        let socket = TcpSocket::new_v4().expect("a socket");
        let source = IpAddr::V4(Ipv4Addr::from(0x7f00_0002 + number));
        socket.bind(SocketAddr::new(source, 0)).expect("an address of this machine");
        let mut stream = socket.connect(self.address).await.expect("the server listens");
        // A server that has heard enough closes; what was written too much is its loss.
        let _refused = stream.write_all(request).await;
        if !complete {
            let _closed = stream.shutdown().await;
        }
        let mut answer = Vec::new();
        // An event stream has no end.
        while answer.len() < MAX_ANSWER_BYTES && !(complete && Response::is_whole(&answer)) && !Response::is_endless(&answer) {
            match stream.read_buf(&mut answer).await {
                Ok(0) | Err(_) => break,
                Ok(_) => {}
            }
        }
        answer
    }
}

fn replaced(text: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut result = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.windows(from.len()).position(|window| window == from) {
        result.extend_from_slice(&rest[..at]);
        result.extend_from_slice(to);
        rest = &rest[at + from.len()..];
    }
    result.extend_from_slice(rest);
    result
}

async fn app(dir: &Path) -> (SocketAddr, web::App, TcpListener) {
    for name in ["work", "data"] {
        std::fs::create_dir(dir.join(name)).expect("a new directory is empty");
    }
    let store = store::Store::open(&dir.join("data/voxpilot.db"), false).await.expect("a new database");
    let engine = Engine::start(store, settings(dir)).await.expect("an engine with nothing to recover");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port on loopback");
    let address = listener.local_addr().expect("a bound listener has an address");
    let reach = web::ReachSettings {
        certificates: dir.join("data/tls"),
        addresses: Arc::new(Vec::new),
        tailscale: Arc::new(|| Box::pin(async { web::TailscaleView::default() })),
        command: "voxpilot serve".to_owned(),
    };
    let settings = web::Settings {
        reach,
        address,
        token: TOKEN.to_owned(),
        metrics_token: None,
        allowed_hosts: Vec::new(),
        trusted_proxies: Vec::new(),
        tls: web::Tls::Off,
        trust: no_project_file(),
        configuration: Configuration {
            list: Arc::new(|_| Vec::new()),
            change: Arc::new(|_, _| Err(web::SettingRefusal::Unknown("there is no setting".to_owned()))),
            main_ai: Arc::new(web::MainAiState::default),
            set_main_ai: Arc::new(|_, _| Err(web::SettingRefusal::Unknown("there is no main AI".to_owned()))),
        },
        push: Arc::new(
            push::Sender::new(
                push::Keys::load_or_make(&dir.join("data")).expect("new keys"),
                "mailto:a@example.org".to_owned(),
                Vec::new(),
            )
            .expect("a client"),
        ),
    };
    let limits =
        Limits { header_timeout: PATIENCE, idle_timeout: PATIENCE, body_timeout: PATIENCE, upload_timeout: PATIENCE, ..Limits::default() };
    let app = web::App::new(engine, settings, CancellationToken::new()).await.expect("an app without a certificate");
    (address, app.limited(limits), listener)
}

fn no_project_file() -> Trust {
    let file = ProjectFile {
        path: "work/voxpilot.toml".to_owned(),
        state: TrustState::None,
        hash: None,
        lines: Vec::new(),
        scripts: Vec::new(),
        applied: true,
        problem: None,
    };
    Trust {
        look: Arc::new(move || Ok(file.clone())),
        consent: Arc::new(|_| Err(TrustRefusal::Changed)),
        revoke: Arc::new(|| Err(TrustRefusal::Changed)),
    }
}

/// No program of this machine is named anywhere.
fn settings(dir: &Path) -> engine::Settings {
    let nowhere = dir.join("nowhere");
    let catalogue = Catalogue::new(catalogue::Settings {
        copilot_command: nowhere.clone(),
        copilot_home: None,
        copilot_token_file: None,
        own_exe: nowhere.clone(),
        configured: Vec::new(),
    });
    engine::Settings {
        exe: nowhere,
        flags: vec![],
        data_dir: dir.join("data"),
        work_dir: dir.join("work"),
        work_dirs: Vec::new(),
        ignore: Vec::new(),
        model: "relay".to_owned(),
        endpoint: model::Settings::Relay,
        model_tuning: model::Tuning::default(),
        max_iterations: 1,
        default_agent: "copilot".to_owned(),
        catalogue,
        environment: vec![("HOME".into(), dir.into())],
        sandbox: None,
        private: Vec::new(),
        mcp_servers: Arc::default(),
        pinned: Arc::default(),
        permission_policy: None,
        chosen_policy: None,
        least_policy: None,
        project_title: None,
        suggestions: Vec::new(),
        disk_quota: None,
        durability: agents::Durability::Process,
        agent_ttl: Duration::from_secs(1),
        agents_most: 1,
        term_grace_ms: 10,
        confirm_timeout: PATIENCE,
        permission_timeout: None,
        denial_hold: Duration::ZERO,
        cancel_timeout: PATIENCE,
        deadlines: agents::Deadlines::default(),
        spans: telemetry::Spans::default(),
    }
}
