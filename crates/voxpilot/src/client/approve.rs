//! `voxpilot approve`: what waits for a person, and the answer to it.

use std::io::{self, BufRead, IsTerminal, Write};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use domain::agent::OptionKind;
use domain::decision::Verdict;
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

/// What a person answers with.
pub(super) enum Answer {
    /// What it means: allow, reject, or a kind of option.
    Word(String),
    /// The id of one of the options.
    Option(String),
}

/// An answer that is offered.
#[derive(Clone)]
struct Offered {
    id: String,
    /// In our words.
    label: String,
    kind: OptionKind,
}

impl Waiting {
    fn id(&self) -> &str {
        let name = if self.is_confirm() { "id" } else { "request_id" };
        self.data[name].as_str().unwrap_or_default()
    }

    fn is_confirm(&self) -> bool {
        self.kind == "tool-confirm"
    }

    /// The answers in the order they are offered.
    fn options(&self) -> Vec<Offered> {
        if self.is_confirm() {
            let own = |id: &str, label: &str, kind| Offered { id: id.to_owned(), label: label.to_owned(), kind };
            return vec![own("allow", "Allow", OptionKind::AllowOnce), own("reject", "Deny", OptionKind::RejectOnce)];
        }
        let text = |option: &Value, name: &str| option[name].as_str().unwrap_or_default().to_owned();
        let offered = |option: &Value| Offered {
            id: text(option, "option_id"),
            label: text(option, "label"),
            kind: OptionKind::from(text(option, "kind")),
        };
        self.data["options"].as_array().into_iter().flatten().map(offered).collect()
    }

    /// The option that is meant. A word means a kind, "once" before "always", and never an id: ids are the agent's, which may call an
    /// option that allows `reject`. The answers to a form are our own.
    fn option(&self, answer: &Answer) -> Result<Offered> {
        let options = self.options();
        let of = |kinds: &[OptionKind]| kinds.iter().find_map(|kind| options.iter().find(|option| option.kind == *kind));
        let by_id = |id: &str| options.iter().find(|option| option.id == id);
        let (said, found) = match answer {
            Answer::Option(id) => (id, by_id(id)),
            Answer::Word(word) => {
                let found = match word.as_str() {
                    "allow" => of(&OptionKind::ALLOW),
                    "reject" | "deny" => of(&OptionKind::REJECT),
                    form if !self.data["form"].is_null() && by_id(form).is_some() => by_id(form),
                    kind => of(&[OptionKind::offered(kind)]),
                };
                (word, found)
            }
        };
        let offered: Vec<String> = options.iter().map(|option| format!("{} ({})", option.id, option.label)).collect();
        found.cloned().with_context(|| {
            let offered = plain(&offered.join(", "));
            format!("`{said}` is not offered: there is {offered}; answer with allow or reject, or with `--option` and an id")
        })
    }

    fn line(&self) -> String {
        json_line(&json!({ "session_id": self.session_id, "event": self.kind, "data": self.data }))
    }
}

pub(super) async fn run(api: &Api, format: Format, session: Option<String>, answer: Option<(String, Option<Answer>)>) -> Result<ExitCode> {
    let waiting = waiting(api, session).await?;
    if let Some((id, answer)) = answer {
        let answer = answer.with_context(|| format!("say the answer: `voxpilot approve {id} allow` or `… reject`"))?;
        let ids = waiting.iter().map(|waiting| json!({ "id": waiting.id() })).collect();
        let found =
            pick(ids, &id, "id").with_context(|| format!("nothing pending has the id {id}: `voxpilot approve` lists what does"))??;
        let found = waiting.iter().find(|waiting| found["id"] == waiting.id()).context("it is no longer pending")?;
        let option = give(api, found, &answer).await?;
        match format {
            Format::Ndjson => {
                let (answer, kind) = (&option.id, option.kind.as_str());
                let line = json_line(&json!({ "session_id": found.session_id, "id": found.id(), "answer": answer, "kind": kind }));
                writeln!(io::stdout(), "{line}")?;
            }
            Format::Text => writeln!(io::stdout(), "answered: {}", plain(&option.label))?,
        }
        return Ok(ExitCode::SUCCESS);
    }
    let interactive = format == Format::Text && io::stdin().is_terminal() && io::stdout().is_terminal();
    if waiting.is_empty() && format == Format::Text {
        writeln!(io::stdout(), "nothing is pending")?;
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

async fn give(api: &Api, waiting: &Waiting, answer: &Answer) -> Result<Offered> {
    let option = waiting.option(answer)?;
    let (session, id) = (&waiting.session_id, waiting.id());
    if waiting.is_confirm() {
        let body = json!({ "tool_call_id": id, "approved": option.kind.verdict() == Verdict::Allow });
        api.post(&format!("/api/sessions/{session}/confirm"), &body).await?;
    } else {
        api.post(&format!("/api/sessions/{session}/permissions/{id}"), &json!({ "option_id": option.id })).await?;
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
    for (number, option) in waiting.options().iter().enumerate() {
        writeln!(out, "  {}) {} [{}]", number + 1, plain(&option.label), plain(&option.id))?;
    }
    Ok(())
}

/// What the person picks; nothing where they leave it.
fn ask(waiting: &Waiting) -> Result<Option<Answer>> {
    let options = waiting.options();
    loop {
        write!(io::stdout(), "answer with a number, or press Enter to skip: ")?;
        io::stdout().flush()?;
        let mut line = String::new();
        if io::stdin().lock().read_line(&mut line)? == 0 || line.trim().is_empty() {
            return Ok(None);
        }
        let picked = line.trim().parse::<usize>().ok().and_then(|number| options.get(number.checked_sub(1)?));
        match picked {
            Some(option) => return Ok(Some(Answer::Option(option.id.clone()))),
            None if options.is_empty() => bail!("the agent offers no answer"),
            None => writeln!(io::stdout(), "there is no such number")?,
        }
    }
}
