//! `voxpilot sessions`

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Result;
use serde_json::Value;

use super::Format;
use super::http::{Api, CallError};
use super::print::{json_line, plain};

/// All sessions, newest activity first.
pub(super) async fn all(api: &Api) -> Result<Vec<Value>, CallError> {
    let (mut sessions, mut before) = (Vec::new(), String::new());
    loop {
        let mut page = api.get(&format!("/api/sessions?limit=200{before}")).await?;
        sessions.extend(page["sessions"].as_array_mut().map(std::mem::take).unwrap_or_default());
        match page["next"].as_str() {
            Some(next) => before = format!("&before={next}"),
            None => return Ok(sessions),
        }
    }
}

pub(super) async fn run(api: &Api, format: Format) -> Result<ExitCode> {
    let sessions = all(api).await?;
    let mut out = io::stdout().lock();
    if format == Format::Ndjson {
        for session in &sessions {
            writeln!(out, "{}", json_line(session))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    if sessions.is_empty() {
        writeln!(out, "no sessions yet: `voxpilot send --new <text>` makes one")?;
    }
    for session in &sessions {
        let text = |name: &str| plain(session[name].as_str().unwrap_or_default());
        let title = Some(text("title")).filter(|title| !title.is_empty()).unwrap_or_else(|| "Untitled".to_owned());
        let when: String = text("updated_at").chars().take(16).map(|character| if character == 'T' { ' ' } else { character }).collect();
        writeln!(out, "{}  {when}  {:<9} {title}  ({}, {})", text("id"), state(session), text("model"), text("agent"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn state(session: &Value) -> &'static str {
    match (session["waiting"].as_u64(), session["running"].as_bool()) {
        (Some(1..), _) => "waiting",
        (_, Some(true)) => "running",
        _ => "idle",
    }
}
