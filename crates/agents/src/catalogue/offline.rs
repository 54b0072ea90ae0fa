//! How an agent is run without an account and without a network: what points it at a model on this machine, as data.
//!
//! `{url}` stands for where that model listens, `{home}` for the directory that holds everything of the agent's.

use super::Agent;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Offline {
    id: &'static str,
    pub env: &'static [(&'static str, &'static str)],
    /// Files below `{home}`, with what is in them.
    pub files: &'static [(&'static str, &'static str)],
    /// In place of its own arguments.
    pub args: Option<&'static [&'static str]>,
    /// What a person would say to it; those with a model are told what to do by the model.
    pub words: Option<Words>,
}

/// What to say to an agent that has no model, to have it do what a probe needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Words {
    /// Answers at once.
    pub say: &'static str,
    /// Changes something.
    pub act: &'static str,
    /// Goes on for long.
    pub slow: &'static str,
    /// Repeats what it was told first.
    pub recall: &'static str,
}

const CODEX_CONFIG: &str = r#"model = "probe"
model_provider = "probe"

[model_providers.probe]
name = "probe"
base_url = "{url}/v1"
wire_api = "responses"
requires_openai_auth = false
"#;

const OPENCODE_CONFIG: &str = r#"{
  "model": "probe/probe",
  "provider": { "probe": {
    "npm": "@ai-sdk/openai-compatible", "options": { "baseURL": "{url}/v1", "apiKey": "x" }, "models": { "probe": { "name": "probe" } }
  } }
}
"#;

const fn through_model(id: &'static str, env: &'static [(&'static str, &'static str)]) -> Offline {
    Offline { id, env, files: &[], args: None, words: None }
}

const KNOWN: [Offline; 9] = [
    through_model(
        super::COPILOT,
        &[
            ("COPILOT_OFFLINE", "true"),
            ("COPILOT_PROVIDER_BASE_URL", "{url}/v1"),
            ("COPILOT_PROVIDER_API_KEY", "x"),
            ("COPILOT_MODEL", "probe"),
            ("COPILOT_AUTO_UPDATE", "false"),
            ("COPILOT_HOME", "{home}/copilot"),
        ],
    ),
    Offline { files: &[("codex/config.toml", CODEX_CONFIG)], ..through_model(super::CODEX, &[("CODEX_HOME", "{home}/codex")]) },
    Offline { files: &[("codex/config.toml", CODEX_CONFIG)], ..through_model("codex-acp", &[("CODEX_HOME", "{home}/codex")]) },
    Offline {
        files: &[("opencode.json", OPENCODE_CONFIG)],
        ..through_model(
            "opencode",
            &[("OPENCODE_CONFIG", "{home}/opencode.json"), ("OPENCODE_DISABLE_AUTOUPDATE", "1"), ("OPENCODE_DISABLE_MODELS_FETCH", "1")],
        )
    },
    through_model(
        "claude",
        &[
            ("ANTHROPIC_BASE_URL", "{url}"),
            ("ANTHROPIC_API_KEY", "x"),
            ("CLAUDE_CONFIG_DIR", "{home}/claude"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ],
    ),
    Offline {
        // Its own choice of a model asks a model first.
        args: Some(&["--acp", "-m", "gemini-2.5-pro"]),
        ..through_model("gemini", &[("GEMINI_API_KEY", "x"), ("GOOGLE_GEMINI_BASE_URL", "{url}")])
    },
    Offline {
        args: Some(&["--acp", "--auth-type", "openai"]),
        ..through_model("qwen", &[("OPENAI_BASE_URL", "{url}/v1"), ("OPENAI_API_KEY", "x"), ("OPENAI_MODEL", "probe")])
    },
    through_model(
        "goose",
        &[
            ("OPENAI_HOST", "{url}"),
            ("OPENAI_API_KEY", "x"),
            ("GOOSE_PROVIDER", "openai"),
            ("GOOSE_MODEL", "probe"),
            ("GOOSE_DISABLE_KEYRING", "1"),
        ],
    ),
    Offline {
        words: Some(Words {
            say: "say papaya",
            act: "create probe-made.txt with papaya",
            slow: "count to 100000",
            recall: "what did I say first?",
        }),
        ..through_model(super::DEMO, &[("DEMO_AGENT_HOME", "{home}/demo")])
    },
];

impl Agent {
    /// Nothing where it is not known, or where it is not started by us.
    pub fn offline(&self) -> Option<&'static Offline> {
        KNOWN.iter().find(|known| known.id == self.id && self.remote.is_none())
    }
}
