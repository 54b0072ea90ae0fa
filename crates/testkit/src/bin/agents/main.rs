//! Drives the real agents offline through the built server, one after the other, and says what held. `make agents` installs them first.

mod checks;
mod driven;
mod known;
mod plan;
mod table;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use checks::Finding;
use driven::Driven;
use known::Known;

const USAGE: &str = "usage: agents [--only CHECK] [--write FILE] [--keep DIR] [AGENT…]

  AGENT    as the catalogue calls it; all of them without one
  --only   only the checks whose name holds this text; with it nothing is written
  --write  put the table between the markers of this file; rows of agents that were not tried stay
  --keep   keep the wire traffic, the server's log and what the models were asked in this directory";

struct Options {
    agents: Vec<&'static Known>,
    only: Option<String>,
    write: Option<PathBuf>,
    keep: Option<PathBuf>,
}

static AGENTS: [Known; 8] = known::ALL;

fn parse(mut args: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options { agents: Vec::new(), only: None, write: None, keep: None };
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
        match arg.as_str() {
            "--only" => options.only = Some(value()?),
            "--write" => options.write = Some(value()?.into()),
            "--keep" => options.keep = Some(value()?.into()),
            id => options.agents.push(AGENTS.iter().find(|agent| agent.id == id).ok_or_else(|| format!("no agent is called {id}"))?),
        }
    }
    if options.agents.is_empty() {
        options.agents = AGENTS.iter().collect();
    }
    Ok(options)
}

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

/// Whether everything held.
async fn run() -> Result<bool, String> {
    let options = parse(std::env::args().skip(1)).map_err(|problem| format!("{problem}\n{USAGE}"))?;
    // What panics in a check is told as its finding.
    std::panic::set_hook(Box::new(|_| {}));
    let mut rows = Vec::new();
    for agent in &options.agents {
        rows.push(drive(agent, &options).await?);
    }
    println!("\n{}", table::matrix(&rows));
    println!("{}", table::notes(&rows));
    if let (Some(file), None) = (&options.write, &options.only) {
        let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let text = table::replaced(&text, &rows)?;
        std::fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    Ok(rows.iter().flat_map(|row| &row.findings).all(|(_, finding)| !matches!(finding, Finding::Failed(_))))
}

async fn drive(agent: &'static Known, options: &Options) -> Result<table::Row, String> {
    let version = agent.pinned()?;
    println!("== {} {version}", agent.id);
    let mut driven = Driven::start(agent).await;
    let mut findings = Vec::new();
    let wanted = |name: &str| options.only.as_ref().is_none_or(|only| name.contains(only.as_str()));
    for check in checks::ALL.iter().filter(|check| wanted(check.name)) {
        let started = Instant::now();
        let finding = check.on(&mut driven).await;
        println!("{:>10} {:<14} {:>5.1} s  {}", agent.id, check.name, started.elapsed().as_secs_f32(), table::told(&finding));
        findings.push((check.name, finding));
        keep(&driven, check.name, options).await?;
        driven.forget_sessions().await;
    }
    let ending = driven.end().await;
    println!("{:>10} {:<14}          {}", agent.id, checks::LAST, table::told(&ending));
    findings.push((checks::LAST, ending));
    Ok(table::Row { agent: agent.id, version, findings })
}

/// The traffic of the check's sessions, and what else tells why something did not hold.
async fn keep(driven: &Driven, check: &str, options: &Options) -> Result<(), String> {
    let Some(dir) = &options.keep else { return Ok(()) };
    let problem = |error: std::io::Error| format!("{}: {error}", dir.display());
    std::fs::create_dir_all(dir).map_err(problem)?;
    for (number, id) in driven.sessions().await.iter().enumerate() {
        let capture = driven.server.text("GET", &format!("/api/sessions/{id}/trace/capture")).await;
        std::fs::write(dir.join(format!("{}-{check}-{number}.ndjson", driven.agent.id)), capture).map_err(problem)?;
    }
    let requests = driven.model.requests();
    let asked = requests
        .iter()
        .chain(&driven.model.other_requests())
        .map(|request| format!("{} {}\n{}\n", request.method, request.path, request.body))
        .collect::<String>();
    std::fs::write(dir.join(format!("{}-model.txt", driven.agent.id)), asked).map_err(problem)?;
    std::fs::write(dir.join(format!("{}-server.log", driven.agent.id)), driven.server.log()).map_err(problem)
}
