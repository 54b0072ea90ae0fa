//! Consent to what a project's own `voxpilot.toml` wants: asked on the terminal and in the page, kept in the person's data directory.
//!
//! What needs consent is known to `config`; here people are asked, and their answer takes effect.

mod command;
mod page;

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::config::{self, Consents, Content, Review, Script, Sources, visible};
use crate::say::{self, say};
use crate::serve;

pub use command::{command, run};
pub use page::for_page;

/// Whether somebody sits there who could be asked.
fn has_terminal() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Asks once, where a file waits and somebody sits at the terminal. What was consented to is in the sources that are gathered next.
pub fn ask_at_start(sources: &Sources) -> Result<bool> {
    let Some(review) = sources.review().filter(Review::is_waiting) else { return Ok(false) };
    if !has_terminal() {
        return Ok(false);
    }
    show(&review)?;
    if let Err(problem) = usable(sources) {
        say(format_args!("It can't be trusted as it is: {problem}"));
        return Ok(false);
    }
    let agreed = ask(&format!("Trust these {} lines? Without them, your own settings hold. [y/N] ", review.lines.len()))?;
    if agreed {
        consent(sources)?;
    }
    Ok(agreed)
}

/// The lines that need consent, as they are in the file.
fn show(review: &Review) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{} wants what only you can allow:", visible(&review.path.display().to_string()))?;
    let width = review.lines.last().map_or(1, |line| line.number.to_string().len());
    let mut before = "";
    for line in &review.lines {
        if line.why != before {
            writeln!(out, "  # {}: {}", line.key, line.why)?;
            before = line.why;
        }
        writeln!(out, "  {:width$} | {}", line.number, line.text)?;
    }
    show_scripts(&mut out, &review.scripts)?;
    out.flush()
}

/// The files below the project that would run: trust covers their content too.
fn show_scripts(out: &mut impl Write, scripts: &[Script]) -> io::Result<()> {
    if scripts.is_empty() {
        return Ok(());
    }
    writeln!(out, "It runs these files of the project. Read them: trust ends when one of them changes.")?;
    for script in scripts {
        let content = match &script.content {
            Content::File { sha256, bytes, .. } => format!("{bytes} bytes, sha256 {sha256}"),
            Content::Directory => "a directory; changes in it are not noticed".to_owned(),
            Content::Unchecked(why) => format!("not checked: {why}"),
        };
        writeln!(out, "  {} ({}): {}", visible(&script.shown), visible(&script.key), visible(&content))?;
    }
    writeln!(out, "Files that these load are not checked.")
}

/// Enter alone is a no, and so is the end of the input.
fn ask(question: &str) -> io::Result<bool> {
    say::print(question)?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// Whether the server could start with all of the file: consent to one with which it could not would only stop it.
fn usable(sources: &Sources) -> Result<(), String> {
    let mut trusting = sources.clone();
    trusting.project.iter_mut().for_each(|project| project.trusted = true);
    let config = config::check(&trusting).map_err(|error| error.to_string())?;
    config.keep_data_apart().map_err(|error| error.to_string())?;
    serve::settings(&config, &trusting).map(drop).map_err(|error| format!("{error:#}"))
}

fn consent(sources: &Sources) -> Result<()> {
    let file = sources.project.as_ref().context("there is no file to consent to")?;
    Consents::add(&data_dir(sources)?, file).context("storing the consent")
}

/// The person's own: a project names none, and brings none along.
fn data_dir(sources: &Sources) -> Result<PathBuf> {
    let data_dir = sources.own_data_dir().context("no data directory: set VOXPILOT_DATA_DIR, XDG_DATA_HOME or HOME to an absolute path")?;
    if config::is_inside(&data_dir, &sources.own_work_dir()) {
        bail!(
            "the data directory {} is inside the work directory, so a consent in it could be the project's own: set VOXPILOT_DATA_DIR to one outside",
            data_dir.display()
        );
    }
    Ok(data_dir)
}
