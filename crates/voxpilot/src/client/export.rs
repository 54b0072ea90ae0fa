//! `voxpilot export`: a whole session, as a text to read or as the events of its log.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Result;
use serde_json::Value;

use super::http::Api;
use super::stream::Stream;
use super::{Format, markdown, resolve};

pub(super) async fn run(api: &Api, format: Format, session: Option<String>) -> Result<ExitCode> {
    let session = resolve(api, session.as_deref()).await?;
    let id = session["id"].as_str().unwrap_or_default();
    match format {
        Format::Text => {
            let messages = messages(api, id).await?;
            write!(io::stdout(), "{}", markdown::write(&session, &messages))?;
        }
        Format::Ndjson => events(api, id).await?,
    }
    Ok(ExitCode::SUCCESS)
}

/// All messages, oldest first.
async fn messages(api: &Api, session: &str) -> Result<Vec<Value>> {
    let (mut messages, mut before) = (Vec::new(), String::new());
    loop {
        let mut page = api.get(&format!("/api/sessions/{session}/messages?limit=200{before}")).await?;
        let mut older = page["messages"].as_array_mut().map(std::mem::take).unwrap_or_default();
        let first = older.first().and_then(|message| message["id"].as_str().map(str::to_owned));
        older.append(&mut messages);
        messages = older;
        match first.filter(|_| page["more"] == true) {
            Some(first) => before = format!("&before={first}"),
            None => return Ok(messages),
        }
    }
}

/// The log from its beginning up to now. Where its beginning is no longer kept, the stream says `reset` and gives a snapshot instead.
async fn events(api: &Api, session: &str) -> Result<()> {
    let now = Stream::open(api, session).await?.snapshot().await?;
    let last = now.last().and_then(|ready| ready.data["seq"].as_u64()).unwrap_or_default();
    let mut out = io::stdout();
    let mut stream = Stream::after(api, session, Some(0)).await?;
    let mut seen = 0;
    while seen < last {
        let event = stream.next().await?;
        writeln!(out, "{}", event.line())?;
        seen = if event.kind == "ready" { last } else { event.id.unwrap_or(seen) };
    }
    Ok(())
}
