//! What was found, as files: the input, what it broke, and how to see it again.

use std::path::PathBuf;

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

use crate::case::Failure;
use crate::corpus::home;

/// Writes the input to `found/<target>/<hash>`, with a note beside it. Gives the path of the input.
pub fn save(target: &str, input: &[u8], failure: &Failure) -> Result<PathBuf> {
    let hash: String = Sha256::digest(input).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let dir = home().join("found").join(target);
    let path = dir.join(hash);
    std::fs::create_dir_all(&dir).with_context(|| format!("creating {}", dir.display()))?;
    std::fs::write(&path, input).with_context(|| format!("writing {}", path.display()))?;
    let note = format!("{}\n\nreplay: {}\n", failure.message, replay_command(&path));
    std::fs::write(path.with_extension("note"), note).with_context(|| format!("writing the note of {}", path.display()))?;
    Ok(path)
}

pub fn replay_command(path: &std::path::Path) -> String {
    let exe = std::env::current_exe().map_or_else(|_| "fuzz".to_owned(), |exe| exe.display().to_string());
    format!("{exe} --replay {}", path.display())
}
