//! The settings as the page shows them: in which words and groups, as which kind of value, and which of them can be chosen there.

use serde_json::Value;

use super::setting::{Fallback, SETTINGS, Setting};

/// One setting for people.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    pub title: &'static str,
    /// A sentence or two; what the command line says is for those who know it.
    pub about: &'static str,
    pub section: &'static str,
    pub kind: Kind,
    pub change: Change,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Text,
    Number(Unit),
    Choice(&'static [&'static str]),
    List,
    Secret,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    Seconds,
    Steps,
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
const MODEL: &str = "Main AI";
const AGENTS: &str = "Agents";
const PERMISSIONS: &str = "Permissions";
const NOTIFICATIONS: &str = "Notifications";
const SERVER: &str = "Server";

type Row = (&'static str, Shown);

const fn now(name: &'static str, section: &'static str, title: &'static str, about: &'static str, kind: Kind) -> Row {
    (name, Shown { title, about, section, kind, change: Change::Now })
}

const fn later(name: &'static str, section: &'static str, title: &'static str, about: &'static str, kind: Kind) -> Row {
    (name, Shown { title, about, section, kind, change: Change::Later })
}

const fn fixed(name: &'static str, section: &'static str, title: &'static str, about: &'static str, kind: Kind) -> Row {
    (name, Shown { title, about, section, kind, change: Change::Never })
}

const POLICIES: Kind = Kind::Choice(&["ask", "read-only", "auto", "auto-all", "deny"]);
const PROVIDERS: Kind = Kind::Choice(&["github", "openai", "anthropic", "gemini", "ollama", "openrouter"]);

/// By the name of the setting, in the order of the page.
const TABLE: [Row; 34] = [
    now("title", GENERAL, "Project name", "Shown in the sidebar and in notifications.", Kind::Text),
    now("suggestions", GENERAL, "Suggestions", "Tasks that the start page offers.", Kind::List),
    now("ignore", GENERAL, "Ignored in search", "Files that the main AI doesn’t search.", Kind::List),
    later("work-dirs", GENERAL, "More work directories", "Sessions can work in these, too.", Kind::List),
    now("disk-quota", GENERAL, "Storage limit", "Above it, new sessions and attachments are refused. For example 20G.", Kind::Text),
    now("model", MODEL, "Model", "You talk to it, and it delegates to agents.", Kind::Text),
    fixed(
        "model-provider",
        MODEL,
        "Provider",
        "Where the model is asked. The API key is stored on the server; it’s never shown.",
        PROVIDERS,
    ),
    fixed("model-base-url", MODEL, "Base URL", "An OpenAI-compatible endpoint in place of the provider’s own.", Kind::Text),
    fixed("model-api-key", MODEL, "API key", "Sent to the provider, and shown to nobody.", Kind::Secret),
    now(
        "max-agent-iterations",
        MODEL,
        "Steps in a turn",
        "How often the main AI can use tools before it has to answer.",
        Kind::Number(Unit::Steps),
    ),
    now("agent", AGENTS, "Default agent", "Works on your tasks unless you choose another.", Kind::Text),
    now("copilot-connection-ttl", AGENTS, "Stop idle agents after", "They resume when you write again.", Kind::Number(Unit::Seconds)),
    now("permission-policy", PERMISSIONS, "Policy", "What happens when an agent wants to act.", POLICIES),
    now("permission-timeout", PERMISSIONS, "Approval timeout", "A request is declined if nobody answers.", Kind::Number(Unit::Seconds)),
    later(
        "push-contact",
        NOTIFICATIONS,
        "Contact for push services",
        "Who browsers’ push services write to if notifications cause trouble.",
        Kind::Text,
    ),
    fixed("push-hosts", NOTIFICATIONS, "Private push services", "Hosts in your network that notifications may be sent to.", Kind::Text),
    fixed("bind", SERVER, "Address", "Where the server listens.", Kind::Text),
    fixed("allowed-hosts", SERVER, "Host names", "More names under which pages reach the server.", Kind::Text),
    fixed("trusted-proxies", SERVER, "Trusted proxies", "Their X-Forwarded-* headers apply.", Kind::Text),
    fixed("tls", SERVER, "TLS", "Whether the server makes its own certificate.", Kind::Choice(&["off", "self-signed"])),
    fixed("tls-cert", SERVER, "Certificate", "The file with the certificate.", Kind::Text),
    fixed("tls-key", SERVER, "Private key", "The file with the certificate’s key.", Kind::Text),
    fixed("token", SERVER, "Access token", "Lets programs in.", Kind::Secret),
    fixed("metrics-token", SERVER, "Metrics token", "Opens /metrics and nothing else.", Kind::Secret),
    fixed("work-dir", SERVER, "Work directory", "Agents work in it.", Kind::Text),
    fixed("data-dir", SERVER, "Data directory", "Sessions, journals and keys.", Kind::Text),
    fixed("durability", SERVER, "Durability", "What survives a crash or a power loss.", Kind::Choice(&["process", "disk"])),
    fixed("log", SERVER, "Log filter", "What is logged.", Kind::Text),
    fixed("log-format", SERVER, "Log format", "Text, or JSON for programs.", Kind::Choice(&["text", "json"])),
    fixed("otlp-endpoint", SERVER, "OTLP endpoint", "Receives traces of turns, without their content.", Kind::Text),
    fixed("agents-registry", SERVER, "Agent registry", "A file with more agents.", Kind::Text),
    fixed("copilot-cli-path", SERVER, "Copilot program", "The Copilot CLI.", Kind::Text),
    fixed("copilot-home", SERVER, "Copilot home", "Copilot’s own state.", Kind::Text),
    fixed("copilot-token-file", SERVER, "Copilot token file", "Its content reaches Copilot as a variable.", Kind::Text),
];

/// In the order of the page: key, what it is, the variable that sets it, and its default as text.
pub fn shown() -> impl Iterator<Item = (String, Shown, String, Option<&'static str>)> {
    TABLE.iter().filter_map(|(name, shown)| {
        let setting = SETTINGS.iter().find(|setting| setting.name == *name)?;
        let default = match setting.default {
            Fallback::Text(text) => Some(text),
            Fallback::Nothing | Fallback::CurrentDirectory | Fallback::UserData => None,
        };
        Some((setting.key(), *shown, setting.variable(), default))
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

pub fn is_secret(key: &str) -> bool {
    SETTINGS.iter().any(|setting| setting.secret && setting.key() == key)
}

/// A value of the page as the text that a file would have; what it should look like where it cannot be that.
pub fn as_text(key: &str, value: &Value) -> Result<String, &'static str> {
    let Some((setting, shown)) = row(key) else { return Err("a setting") };
    let text = match (shown.kind, value) {
        (Kind::Number(_), Value::Number(number)) => number.as_u64().map(|number| number.to_string()),
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
