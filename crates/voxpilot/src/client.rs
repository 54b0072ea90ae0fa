//! The commands that talk to a running server: list its sessions, send, follow, approve, export, let in a device, serve
//! programs that speak MCP.
//!
//! They know the server by its HTTP interface alone, as anybody else does. On a terminal they write for people, into a pipe for programs.

pub mod address;
mod approve;
mod attach;
mod export;
mod http;
mod link;
mod markdown;
mod mcp;
mod pinned;
mod print;
mod send;
mod sessions;
pub mod sse;
mod stream;

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::config;
use address::Address;
use http::Api;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Text,
    Ndjson,
}

impl Format {
    fn of(matches: &ArgMatches) -> Format {
        match matches.get_one::<String>("format").map(String::as_str) {
            Some("ndjson") => Format::Ndjson,
            Some(_) => Format::Text,
            None if io::stdout().is_terminal() => Format::Text,
            None => Format::Ndjson,
        }
    }
}

pub fn commands() -> [Command; 7] {
    let session = |help: &'static str| Arg::new("session").value_name("SESSION").help(help);
    [
        with_server("sessions", "List the sessions of the running server, newest activity first", "text"),
        with_server("send", "Send a message to a session of the running server and follow its turn to the end", "text")
            .after_help(send::EXIT_CODES)
            .arg(Arg::new("text").num_args(0..).help("the message; without it, it is read from stdin"))
            .arg(session("the session: its id, or a part of it").short('s').long("session").conflicts_with("new"))
            .arg(Arg::new("new").long("new").action(ArgAction::SetTrue).help("send it to a new session"))
            .arg(Arg::new("detach").long("detach").action(ArgAction::SetTrue).help("do not wait for the turn")),
        with_server("attach", "Follow a session of the running server live, across restarts", "text")
            .arg(session("the session: its id, or a part of it [default: the one with the newest activity]")),
        with_server("approve", "Show what is pending on the running server, or answer it", "text")
            .arg(Arg::new("request").help("the id of a pending request, or a part of it [default: show all]"))
            .arg(Arg::new("answer").help("allow or reject; also allow_always and reject_always, if the agent offers them"))
            .arg(
                Arg::new("option")
                    .long("option")
                    .value_name("ID")
                    .conflicts_with("answer")
                    .requires("request")
                    .help("answer with this option, by its id"),
            )
            .arg(session("only the requests of this session").short('s').long("session")),
        with_server("export", "Write a session of the running server as markdown, or as the events of its log", "markdown")
            .arg(session("the session: its id, or a part of it [default: the one with the newest activity]")),
        mcp::arguments(to_server("mcp", "Run an MCP server on stdio that delegates work to the running server")),
        link::arguments(to_server("link", "Make a single-use link and pairing code that sign one more device in")),
    ]
}

fn to_server(name: &'static str, about: &'static str) -> Command {
    let own = config::args().filter(|arg| ["data-dir", "token"].contains(&arg.get_id().as_str()));
    let url = Arg::new("url").long("url").value_name("URL").help("the server [default: the one that runs on the data directory]");
    Command::new(name).about(about).args(own).arg(url)
}

fn with_server(name: &'static str, about: &'static str, text: &'static str) -> Command {
    let format = Arg::new("format").long("format").value_name("FORMAT").value_parser([text, "ndjson"]);
    to_server(name, about).arg(format.help(format!("{text} or ndjson [default: {text} on a terminal, else ndjson]")))
}

/// Runs one of [`commands`].
#[tokio::main(flavor = "current_thread")]
pub async fn run(name: &str, matches: &ArgMatches) -> Result<ExitCode> {
    let (config, _) = config::load(config::flags(matches))?;
    let address = Address::new(matches.get_one("url").cloned(), &config);
    if name == "mcp" {
        return mcp::run(address, matches).await;
    }
    let api = Api::new(address)?;
    if name == "link" {
        return link::run(&api, matches).await;
    }
    let format = Format::of(matches);
    let session = |matches: &ArgMatches| matches.get_one::<String>("session").cloned();
    let done = match name {
        "sessions" => sessions::run(&api, format).await,
        "send" => {
            let to = if matches.get_flag("new") { send::To::New } else { session(matches).map_or(send::To::Unsaid, send::To::Session) };
            let text = matches.get_many::<String>("text").into_iter().flatten().cloned().collect::<Vec<_>>().join(" ");
            send::run(&api, format, to, text, matches.get_flag("detach")).await
        }
        "attach" => attach::run(&api, format, session(matches)).await,
        "approve" => {
            let text = |name: &str| matches.get_one::<String>(name).cloned();
            let given = text("option").map(approve::Answer::Option).or_else(|| text("answer").map(approve::Answer::Word));
            let answer = text("request").map(|id| (id, given));
            approve::run(&api, format, session(matches), answer).await
        }
        _ => export::run(&api, format, session(matches)).await,
    };
    match done {
        // Whoever read it has seen enough.
        Err(error) if is_closed_pipe(&error) => Ok(ExitCode::SUCCESS),
        done => done,
    }
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe))
}

/// The one session that is meant: by its id or a part of it, or the one with the newest activity.
async fn resolve(api: &Api, wanted: Option<&str>) -> Result<serde_json::Value> {
    let sessions = sessions::all(api).await?;
    let Some(wanted) = wanted else {
        return sessions.into_iter().next().context("there is no session yet: `voxpilot send --new` makes one");
    };
    pick(sessions, wanted, "id").with_context(|| format!("no session matches {wanted}: `voxpilot sessions` lists them"))?
}

/// The one item whose id is, begins with or ends with `wanted`; `None` where there is none.
fn pick(items: Vec<serde_json::Value>, wanted: &str, id: &str) -> Option<Result<serde_json::Value>> {
    let fits = |item: &serde_json::Value| item[id].as_str().is_some_and(|id| id.starts_with(wanted) || id.ends_with(wanted));
    let mut found = items.into_iter().filter(fits);
    let first = found.next()?;
    let whole = first[id] == wanted;
    if !whole && found.next().is_some() {
        return Some(Err(anyhow::anyhow!("{wanted} matches more than one id: give more characters")));
    }
    Some(Ok(first))
}
