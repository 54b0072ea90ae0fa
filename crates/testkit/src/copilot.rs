//! The real Copilot CLI, driven offline: where it is, and the environment that points it at a scripted model.

use std::path::{Path, PathBuf};

/// The pinned Copilot CLI that `make test` installs.
///
/// # Panics
/// If it is not installed: a test on the real thing that quietly did nothing would prove nothing.
pub fn path() -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/copilot/node_modules/.bin/copilot");
    let found = path.canonicalize();
    assert!(found.is_ok(), "the Copilot CLI is not installed: run `npm ci` in tests/copilot, or `make test`");
    // The link itself, not what it points to: the wrapper finds its platform package beside the link.
    path
}

/// What makes it work without an account and without a network. `home` holds its state, `base_url` is the scripted model's.
pub fn offline(home: &Path, base_url: &str, model: &str) -> Vec<(String, String)> {
    let pairs = [
        ("COPILOT_OFFLINE", "true".to_owned()),
        ("COPILOT_PROVIDER_BASE_URL", base_url.to_owned()),
        ("COPILOT_PROVIDER_API_KEY", "x".to_owned()),
        ("COPILOT_MODEL", model.to_owned()),
        ("COPILOT_AUTO_UPDATE", "false".to_owned()),
        ("COPILOT_HOME", home.display().to_string()),
    ];
    pairs.map(|(name, value)| (name.to_owned(), value)).to_vec()
}
