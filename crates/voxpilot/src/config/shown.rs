//! The settings as the page shows them: in which words and groups, as which kind of value, and which of them can be chosen there.

use serde_json::Value;

use super::setting::{Fallback, SETTINGS, Setting};

/// One setting for people.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    pub title: &'static str,
    pub group: &'static str,
    pub kind: Kind,
    pub change: Change,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Text,
    Number,
    Choice(&'static [&'static str]),
    List,
    Secret,
}

/// Whether it can be chosen in the page. What lets somebody in, names a program or a file, or could send a secret elsewhere cannot:
/// whoever has taken over a page must not get further by it. What is read before the choices are cannot either.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    Never,
    Now,
    /// With the next start.
    Later,
}

const GENERAL: &str = "General";
const AGENTS: &str = "Agents";
const PERMISSIONS: &str = "Permissions";
const MODEL: &str = "Main AI";
const NETWORK: &str = "Access and network";
const STORAGE: &str = "Storage and logs";

/// By the name of the setting.
const TABLE: [(&str, Shown); 34] = [
    ("title", Shown { title: "Project name", group: GENERAL, kind: Kind::Text, change: Change::Now }),
    ("suggestions", Shown { title: "Suggestions", group: GENERAL, kind: Kind::List, change: Change::Now }),
    ("work-dir", Shown { title: "Work directory", group: GENERAL, kind: Kind::Text, change: Change::Never }),
    ("work-dirs", Shown { title: "More work directories", group: GENERAL, kind: Kind::List, change: Change::Later }),
    ("ignore", Shown { title: "Left out of searches", group: GENERAL, kind: Kind::List, change: Change::Now }),
    (
        "permission-policy",
        Shown {
            title: "Permission policy",
            group: PERMISSIONS,
            kind: Kind::Choice(&["ask", "read-only", "auto", "deny"]),
            change: Change::Now,
        },
    ),
    ("permission-timeout", Shown { title: "Time to answer", group: PERMISSIONS, kind: Kind::Number, change: Change::Now }),
    ("agent", Shown { title: "Default agent", group: AGENTS, kind: Kind::Text, change: Change::Now }),
    ("copilot-connection-ttl", Shown { title: "Keep idle agents", group: AGENTS, kind: Kind::Number, change: Change::Now }),
    ("agents-registry", Shown { title: "Registry of agents", group: AGENTS, kind: Kind::Text, change: Change::Never }),
    ("copilot-cli-path", Shown { title: "Copilot program", group: AGENTS, kind: Kind::Text, change: Change::Never }),
    ("copilot-home", Shown { title: "Copilot state", group: AGENTS, kind: Kind::Text, change: Change::Never }),
    ("copilot-token-file", Shown { title: "Copilot token file", group: AGENTS, kind: Kind::Text, change: Change::Never }),
    ("model", Shown { title: "Main AI", group: MODEL, kind: Kind::Text, change: Change::Now }),
    ("max-agent-iterations", Shown { title: "Steps in a turn", group: MODEL, kind: Kind::Number, change: Change::Now }),
    (
        "model-provider",
        Shown {
            title: "Provider",
            group: MODEL,
            kind: Kind::Choice(&["github", "openai", "anthropic", "gemini", "ollama", "openrouter"]),
            change: Change::Never,
        },
    ),
    ("model-base-url", Shown { title: "Endpoint", group: MODEL, kind: Kind::Text, change: Change::Never }),
    ("model-api-key", Shown { title: "Key of the endpoint", group: MODEL, kind: Kind::Secret, change: Change::Never }),
    ("bind", Shown { title: "Address", group: NETWORK, kind: Kind::Text, change: Change::Never }),
    ("token", Shown { title: "Access token", group: NETWORK, kind: Kind::Secret, change: Change::Never }),
    ("metrics-token", Shown { title: "Token for metrics", group: NETWORK, kind: Kind::Secret, change: Change::Never }),
    ("allowed-hosts", Shown { title: "Host names", group: NETWORK, kind: Kind::Text, change: Change::Never }),
    ("trusted-proxies", Shown { title: "Trusted proxies", group: NETWORK, kind: Kind::Text, change: Change::Never }),
    ("tls", Shown { title: "Encryption", group: NETWORK, kind: Kind::Choice(&["off", "self-signed"]), change: Change::Never }),
    ("tls-cert", Shown { title: "Certificate", group: NETWORK, kind: Kind::Text, change: Change::Never }),
    ("tls-key", Shown { title: "Key of the certificate", group: NETWORK, kind: Kind::Text, change: Change::Never }),
    ("push-contact", Shown { title: "Contact for push services", group: NETWORK, kind: Kind::Text, change: Change::Later }),
    ("push-hosts", Shown { title: "Private push services", group: NETWORK, kind: Kind::Text, change: Change::Never }),
    ("data-dir", Shown { title: "Data directory", group: STORAGE, kind: Kind::Text, change: Change::Never }),
    ("disk-quota", Shown { title: "Disk quota", group: STORAGE, kind: Kind::Text, change: Change::Now }),
    ("durability", Shown { title: "Survives", group: STORAGE, kind: Kind::Choice(&["process", "disk"]), change: Change::Never }),
    ("log", Shown { title: "Log", group: STORAGE, kind: Kind::Text, change: Change::Never }),
    ("log-format", Shown { title: "Form of the log", group: STORAGE, kind: Kind::Choice(&["text", "json"]), change: Change::Never }),
    ("otlp-endpoint", Shown { title: "Collector of traces", group: STORAGE, kind: Kind::Text, change: Change::Never }),
];

/// In the order of the page: key, what it is, what it means, and its default as text.
pub fn shown() -> impl Iterator<Item = (String, Shown, &'static str, Option<&'static str>)> {
    TABLE.iter().filter_map(|(name, shown)| {
        let setting = SETTINGS.iter().find(|setting| setting.name == *name)?;
        let default = match setting.default {
            Fallback::Text(text) => Some(text),
            Fallback::Nothing | Fallback::CurrentDirectory | Fallback::UserData => None,
        };
        Some((setting.key(), *shown, setting.help, default))
    })
}

fn row(key: &str) -> Option<(&'static Setting, Shown)> {
    let setting = SETTINGS.iter().find(|setting| setting.key() == key)?;
    let (_, shown) = TABLE.iter().find(|(name, _)| *name == setting.name)?;
    Some((setting, *shown))
}

pub fn can_be_chosen(key: &str) -> bool {
    row(key).is_some_and(|(_, shown)| shown.change != Change::Never)
}

/// A value of the page as the text that a file would have; what it should look like where it cannot be that.
pub fn as_text(key: &str, value: &Value) -> Result<String, &'static str> {
    let Some((setting, shown)) = row(key) else { return Err("a setting") };
    let text = match (shown.kind, value) {
        (Kind::Number, Value::Number(number)) => number.as_u64().map(|number| number.to_string()),
        (Kind::List, Value::Array(items)) => {
            let lines: Option<Vec<_>> = items.iter().map(|item| item.as_str().filter(|line| !line.contains(['\n', '\r']))).collect();
            lines.map(|lines| lines.join("\n"))
        }
        (Kind::Text | Kind::Choice(_), Value::String(text)) => Some(text.clone()),
        _ => None,
    };
    text.ok_or(setting.form)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_is_shown_once() {
        let mut names: Vec<_> = TABLE.iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        let mut all: Vec<_> = SETTINGS.iter().map(|setting| setting.name).collect();
        all.sort_unstable();
        assert_eq!(names, all);
        assert_eq!(shown().count(), SETTINGS.len());
    }

    #[test]
    fn secrets_and_lists_are_shown_as_such() {
        for setting in &SETTINGS {
            let (_, shown) = TABLE.iter().find(|(name, _)| *name == setting.name).unwrap();
            assert_eq!((setting.secret, setting.list), (shown.kind == Kind::Secret, shown.kind == Kind::List), "{}", setting.name);
            assert!(!setting.secret || shown.change == Change::Never, "{}", setting.name);
        }
    }
}
