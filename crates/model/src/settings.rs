//! Which main AI to use, and from where: the settings and what they resolve to.
//! Pure: the environment comes in as a function, and no request is made.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use genai::adapter::AdapterKind;
use reqwest::Url;

use crate::endpoint::resolve::is_refused;

/// A key. It is shown to the endpoint and to nobody else.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(key: String) -> Secret {
        Secret(key)
    }
}

impl From<&str> for Secret {
    fn from(key: &str) -> Secret {
        Secret(key.to_owned())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(hidden)")
    }
}

/// A preset: where a provider is found and which variable usually holds its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provider {
    GitHub,
    OpenAi,
    Anthropic,
    Gemini,
    Ollama,
    OpenRouter,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown model provider `{0}`: use one of github, openai, anthropic, gemini, ollama, openrouter")]
pub struct UnknownProvider(pub String);

impl Provider {
    pub const ALL: [Provider; 6] =
        [Provider::GitHub, Provider::OpenAi, Provider::Anthropic, Provider::Gemini, Provider::Ollama, Provider::OpenRouter];

    pub fn as_str(self) -> &'static str {
        match self {
            Provider::GitHub => "github",
            Provider::OpenAi => "openai",
            Provider::Anthropic => "anthropic",
            Provider::Gemini => "gemini",
            Provider::Ollama => "ollama",
            Provider::OpenRouter => "openrouter",
        }
    }

    /// The variable that usually holds the key; `None` where no key is needed.
    pub fn key_variable(self) -> Option<&'static str> {
        match self {
            Provider::GitHub => Some("GITHUB_TOKEN"),
            Provider::OpenAi => Some("OPENAI_API_KEY"),
            Provider::Anthropic => Some("ANTHROPIC_API_KEY"),
            Provider::Gemini => Some("GEMINI_API_KEY"),
            Provider::Ollama => None,
            Provider::OpenRouter => Some("OPENROUTER_API_KEY"),
        }
    }

    /// Where it is reached.
    pub fn host(self) -> String {
        Url::parse(self.base_url()).ok().as_ref().map(host).unwrap_or_default()
    }

    fn base_url(self) -> &'static str {
        match self {
            Provider::GitHub => "https://models.github.ai/inference/",
            Provider::OpenAi => "https://api.openai.com/v1/",
            Provider::Anthropic => "https://api.anthropic.com/v1/",
            Provider::Gemini => "https://generativelanguage.googleapis.com/v1beta/",
            Provider::Ollama => "http://localhost:11434/",
            Provider::OpenRouter => "https://openrouter.ai/api/v1/",
        }
    }

    fn adapter(self) -> AdapterKind {
        match self {
            Provider::GitHub | Provider::OpenAi | Provider::OpenRouter => AdapterKind::OpenAI,
            Provider::Anthropic => AdapterKind::Anthropic,
            Provider::Gemini => AdapterKind::Gemini,
            Provider::Ollama => AdapterKind::Ollama,
        }
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl FromStr for Provider {
    type Err = UnknownProvider;

    fn from_str(name: &str) -> Result<Provider, UnknownProvider> {
        let mut all = Provider::ALL.into_iter();
        all.find(|provider| provider.as_str() == name).ok_or_else(|| UnknownProvider(name.to_owned()))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settings {
    Relay,
    /// A base URL goes before the provider's own address; at least one of the two is needed.
    Endpoint {
        model: String,
        base_url: Option<String>,
        api_key: Option<Secret>,
        provider: Option<Provider>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    #[error("model `{model}` has no endpoint: set VOXPILOT_MODEL_BASE_URL or VOXPILOT_MODEL_PROVIDER")]
    NoEndpoint { model: String },
    #[error("the model has no name: set VOXPILOT_MODEL to a model name, or to `relay`")]
    NoModel,
    #[error("VOXPILOT_MODEL_BASE_URL `{url}` is not an http(s) address")]
    BadBaseUrl { url: String },
    #[error("model provider {provider} needs a key: set {variable} or VOXPILOT_MODEL_API_KEY")]
    NoKey { provider: Provider, variable: &'static str },
    #[error("the model endpoint {host} is an address of the local link, where no model is")]
    RefusedAddress { host: String },
    #[error("cannot set up the connection to the model endpoint: {reason}")]
    Client { reason: String },
}

/// Where requests go, for whoever decides about it before a key is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach {
    /// Host and port as a person would name them.
    pub host: String,
    pub loopback: bool,
    pub encrypted: bool,
}

/// An endpoint with every default filled in. Not printable: an address may carry a password.
pub(crate) struct Target {
    pub(crate) model: String,
    /// Ends in a slash, as the model library wants it.
    pub(crate) base_url: String,
    /// Host and port as a person would name them.
    pub(crate) host: String,
    pub(crate) loopback: bool,
    pub(crate) key: Option<Secret>,
    /// The settings to look at when the key is not accepted.
    pub(crate) key_variables: String,
    pub(crate) adapter: AdapterKind,
}

const KEY_SETTING: &str = "VOXPILOT_MODEL_API_KEY";

impl Settings {
    /// `None` is the relay.
    pub fn reach(&self) -> Result<Option<Reach>, SettingsError> {
        let target = self.clone().resolve()?;
        Ok(target.map(|Target { host, loopback, base_url, .. }| Reach { host, loopback, encrypted: base_url.starts_with("https:") }))
    }

    /// `None` is the relay.
    pub(crate) fn resolve(self) -> Result<Option<Target>, SettingsError> {
        let Settings::Endpoint { model, base_url, api_key, provider } = self else {
            return Ok(None);
        };
        if model.trim().is_empty() {
            return Err(SettingsError::NoModel);
        }
        let Some(given) = base_url.as_deref().or(provider.map(Provider::base_url)) else {
            return Err(SettingsError::NoEndpoint { model });
        };
        let url = parse(given)?;
        let key = api_key.filter(|key| !key.expose().is_empty());
        let usual = provider.filter(|_| base_url.is_none()).and_then(|it| Some((it, it.key_variable()?)));
        if let (None, Some((provider, variable))) = (&key, usual) {
            return Err(SettingsError::NoKey { provider, variable });
        }
        Ok(Some(Target {
            model,
            host: host(&url),
            loopback: is_loopback(&url),
            base_url: url.into(),
            key,
            key_variables: match usual {
                Some((_, variable)) => format!("{variable} or {KEY_SETTING}"),
                None => KEY_SETTING.to_owned(),
            },
            adapter: provider.map_or(AdapterKind::OpenAI, Provider::adapter),
        }))
    }
}

fn parse(given: &str) -> Result<Url, SettingsError> {
    let bad = || SettingsError::BadBaseUrl { url: given.to_owned() };
    // People paste the address of the call as often as the base of it.
    let base = given.trim().trim_end_matches('/');
    let base = base.strip_suffix("/chat/completions").unwrap_or(base);
    let url = Url::parse(&format!("{base}/")).map_err(|_| bad())?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(bad());
    }
    if address(&url).is_some_and(is_refused) {
        return Err(SettingsError::RefusedAddress { host: host(&url) });
    }
    Ok(url)
}

fn host(url: &Url) -> String {
    let name = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{name}:{port}"),
        None => name.to_owned(),
    }
}

fn address(url: &Url) -> Option<IpAddr> {
    url.host_str()?.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

fn is_loopback(url: &Url) -> bool {
    url.host_str() == Some("localhost") || address(url).is_some_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests;
