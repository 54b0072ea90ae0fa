//! `voxpilot backup`, `restore` and `vacuum`: the whole store as one file, back again, and without unused room.
//!
//! The store is the database: conversations, attachments, reviews. Tokens, who is signed in, and the raw traffic of agents are not part of
//! a backup; what else of it would give access or act by itself is not restored ([`store::Restore`]).

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use engine::size;
use store::{LeftOut, OpenError, Restore};

use crate::say::say;
use crate::stop::DATABASE;
use crate::token;

#[tokio::main(flavor = "current_thread")]
pub async fn back_up(data_dir: &Path, target: &Path) -> Result<ExitCode> {
    let bytes = store::back_up(&existing(data_dir)?, target).await?;
    say(format_args!("{}: {}, all of {} up to now", target.display(), size(bytes), data_dir.display()));
    Ok(ExitCode::SUCCESS)
}

#[tokio::main(flavor = "current_thread")]
pub async fn restore(data_dir: &Path, source: &Path) -> Result<ExitCode> {
    token::prepare_data_dir(data_dir)?;
    let (database, runners) = (data_dir.join(DATABASE), data_dir.join("runners"));
    let restore = Restore::prepare(&database, source).await.map_err(|error| stop_first(data_dir, error))?;
    let alive = agents::find_runners(&runners).iter().filter(|found| found.runner_alive).count();
    if alive > 0 {
        restore.abandon();
        bail!("{alive} agent(s) still run on the data that would be replaced: stop them with `voxpilot stop --all`");
    }
    restore.replace().await?;
    // What agents left belongs to what was replaced.
    match fs::remove_dir_all(&runners) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(error).with_context(|| format!("removing {}", runners.display()));
        }
        _ => {}
    }
    let left_out = restore.left_out.clone();
    restore.finish()?;
    say(format_args!("restored the conversations of {} to {}; start the server to use them", source.display(), data_dir.display()));
    report(&left_out);
    Ok(ExitCode::SUCCESS)
}

/// A backup is data: what it holds of access stays behind, and whoever restores it is told.
fn report(left_out: &LeftOut) {
    let lines = [
        (left_out.access, "devices, links and push subscriptions are not restored: sign in with a new link"),
        (left_out.rules, "saved permissions are not restored: agents ask again"),
        (left_out.preferences, "settings are not restored: this server's settings are kept"),
        (left_out.policies, "sessions ran everything without asking; they now use the default policy"),
        (left_out.queued_messages, "queued messages are not restored: send them again"),
        (left_out.running_turns, "running turns are not continued: they end when the server starts"),
    ];
    lines.iter().filter(|(count, _)| *count > 0).for_each(|(count, text)| say(format_args!("{count} {text}")));
    if left_out.signed_out {
        say(format_args!("the replaced database could not be read: every device has to sign in again"));
    }
}

#[tokio::main(flavor = "current_thread")]
pub async fn vacuum(data_dir: &Path) -> Result<ExitCode> {
    let (before, after) = store::vacuum(&existing(data_dir)?).await.map_err(|error| stop_first(data_dir, error))?;
    say(format_args!("the database had {} and has {} now", size(before), size(after)));
    Ok(ExitCode::SUCCESS)
}

fn existing(data_dir: &Path) -> Result<PathBuf> {
    let path = data_dir.join(DATABASE);
    match path.metadata() {
        Ok(_) => Ok(path),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            bail!("nothing in {} yet: is it the right data directory?", data_dir.display())
        }
        Err(error) => Err(error).with_context(|| format!("looking at {}", path.display())),
    }
}

fn stop_first(data_dir: &Path, error: OpenError) -> anyhow::Error {
    match error {
        OpenError::InUse { .. } => anyhow::anyhow!("a server runs on {}: stop it first with `voxpilot stop`", data_dir.display()),
        other => other.into(),
    }
}
