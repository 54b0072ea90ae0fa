//! The real Codex CLI, driven offline: where it is, and the configuration that points it at a scripted model.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// What its model is called, so that a script can tell its requests from those of others.
pub const MODEL: &str = "codex";

/// The pinned Codex CLI that `make test` installs.
///
/// # Panics
/// If it is not installed: a test on the real thing that quietly did nothing would prove nothing.
pub fn path() -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/codex/node_modules/.bin/codex");
    let found = path.canonicalize();
    assert!(found.is_ok(), "the Codex CLI is not installed: run `npm ci` in tests/codex, or `make test`");
    // The link itself, not what it points to: people start it by that name.
    path
}

/// Writes what makes it work without an account and without a network. `home` holds its state, `base_url` is the scripted model's.
///
/// # Panics
/// If the directory cannot be written to.
pub fn write_home(home: &Path, base_url: &str) {
    let models = home.join("models.json");
    std::fs::create_dir_all(home.join("tmp")).expect("its temporary directory can be made");
    let config = format!(
        "model = {MODEL:?}
model_provider = \"scripted\"
model_catalog_json = {:?}
check_for_update_on_startup = false

[model_providers.scripted]
name = \"Scripted\"
base_url = {base_url:?}
wire_api = \"responses\"
requires_openai_auth = false
# One repetition shows that it repeats; its usual five take long.
request_max_retries = 0
stream_max_retries = 1

[tools.update_plan]
enabled = true

[analytics]
enabled = false

[features]
apps = false
plugins = false
remote_plugin = false
",
        models.display().to_string()
    );
    std::fs::write(home.join("config.toml"), config).expect("the configuration of Codex can be written");
    std::fs::write(models, json!({ "models": [model()] }).to_string()).expect("its list of models can be written");
}

/// A model that Codex does not know would get no tool for patches.
fn model() -> Value {
    json!({
        "slug": MODEL,
        "display_name": "Scripted",
        "description": "Says what a test has written.",
        "default_reasoning_level": "medium",
        "supported_reasoning_levels": [
            { "effort": "low", "description": "Little" },
            { "effort": "medium", "description": "Some" },
        ],
        "shell_type": "unified_exec",
        "visibility": "list",
        "supported_in_api": true,
        "priority": 1,
        "availability_nux": null,
        "upgrade": null,
        "base_instructions": "You are scripted.",
        "default_reasoning_summary": "auto",
        "supports_reasoning_summaries": true,
        "support_verbosity": false,
        "default_verbosity": null,
        "apply_patch_tool_type": "freeform",
        "truncation_policy": { "mode": "tokens", "limit": 10000 },
        "context_window": 200_000,
        "effective_context_window_percent": 95,
        "experimental_supported_tools": [],
        "input_modalities": ["text", "image"],
        "supports_parallel_tool_calls": true,
    })
}

/// The section of the configuration that starts it with this command. It puts no helper programs below a directory for temporary
/// files, and without them its sandbox does not work; so it is told of another one.
pub fn section(command: &Path, args: &[String], home: &Path) -> String {
    let (command, temporary, home) = (command.display().to_string(), home.join("tmp").display().to_string(), home.display().to_string());
    format!(
        "[agents.codex]\ntitle = \"Codex\"\ndialect = \"codex\"\ncommand = {command:?}\nargs = {args:?}\nenv = {{ CODEX_HOME = {home:?}, TMPDIR = {temporary:?} }}\n"
    )
}
