//! `voxpilot probe AGENT`: what an agent really does when it is asked, told to stop, killed and started again.
//!
//! It runs in a directory of its own with a home of its own, and with the scripted model of this module behind it, so it needs no account
//! and spends nothing. What held is printed, and written down for the server.

mod driven;
mod model;
mod steps;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use agents::catalogue::{Agent, Found, Offline, Program, Words};
use anyhow::{Context, Result, bail};
use engine::{Probe, Settings};
use jiff::Timestamp;
use tokio::signal::unix::{SignalKind, signal};

use crate::config::{Config, EnvValue, Sources};
use crate::say::say;
use crate::scratch::Scratch;
use crate::{serve, token};
use model::Model;

/// What of the person's environment says nothing of the person.
const KEPT: [&str; 5] = ["PATH", "LANG", "LC_ALL", "TERM", "TZ"];
/// Nobody listens there: what asks for the world outside gets no answer.
const NOWHERE: &str = "http://127.0.0.1:9";

/// What the scripted model looks for, see [`model`].
pub(crate) const WORDS: Words = Words {
    say: "PROBE-SAY: answer with one word. Remember the word papaya.",
    act: "PROBE-ACT: run the command that you were told to run.",
    slow: "PROBE-SLOW: count for a long time.",
    recall: "PROBE-RECALL: which word were you told to remember?",
};
/// What it is told first, and asked for after the crash.
pub(crate) const CODEWORD: &str = "papaya";

/// Whoever started the probe may want to know how far it is.
#[derive(Clone, Copy)]
pub struct Progress {
    pub is_told: bool,
}

impl Progress {
    fn tell(self, done: usize, of: usize, step: &str) {
        if self.is_told {
            say(format_args!("{}", serde_json::json!({ "step": step, "done": done, "of": of })));
        }
    }
}

/// One thing that was tried.
pub(crate) struct Outcome {
    /// The ability that it decides, if it decides one.
    id: Option<&'static str>,
    what: &'static str,
    value: String,
}

#[tokio::main(flavor = "current_thread")]
pub async fn run(config: &Config, sources: &Sources, agent: &str, progress: Progress) -> Result<ExitCode> {
    let real = serve::settings(config, sources)?;
    let known = real.agent(agent).map_err(anyhow::Error::msg)?;
    let offline = known.offline();
    let program = real.find(known).filter(|program| program.how != Found::Npx);
    let Some(program) = program else { bail!("{agent} is not installed: `voxpilot doctor --agent {agent}` says how to install it") };
    let scratch = Scratch::make(sources)?;
    let model = Model::start().await.context("starting the scripted model")?;
    let settings = apart(config, sources, &scratch, (known, &program), offline.map(|offline| (offline, model.url())))?;
    let work = scratch.work();
    let trying = async {
        match offline {
            Some(offline) => steps::all(&settings, agent, offline.words.unwrap_or(WORDS), &work, progress).await,
            None => steps::words_only(&settings, agent, &work, progress).await,
        }
    };
    let outcomes = tokio::select! {
        outcomes = trying => outcomes,
        told = told_to_stop() => told.and_then(|()| bail!("stopped")),
    };
    for left in agents::find_runners(&scratch.data().join("runners")) {
        agents::end_runner(&left).await.map_err(anyhow::Error::msg).context("ending the agent")?;
    }
    let (version, outcomes) = outcomes?;
    print(agent, version.as_deref(), &outcomes);
    if offline.is_none() {
        say(format_args!("{agent} cannot be pointed at a scripted model, so only what it says of itself was asked for"));
    }
    let held: BTreeMap<String, String> =
        outcomes.iter().filter_map(|outcome| Some((outcome.id?.to_owned(), outcome.value.clone()))).collect();
    let path = Probe::path(&config.data_dir, agent);
    let probe = Probe { agent: agent.to_owned(), version, at: Timestamp::now().to_string(), held };
    write(&path, &probe).with_context(|| format!("writing {}", path.display()))?;
    say(format_args!("written to {}", path.display()));
    Ok(ExitCode::SUCCESS)
}

async fn told_to_stop() -> Result<()> {
    let mut terminate = signal(SignalKind::terminate()).context("listening for signals")?;
    tokio::select! {
        _ = terminate.recv() => Ok(()),
        interrupted = tokio::signal::ctrl_c() => interrupted.context("listening for signals"),
    }
}

/// The settings, with everything of the person's taken out of them.
fn apart(
    config: &Config,
    sources: &Sources,
    scratch: &Scratch,
    (agent, program): (&Agent, &Program),
    offline: Option<(&Offline, String)>,
) -> Result<Settings> {
    let (home, mut config, mut sources) = (scratch.home(), config.clone(), sources.clone());
    config.copilot_home = None;
    config.copilot_token_file = None;
    sources.env.retain(|name, _| KEPT.contains(&name.as_str()));
    sources.env.insert("HOME".to_owned(), home.display().to_string());
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"] {
        sources.env.insert(name.to_owned(), NOWHERE.to_owned());
    }
    for name in ["NO_PROXY", "no_proxy"] {
        sources.env.insert(name.to_owned(), "127.0.0.1,localhost".to_owned());
    }
    let section = config.agents.entry(agent.id.clone()).or_default();
    section.env.clear();
    // Found where the person's own home is, which the agent does not get to see.
    if matches!(program.how, Found::Path | Found::Npm) {
        section.command = Some(program.path.clone());
    }
    if let Some((offline, url)) = offline {
        let fill = |text: &str| text.replace("{url}", &url).replace("{home}", &home.display().to_string());
        section.env = offline.env.iter().map(|(name, value)| ((*name).to_owned(), EnvValue::Text(fill(value)))).collect();
        if let Some(args) = offline.args {
            section.args = Some(args.iter().map(|&arg| arg.to_owned()).collect());
        }
        for (name, text) in offline.files {
            let path = home.join(name);
            fs::create_dir_all(path.parent().unwrap_or(&home))
                .and_then(|()| fs::write(&path, fill(text)))
                .context("preparing the agent")?;
        }
    }
    let settings = serve::settings(&config, &sources)?;
    Ok(settings.with_data_dir(scratch.data()))
}

fn print(agent: &str, version: Option<&str>, outcomes: &[Outcome]) {
    say(format_args!("{agent} {}", domain::text::visible(version.unwrap_or("(no version)"))));
    let width = outcomes.iter().map(|outcome| outcome.what.len()).max().unwrap_or(0);
    for Outcome { what, value, .. } in outcomes {
        say(format_args!("  {what:width$}  {}", domain::text::visible(value)));
    }
}

/// In one step, so that a server reads the old or the new.
fn write(path: &Path, probe: &Probe) -> Result<()> {
    let dir = path.parent().context("no directory")?;
    fs::create_dir_all(dir)?;
    let fresh = path.with_extension("new");
    token::write_private(&fresh, serde_json::to_vec_pretty(probe)?)?;
    Ok(fs::rename(&fresh, path)?)
}
