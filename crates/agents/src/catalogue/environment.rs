//! What an agent gets of the server's environment: an allowlist, so that no secret of ours reaches it by accident.

use std::ffi::OsString;

/// What every agent gets. Credentials are not among them: they reach only the agent that documents them.
const NAMES: &[&str] = &["HOME", "USER", "SHELL", "PATH", "TMPDIR", "LANG", "TERM", "TZ"];
const PREFIXES: &[&str] = &["XDG_", "LC_"];
/// In upper and in lower case.
const PROXIES: &[&str] = &["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "FTP_PROXY"];
const OURS: &str = "VOXPILOT_";

/// `own` are the variables that this agent documents; a star at the end stands for any rest. `extra` comes from the configuration: it
/// adds and replaces, but even it passes nothing of ours.
pub fn environment(vars: impl Iterator<Item = (OsString, OsString)>, own: &[&str], extra: &[(String, String)]) -> Vec<(String, String)> {
    let inherited = vars
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| is_allowed(name) || own.iter().any(|pattern| fits(pattern, name)))
        .filter(|(name, _)| !extra.iter().any(|(added, _)| added == name));
    let added = extra.iter().filter(|(name, _)| !name.starts_with(OURS)).cloned();
    inherited.chain(added).collect()
}

fn fits(pattern: &str, name: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == name, |start| name.starts_with(start))
}

fn is_allowed(name: &str) -> bool {
    NAMES.contains(&name)
        || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || PROXIES.iter().any(|proxy| *proxy == name || proxy.to_ascii_lowercase() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_on_the_list_passes() {
        let passing = [
            "HOME",
            "USER",
            "SHELL",
            "PATH",
            "TMPDIR",
            "XDG_RUNTIME_DIR",
            "LANG",
            "LC_ALL",
            "TERM",
            "TZ",
            "HTTPS_PROXY",
            "https_proxy",
            "no_proxy",
            "ALL_PROXY",
        ];
        let stopped = [
            "VOXPILOT_TOKEN",
            "COPILOT_GITHUB_TOKEN",
            "COPILOT_HOME",
            "GH_TOKEN",
            "GITHUB_TOKEN",
            "GH_HOST",
            "OPENAI_API_KEY",
            "AWS_SECRET_ACCESS_KEY",
            "LD_PRELOAD",
            "Http_Proxy",
            "HOMEPAGE",
        ];
        let vars = passing.iter().chain(&stopped).map(|name| (OsString::from(name), OsString::from("v")));
        let names: Vec<String> = environment(vars, &[], &[]).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, passing);
    }

    #[test]
    fn an_agent_gets_the_variables_that_it_documents_and_nobody_elses() {
        let names = [
            "ANTHROPIC_API_KEY",
            "CLAUDE_CONFIG_DIR",
            "OPENAI_API_KEY",
            "GEMINI_API_KEY",
            "GOOSE_MODE",
            "CODEX_HOME",
            "COPILOT_GITHUB_TOKEN",
            "GH_TOKEN",
            "GITHUB_TOKEN",
            "GH_HOST",
            "HOME",
        ];
        let given = |id: &str| {
            let vars = names.iter().map(|name| (OsString::from(name), OsString::from("v")));
            let known = crate::catalogue::known::Known::by_id(id).expect("it is known");
            environment(vars, known.variables, &[]).into_iter().map(|(name, _)| name).collect::<Vec<_>>()
        };
        assert_eq!(given("claude"), ["ANTHROPIC_API_KEY", "CLAUDE_CONFIG_DIR", "HOME"]);
        assert_eq!(given("codex"), ["OPENAI_API_KEY", "CODEX_HOME", "HOME"]);
        assert_eq!(given("gemini"), ["GEMINI_API_KEY", "HOME"]);
        assert_eq!(given("opencode"), ["HOME"]);
        assert_eq!(given("copilot"), ["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "GH_HOST", "HOME"]);
        assert_eq!(given("goose"), ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOSE_MODE", "HOME"]);
    }

    #[test]
    fn the_configuration_adds_and_replaces_but_passes_nothing_of_ours() {
        let vars = [("HOME", "/old"), ("PATH", "/bin")].into_iter().map(|(name, value)| (name.into(), value.into()));
        let extra = [("HOME", "/new"), ("API_BASE", "x"), ("VOXPILOT_TOKEN", "t")];
        let extra = extra.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let expected = [("PATH", "/bin"), ("HOME", "/new"), ("API_BASE", "x")];
        assert_eq!(environment(vars, &[], &extra), expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
}
