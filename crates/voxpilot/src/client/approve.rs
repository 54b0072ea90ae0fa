//! `voxpilot approve`: what waits for a person, and the answer to it.

use std::io::{self, BufRead, IsTerminal, Write};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::http::Api;
use super::print::{json_line, plain, show_ask};
use super::stream::Stream;
use super::{Format, pick, resolve, sessions};

/// Something that waits: an agent's permission, or a tool of the main AI's that must be confirmed.
struct Waiting {
    session_id: String,
    /// `permission-request` or `tool-confirm`.
    kind: String,
    data: Value,
}

impl Waiting {
    fn id(&self) -> &str {
        let name = if self.is_confirm() { "id" } else { "request_id" };
        self.data[name].as_str().unwrap_or_default()
    }

    fn is_confirm(&self) -> bool {
        self.kind == "tool-confirm"
    }

    /// The answers in the order they are offered: what is sent, its name and its kind.
    fn options(&self) -> Vec<(String, String, String)> {
        if self.is_confirm() {
            return [("allow", "Allow"), ("reject", "Reject")].map(|(id, name)| (id.to_owned(), name.to_owned(), id.to_owned())).to_vec();
        }
        let text = |option: &Value, name: &str| option[name].as_str().unwrap_or_default().to_owned();
        let options = self.data["options"].as_array();
        options.into_iter().flatten().map(|option| (text(option, "option_id"), text(option, "name"), text(option, "kind"))).collect()
    }

    /// The option that is meant: by its id, by its kind, or by the first word of its kind, "once" before "always".
    fn option(&self, answer: &str) -> Result<String> {
        let options = self.options();
        let by_id = options.iter().find(|(id, ..)| id == answer);
        let kinds = [answer.to_owned(), format!("{answer}_once"), format!("{answer}_always")];
        let by_kind = || kinds.iter().find_map(|kind| options.iter().find(|(.., offered)| offered == kind));
        let found = by_id.or_else(by_kind).map(|(id, ..)| id.clone());
        let offered: Vec<&str> = options.iter().map(|(id, ..)| id.as_str()).collect();
        found.with_context(|| format!("`{answer}` is not offered: there is {}", plain(&offered.join(", "))))
    }

    fn line(&self) -> String {
        json_line(&json!({ "session_id": self.session_id, "event": self.kind, "data": self.data }))
    }
}

pub(super) async fn run(api: &Api, format: Format, session: Option<String>, answer: Option<(String, Option<String>)>) -> Result<ExitCode> {
    let waiting = waiting(api, session).await?;
    if let Some((id, answer)) = answer {
        let answer = answer.with_context(|| format!("say the answer: `voxpilot approve {id} allow` or `… reject`"))?;
        let ids = waiting.iter().map(|waiting| json!({ "id": waiting.id() })).collect();
        let found =
            pick(ids, &id, "id").with_context(|| format!("nothing that is called {id} waits: `voxpilot approve` lists what does"))??;
        let found = waiting.iter().find(|waiting| found["id"] == waiting.id()).context("it is not there any more")?;
        let option = give(api, found, &answer).await?;
        match format {
            Format::Ndjson => {
                let line = json_line(&json!({ "session_id": found.session_id, "id": found.id(), "answer": option }));
                writeln!(io::stdout(), "{line}")?;
            }
            Format::Text => writeln!(io::stdout(), "answered with {}", plain(&option))?,
        }
        return Ok(ExitCode::SUCCESS);
    }
    let interactive = format == Format::Text && io::stdin().is_terminal() && io::stdout().is_terminal();
    if waiting.is_empty() && format == Format::Text {
        writeln!(io::stdout(), "nothing waits for an answer")?;
    }
    for found in &waiting {
        match format {
            Format::Ndjson => writeln!(io::stdout(), "{}", found.line())?,
            Format::Text => show(found)?,
        }
        if interactive && let Some(option) = ask(found)? {
            // Somebody else may have been quicker; the others still wait.
            match give(api, found, &option).await {
                Ok(_) => writeln!(io::stdout(), "answered")?,
                Err(error) => crate::say::fail(&format!("{error:#}")),
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The snapshot of a session holds what is open in it.
async fn waiting(api: &Api, session: Option<String>) -> Result<Vec<Waiting>> {
    let sessions = match session {
        Some(wanted) => vec![resolve(api, Some(&wanted)).await?],
        None => sessions::all(api).await?,
    };
    let mut waiting = Vec::new();
    for session in sessions.iter().filter(|session| session["waiting"].as_u64().is_some_and(|count| count > 0)) {
        let session_id = session["id"].as_str().unwrap_or_default();
        let events = Stream::open(api, session_id).await?.snapshot().await?;
        let open = events.into_iter().filter(|event| event.kind == "permission-request" || event.kind == "tool-confirm");
        waiting.extend(open.map(|event| Waiting { session_id: session_id.to_owned(), kind: event.kind, data: event.data }));
    }
    Ok(waiting)
}

async fn give(api: &Api, waiting: &Waiting, answer: &str) -> Result<String> {
    let option = waiting.option(answer)?;
    let (session, id) = (&waiting.session_id, waiting.id());
    if waiting.is_confirm() {
        let body = json!({ "tool_call_id": id, "approved": option == "allow" });
        api.post(&format!("/api/sessions/{session}/confirm"), &body).await?;
    } else {
        api.post(&format!("/api/sessions/{session}/permissions/{id}"), &json!({ "option_id": option })).await?;
    }
    Ok(option)
}

fn show(waiting: &Waiting) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}  (session {})", plain(waiting.id()), waiting.session_id)?;
    if waiting.is_confirm() {
        let text = |name: &str| plain(waiting.data[name].as_str().unwrap_or_default());
        writeln!(out, "  {} {}", text("name"), text("arguments"))?;
    } else {
        show_ask(&mut out, &waiting.data)?;
    }
    for (number, (id, name, _)) in waiting.options().iter().enumerate() {
        writeln!(out, "  {}) {} [{}]", number + 1, plain(name), plain(id))?;
    }
    Ok(())
}

/// What the person picks; nothing where they leave it.
fn ask(waiting: &Waiting) -> Result<Option<String>> {
    let options = waiting.options();
    loop {
        write!(io::stdout(), "answer with a number, or Enter to leave it: ")?;
        io::stdout().flush()?;
        let mut line = String::new();
        if io::stdin().lock().read_line(&mut line)? == 0 || line.trim().is_empty() {
            return Ok(None);
        }
        let picked = line.trim().parse::<usize>().ok().and_then(|number| options.get(number.checked_sub(1)?));
        match picked {
            Some((id, ..)) => return Ok(Some(id.clone())),
            None if options.is_empty() => bail!("the agent offers no answer"),
            None => writeln!(io::stdout(), "there is no such number")?,
        }
    }
}
