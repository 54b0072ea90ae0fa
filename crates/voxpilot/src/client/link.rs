//! `voxpilot link`: lets in one more device, once.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Arg, ArgAction, ArgMatches, Command};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use qrcode::QrCode;
use qrcode::render::unicode::Dense1x2;
use serde_json::{Value, json};

use super::http::Api;
use super::print::plain;

pub(super) fn arguments(command: Command) -> Command {
    command
        .arg(Arg::new("read-only").long("read-only").action(ArgAction::SetTrue).help("the device can watch, but not prompt or approve"))
        .arg(Arg::new("name").long("name").value_name("NAME").help("name of the device [default: what its browser reports]"))
}

pub(super) async fn run(api: &Api, matches: &ArgMatches) -> Result<ExitCode> {
    let kind = if matches.get_flag("read-only") { "read-only" } else { "full" };
    let link = api.post("/api/devices/link", &json!({ "kind": kind, "name": matches.get_one::<String>("name") })).await?;
    let text = |name: &str| link[name].as_str().with_context(|| format!("the server's answer has no `{name}`"));
    let (url, code) = (&plain(text("url")?), plain(text("code")?));
    let login = url.split_once('?').map_or(url.as_str(), |(login, _)| login);
    let mut out = io::stdout().lock();
    writeln!(out, "open {url}")?;
    writeln!(out, "or type {code} at {login}")?;
    writeln!(out, "single use, expires at {}", clock(&link).context("the server's answer has no `expires_at`")?)?;
    if let Some(fingerprint) = link["fingerprint"].as_str() {
        writeln!(out, "certificate {}: compare it with what the browser shows", plain(fingerprint))?;
    }
    if out.is_terminal() {
        writeln!(out, "\n{}", picture(url)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn clock(link: &Value) -> Option<String> {
    let expires_at: Timestamp = link["expires_at"].as_str()?.parse().ok()?;
    Some(expires_at.to_zoned(TimeZone::system()).strftime("%H:%M").to_string())
}

/// Two rows of the code in one line of text. Dark on light, whatever the terminal's own colours are: not every camera reads the other.
fn picture(url: &str) -> Result<String> {
    let code = QrCode::new(url).context("making the QR code")?;
    let picture = code.render::<Dense1x2>().build();
    let lines: Vec<_> = picture.lines().map(|line| format!("\x1b[30;107m{line}\x1b[0m")).collect();
    Ok(lines.join("\n"))
}
