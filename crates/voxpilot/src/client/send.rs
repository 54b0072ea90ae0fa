//! `voxpilot send`: one message, and its turn to the end.

use std::io::{self, IsTerminal, Read, Write};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use tokio::time::sleep;
use uuid::Uuid;

use super::http::{Api, CallError};
use super::print::Printer;
use super::sse::Event;
use super::stream::Stream;
use super::{Format, resolve};
use crate::say::warn;

pub(super) const EXIT_CODES: &str = "The exit code says how the turn ended: 0 completed, 3 failed, 4 cancelled, 5 interrupted, 6 unknown; \
                              1 the command itself failed. A turn goes on although this command is interrupted.";
const RETRY_PAUSE: Duration = Duration::from_millis(500);
const RETRIES: u32 = 120;

pub(super) enum To {
    New,
    Session(String),
    Unsaid,
}

pub(super) async fn run(api: &Api, format: Format, to: To, text: String, detach: bool) -> Result<ExitCode> {
    let content = if text.is_empty() || text == "-" { from_stdin()? } else { text };
    let session = match to {
        To::New => api.post("/api/sessions", &json!({})).await?,
        To::Session(wanted) => resolve(api, Some(&wanted)).await?,
        To::Unsaid => bail!("say where to: --session <id> (`voxpilot sessions` lists them) or --new"),
    };
    let mut printer = Printer::new(format, &session);
    let session = session["id"].as_str().context("the server made a session without an id")?.to_owned();
    let mut stream = Stream::open(api, &session).await?;
    // What was before is not part of this turn; what is after is, from the first event on.
    let before = stream.snapshot().await?;
    let posted = post(api, &session, &content).await?;
    let receipt =
        json!({ "session_id": session, "message_id": posted["message_id"], "turn_id": posted["turn_id"], "queued": posted["queued"] });
    match format {
        Format::Ndjson => writeln!(io::stdout(), "{}", json!({ "event": "posted", "data": receipt }))?,
        Format::Text if detach => writeln!(io::stdout(), "sent to session {session}")?,
        Format::Text => warn(format_args!("session {session}{}", if posted["queued"] == true { ", behind what runs there" } else { "" })),
    }
    let held = Held { format, session: &session };
    if detach {
        let was_held = before.iter().rfind(|event| event.kind == "queue").is_some_and(|event| event.data["held"] == true);
        if posted["queued"] == true && was_held {
            held.tell()?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    follow(&mut stream, &mut printer, &posted["turn_id"], &held).await
}

/// What is queued after a stop begins only when somebody asks for it: whoever waits for it is told.
struct Held<'a> {
    format: Format,
    session: &'a str,
}

impl Held<'_> {
    fn tell(&self) -> io::Result<()> {
        let id = self.session;
        let text = format!(
            "the queue of session {id} is held because its turn was stopped, so this message waits: \
             choose \"Send next\" in the page, or POST /api/sessions/{id}/queue/send-next"
        );
        match self.format {
            Format::Ndjson => writeln!(io::stdout(), "{}", json!({ "event": "held", "data": { "session_id": id, "message": text } })),
            Format::Text => {
                warn(format_args!("{text}"));
                Ok(())
            }
        }
    }
}

fn from_stdin() -> Result<String> {
    if io::stdin().is_terminal() {
        bail!("nothing to send: give the text, or pipe it in");
    }
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).context("reading the message from stdin")?;
    if text.trim().is_empty() {
        bail!("nothing to send: stdin is empty");
    }
    Ok(text)
}

/// A server that dies meanwhile gets it again when it is back; the client's id sees to it that it counts once.
async fn post(api: &Api, session: &str, content: &str) -> Result<Value, CallError> {
    let body = json!({ "content": content, "client_id": Uuid::now_v7() });
    let path = format!("/api/sessions/{session}/messages");
    let mut tries = 0;
    loop {
        match api.post(&path, &body).await {
            Err(error) if error.is_away() && tries < RETRIES => tries += 1,
            done => return done,
        }
        sleep(RETRY_PAUSE).await;
    }
}

/// Shows the turn and gives the code for how it ended.
async fn follow(stream: &mut Stream, printer: &mut Printer, turn_id: &Value, held: &Held<'_>) -> Result<ExitCode> {
    let (mut begun, mut was_held) = (false, false);
    loop {
        let event = stream.next().await?;
        if event.kind == "reset" {
            return after_reset(stream, turn_id).await;
        }
        let ours = event.kind == "turn" && event.data["turn_id"] == *turn_id;
        let state = event.data["state"].as_str().filter(|_| ours).unwrap_or_default();
        begun |= state == "running";
        if event.kind == "queue" && !begun {
            let waits = event.data["items"].as_array().is_some_and(|items| items.iter().any(|item| item["turn_id"] == *turn_id));
            let is_held = event.data["held"] == true && waits;
            if is_held && !was_held {
                held.tell()?;
            }
            was_held = is_held;
        }
        if begun || ours {
            printer.event(&event)?;
        }
        if ours && state != "running" {
            return Ok(code(state));
        }
    }
}

/// What happened meanwhile is no longer in the log event by event; the snapshot says whether the turn still runs, or how it ended.
async fn after_reset(stream: &mut Stream, turn_id: &Value) -> Result<ExitCode> {
    let snapshot = stream.snapshot().await?;
    let of_turn = |event: &&Event| event.kind == "turn" && event.data["turn_id"] == *turn_id;
    let mut state = snapshot.iter().rfind(of_turn).and_then(|event| event.data["state"].as_str()).unwrap_or("completed").to_owned();
    while state == "running" {
        let event = stream.next().await?;
        if of_turn(&&event) {
            state = event.data["state"].as_str().unwrap_or_default().to_owned();
        }
    }
    Ok(code(&state))
}

fn code(state: &str) -> ExitCode {
    let code = match state {
        "completed" => 0,
        "failed" => 3,
        "cancelled" => 4,
        "interrupted" => 5,
        _ => 6,
    };
    ExitCode::from(code)
}
