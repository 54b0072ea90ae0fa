//! Whether agents can be held to their work directory here, and from what they are kept then: tried, one thing after the other.

use std::ffi::OsStr;

use agents::{Feature, Mechanism};

use super::{Check, Verdict};
use crate::config::Config;
use crate::serve;

const NAME: &str = "sandbox";
const MEND: &str = "sudo apt-get install bubblewrap   (or a kernel of 6.2 or later with Landlock)";
const NAMESPACES: &str = "sudo sysctl kernel.unprivileged_userns_clone=1   (on Ubuntu: kernel.apparmor_restrict_unprivileged_userns=0)";
const FILTER: &str =
    "run VoxPilot where seccomp may hand over system calls   (outside of a container, with kernel.yama.ptrace_scope of 0 or 1)";
const NEWER: &str = "use Linux 6.12 or later";

pub(super) async fn look(config: &Config, path: Option<&str>) -> Vec<Check> {
    let path = path.map(|path| OsStr::new(path).to_owned());
    let untrusted = serve::untrusted(config);
    let find = move || Mechanism::find(&std::env::current_exe().ok()?, path.as_deref(), &untrusted);
    let found = tokio::task::spawn_blocking(find).await.ok().flatten();
    let wanted: Vec<&str> = config.agents.iter().filter(|(_, agent)| agent.confined).map(|(id, _)| id.as_str()).collect();
    report(found.as_ref(), &wanted)
}

fn report(found: Option<&Mechanism>, wanted: &[&str]) -> Vec<Check> {
    let Some(mechanism) = found else {
        let (verdict, detail) = match wanted {
            [] => (Verdict::Warn, "neither Landlock nor bubblewrap works here; no agent needs it".to_owned()),
            _ => {
                let detail = format!("neither Landlock nor bubblewrap works here, so these are not started: {}", wanted.join(", "));
                (Verdict::Fail, detail)
            }
        };
        return vec![Check::bad(NAME, verdict, detail, MEND)];
    };
    let users = if wanted.is_empty() { "used by no agent".to_owned() } else { format!("holds {}", wanted.join(", ")) };
    let mut checks = vec![Check::ok(NAME, format!("{}, {users}", mechanism.full_name()))];
    checks.extend(Feature::ALL.map(|feature| {
        let is_open = mechanism.open.contains(&feature);
        let (word, verdict) = if is_open { ("can", Verdict::Warn) } else { ("cannot", Verdict::Ok) };
        let detail = format!("a sandboxed agent {word} {}", feature.describe());
        // What no agent needs is nothing to warn of.
        match verdict {
            Verdict::Warn if !wanted.is_empty() => Check::bad(name(feature), verdict, detail, fix(feature)),
            _ => Check::ok(name(feature), detail),
        }
    }));
    checks
}

fn name(feature: Feature) -> &'static str {
    match feature {
        Feature::Files => "sandbox files",
        Feature::Metadata => "sandbox metadata",
        Feature::Sockets => "sandbox sockets",
        Feature::Signals => "sandbox signals",
        Feature::Processes => "sandbox processes",
        Feature::Sharing => "sandbox sharing",
    }
}

fn fix(feature: Feature) -> &'static str {
    match feature {
        Feature::Files | Feature::Processes => MEND,
        Feature::Metadata | Feature::Sharing => NAMESPACES,
        Feature::Sockets => FILTER,
        Feature::Signals => NEWER,
    }
}

#[cfg(test)]
mod tests {
    use agents::{Base, Layers};

    use super::*;

    #[test]
    fn each_feature_has_a_row_that_says_whether_it_holds() {
        let open = vec![Feature::Metadata, Feature::Sharing];
        let mechanism = Mechanism { base: Base::Bubblewrap("/usr/bin/bwrap".into()), layers: Layers::default(), open };
        let checks = report(Some(&mechanism), &["copilot"]);
        assert_eq!(checks[0], Check::ok("sandbox", "bubblewrap, holds copilot"));
        let warned: Vec<_> = checks.iter().filter(|check| check.verdict == Verdict::Warn).map(|check| check.name).collect();
        assert_eq!(warned, ["sandbox metadata", "sandbox sharing"]);
        let metadata = checks.iter().find(|check| check.name == "sandbox metadata").expect("it has a row");
        assert!(metadata.detail.starts_with("a sandboxed agent can change mode"), "{}", metadata.detail);
        let sockets = checks.iter().find(|check| check.name == "sandbox sockets").expect("it has a row");
        assert!(sockets.detail.starts_with("a sandboxed agent cannot connect to Unix sockets"), "{}", sockets.detail);
        assert!(report(Some(&mechanism), &[]).iter().all(|check| check.verdict == Verdict::Ok), "no agent needs it");
        assert_eq!(report(None, &["copilot"])[0].verdict, Verdict::Fail);
        assert_eq!(report(None, &[])[0].verdict, Verdict::Warn);
    }
}
