//! The command line: picks a command, gives it the settings, turns its outcome into an exit code.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use voxpilot::config::{self, ConfigError};
use voxpilot::{backup, bridge, client, doctor, memory, probe, repair, say, serve, stop, trust};

const RUNNER: &str = "runner";
const TERMINAL: &str = "terminal";

fn main() -> ExitCode {
    // A runner stays for as long as its agent, and there may be many: it does without the pages that reading a command line takes.
    if let [_, word, dir] = &std::env::args_os().collect::<Vec<_>>()[..]
        && word == RUNNER
    {
        memory::give_back_what_is_freed();
        return runner::run(Path::new(dir));
    }
    // Both stand in front of a program that somebody waits for, and are told elsewhere what to do.
    let mut words = std::env::args_os().skip(1);
    match words.next() {
        Some(word) if word == runner::CONFINED => return runner::run_confined(words),
        Some(word) if word == TERMINAL => return runner::keep_terminal(),
        _ => {}
    }
    match run(&command().get_matches()) {
        Ok(code) => code,
        Err(error) => {
            say::fail(&format!("{error:#}"));
            ExitCode::from(if error.is::<ConfigError>() { 2 } else { 1 })
        }
    }
}

fn command() -> Command {
    let with_settings = |name: &'static str, about: &'static str| Command::new(name).about(about).args(config::args());
    Command::new("voxpilot")
        .about("A cockpit for coding agents")
        .version(env!("CARGO_PKG_VERSION"))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            with_settings("serve", "Run the server")
                .arg(Arg::new(serve::RESTARTED).long(serve::RESTARTED).hide(true).action(ArgAction::SetTrue)),
        )
        .subcommand(trust::command())
        .subcommand(with_settings("config", "Print every setting and where it came from"))
        .subcommand(
            with_settings("doctor", "Check what is installed, signed in and reachable, and show how to fix what is not")
                .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("print it for a program")),
        )
        .subcommand(
            with_settings("probe", "Test an agent's capabilities offline and record them")
                .arg(Arg::new("agent-id").value_name("AGENT").help("the agent's id, see `voxpilot doctor`").required(true))
                .arg(
                    Arg::new("progress")
                        .long("progress")
                        .action(ArgAction::SetTrue)
                        .help("print each step as a JSON object when it begins"),
                ),
        )
        .subcommand(
            with_settings("repair", "Repair an agent's damaged record of a session; the original is kept as a copy")
                .arg(Arg::new("session").value_name("SESSION").help("the agent's own id of it, or a session of ours"))
                .arg(Arg::new("list").long("list").action(ArgAction::SetTrue).help("only show what is damaged")),
        )
        .subcommand(
            Command::new("demo-agent")
                .about("Run the built-in agent on stdio")
                .arg(Arg::new("flags").num_args(0..).trailing_var_arg(true).allow_hyphen_values(true)),
        )
        .subcommand(
            with_settings("stop", "Stop the server of the data directory and, with --all, every agent it left running")
                .arg(Arg::new("all").long("all").action(ArgAction::SetTrue).help("stop the agents too, even in the middle of a turn")),
        )
        .subcommand(with_settings("backup", "Back up the store to a new file; the server may keep running").arg(file("the file to make")))
        .subcommand(
            with_settings("restore", "Replace the data directory's store with a backup; the server must be stopped")
                .arg(file("a file made by `voxpilot backup`")),
        )
        .subcommand(with_settings("vacuum", "Free the disk space of deleted sessions; the server must be stopped"))
        .subcommands(client::commands())
        .subcommand(Command::new("openapi").hide(true).about("Print the description of the HTTP interface"))
        .subcommand(Command::new(RUNNER).hide(true).arg(Arg::new("dir").required(true)))
        .subcommand(Command::new(bridge::BRIDGE).hide(true).arg(Arg::new("address").required(true)))
}

fn file(help: &'static str) -> Arg {
    Arg::new("file").value_name("FILE").help(help).required(true).value_parser(value_parser!(PathBuf))
}

fn run(matches: &ArgMatches) -> Result<ExitCode> {
    match matches.subcommand() {
        Some(("config", matches)) => print_config(matches),
        Some(("doctor", matches)) => examine(matches),
        Some(("serve", matches)) => {
            let load = || {
                let (config, sources) = config::load(config::flags(matches))?;
                config.keep_data_apart().map(|()| (config, sources))
            };
            let (mut config, mut sources) = load()?;
            if !matches.get_flag(serve::RESTARTED) && trust::ask_at_start(&sources)? {
                (config, sources) = load()?;
            }
            serve::run(&config, &sources)
        }
        Some(("probe", matches)) => {
            let (config, sources) = config::load(config::flags(matches))?;
            let agent: &String = matches.get_one("agent-id").context("the agent is missing")?;
            probe::run(&config, &sources, agent, probe::Progress { is_told: matches.get_flag("progress") })
        }
        Some(("repair", matches)) => {
            let (config, sources) = config::load(config::flags(matches))?;
            let session = matches.get_one::<String>("session").filter(|_| !matches.get_flag("list"));
            repair::run(&config, &sources, session.map(String::as_str))
        }
        Some(("trust", matches)) => trust::run(matches),
        Some(("stop", matches)) => {
            let (config, _) = config::load(config::flags(matches))?;
            stop::run(&config.data_dir, matches.get_flag("all"))
        }
        Some((name @ ("backup" | "restore" | "vacuum"), matches)) => {
            let (config, _) = config::load(config::flags(matches))?;
            let file = || matches.get_one::<PathBuf>("file").context("the file is missing");
            match name {
                "backup" => backup::back_up(&config.data_dir, file()?),
                "restore" => backup::restore(&config.data_dir, file()?),
                _ => backup::vacuum(&config.data_dir),
            }
        }
        Some(("demo-agent", matches)) => {
            let flags = matches.get_many::<String>("flags").into_iter().flatten().cloned();
            Ok(demo_agent::run(flags))
        }
        Some((bridge::BRIDGE, matches)) => {
            let address: &String = matches.get_one("address").context("the address is missing")?;
            Ok(bridge::run(address))
        }
        Some(("openapi", _)) => {
            say::print(&format!("{}\n", web::openapi_document()))?;
            Ok(ExitCode::SUCCESS)
        }
        Some((name @ ("sessions" | "send" | "attach" | "approve" | "export" | "mcp" | "link"), matches)) => client::run(name, matches),
        Some((name, _)) => bail!("there is no command `{name}`"),
        None => bail!("no command given"),
    }
}

fn print_config(matches: &ArgMatches) -> Result<ExitCode> {
    let (config, _) = config::load(config::flags(matches))?;
    say::print(&config.report())?;
    config.warnings.iter().for_each(|warning| say::warn(format_args!("warning: {warning}")));
    if let Err(error) = config.keep_data_apart() {
        say::warn(format_args!("warning: a server would not start with this: {error}"));
    }
    Ok(ExitCode::SUCCESS)
}

#[tokio::main(flavor = "current_thread")]
async fn examine(matches: &ArgMatches) -> Result<ExitCode> {
    let (config, sources) = config::load(config::flags(matches))?;
    config.warnings.iter().for_each(|warning| say::warn(format_args!("warning: {warning}")));
    let checks = doctor::examine(&config, &sources).await;
    match matches.get_flag("json") {
        true => say::print(&doctor::json(&checks))?,
        false => say::print(&doctor::report(&checks, std::io::stdout().is_terminal()))?,
    }
    Ok(if doctor::has_failed(&checks) { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
