//! `voxpilot doctor`: what is installed, logged in and reachable, and the command that mends what is not.
//!
//! It only looks: nothing is made, changed or logged in to. Every look has a deadline.

mod directory;
mod login;
mod network;
mod program;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::config::Config;

/// The outcome of one look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    pub name: &'static str,
    pub verdict: Verdict,
    pub detail: String,
    /// The command that mends it.
    pub mend: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Ok,
    /// VoxPilot works, but less well.
    Warn,
    /// VoxPilot does not work as it is configured.
    Fail,
}

impl Check {
    fn ok(name: &'static str, detail: impl Into<String>) -> Self {
        Check { name, verdict: Verdict::Ok, detail: detail.into(), mend: None }
    }

    fn bad(name: &'static str, verdict: Verdict, detail: impl Into<String>, mend: impl Into<String>) -> Self {
        Check { name, verdict, detail: detail.into(), mend: Some(mend.into()) }
    }
}

/// Looks at everything. `env` is the environment that an agent would be started from.
pub async fn examine(config: &Config, env: &BTreeMap<String, String>) -> Vec<Check> {
    let path = env.get("PATH").map(String::as_str);
    let (git, copilot, node, endpoint, server) = tokio::join!(
        program::git(path),
        program::copilot(config, path),
        program::node(path),
        network::endpoint(config),
        network::server(&config.bind),
    );
    let data = config.keep_data_apart().map_or_else(directory::data_inside, |()| directory::data(&config.data_dir));
    let mut checks = vec![data, directory::work(&config.work_dir), git];
    let has_copilot = copilot.verdict == Verdict::Ok;
    checks.push(copilot);
    if has_copilot {
        checks.push(login::copilot(config, env));
    }
    checks.extend([node, endpoint, server]);
    checks
}

pub fn has_failed(checks: &[Check]) -> bool {
    checks.iter().any(|check| check.verdict == Verdict::Fail)
}

/// The checks as lines for people.
pub fn report(checks: &[Check], colour: bool) -> String {
    let width = checks.iter().map(|check| check.name.len()).max().unwrap_or(0);
    let mut out = String::new();
    for check in checks {
        let (word, code) = match check.verdict {
            Verdict::Ok => ("ok", 32),
            Verdict::Warn => ("warn", 33),
            Verdict::Fail => ("fail", 31),
        };
        let word = if colour { format!("\x1b[{code}m{word:4}\x1b[0m") } else { format!("{word:4}") };
        let _ = writeln!(out, "{word}  {:width$}  {}", check.name, check.detail);
        if let Some(mend) = &check.mend {
            let _ = writeln!(out, "{:4}  {:width$}  mend: {mend}", "", "");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_is_aligned_and_plain_without_a_terminal() {
        let checks = [Check::ok("git", "2.40"), Check::bad("work directory", Verdict::Warn, "no repository", "git init")];
        let expected = "ok    git             2.40\nwarn  work directory  no repository\n                      mend: git init\n";
        assert_eq!(report(&checks, false), expected);
        assert!(report(&checks, true).contains("\x1b[33mwarn\x1b[0m"));
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
