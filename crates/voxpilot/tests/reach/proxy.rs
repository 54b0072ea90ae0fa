//! Behind a real reverse proxy with TLS: the very configuration of `docs/proxy`, with its names and places filled in.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use reqwest::{Method, RequestBuilder, Version};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::client::Client;
use testkit::server::{Rig, Server};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::SOON;
use crate::certificate;

const NAME: &str = "cockpit.example";

/// A server, and a proxy before it.
struct Reach {
    server: Server,
    proxy: Child,
    base: String,
    http: reqwest::Client,
    _dir: TempDir,
}

/// What the configuration is filled in with.
struct Places {
    dir: PathBuf,
    cert: PathBuf,
    key: PathBuf,
    /// Where the proxy listens.
    port: u16,
    /// Where the server listens.
    server: String,
}

fn documented(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/proxy").join(name)).unwrap()
}

/// The text with each of these replaced, each of which must be there.
fn filled(text: String, places: &[(&str, String)]) -> String {
    places.iter().fold(text, |text, (from, to)| {
        assert!(text.contains(from), "`{from}` is not in the documented configuration");
        text.replace(from, to)
    })
}

fn nginx(places: &Places) -> Command {
    let dir = places.dir.display();
    let server = filled(
        documented("nginx.conf"),
        &[
            ("listen 443", format!("listen 127.0.0.1:{}", places.port)),
            ("/etc/ssl/cockpit.example/fullchain.pem", places.cert.display().to_string()),
            ("/etc/ssl/cockpit.example/privkey.pem", places.key.display().to_string()),
            ("127.0.0.1:8000", places.server.clone()),
        ],
    );
    let kept = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(|name| format!("{name}_temp_path {dir}/{name};")).join(" ");
    let all = format!(
        "daemon off; master_process off; pid {dir}/pid; error_log {dir}/error.log;\nevents {{ worker_connections 64; }}\n\
         http {{ access_log off; {kept}\n{server}\n}}\n"
    );
    let path = places.dir.join("nginx.conf");
    std::fs::write(&path, all).unwrap();
    // Debian has it where the search path of people does not lead.
    let debian = Path::new("/usr/sbin/nginx");
    let mut command = Command::new(if debian.exists() { debian } else { Path::new("nginx") });
    command.arg("-p").arg(&places.dir).arg("-e").arg(places.dir.join("error.log")).arg("-c").arg(path);
    command
}

fn caddy(places: &Places) -> Command {
    let site = format!("https://{NAME}:{} {{\n\ttls {} {}", places.port, places.cert.display(), places.key.display());
    let text = filled(documented("Caddyfile"), &[("cockpit.example {", site), ("127.0.0.1:8000", places.server.clone())]);
    let path = places.dir.join("Caddyfile");
    std::fs::write(&path, format!("{{\n\tadmin off\n\tauto_https off\n\tdefault_bind 127.0.0.1\n}}\n{text}")).unwrap();
    let mut command = Command::new("caddy");
    command.args(["run", "--adapter", "caddyfile", "--config"]).arg(path).env("HOME", &places.dir);
    command
}

impl Reach {
    /// `None` where the proxy is not installed, which is said.
    async fn start(name: &str, proxy: fn(&Places) -> Command) -> Option<Reach> {
        let rig = Rig::default().demo_agent().env("VOXPILOT_ALLOWED_HOSTS", NAME).env("VOXPILOT_TRUSTED_PROXIES", "127.0.0.1");
        let server = rig.start().await;
        let dir = tempfile::tempdir().unwrap();
        let made = certificate::make(&[NAME]);
        let (cert, key) = made.write(dir.path());
        // Free a moment ago; the proxy says so if it is not any more.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let address = server.base.trim_start_matches("http://").to_owned();
        let mut command = proxy(&Places { dir: dir.path().to_owned(), cert, key, port, server: address });
        let started = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true).spawn();
        let Ok(proxy) = started else {
            eprintln!("SKIPPED: {name} is not installed, so nothing was tried through it");
            server.end().await;
            return None;
        };
        let http = certificate::client(&made.pem).resolve(NAME, SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port));
        let reach = Reach { server, proxy, base: format!("https://{NAME}:{port}"), http: http.build().unwrap(), _dir: dir };
        let listening = async {
            while reach.request(Method::GET, "/api/health").send().await.is_err() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        timeout(SOON, listening).await.unwrap_or_else(|_| panic!("{name} does not answer"));
        Some(reach)
    }

    /// As the page would send it.
    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base)).bearer_auth(self.server.token()).header("origin", &self.base)
    }

    async fn post(&self, path: &str, body: Value) -> Value {
        let answer = self.request(Method::POST, path).json(&body).send().await.unwrap();
        let status = answer.status();
        let text = answer.text().await.unwrap();
        assert!(status.is_success(), "{path}: {status} {text}");
        serde_json::from_str(&text).unwrap_or_default()
    }

    async fn page_stream_and_approval(&self) {
        let page = self.request(Method::GET, "/").send().await.unwrap();
        assert_eq!((page.status().as_u16(), page.version()), (200, Version::HTTP_2));
        assert!(page.text().await.unwrap().contains("<!doctype html>"));

        let session = self.post("/api/sessions", json!({ "permission_policy": "ask" })).await;
        let session = session["id"].as_str().unwrap();
        let mut client = Client::open(&self.http, &self.base, self.server.token(), session, None).await.unwrap();
        self.post(&format!("/api/sessions/{session}/messages"), json!({ "content": "run `echo yes > made.txt`" })).await;
        let asked = client.until("the question", SOON, |event| event.kind == "permission-request").await.data;
        let options = asked["options"].as_array().unwrap();
        let allow = options.iter().find(|option| option["kind"] == "allow_once").unwrap_or_else(|| panic!("{asked}"));
        let path = format!("/api/sessions/{session}/permissions/{}", asked["request_id"].as_str().unwrap());
        self.post(&path, json!({ "option_id": allow["option_id"] })).await;
        assert_eq!(client.turn_end(SOON).await, "completed");
        assert_eq!(std::fs::read_to_string(self.server.rig().work_dir().join("made.txt")).unwrap(), "yes\n");

        let foreign = self.http.get(format!("{}/api/sessions", self.base)).bearer_auth(self.server.token());
        assert_eq!(foreign.header("origin", "https://evil.example").send().await.unwrap().status(), 403);
    }

    async fn end(mut self) {
        self.proxy.kill().await.unwrap();
        self.server.end().await;
    }
}

#[tokio::test]
async fn behind_nginx_there_are_the_page_the_stream_and_an_approval() {
    if let Some(reach) = Reach::start("nginx", nginx).await {
        reach.page_stream_and_approval().await;
        reach.end().await;
    }
}

#[tokio::test]
async fn behind_caddy_there_are_the_page_the_stream_and_an_approval() {
    if let Some(reach) = Reach::start("caddy", caddy).await {
        reach.page_stream_and_approval().await;
        reach.end().await;
    }
}
