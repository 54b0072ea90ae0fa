//! `voxpilot trust`: look at a project's file and consent to it, list what was consented to, revoke.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use super::{ask, consent, data_dir, has_terminal, show, usable};
use crate::config::{self, Consents, Sources, visible};
use crate::say::{say, warn};

/// The command; it takes the settings too, since they say where the work directory and the data directory are.
pub fn command() -> Command {
    let flag = |name: &'static str, help: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue).help(help);
    let revoke = Arg::new("revoke").long("revoke").value_name("PATH").num_args(0..=1).value_parser(value_parser!(PathBuf));
    Command::new("trust")
        .about("Review and trust the project's voxpilot.toml")
        .args(config::args())
        .arg(flag("yes", "do not ask").conflicts_with_all(["list", "revoke"]))
        .arg(flag("list", "print what is trusted, and whether it has changed").conflicts_with("revoke"))
        .arg(revoke.help("revoke trust in the file of the work directory, or in this one"))
}

/// Runs [`command`].
pub fn run(matches: &ArgMatches) -> Result<ExitCode> {
    let sources = Sources::gather(config::flags(matches))?;
    if matches.get_flag("list") {
        return list(&data_dir(&sources)?, sources.home());
    }
    if matches.contains_id("revoke") {
        return revoke(&sources, matches.get_one::<PathBuf>("revoke").map(PathBuf::as_path));
    }
    sources.warnings.iter().for_each(|warning| warn(format_args!("warning: {warning}")));
    let Some(review) = sources.review() else {
        say(format_args!("the work directory has no voxpilot.toml to trust"));
        return Ok(ExitCode::SUCCESS);
    };
    let path = visible(&review.path.display().to_string());
    if let Some(problem) = review.problem {
        bail!("nothing in the file applies, so there is nothing to trust: {}", visible(&problem));
    }
    if !review.is_waiting() {
        say(format_args!("{path} {}", if review.trusted { "is trusted" } else { "wants nothing that needs your consent" }));
        return Ok(ExitCode::SUCCESS);
    }
    show(&review)?;
    usable(&sources).map_err(|problem| anyhow::anyhow!("it cannot be trusted as it is: {problem}"))?;
    let agreed = matches.get_flag("yes") || has_terminal() && ask(&format!("Trust these {} lines? [y/N] ", review.lines.len()))?;
    if !agreed {
        say(format_args!("not trusted, so it is ignored; to trust it without a prompt, run `voxpilot trust --yes`"));
        return Ok(ExitCode::FAILURE);
    }
    consent(&sources)?;
    say(format_args!("trusted, until the file or a script it runs changes; restart a running server to apply it"));
    Ok(ExitCode::SUCCESS)
}

fn list(data_dir: &Path, home: Option<&Path>) -> Result<ExitCode> {
    let consents = Consents::read(data_dir)?;
    for (path, consent) in &consents.files {
        let now = match config::project_file(path, home) {
            Some(file) if consents.cover(&file) => "unchanged",
            Some(_) => "changed, so it is not trusted",
            None => "gone",
        };
        say(format_args!("{}  {}  {now}", consent.at.strftime("%Y-%m-%d %H:%M UTC"), visible(&path.display().to_string())));
    }
    if consents.files.is_empty() {
        say(format_args!("no project is trusted"));
    }
    Ok(ExitCode::SUCCESS)
}

/// A path names the file or its directory, and need not be there any more.
fn revoke(sources: &Sources, given: Option<&Path>) -> Result<ExitCode> {
    let data_dir = data_dir(sources)?;
    let consents = Consents::read(&data_dir)?;
    let wanted = std::path::absolute(given.map_or_else(|| sources.own_work_dir(), Path::to_path_buf)).context("finding the file")?;
    let real = wanted.canonicalize().unwrap_or(wanted);
    let path = [real.join(config::FILE_NAME), real].into_iter().find(|path| consents.files.contains_key(path));
    let Some(path) = path else {
        bail!("nothing is trusted at that path: `voxpilot trust --list` shows what is");
    };
    Consents::remove(&data_dir, &path).context("taking the consent back")?;
    say(format_args!("{} is no longer trusted; a running server keeps it until it restarts", visible(&path.display().to_string())));
    Ok(ExitCode::SUCCESS)
}
