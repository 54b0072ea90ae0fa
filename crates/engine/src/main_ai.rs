//! A main AI that is being set up: its provider is asked for its models, and the chosen one is tried, before anything is kept.
//!
//! It keeps nothing itself; whoever configures the server does. A key goes to the provider that it is meant for and nowhere else.

use std::time::{Duration, Instant};

use model::{Fault, Message, Model, Provider, Reach, Request, SettingsError, ToolSpec, Tuning};
use serde_json::json;
use tokio::sync::mpsc;

use crate::Engine;

/// Of each step over the network.
const TIMEOUT: Duration = Duration::from_secs(10);
pub(crate) const AT_ONCE: usize = 2;
const KEY_MAX: usize = 4096;
const ADDRESS_MAX: usize = 2000;
/// A list of models doesn't depend on the one that will be chosen.
const ANY_MODEL: &str = "any";
const TRIAL_TOOL: &str = "ready";

/// A provider, the key for it and one of its models. Not printable.
#[derive(Clone)]
pub struct MainAi {
    /// One of [`providers`]; none for any OpenAI-compatible endpoint, which has a base URL.
    pub provider: Option<String>,
    pub base_url: Option<String>,
    pub api_key: Option<String>,
    pub model: String,
}

/// Why it can't be used, for a person.
#[derive(Clone, Debug)]
pub struct ModelProblem {
    pub code: &'static str,
    pub message: String,
}

/// What a test call has shown.
#[derive(Clone, Copy, Debug)]
pub struct ModelTrial {
    pub took: Duration,
    /// It called the tool that it was given.
    pub uses_tools: bool,
}

/// A provider that VoxPilot knows.
#[derive(Clone, Debug)]
pub struct ProviderInfo {
    pub id: &'static str,
    pub host: String,
    pub needs_key: bool,
}

pub fn providers() -> Vec<ProviderInfo> {
    let info =
        |provider: Provider| ProviderInfo { id: provider.as_str(), host: provider.host(), needs_key: provider.key_variable().is_some() };
    Provider::ALL.into_iter().map(info).collect()
}

impl MainAi {
    /// Checks what can be known without a request.
    pub fn endpoint(&self) -> Result<model::Settings, ModelProblem> {
        let provider = self.provider.as_deref().map(str::parse::<Provider>).transpose().map_err(|error| invalid(error.to_string()))?;
        let key = self.api_key.as_deref().filter(|key| !key.is_empty());
        if key.is_some_and(|key| key.len() > KEY_MAX || !key.bytes().all(|byte| byte.is_ascii_graphic())) {
            return Err(invalid("the API key has characters that no key has, such as spaces".to_owned()));
        }
        if self.base_url.as_deref().is_some_and(|url| url.len() > ADDRESS_MAX || url.contains(['@', '?', '#', '\n'])) {
            return Err(invalid("the base URL must not have a password, a query or a fragment".to_owned()));
        }
        let settings = model::Settings::Endpoint {
            model: if self.model.trim().is_empty() { ANY_MODEL.to_owned() } else { self.model.trim().to_owned() },
            base_url: self.base_url.clone(),
            api_key: key.map(model::Secret::from),
            provider,
        };
        let reach = settings.reach().map_err(unusable)?;
        match reach {
            Some(Reach { loopback: false, encrypted: false, host }) if key.is_some() => Err(invalid(format!(
                "a key is only sent encrypted: use an https address for {host}, or set VOXPILOT_MODEL_API_KEY on the server"
            ))),
            _ => Ok(settings),
        }
    }

    /// Host and port that it is asked at.
    pub fn host(&self) -> Result<String, ModelProblem> {
        Ok(self.endpoint()?.reach().map_err(unusable)?.map(|reach| reach.host).unwrap_or_default())
    }
}

impl Engine {
    /// The models that the provider has for this key. Dropping the future ends the request.
    pub async fn provider_models(&self, main_ai: &MainAi) -> Result<Vec<String>, ModelProblem> {
        let model = ready(main_ai)?;
        let _slot = self.shared.trying_providers.acquire().await.map_err(|_| stopping())?;
        let names = model.names(TIMEOUT).await.map_err(|fault| problem(&fault))?;
        Ok(useful_first(names))
    }

    /// One short call, in which the model is given a tool. Dropping the future ends the request.
    pub async fn try_main_ai(&self, main_ai: &MainAi) -> Result<ModelTrial, ModelProblem> {
        let (model, host) = (ready(main_ai)?, main_ai.host()?);
        let _slot = self.shared.trying_providers.acquire().await.map_err(|_| stopping())?;
        let started = Instant::now();
        let tried = tokio::time::timeout(TIMEOUT, call(&model)).await;
        let silent = || Fault::Stalled { host, silent_s: TIMEOUT.as_secs() };
        let uses_tools = tried.map_err(|_| problem(&silent()))?.map_err(|fault| problem(&fault))?;
        Ok(ModelTrial { took: started.elapsed(), uses_tools })
    }
}

fn ready(main_ai: &MainAi) -> Result<Model, ModelProblem> {
    let stall_ms = u64::try_from(TIMEOUT.as_millis()).unwrap_or(u64::MAX);
    let tuning = Tuning { tries: 1, stall_ms, ..Tuning::default() };
    Model::with_tuning(main_ai.endpoint()?, tuning).map_err(unusable)
}

/// Whether it used its tool. Some endpoints refuse a request with tools; then it is asked without.
async fn call(model: &Model) -> Result<bool, Fault> {
    let tool = ToolSpec {
        name: TRIAL_TOOL.to_owned(),
        description: "Reports that you are ready.".to_owned(),
        parameters: json!({ "type": "object", "properties": {} }),
    };
    let ask = |tools: Vec<ToolSpec>| async {
        let text = format!("Call the tool `{TRIAL_TOOL}` once. If you have no tools, answer with the word OK.");
        // Nobody reads along.
        let (events, _) = mpsc::channel(1);
        model.complete(Request { messages: vec![Message::User(text)], tools }, events).await
    };
    match ask(vec![tool]).await {
        Ok(completion) => Ok(!completion.tool_calls.is_empty()),
        Err(Fault::BadRequest { .. }) => ask(Vec::new()).await.map(|_| false),
        Err(fault) => Err(fault),
    }
}

/// What is no model to talk to comes last; else as the provider has them.
fn useful_first(mut names: Vec<String>) -> Vec<String> {
    const OTHER: [&str; 9] = ["embed", "tts", "whisper", "dall-e", "image", "moderation", "transcribe", "realtime", "audio"];
    names.sort_by_key(|name| OTHER.iter().any(|word| name.to_ascii_lowercase().contains(word)));
    names
}

fn invalid(message: String) -> ModelProblem {
    ModelProblem { code: "invalid", message }
}

fn stopping() -> ModelProblem {
    ModelProblem { code: "unavailable", message: "the server is shutting down; try again when it is back".to_owned() }
}

/// In the words of the page: there are no variables.
fn unusable(error: SettingsError) -> ModelProblem {
    invalid(match error {
        SettingsError::BadBaseUrl { .. } => "the base URL is not an http or https address".to_owned(),
        SettingsError::NoEndpoint { .. } => "an OpenAI-compatible endpoint needs a base URL".to_owned(),
        SettingsError::NoKey { .. } => "this provider needs an API key".to_owned(),
        SettingsError::NoModel => "choose a model".to_owned(),
        SettingsError::RefusedAddress { .. } | SettingsError::Client { .. } => error.to_string(),
    })
}

fn problem(fault: &Fault) -> ModelProblem {
    let message = match fault {
        Fault::Unauthorized { host, .. } => format!("{host} refused this key. Check it and try again."),
        Fault::Stalled { host, silent_s } => format!("no answer from {host} within {silent_s} s. Is it running?"),
        Fault::Refused { host, reason } => format!("cannot connect to {host} ({reason}). Is it running?"),
        other => other.to_string(),
    };
    ModelProblem { code: fault.code(), message }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn main_ai(provider: Option<&str>, base_url: Option<&str>, api_key: Option<&str>) -> MainAi {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        MainAi { provider: owned(provider), base_url: owned(base_url), api_key: owned(api_key), model: String::new() }
    }

    #[test]
    fn what_cannot_be_used_is_refused_before_a_request() {
        let table = [
            (main_ai(Some("azure"), None, Some("k")), "unknown model provider"),
            (main_ai(Some("openai"), None, None), "needs an API key"),
            (main_ai(None, None, Some("k")), "needs a base URL"),
            (main_ai(None, Some("ftp://x"), None), "not an http or https address"),
            (main_ai(None, Some("http://user:pw@x/v1"), None), "must not have a password"),
            (main_ai(None, Some("http://gpu-box:1/v1"), Some("secret-key")), "only sent encrypted"),
            (main_ai(None, Some("http://169.254.169.254/v1"), None), "local link"),
            (main_ai(Some("openai"), None, Some("with space")), "no key has"),
        ];
        for (given, expected) in table {
            let problem = given.endpoint().unwrap_err();
            assert!(problem.message.contains(expected), "{}", problem.message);
            assert!(!problem.message.contains("secret-key"));
        }
        for good in [
            main_ai(Some("openai"), None, Some("k")),
            main_ai(Some("ollama"), None, None),
            main_ai(None, Some("http://gpu-box:1/v1"), None),
            main_ai(None, Some("http://127.0.0.1:1/v1"), Some("k")),
            main_ai(None, Some("https://llm.example/v1"), Some("k")),
        ] {
            assert!(good.endpoint().is_ok());
        }
    }

    #[test]
    fn models_to_talk_to_come_first() {
        let names = ["text-embedding-3", "gpt-4.1", "whisper-1", "o4"].map(str::to_owned).to_vec();
        assert_eq!(useful_first(names), ["gpt-4.1", "o4", "text-embedding-3", "whisper-1"]);
    }
}
