//! HTTPS with own files and with a certificate of the server's own making.

use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use reqwest::Version;
use rustls::pki_types::CertificateDer;
use serde_json::json;
use testkit::faulty_agent;
use testkit::server::{Rig, Server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::SOON;
use crate::certificate::{self, Made};

async fn with_files(made: &Made) -> Server {
    let rig = Rig::default().demo_agent();
    let (cert, key) = made.write(rig.home());
    rig.env("VOXPILOT_TLS_CERT", cert.display().to_string()).env("VOXPILOT_TLS_KEY", key.display().to_string()).start().await
}

async fn health(http: &reqwest::Client, server: &Server) -> reqwest::Result<Version> {
    let answer = http.get(format!("{}/api/health", server.base)).send().await?.error_for_status()?;
    Ok(answer.version())
}

/// A command of ours that finds the server by its data directory.
fn command(server: &Server, args: &[&str]) -> Output {
    command_with(server, &server.rig().data_dir(), args).output().unwrap()
}

fn command_with(server: &Server, data_dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(faulty_agent::voxpilot_path());
    command.args(args).env_clear().env("HOME", server.rig().home().join("home")).env("VOXPILOT_DATA_DIR", data_dir);
    command.env("VOXPILOT_TOKEN", server.token()).current_dir(server.rig().home().join("home"));
    command
}

async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let waiting = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(SOON, waiting).await.unwrap_or_else(|_| panic!("{what} does not happen"));
}

#[tokio::test]
async fn own_files_encrypt_both_versions_of_http_and_the_commands_know_the_server() {
    let made = certificate::make(&["127.0.0.1", "cockpit.example"]);
    let server = with_files(&made).await;
    assert!(server.base.starts_with("https://"), "{}", server.base);
    assert_eq!(health(&certificate::client(&made.pem).build().unwrap(), &server).await.unwrap(), Version::HTTP_2);
    assert_eq!(health(&certificate::client(&made.pem).http1_only().build().unwrap(), &server).await.unwrap(), Version::HTTP_11);
    let stranger = certificate::make(&["127.0.0.1"]);
    assert!(health(&certificate::client(&stranger.pem).build().unwrap(), &server).await.is_err());

    let session = server.new_session(json!({ "permission_policy": "auto" })).await;
    let mut client = server.stream(&session, None).await;
    server.send(&session, "say hello").await;
    assert_eq!(client.turn_end(SOON).await, "completed");
    for args in [&["sessions"][..], &["sessions", "--url", &server.base]] {
        let listed = command(&server, args);
        assert!(listed.status.success() && String::from_utf8_lossy(&listed.stdout).contains(&session), "{args:?}: {listed:?}");
    }
    drop(client);
    server.end().await;
}

#[tokio::test]
async fn a_certificate_without_this_machines_address_does_for_the_commands_too() {
    let server = with_files(&certificate::make(&["cockpit.example"])).await;
    let listed = command(&server, &["sessions"]);
    assert!(listed.status.success(), "{listed:?}");
    // Another certificate in its place is another server.
    let other = certificate::make(&["cockpit.example"]);
    std::fs::write(server.rig().data_dir().join("server.der"), der_of(&other.pem)).unwrap();
    let refused = command(&server, &["sessions"]);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("shows a certificate that is not known here"), "{refused:?}");
    server.end().await;
}

/// Where nothing is known of the server but its address.
#[tokio::test]
async fn elsewhere_the_certificates_of_the_system_count() {
    let made = certificate::make(&["127.0.0.1"]);
    let server = with_files(&made).await;
    let elsewhere = tempfile::tempdir().unwrap();
    let stranger = certificate::make(&["127.0.0.1"]).write(elsewhere.path()).0;
    let listed = |system: &Path| {
        let mut command = command_with(&server, elsewhere.path(), &["sessions", "--url", &server.base]);
        let done = command.env("SSL_CERT_FILE", system).env("SSL_CERT_DIR", "/nowhere").output().unwrap();
        (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
    };
    assert_eq!(listed(&server.rig().home().join("cert.pem")), (Some(0), String::new()));
    for (system, why) in [(stranger.as_path(), "shows a certificate that is not known here"), (Path::new("/nowhere"), "No CA certificates")]
    {
        let (code, said) = listed(system);
        assert!(code == Some(1) && said.contains(why), "{said}");
    }
    server.end().await;
}

fn der_of(pem: &str) -> Vec<u8> {
    use rustls::pki_types::pem::PemObject;
    CertificateDer::from_pem_slice(pem.as_bytes()).unwrap().to_vec()
}

#[tokio::test]
async fn a_new_certificate_is_taken_up_and_a_broken_one_is_not() {
    let first = certificate::make(&["127.0.0.1"]);
    let server = with_files(&first).await;
    let second = certificate::make(&["127.0.0.1"]);
    second.write(server.rig().home());
    let http = certificate::client(&second.pem).build().unwrap();
    until("the new certificate", async || health(&http, &server).await.is_ok()).await;
    let kept = || std::fs::read(server.rig().data_dir().join("server.der")).unwrap();
    until("the commands know it", async || kept() == der_of(&second.pem)).await;
    assert!(command(&server, &["sessions"]).status.success());

    std::fs::write(server.rig().home().join("cert.pem"), "no certificate").unwrap();
    until("the warning", async || server.log().contains("the old one stays")).await;
    assert!(health(&http, &server).await.is_ok());
    server.end().await;
}

#[tokio::test]
async fn files_that_cannot_be_used_are_named_at_the_start() {
    let dir = tempfile::tempdir().unwrap();
    let (cert, key) = certificate::make(&["localhost"]).write(dir.path());
    let other = dir.path().join("other");
    std::fs::create_dir(&other).unwrap();
    let (_, wrong_key) = certificate::make(&["localhost"]).write(&other);
    let missing = dir.path().join("missing.pem");
    for (cert, key, named) in [(&missing, &key, &missing), (&cert, &missing, &missing), (&key, &key, &key), (&cert, &wrong_key, &wrong_key)]
    {
        let said = start_that_fails(dir.path(), &[("VOXPILOT_TLS_CERT", cert), ("VOXPILOT_TLS_KEY", key)]);
        assert!(said.contains(&named.display().to_string()), "{said}");
    }
    // Half of it is never taken for none of it.
    for half in [("VOXPILOT_TLS_CERT", &*cert), ("VOXPILOT_TLS_KEY", &*key)] {
        let said = start_that_fails(dir.path(), &[half]);
        assert!(said.contains("VOXPILOT_TLS_CERT") && said.contains("VOXPILOT_TLS_KEY"), "{said}");
    }
}

fn start_that_fails(dir: &Path, files: &[(&str, &Path)]) -> String {
    let work = dir.join("work");
    std::fs::create_dir_all(&work).unwrap();
    let mut command = Command::new(faulty_agent::voxpilot_path());
    command.args(["serve", "--bind", "127.0.0.1:0"]).env_clear().env("HOME", dir).env("VOXPILOT_DATA_DIR", dir.join("data"));
    let ended = command.env("VOXPILOT_AGENT", "demo").envs(files.iter().copied()).current_dir(work).output().unwrap();
    assert!(!ended.status.success(), "{ended:?}");
    String::from_utf8(ended.stderr).unwrap()
}

#[tokio::test]
async fn a_certificate_of_its_own_is_kept_over_a_restart_and_does_for_the_commands() {
    let mut server = Rig::default().demo_agent().env("VOXPILOT_TLS", "self-signed").start().await;
    let pem = || std::fs::read_to_string(server.rig().data_dir().join("tls/certificate.pem")).unwrap();
    let first = pem();
    assert_eq!(health(&certificate::client(&first).build().unwrap(), &server).await.unwrap(), Version::HTTP_2);
    for args in [&["sessions"][..], &["sessions", "--url", &server.base.replace("127.0.0.1", "localhost")]] {
        let listed = command(&server, args);
        assert!(listed.status.success(), "{args:?}: {listed:?}");
    }
    server.terminate().await;
    server.restart().await;
    assert_eq!(std::fs::read_to_string(server.rig().data_dir().join("tls/certificate.pem")).unwrap(), first);
    assert!(health(&certificate::client(&first).build().unwrap(), &server).await.is_ok());
    server.end().await;
}

#[tokio::test]
async fn plain_http_at_an_https_address_is_told_so() {
    let server = Rig::default().demo_agent().env("VOXPILOT_TLS", "self-signed").start().await;
    let mut stream = TcpStream::connect(server.base.trim_start_matches("https://")).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    stream.shutdown().await.unwrap();
    let mut said = String::new();
    timeout(SOON, stream.read_to_string(&mut said)).await.unwrap().unwrap();
    assert!(said.starts_with("HTTP/1.1 400 ") && said.contains("this is an HTTPS address"), "{said}");
    server.end().await;
}

#[tokio::test]
async fn a_handshake_that_does_not_go_on_is_given_up() {
    let server = Rig::default().demo_agent().env("VOXPILOT_TLS", "self-signed").start().await;
    for half in [&b""[..], &[0x16, 0x03, 0x01]] {
        let mut stream = TcpStream::connect(server.base.trim_start_matches("https://")).await.unwrap();
        stream.write_all(half).await.unwrap();
        let mut said = Vec::new();
        let _reset = timeout(SOON, stream.read_to_end(&mut said)).await.expect("the server closes the connection");
        assert!(said.is_empty(), "{said:?}");
    }
    server.end().await;
}
