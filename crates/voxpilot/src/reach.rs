//! What the page is told of the ways in which a phone can reach this server: the command that starts it, and Tailscale.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use runner::find_program;
use serde::Deserialize;
use tokio::process::Command;
use tokio::time::timeout;
use web::{ReachSettings, TailscaleState, TailscaleView};

use crate::config::{Config, Sources, is_secret};

const TAILSCALE_TIMEOUT: Duration = Duration::from_secs(3);
/// What the ways give a value of their own.
const GIVEN_ANEW: [&str; 4] = ["bind", "tls", "allowed_hosts", "trusted_proxies"];

/// `given` is what the server was started with.
pub(crate) fn for_page(config: &Config, given: &Sources) -> ReachSettings {
    let search_path = given.env.get("PATH").cloned();
    let tailscale = move || {
        let program = find_program(Path::new("tailscale"), search_path.as_deref().map(OsStr::new));
        let looking: std::pin::Pin<Box<dyn Future<Output = TailscaleView> + Send>> = Box::pin(look(program));
        looking
    };
    ReachSettings {
        certificates: config.data_dir.join("tls"),
        addresses: Arc::new(web::addresses),
        tailscale: Arc::new(tailscale),
        command: command(given),
    }
}

/// As it was given, without what the ways change. A secret is not repeated: whoever gave it has it.
fn command(given: &Sources) -> String {
    let flags = given.flags.iter().filter(|(key, _)| !GIVEN_ANEW.contains(&key.as_str()));
    let flags = flags.map(|(key, value)| {
        let value = if is_secret(key) { "…".to_owned() } else { quoted(value) };
        format!(" --{} {value}", key.replace('_', "-"))
    });
    format!("voxpilot serve{}", flags.collect::<String>())
}

/// For a shell.
fn quoted(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:,=@%+".contains(&byte);
    if !text.is_empty() && text.bytes().all(is_plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// What `tailscale status --json` says, as far as it is needed.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Status {
    backend_state: String,
    #[serde(rename = "Self")]
    own: Option<Own>,
}

#[derive(Deserialize)]
struct Own {
    #[serde(rename = "DNSName", default)]
    name: String,
}

async fn look(program: Option<PathBuf>) -> TailscaleView {
    let Some(program) = program else { return TailscaleView::default() };
    let stopped = TailscaleView { state: TailscaleState::Stopped, name: None };
    let asked = Command::new(program)
        .args(["status", "--json", "--peers=false"])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .output();
    let Ok(Ok(output)) = timeout(TAILSCALE_TIMEOUT, asked).await else { return stopped };
    let Ok(status) = serde_json::from_slice::<Status>(&output.stdout) else { return stopped };
    let name = status.own.map(|own| own.name.trim_end_matches('.').to_ascii_lowercase()).filter(|name| is_host_name(name));
    match name {
        Some(name) if status.backend_state == "Running" => TailscaleView { state: TailscaleState::Running, name: Some(name) },
        _ => stopped,
    }
}

/// It becomes part of a command that people copy.
fn is_host_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn sources(flags: &[(&str, &str)]) -> Sources {
        let flags = flags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Sources { flags, ..Sources::default() }
    }

    #[test]
    fn the_command_repeats_the_flags_but_no_secret_and_nothing_that_a_way_changes() {
        let given =
            sources(&[("bind", "127.0.0.1:9"), ("data_dir", "/srv/my data"), ("tls", "off"), ("token", "s3cret"), ("agent", "demo")]);
        assert_eq!(command(&given), "voxpilot serve --agent demo --data-dir '/srv/my data' --token …");
        assert_eq!(command(&sources(&[])), "voxpilot serve");
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }

    async fn says(answer: &str) -> TailscaleView {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tailscale");
        std::fs::write(&path, format!("#!/bin/sh\ncat <<'END'\n{answer}\nEND\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        look(Some(path)).await
    }

    #[tokio::test]
    async fn tailscale_is_running_only_where_it_has_a_name() {
        let running = says(r#"{"BackendState":"Running","Self":{"DNSName":"Mara-Desk.tail1234.ts.net."}}"#).await;
        assert_eq!(running, TailscaleView { state: TailscaleState::Running, name: Some("mara-desk.tail1234.ts.net".to_owned()) });
        let stopped = TailscaleView { state: TailscaleState::Stopped, name: None };
        for answer in [
            r#"{"BackendState":"NeedsLogin","Self":{"DNSName":"x.ts.net."}}"#,
            r#"{"BackendState":"Running","Self":{"DNSName":""}}"#,
            r#"{"BackendState":"Running","Self":{"DNSName":"x; rm -rf /"}}"#,
            r#"{"BackendState":"Running"}"#,
            "not JSON",
        ] {
            assert_eq!(says(answer).await, stopped, "{answer}");
        }
        assert_eq!(look(None).await, TailscaleView::default());
    }
}
