//! The server's life: from its settings to a socket, and from a signal to a clean end.

use std::ffi::OsString;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::Duration;

use agents::Transport;
use anyhow::{Context, Result, bail};
use domain::policy::Policy;
use engine::Engine;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use web::{Certificate, LoginLink};

use crate::catalogue::{catalogue, default_agent};
use crate::client::address;
use crate::config::{Config, Content, Durability, McpSection, McpTransport, Secret, Sources, visible};
use crate::say::say;
use crate::spans::Sending;
use crate::{choices, housekeeping, logging, memory, reach, reserve, stop, token, trust};

/// How long open requests may take once the server stops.
const DRAIN: Duration = Duration::from_secs(5);
const CONFIRM_TIMEOUT: Duration = Duration::from_secs(300);
/// The page shows this time and offers Undo for as long.
const DENIAL_HOLD: Duration = Duration::from_secs(3);
const CANCEL_TIMEOUT: Duration = Duration::from_secs(10);
/// Room for every connection that is let in, and for what each session needs beside it.
const OPEN_FILES: u64 = 8192;
/// How many threads run tasks at most, and how many do what blocks: reading the database, files, git.
const WORKERS_MOST: usize = 8;
const BLOCKING_MOST: usize = 64;
const OTHER_THREADS: usize = 4;
const TERM_GRACE_MS: u64 = 2_000;
/// The flag of a server that takes itself up anew: it asks nobody anything.
pub const RESTARTED: &str = "restarted";
/// What a process that an interrupt has ended reports by custom.
const INTERRUPTED: u8 = 130;

pub fn run(config: &Config, sources: &Sources) -> Result<ExitCode> {
    memory::give_back_what_is_freed();
    allow_open_files();
    logging::init(&config.log, config.log_format)?;
    config.warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime =
        runtime.worker_threads(workers()).max_blocking_threads(BLOCKING_MOST).enable_all().build().context("starting the runtime")?;
    let end = runtime.block_on(serve(config, sources))?;
    // Blocking work that is still under way (a search, say) is not waited for.
    runtime.shutdown_background();
    match end {
        End::Stopped(code) => Ok(code),
        End::Again(address) => Err(start_again(sources, address)).context("starting the server again"),
    }
}

/// One for each core, but more than a few would have nothing to do: the database has one writer.
fn workers() -> usize {
    std::thread::available_parallelism().map_or(2, std::num::NonZero::get).clamp(2, WORKERS_MOST)
}

/// The runtime's, and those of the store and the main thread.
pub(crate) fn threads_most() -> usize {
    workers() + BLOCKING_MOST + OTHER_THREADS
}

/// The usual soft limit of 1024 is below what the limits on connections allow; the hard one is the administrator's word.
fn allow_open_files() {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let wanted = limit.maximum.map_or(OPEN_FILES, |most| most.min(OPEN_FILES));
    if limit.current.is_some_and(|current| current < wanted) {
        let raised = rustix::process::Rlimit { current: Some(wanted), maximum: limit.maximum };
        // Without it there is room for fewer connections, and they are refused as they always are.
        let _ = rustix::process::setrlimit(rustix::process::Resource::Nofile, raised);
    }
}

enum End {
    Stopped(ExitCode),
    /// To be started again at the same address.
    Again(SocketAddr),
}

/// Settings are read once, at the start, and everything is built of them: one that is to change takes a new start. It is the same process
/// that starts again, so whoever started the server (a terminal, a service manager) notices nothing; the address is the one that the pages
/// know, also where the system had picked it. Gives back why it failed.
fn start_again(sources: &Sources, address: SocketAddr) -> io::Error {
    let exe = std::env::current_exe().ok().filter(|exe| exe.exists()).unwrap_or_else(|| "/proc/self/exe".into());
    Command::new(exe).arg("serve").args(flags(sources)).arg(format!("--bind={address}")).arg(format!("--{RESTARTED}")).exec()
}

/// What the server was started with, but for its address: it is given where it is wanted.
fn flags(sources: &Sources) -> impl Iterator<Item = String> {
    let flags = sources.flags.iter().filter(|(key, _)| *key != "bind");
    flags.map(|(key, value)| format!("--{}={value}", key.replace('_', "-")))
}

async fn serve(config: &Config, sources: &Sources) -> Result<End> {
    token::prepare_data_dir(&config.data_dir)?;
    let secret = token::load_or_make(&config.data_dir, config.token.as_ref())?;
    let database = config.data_dir.join(stop::DATABASE);
    let store = reserve::open_store(&config.data_dir, &database, config.durability == Durability::Disk).await?;
    std::fs::write(stop::pid_file(&config.data_dir), std::process::id().to_string()).context("writing the server's pid")?;
    prepare_scratch(&config.data_dir);
    let given = sources;
    let (config, sources) = &choices::with_chosen(config, sources, &store.preferences().await?);
    let keys = push::Keys::load_or_make(&config.data_dir)?;
    let push = push::Sender::new(keys, config.push_contact.clone(), config.push_hosts.clone()).context("preparing notifications")?;
    let listener = bind(&config.bind).await?;
    let address = listener.local_addr().context("asking for the server's own address")?;
    let mut sending = Sending::start(config.otlp_endpoint.as_deref())?;
    let settings = engine::Settings { spans: sending.spans.clone(), ..settings(config, sources)? };
    check_tokens(config, &secret)?;
    logging::hide(settings.secrets().into_iter().chain(own_secrets(config, &secret)));
    let engine = Engine::start(store, settings).await.context("starting the engine")?;
    engine.learn_versions();
    let stopping = CancellationToken::new();
    let restart = CancellationToken::new();
    let reach = web::Settings {
        address,
        token: secret.expose().to_owned(),
        metrics_token: config.metrics_token.as_ref().map(|token| token.expose().to_owned()),
        allowed_hosts: config.allowed_hosts.clone(),
        trusted_proxies: config.trusted_proxies.clone(),
        tls: tls(config)?,
        trust: trust::for_page(given, restart.clone()),
        configuration: choices::for_page(sources, &config.data_dir),
        reach: reach::for_page(config, given),
        push: Arc::new(push),
    };
    let app = web::App::new(engine.clone(), reach, stopping.clone()).await?;
    let certificate = app.certificate();
    let shown = certificate.as_ref().map(|certificate| certificate.borrow().clone());
    address::announce(&config.data_dir, address, shown.as_ref()).context("writing the server's address")?;
    let login = app.login_link().await;
    announce(address, &login, shown.as_ref(), &engine);
    let server = web::serve(listener, app);
    tokio::pin!(server);
    tokio::select! {
        ended = &mut server => ended.context("serving")?,
        () = housekeeping::run(&engine) => {}
        () = keep_certificate(certificate, &config.data_dir) => {}
        signalled = stop_signal() => signalled?,
        () = restart.cancelled() => {}
    }
    tracing::info!("shutting down; press Ctrl-C again to force");
    stopping.cancel();
    tokio::select! {
        () = finish(&mut server, &engine, &mut sending) => {
            Ok(if restart.is_cancelled() { End::Again(address) } else { End::Stopped(ExitCode::SUCCESS) })
        }
        signalled = stop_signal() => {
            signalled?;
            tracing::warn!("second signal: stopping immediately");
            Ok(End::Stopped(ExitCode::from(INTERRUPTED)))
        }
    }
}

/// A directory for what git is given, which no agent in a sandbox can write to. What a killed server left there goes: the store is open,
/// so no other server uses it. Without room on the disk git fails until there is some, and says so.
fn prepare_scratch(data_dir: &Path) {
    let scratch = data_dir.join("tmp");
    let made = match std::fs::remove_dir_all(&scratch) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => std::fs::DirBuilder::new().mode(0o700).create(&scratch),
    };
    if let Err(error) = made {
        tracing::warn!(%error, "the directory for temporary files cannot be made, so changes and commits do not work");
    }
    if let Err(other) = tools::keep_scratch_in(&scratch) {
        tracing::warn!("temporary files are kept in {}, which agents may be able to write to", other.display());
    }
}

/// What of our own no log may show.
fn own_secrets(config: &Config, secret: &Secret) -> Vec<String> {
    let metrics = config.metrics_token.as_ref().map(|token| token.expose().to_owned());
    [secret.expose().to_owned(), web::token_for_agents(secret.expose())].into_iter().chain(metrics).collect()
}

/// Whoever has the server's own token can answer for a person, so an agent is not given it, not even as a tool's; nor is whoever may only
/// read the server's numbers.
fn check_tokens(config: &Config, secret: &Secret) -> Result<()> {
    if config.metrics_token.as_ref() == Some(secret) {
        bail!("VOXPILOT_METRICS_TOKEN is the server's own token, which opens everything: choose another");
    }
    for (name, section) in &config.mcp_servers {
        let words: Vec<&str> = match &section.transport {
            McpTransport::Stdio { args, .. } => args.iter().map(String::as_str).collect(),
            McpTransport::Http { url } | McpTransport::Sse { url } => vec![url],
        };
        if section.secrets.values().map(Secret::expose).chain(words).any(|word| word.contains(secret.expose())) {
            bail!(
                "mcp_servers.{name} would hand this server's own token to agents, who could then approve what they ask themselves: \
                 give them the one that `voxpilot mcp --print-token` prints, or the command `voxpilot mcp`"
            );
        }
    }
    Ok(())
}

fn tls(config: &Config) -> Result<web::Tls> {
    Ok(match (&config.tls_cert, &config.tls_key) {
        (Some(cert), Some(key)) => web::Tls::Files { cert: cert.clone(), key: key.clone() },
        (Some(_), None) | (None, Some(_)) => bail!("VOXPILOT_TLS_CERT and VOXPILOT_TLS_KEY go together: one of them is missing"),
        _ if config.self_signed => web::Tls::SelfSigned { dir: config.data_dir.join("tls") },
        _ => web::Tls::Off,
    })
}

async fn finish(server: &mut (impl Future<Output = std::io::Result<()>> + Unpin), engine: &Engine, sending: &mut Sending) {
    if tokio::time::timeout(DRAIN, server).await.is_err() {
        tracing::warn!("some requests did not end in time and are cut off");
    }
    let left = engine.shutdown().await;
    sending.flush().await;
    if left > 0 {
        say(format_args!("{left} agent(s) keep running in the background; they reconnect when the server starts again"));
    }
}

async fn bind(text: &str) -> Result<TcpListener> {
    match TcpListener::bind(text).await {
        Ok(listener) => Ok(listener),
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
            bail!("{text} is in use: stop what listens there, or choose another address with --bind (port 0 picks a free one)")
        }
        Err(error) => Err(error).with_context(|| format!("listening on {text}")),
    }
}

fn announce(address: SocketAddr, login: &LoginLink, certificate: Option<&Certificate>, engine: &Engine) {
    let settings = engine.settings();
    let scheme = address::scheme(certificate.is_some());
    say(format_args!("listening on {scheme}://{address}"));
    say(format_args!("work directory {}, model {}, agent {}", settings.work_dir.display(), settings.model, settings.default_agent));
    say(format_args!("open {scheme}://{}{}", address::reachable(address), login.path));
    if !login.stored {
        say(format_args!(
            "warning: nothing can be stored (is the disk full?); this link and the browser it signs in are valid until the server restarts"
        ));
        say(format_args!("warning: commands of voxpilot and the access token work as usual; delete sessions or free disk space"));
    }
    let is_automatic = engine.default_policy(false) == Policy::Auto && !engine.is_policy_chosen();
    if is_automatic && settings.model != "relay" {
        say(format_args!(
            "approvals: automatic for delegated work (the default); start with --permission-policy ask, or choose in the page, to be asked"
        ));
    }
    if address.ip().is_unspecified() {
        let reachable = web::addresses().into_iter().filter(|other| other.is_ipv4() || address.is_ipv6());
        reachable.for_each(|other| say(format_args!("from other devices: {scheme}://{}", SocketAddr::new(other, address.port()))));
    }
    if let Some(certificate) = certificate {
        say(format_args!("certificate SHA-256 {}", certificate.fingerprint));
    } else if !address.ip().is_loopback() {
        say(format_args!("warning: reachable from other machines, without encryption; whoever listens in can run commands here"));
        say(format_args!("warning: use --tls self-signed, a reverse proxy with TLS, Tailscale or an SSH tunnel"));
    }
}

async fn stop_signal() -> Result<()> {
    let mut terminate = signal(SignalKind::terminate()).context("listening for SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("listening for SIGINT")?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}

/// Leaves every certificate that the server takes up for the commands that talk to it. Never ends by itself.
async fn keep_certificate(certificate: Option<watch::Receiver<Certificate>>, data_dir: &Path) {
    let Some(mut certificate) = certificate else { return std::future::pending().await };
    while certificate.changed().await.is_ok() {
        let kept = address::keep(data_dir, &certificate.borrow_and_update());
        if let Err(error) = kept {
            tracing::warn!(%error, "the new certificate could not be left for the commands that talk to the server");
        }
    }
    std::future::pending().await
}

pub(crate) fn settings(config: &Config, sources: &Sources) -> Result<engine::Settings> {
    let exe = std::env::current_exe().context("finding this binary")?;
    let catalogue = catalogue(config, &exe)?;
    let environment: Vec<_> = sources.env.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect();
    let default_agent = default_agent(config, &catalogue, &environment)?;
    Ok(engine::Settings {
        sandbox: sandbox(&exe, config, sources),
        exe,
        flags: flags(sources).collect(),
        data_dir: config.data_dir.clone(),
        work_dir: config.work_dir.clone(),
        work_dirs: config.work_dirs.clone(),
        ignore: config.ignore.clone(),
        model: config.model.clone(),
        endpoint: endpoint(config)?,
        model_tuning: model::Tuning::default(),
        max_iterations: config.max_agent_iterations,
        default_agent,
        catalogue,
        environment,
        private: sources.config_dir().into_iter().collect(),
        mcp_servers: config.mcp_servers.iter().map(|(name, section)| mcp_server(name, section)).collect(),
        pinned: pinned(sources),
        permission_policy: config.permission_policy,
        chosen_policy: config.chosen_policy,
        least_policy: config.least_policy,
        project_title: config.title.clone(),
        suggestions: config.suggestions.clone(),
        disk_quota: config.disk_quota,
        durability: match config.durability {
            Durability::Process => agents::Durability::Process,
            Durability::Disk => agents::Durability::Disk,
        },
        agent_ttl: config.copilot_connection_ttl,
        agents_most: engine::AGENTS_MOST,
        term_grace_ms: TERM_GRACE_MS,
        confirm_timeout: CONFIRM_TIMEOUT,
        permission_timeout: config.permission_timeout,
        denial_hold: DENIAL_HOLD,
        cancel_timeout: CANCEL_TIMEOUT,
        deadlines: agents::Deadlines::default(),
        spans: telemetry::Spans::default(),
    })
}

/// What a trusted project runs of its own files, as it was trusted.
fn pinned(sources: &Sources) -> Arc<[engine::PinnedFile]> {
    let scripts = sources.project.iter().filter(|project| project.trusted).flat_map(|project| &project.scripts);
    let pinned = scripts.filter_map(|script| {
        let Content::File { sha256, .. } = &script.content else { return None };
        let agent = match script.key.strip_prefix("agents.") {
            Some(id) => Some(id.to_owned()),
            None => (script.key == "copilot_cli_path").then(|| agents::catalogue::COPILOT.to_owned()),
        };
        Some(engine::PinnedFile { agent, path: script.path.clone(), shown: visible(&script.shown), sha256: sha256.clone() })
    });
    pinned.collect()
}

/// Where agents may write, so that no program of ours is taken from there.
pub(crate) fn untrusted(config: &Config) -> Vec<PathBuf> {
    std::iter::once(&config.work_dir).chain(&config.work_dirs).cloned().collect()
}

/// Looked for only where an agent is to be confined.
fn sandbox(exe: &Path, config: &Config, sources: &Sources) -> Option<agents::Mechanism> {
    let is_wanted = config.agents.values().any(|agent| agent.confined);
    let path = sources.env.get("PATH").map(|path| path.as_ref());
    is_wanted.then(|| agents::Mechanism::find(exe, path, &untrusted(config))).flatten()
}

/// Where other models than the relay are asked for, if anywhere.
fn endpoint(config: &Config) -> Result<model::Settings> {
    if config.model_base_url.is_none() && config.model_provider.is_none() {
        return Ok(model::Settings::Relay);
    }
    Ok(model::Settings::Endpoint {
        model: config.model.clone(),
        base_url: config.model_base_url.clone(),
        api_key: config.model_api_key.as_ref().map(|key| key.expose().into()),
        provider: config.model_provider.as_deref().map(str::parse).transpose()?,
    })
}

fn mcp_server(name: &str, section: &McpSection) -> agents::McpServer {
    let pairs = section.secrets.iter().map(|(name, value)| (name.clone(), value.expose().to_owned())).collect();
    let transport = match &section.transport {
        McpTransport::Stdio { command, args } => Transport::Stdio { command: command.clone(), args: args.clone(), env: pairs },
        McpTransport::Http { url } => Transport::Http { url: url.clone(), headers: pairs },
        McpTransport::Sse { url } => Transport::Sse { url: url.clone(), headers: pairs },
    };
    agents::McpServer { name: name.to_owned(), transport }
}
