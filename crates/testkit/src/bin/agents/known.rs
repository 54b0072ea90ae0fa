//! The agents that are driven, as data: which package and version, what its tools are called, and what it needs to run offline.

use std::path::{Path, PathBuf};

use serde_json::json;
use testkit::model_server::ToolCall;
use testkit::server::Rig;

pub(crate) struct Known {
    /// As the catalogue calls it.
    pub id: &'static str,
    pub package: &'static str,
    /// Its tool that runs a command.
    pub run: fn(&str) -> ToolCall,
    /// Its tool that writes a file.
    pub write: fn(&Path, &str) -> ToolCall,
    /// Gives it the scripted model at this origin (`http://127.0.0.1:1234`) as a person would: what it finds in its environment.
    pub configure: fn(&Rig, &str) -> Vec<(String, String)>,
}

/// What every agent's model is called; the main AI's is `main`.
pub(crate) const MODEL: &str = "coder";

pub(crate) const ALL: [Known; 8] = [
    Known {
        id: "copilot",
        package: "@github/copilot",
        run: |command| ToolCall::new("bash", json!({ "command": command, "description": "Run it", "mode": "sync", "initial_wait": 300 })),
        write: |path, text| ToolCall::new("create", json!({ "path": path, "file_text": text })),
        configure: |rig, origin| testkit::copilot::offline(&rig.copilot_home(), &format!("{origin}/v1"), MODEL),
    },
    Known { id: "codex", package: "@openai/codex", run: codex_run, write: codex_write, configure: codex },
    Known {
        id: "claude",
        package: "@agentclientprotocol/claude-agent-acp",
        run: |command| ToolCall::new("Bash", json!({ "command": command, "description": "Run it" })),
        write: |path, text| ToolCall::new("Write", json!({ "file_path": path, "content": text })),
        configure: |rig, origin| {
            variables(&[
                ("ANTHROPIC_BASE_URL", origin),
                ("ANTHROPIC_API_KEY", "k"),
                ("CLAUDE_CONFIG_DIR", &directory(rig, "claude")),
                ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ])
        },
    },
    Known {
        id: "gemini",
        package: "@google/gemini-cli",
        run: |command| ToolCall::new("run_shell_command", json!({ "command": command, "description": "Run it" })),
        write: |path, text| ToolCall::new("write_file", json!({ "file_path": path, "content": text })),
        // Its own choice of a model asks a model first; the others it would choose are not scripted.
        configure: |_, origin| {
            variables(&[("GEMINI_API_KEY", "k"), ("GOOGLE_GEMINI_BASE_URL", origin), ("GEMINI_MODEL", "gemini-2.5-pro")])
        },
    },
    Known {
        id: "opencode",
        package: "opencode-ai",
        run: |command| ToolCall::new("bash", json!({ "command": command, "description": "Run it" })),
        write: |path, text| ToolCall::new("write", json!({ "filePath": path, "content": text })),
        configure: opencode,
    },
    Known {
        id: "qwen",
        package: "@qwen-code/qwen-code",
        run: |command| ToolCall::new("run_shell_command", json!({ "command": command, "is_background": false })),
        write: |path, text| ToolCall::new("write_file", json!({ "file_path": path, "content": text })),
        configure: |_, origin| variables(&[("OPENAI_BASE_URL", &format!("{origin}/v1")), ("OPENAI_API_KEY", "k"), ("OPENAI_MODEL", MODEL)]),
    },
    Known {
        id: "goose",
        package: "@aaif/goose-binary-linux-x64",
        run: |command| ToolCall::new("shell", json!({ "command": command })),
        write: |path, text| ToolCall::new("write", json!({ "path": path, "content": text })),
        configure: |_, origin| {
            variables(&[
                ("GOOSE_PROVIDER", "openai"),
                // It shows pictures only to models that it knows to see.
                ("GOOSE_MODEL", "gpt-4o"),
                ("OPENAI_HOST", origin),
                ("OPENAI_API_KEY", "k"),
                ("GOOSE_DISABLE_KEYRING", "1"),
            ])
        },
    },
    Known { id: "codex-acp", package: "@agentclientprotocol/codex-acp", run: codex_run, write: codex_write, configure: codex },
];

/// A directory of the agent's own in the rig.
fn directory(rig: &Rig, name: &str) -> String {
    let dir = rig.home().join(name);
    std::fs::create_dir_all(&dir).expect("a directory can be made in the rig");
    dir.display().to_string()
}

fn variables(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn codex(rig: &Rig, origin: &str) -> Vec<(String, String)> {
    testkit::codex::write_home(&rig.codex_home(), &format!("{origin}/v1"));
    variables(&[("CODEX_HOME", &rig.codex_home().display().to_string())])
}

/// Outside of its sandbox, in which it would run a command without a question and nothing could be written.
fn codex_run(command: &str) -> ToolCall {
    let outside = json!({
        "cmd": command, "login": false, "yield_time_ms": 30_000, "sandbox_permissions": "require_escalated", "justification": "May I?",
    });
    ToolCall::new("exec_command", outside)
}

fn codex_write(path: &Path, text: &str) -> ToolCall {
    let lines: String = text.lines().map(|line| format!("+{line}\n")).collect();
    ToolCall::new("apply_patch", format!("*** Begin Patch\n*** Add File: {}\n{lines}*** End Patch\n", path.display()))
}

fn opencode(rig: &Rig, origin: &str) -> Vec<(String, String)> {
    let dir = rig.home().join("home/.config/opencode");
    std::fs::create_dir_all(&dir).expect("a directory can be made in the rig");
    let model = json!({ "name": MODEL, "attachment": true, "modalities": { "input": ["text", "image"], "output": ["text"] } });
    let provider = json!({
        "npm": "@ai-sdk/openai-compatible",
        "name": "Scripted",
        "options": { "baseURL": format!("{origin}/v1"), "apiKey": "k" },
        "models": { MODEL: model },
    });
    let config = json!({ "provider": { "scripted": provider }, "model": format!("scripted/{MODEL}"), "autoupdate": false });
    std::fs::write(dir.join("opencode.json"), config.to_string()).expect("its configuration can be written");
    variables(&[("OPENCODE_DISABLE_AUTOUPDATE", "1"), ("OPENCODE_DISABLE_MODELS_FETCH", "1")])
}

/// Where npm puts their programs.
pub(crate) fn programs() -> PathBuf {
    installed().join(".bin")
}

/// Where `make agents` installs them.
pub(crate) fn installed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/agents/node_modules")
}

impl Known {
    /// What its package says, which is what the lock file has pinned.
    pub(crate) fn pinned(&self) -> Result<String, String> {
        let file = installed().join(self.package).join("package.json");
        let text = std::fs::read_to_string(&file).map_err(|_| format!("{} is not installed: run `make agents`", self.package))?;
        let package: serde_json::Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        package["version"].as_str().map(str::to_owned).ok_or_else(|| format!("{} has no version", self.package))
    }
}
