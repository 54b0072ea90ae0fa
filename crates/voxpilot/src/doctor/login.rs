//! Whether Copilot is logged in, as far as that can be known without asking it: a token that is there may have expired.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Check, Verdict};
use crate::config::Config;

const TOKENS: [&str; 3] = ["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"];

pub(super) fn copilot(config: &Config, env: &BTreeMap<String, String>) -> Check {
    let name = "copilot login";
    let set = |variable: &str| env.get(variable).is_some_and(|value| !value.is_empty());
    if let Some(file) = &config.copilot_token_file {
        return Check::ok(name, format!("probably: a token is in {}", file.display()));
    }
    if set("COPILOT_PROVIDER_BASE_URL") {
        return Check::ok(name, "not needed: COPILOT_PROVIDER_BASE_URL is set");
    }
    if let Some(variable) = TOKENS.into_iter().find(|variable| set(variable)) {
        return Check::ok(name, format!("probably: {variable} is set"));
    }
    let state = state_dir(config, env);
    if let Some(user) = state.as_deref().and_then(logged_in_user) {
        return Check::ok(name, format!("probably: as {user}"));
    }
    let home = config.copilot_home.as_ref().map(|home| format!("COPILOT_HOME={} ", home.display())).unwrap_or_default();
    let mend = format!("{home}{} login", config.copilot_cli_path.display());
    Check::bad(name, Verdict::Warn, "no sign of it", mend)
}

fn state_dir(config: &Config, env: &BTreeMap<String, String>) -> Option<PathBuf> {
    let of_env = || env.get("COPILOT_HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    let of_home = || env.get("HOME").map(|home| Path::new(home).join(".copilot"));
    config.copilot_home.clone().or_else(of_env).or_else(of_home)
}

/// The user whom Copilot's own configuration names. It is JSON with comment lines, and its keys were spelled in two ways.
fn logged_in_user(state: &Path) -> Option<String> {
    let text = std::fs::read_to_string(state.join("config.json")).ok()?;
    let plain: String = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let json: Value = serde_json::from_str(&plain).ok()?;
    let users = ["logged_in_users", "loggedInUsers"].into_iter().find_map(|key| json.get(key)?.as_array())?;
    let user = users.first()?;
    Some(user.get("login").and_then(Value::as_str).unwrap_or("a user of its configuration").to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_login_is_seen_in_variables_and_in_the_state_directory() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().to_str().unwrap();
        let config = Config { copilot_cli_path: "copilot".into(), ..Config::default() };
        let none = copilot(&config, &env(&[("HOME", home), ("GH_TOKEN", "")]));
        assert_eq!((none.verdict, none.mend.as_deref()), (Verdict::Warn, Some("copilot login")));
        for variable in TOKENS.into_iter().chain(["COPILOT_PROVIDER_BASE_URL"]) {
            let check = copilot(&config, &env(&[("HOME", home), (variable, "the-value")]));
            assert_eq!(check.verdict, Verdict::Ok, "{variable}");
            assert!(check.detail.contains(variable) && !check.detail.contains("the-value"), "{}", check.detail);
        }
        std::fs::create_dir(dir.path().join(".copilot")).unwrap();
        let file = dir.path().join(".copilot/config.json");
        for (text, expected) in [
            ("{\"logged_in_users\": [{\"host\": \"h\", \"login\": \"ada\"}]}", Verdict::Ok),
            ("// managed\n{\"loggedInUsers\": [{\"login\": \"ada\"}]}", Verdict::Ok),
            ("{\"logged_in_users\": []}", Verdict::Warn),
            ("{\"trusted_folders\": []}", Verdict::Warn),
            ("{", Verdict::Warn),
        ] {
            std::fs::write(&file, text).unwrap();
            assert_eq!(copilot(&config, &env(&[("HOME", home)])).verdict, expected, "{text}");
        }
    }

    #[test]
    fn the_mending_command_uses_the_configured_state_directory() {
        let config = Config { copilot_cli_path: "/opt/copilot".into(), copilot_home: Some("/nowhere".into()), ..Config::default() };
        assert_eq!(copilot(&config, &env(&[])).mend.as_deref(), Some("COPILOT_HOME=/nowhere /opt/copilot login"));
    }
}
