//! `voxpilot doctor`: what is installed, logged in and reachable, and the command that fixes what is not.
//!
//! It changes nothing of ours. Agents are really started, in a directory of its own, asked for a session and ended again; every look has a
//! deadline.

mod agent;
mod database;
mod directory;
mod load;
mod network;
mod orphans;
mod port;
mod program;
mod sandbox;

use std::fmt::Write as _;

use serde::Serialize;

use crate::config::{Config, Sources, visible};
use crate::serve;

/// The outcome of one look.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    pub name: &'static str,
    /// The agent that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    pub verdict: Verdict,
    pub detail: String,
    /// The command that fixes it.
    pub fix: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    Ok,
    /// VoxPilot works, but less well.
    Warn,
    /// VoxPilot does not work as it is configured.
    Fail,
}

impl Check {
    fn ok(name: &'static str, detail: impl Into<String>) -> Self {
        Check { name, about: None, verdict: Verdict::Ok, detail: detail.into(), fix: None }
    }

    fn bad(name: &'static str, verdict: Verdict, detail: impl Into<String>, fix: impl Into<String>) -> Self {
        Check { name, about: None, verdict, detail: detail.into(), fix: Some(fix.into()) }
    }

    fn about(mut self, agent: &str) -> Self {
        self.about = Some(agent.to_owned());
        self
    }

    /// The first look at an agent bears the agent's name alone.
    fn label(&self) -> String {
        match &self.about {
            Some(agent) if self.name == agent::INSTALLED => visible(agent),
            Some(agent) => format!("{} {}", visible(agent), self.name),
            None => self.name.to_owned(),
        }
    }
}

/// Looks at everything.
pub async fn examine(config: &Config, sources: &Sources) -> Vec<Check> {
    let path = sources.env.get("PATH").map(String::as_str);
    let disks = directory::disks(config);
    let data = config.keep_data_apart().map_or_else(directory::data_inside, |()| directory::data(&config.data_dir));
    let settings = serve::settings(config, sources);
    let (git, database, agents, orphans, sandbox, endpoint, port) = tokio::join!(
        program::git(path),
        database::look(&config.data_dir),
        async {
            match &settings {
                Ok(settings) => agent::all(config, sources, settings).await,
                Err(error) => vec![Check::bad("configuration", Verdict::Fail, format!("{error:#}"), "voxpilot config")],
            }
        },
        orphans::look(config, sources),
        sandbox::look(config, path),
        network::endpoint(config),
        port::look(config),
    );
    let mut checks = vec![data, database];
    checks.extend(disks);
    checks.extend([directory::work(&config.work_dir), git]);
    checks.extend(agents);
    if let Ok(settings) = &settings {
        checks.extend(program::node(settings, path).await);
    }
    checks.extend(orphans);
    checks.push(load::look(config));
    checks.extend(sandbox);
    checks.extend([endpoint, port]);
    checks
}

pub fn has_failed(checks: &[Check]) -> bool {
    checks.iter().any(|check| check.verdict == Verdict::Fail)
}

/// A command of ours as it is to be typed: it must mean the same data directory.
fn own(command: &str, sources: &Sources) -> String {
    match sources.flags.get("data_dir") {
        Some(dir) => format!("voxpilot {command} --data-dir {dir}"),
        None => format!("voxpilot {command}"),
    }
}

/// The checks as a program reads them.
pub fn json(checks: &[Check]) -> String {
    format!("{:#}\n", serde_json::json!({ "checks": checks }))
}

/// The checks as lines for people.
pub fn report(checks: &[Check], colour: bool) -> String {
    let width = checks.iter().map(|check| check.label().len()).max().unwrap_or(0);
    let mut out = String::new();
    for check in checks {
        let (word, code) = match check.verdict {
            Verdict::Ok => ("ok", 32),
            Verdict::Warn => ("warn", 33),
            Verdict::Fail => ("fail", 31),
        };
        let word = if colour { format!("\x1b[{code}m{word:4}\x1b[0m") } else { format!("{word:4}") };
        let _ = writeln!(out, "{word}  {:width$}  {}", check.label(), visible(&check.detail));
        if let Some(fix) = &check.fix {
            let _ = writeln!(out, "{:4}  {:width$}  fix: {}", "", "", visible(fix));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_is_aligned_and_plain_without_a_terminal() {
        let checks = [
            Check::ok("git", "2.40"),
            Check::bad("work directory", Verdict::Warn, "no repository", "git init"),
            Check::ok(agent::INSTALLED, "1.0").about("copilot"),
            Check::ok("login", "yes").about("copilot"),
        ];
        let expected = "ok    git             2.40\nwarn  work directory  no repository\n                      fix: git init\n\
                        ok    copilot         1.0\nok    copilot login   yes\n";
        assert_eq!(report(&checks, false), expected);
        assert!(report(&checks, true).contains("\x1b[33mwarn\x1b[0m"));
    }

    #[test]
    fn a_program_reads_the_same() {
        let checks = [Check::ok("git", "2.40"), Check::bad("login", Verdict::Fail, "needed", "copilot login").about("copilot")];
        let read: serde_json::Value = serde_json::from_str(&json(&checks)).unwrap();
        let expected = serde_json::json!({ "checks": [
            { "name": "git", "verdict": "ok", "detail": "2.40", "fix": null },
            { "name": "login", "about": "copilot", "verdict": "fail", "detail": "needed", "fix": "copilot login" },
        ] });
        assert_eq!(read, expected);
    }

    #[test]
    fn only_a_failure_fails() {
        let ok = Check::ok("a", "");
        let warn = Check::bad("b", Verdict::Warn, "", "");
        let fail = Check::bad("c", Verdict::Fail, "", "");
        assert!(!has_failed(&[ok.clone(), warn]));
        assert!(has_failed(&[ok, fail]));
    }
}
