//! The agents that are known, one row each: what each is good at, how it is found, started, installed and logged in, and what is its own.
//!
//! Where a row has an npm package, its version is the one that was tested; it is the one that npx is asked for.

use super::dialect::Dialect;
use super::quirks::{self, Quirks};
use super::{CODEX, COPILOT, DEMO};

pub(super) struct Known {
    pub id: &'static str,
    pub title: &'static str,
    /// For people, and for the main AI that chooses.
    pub about: &'static str,
    pub dialect: Dialect,
    /// The names of its program, the usual one first; none for the one that is built in.
    pub programs: &'static [&'static str],
    /// What makes an agent of the program.
    pub args: &'static [&'static str],
    pub package: Option<(&'static str, &'static str)>,
    pub state: State,
    /// The variables that it documents, beside what every agent gets; a star at the end stands for any rest.
    pub variables: &'static [&'static str],
    pub login: Login,
    /// What else to do where it is missing.
    pub install_hint: &'static str,
    pub quirks: Quirks,
}

/// Where it keeps what is its own.
pub(super) struct State {
    /// The variable that moves it.
    pub moved_by: Option<&'static str>,
    /// Where it is below the home directory otherwise.
    pub below_home: Option<&'static str>,
    /// What its directories in the base directories are called.
    pub name: &'static str,
}

pub(super) struct Login {
    /// The arguments with which its program logs in without a keyboard; none where it cannot.
    pub args: &'static [&'static str],
    /// What a person types in a terminal.
    pub command: &'static str,
    /// What a person can do, whole.
    pub advice: &'static str,
}

/// The keys and addresses of OpenAI's own API.
const OPENAI: [&str; 2] = ["OPENAI_API_KEY", "OPENAI_BASE_URL"];

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
const GOOSE_PACKAGE: Option<(&str, &str)> = Some(("@aaif/goose-binary-linux-x64", "1.52.0"));
/// Its packages hold one platform's program each, and no other has been tested.
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
const GOOSE_PACKAGE: Option<(&str, &str)> = None;

pub(super) static KNOWN: [Known; 9] = [
    Known {
        id: COPILOT,
        title: "GitHub Copilot",
        about: "general coding work in the work directory, with GitHub's own tools",
        dialect: Dialect::Acp,
        programs: &["copilot"],
        args: &["--acp", "--stdio"],
        package: Some(("@github/copilot", "1.0.102")),
        state: State { moved_by: Some("COPILOT_HOME"), below_home: Some(".copilot"), name: "copilot" },
        variables: &["COPILOT_*", "GH_TOKEN", "GITHUB_TOKEN", "GH_HOST"],
        login: Login {
            args: &["login"],
            command: "copilot login",
            advice: "run `copilot login` or `gh auth login`; the message waits and is sent afterwards. A token in COPILOT_GITHUB_TOKEN \
                     works too, after a restart of the server",
        },
        install_hint: ", or set VOXPILOT_COPILOT_CLI_PATH",
        quirks: quirks::COPILOT,
    },
    Known {
        id: CODEX,
        title: "Codex",
        about: "OpenAI's coding agent: changes that need care over many files, with commands in its own sandbox",
        dialect: Dialect::Codex,
        programs: &["codex"],
        args: &["app-server"],
        package: Some(("@openai/codex", "0.166.0")),
        state: State { moved_by: Some("CODEX_HOME"), below_home: Some(".codex"), name: "codex" },
        variables: &[OPENAI[0], OPENAI[1], "OPENAI_ORGANIZATION", "OPENAI_PROJECT", "CODEX_*"],
        login: Login { args: &["login"], command: "codex login", advice: "run `codex login`; the message waits and is sent afterwards" },
        install_hint: "",
        quirks: quirks::CODEX,
    },
    Known {
        id: "claude",
        title: "Claude Code",
        about: "Anthropic's coding agent: large refactorings, reviews and explanations of code",
        dialect: Dialect::Acp,
        programs: &["claude-agent-acp"],
        args: &[],
        package: Some(("@agentclientprotocol/claude-agent-acp", "0.99.1")),
        state: State { moved_by: Some("CLAUDE_CONFIG_DIR"), below_home: Some(".claude"), name: "claude" },
        variables: &[
            "ANTHROPIC_*",
            "CLAUDE_*",
            "MAX_THINKING_TOKENS",
            "AWS_BEARER_TOKEN_BEDROCK",
            "AWS_PROFILE",
            "AWS_REGION",
            "CLOUD_ML_REGION",
        ],
        login: Login {
            args: &[],
            command: "claude /login",
            advice: "run `claude /login`, or set ANTHROPIC_API_KEY; the message waits and is sent afterwards",
        },
        install_hint: "",
        quirks: quirks::CLAUDE,
    },
    Known {
        id: "gemini",
        title: "Gemini CLI",
        about: "Google's coding agent: questions about large amounts of code at once, and pictures",
        dialect: Dialect::Acp,
        programs: &["gemini"],
        args: &["--acp"],
        package: Some(("@google/gemini-cli", "0.61.0")),
        state: State { moved_by: None, below_home: Some(".gemini"), name: "gemini" },
        variables: &[
            "GEMINI_*",
            "GOOGLE_API_KEY",
            "GOOGLE_GEMINI_BASE_URL",
            "GOOGLE_VERTEX_BASE_URL",
            "GOOGLE_CLOUD_*",
            "GOOGLE_GENAI_*",
            "GOOGLE_APPLICATION_CREDENTIALS",
        ],
        login: Login {
            args: &[],
            command: "gemini",
            advice: "run `gemini` once, or set GEMINI_API_KEY; the message waits and is sent afterwards",
        },
        install_hint: "",
        quirks: quirks::GEMINI,
    },
    Known {
        id: "opencode",
        title: "opencode",
        about: "coding work with whichever model its own configuration names",
        dialect: Dialect::Acp,
        programs: &["opencode"],
        args: &["acp"],
        package: Some(("opencode-ai", "1.18.33")),
        state: State { moved_by: None, below_home: None, name: "opencode" },
        // It takes to any provider whose key it finds, so those are given by name.
        variables: &["OPENCODE_*"],
        login: Login {
            args: &[],
            command: "opencode auth login",
            advice: "run `opencode auth login`; the message waits and is sent afterwards",
        },
        install_hint: "",
        quirks: quirks::OPENCODE,
    },
    Known {
        id: "qwen",
        title: "Qwen Code",
        about: "coding work with Qwen's models, or with any that speaks like OpenAI's",
        dialect: Dialect::Acp,
        programs: &["qwen"],
        args: &["--acp"],
        package: Some(("@qwen-code/qwen-code", "0.24.4")),
        state: State { moved_by: None, below_home: Some(".qwen"), name: "qwen" },
        variables: &[OPENAI[0], OPENAI[1], "OPENAI_MODEL", "QWEN_*", "DASHSCOPE_API_KEY"],
        login: Login {
            args: &[],
            command: "qwen",
            advice: "run `qwen` once and choose /auth, or set OPENAI_API_KEY; the message waits and is sent afterwards",
        },
        install_hint: "",
        quirks: quirks::QWEN,
    },
    Known {
        id: "goose",
        title: "goose",
        about: "coding and other work on this machine, with whichever model it is set up for",
        dialect: Dialect::Acp,
        programs: &["goose", "goose-binary-linux-x64"],
        args: &["acp"],
        package: GOOSE_PACKAGE,
        state: State { moved_by: None, below_home: None, name: "goose" },
        // It uses the key of the provider that it was told to use, and no other.
        variables: &[
            "GOOSE_*",
            OPENAI[0],
            "OPENAI_HOST",
            "OPENAI_BASE_PATH",
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_HOST",
            "GOOGLE_API_KEY",
            "OPENROUTER_API_KEY",
            "OLLAMA_HOST",
        ],
        login: Login { args: &[], command: "goose configure", advice: "run `goose configure`; the message waits and is sent afterwards" },
        install_hint: "",
        quirks: quirks::GOOSE,
    },
    Known {
        id: "codex-acp",
        title: "Codex (ACP)",
        about: "Codex through an adapter; the built-in Codex does more",
        dialect: Dialect::Acp,
        programs: &["codex-acp"],
        args: &[],
        package: Some(("@agentclientprotocol/codex-acp", "2.6.0")),
        state: State { moved_by: Some("CODEX_HOME"), below_home: Some(".codex"), name: "codex" },
        variables: &[OPENAI[0], OPENAI[1], "CODEX_*"],
        login: Login {
            args: &[],
            command: "codex login",
            advice: "run `codex login`, or set OPENAI_API_KEY; the message waits and is sent afterwards",
        },
        install_hint: "",
        quirks: quirks::CODEX_ACP,
    },
    Known {
        id: DEMO,
        title: "Demo agent",
        about: "trying VoxPilot out: it follows a few phrases and has no model behind it",
        dialect: Dialect::Acp,
        programs: &[],
        args: &["demo-agent"],
        package: None,
        state: State { moved_by: Some("DEMO_AGENT_HOME"), below_home: None, name: "voxpilot-demo-agent" },
        variables: &[],
        login: Login { args: &[], command: "", advice: "" },
        install_hint: "",
        quirks: quirks::STANDARD,
    },
];

impl Known {
    pub(super) fn by_id(id: &str) -> Option<&'static Known> {
        KNOWN.iter().find(|known| known.id == id)
    }

    pub(super) fn by_program(name: &str) -> Option<&'static Known> {
        KNOWN.iter().find(|known| known.programs.contains(&name))
    }

    /// The one whose habits an agent has that is called so, or whose program is.
    pub(super) fn resembling(id: &str, program: &str) -> Option<&'static Known> {
        let begins = |known: &&Known| id.starts_with(known.id) || program.starts_with(known.id);
        Known::by_id(id).or_else(|| Known::by_program(program)).or_else(|| KNOWN.iter().find(begins))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn every_row_says_what_people_and_the_main_ai_need() {
        for known in &KNOWN {
            let one_line = !known.about.is_empty() && known.about.len() <= 120 && !known.about.contains('\n');
            assert!(one_line && !known.title.is_empty(), "{}", known.id);
            let login = &known.login;
            // Whoever is told to log in is told with which command.
            assert!(
                login.command.is_empty() || login.advice.contains(&format!("`{}`", login.command)) || known.id == "qwen",
                "{}",
                known.id
            );
            assert_eq!(KNOWN.iter().filter(|other| other.id == known.id).count(), 1, "{}", known.id);
            if let Some((_, version)) = known.package {
                assert_eq!(version.split('.').filter(|part| part.parse::<u32>().is_ok()).count(), 3, "{}", known.id);
            }
        }
        assert!(Known::by_id("qwen").unwrap().login.advice.contains("`qwen`"));
    }

    #[test]
    fn nobody_is_given_a_secret_of_the_server_or_of_another_kind_of_program() {
        for pattern in KNOWN.iter().flat_map(|known| known.variables) {
            assert!(pattern.trim_end_matches('*').len() >= 5 && !pattern.starts_with("VOXPILOT"), "{pattern}");
            assert!(!["AWS_SECRET_ACCESS_KEY", "AWS_*", "OPENAI_*", "GOOGLE_*"].contains(pattern), "{pattern}");
        }
    }

    #[test]
    fn an_agent_of_another_name_is_known_by_its_program() {
        let found = |id, program| Known::resembling(id, program).map(|known| known.id);
        assert_eq!(found("mine", "claude-agent-acp"), Some("claude"));
        assert_eq!(found("mine", "claude-code-acp"), Some("claude"));
        assert_eq!(found("mine", "codex-acp"), Some("codex-acp"));
        assert_eq!(found("mine", "goose-binary-linux-x64"), Some("goose"));
        assert_eq!(found("mine", "other"), None);
    }
}
