//! The main AI that was set up in the page: its provider and key, in a file of the data directory that its owner alone can read. The name
//! of the model is a choice like any other, and not in it.

use std::io::ErrorKind;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::token::write_private;

const FILE_NAME: &str = "main-ai.json";
/// Longer is none that we have written.
const FILE_MAX: u64 = 64 * 1024;

/// Not printable: it has the key.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stored {
    /// None for an OpenAI-compatible endpoint, which has a base URL.
    pub provider: Option<String>,
    pub base_url: Option<String>,
    pub api_key: Option<String>,
    /// When and from which device it came, for people.
    pub added_at: Option<jiff::Timestamp>,
    pub added_by: Option<String>,
}

impl std::fmt::Debug for Stored {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Stored").field("provider", &self.provider).field("base_url", &self.base_url).finish_non_exhaustive()
    }
}

/// None where there is none, or none that can be read; the log has the reason.
pub(crate) fn read(data_dir: &Path) -> Option<Stored> {
    let path = data_dir.join(FILE_NAME);
    let metadata = match path.symlink_metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        Err(error) => return unreadable(&path, &error.to_string()),
    };
    if !metadata.is_file() || metadata.len() > FILE_MAX {
        return unreadable(&path, "it is no file that VoxPilot has written");
    }
    match std::fs::read_to_string(&path) {
        // What stands in it is not in the reason.
        Ok(text) => serde_json::from_str(&text).ok().or_else(|| unreadable(&path, "it is no JSON that VoxPilot has written")),
        Err(error) => unreadable(&path, &error.to_string()),
    }
}

fn unreadable(path: &Path, reason: &str) -> Option<Stored> {
    tracing::warn!("the main AI that was set up in the page is not used, since {} cannot be read: {reason}", path.display());
    None
}

/// Written aside and put in its place, so that a crash leaves the old one or the new one.
pub(crate) fn write(data_dir: &Path, stored: &Stored) -> std::io::Result<()> {
    let aside = data_dir.join(format!("{FILE_NAME}.{}.tmp", std::process::id()));
    let text = serde_json::to_vec_pretty(stored).map_err(std::io::Error::other)?;
    let done = write_private(&aside, text).and_then(|()| std::fs::rename(&aside, data_dir.join(FILE_NAME)));
    if done.is_err() {
        let _ = std::fs::remove_file(&aside);
    }
    done?;
    std::fs::File::open(data_dir)?.sync_all()
}

pub(crate) fn remove(data_dir: &Path) -> std::io::Result<()> {
    match std::fs::remove_file(data_dir.join(FILE_NAME)) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => std::fs::File::open(data_dir)?.sync_all(),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn is_kept_for_its_owner_alone_and_never_printed() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(read(dir.path()), None);
        let stored = Stored { provider: Some("openai".to_owned()), api_key: Some("sk-secret".to_owned()), ..Stored::default() };
        write(dir.path(), &stored).unwrap();
        let file = dir.path().join(FILE_NAME);
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(read(dir.path()).as_ref(), Some(&stored));
        assert!(!format!("{stored:?}").contains("sk-secret"));
        assert_eq!(dir.path().read_dir().unwrap().count(), 1, "nothing is left beside it");
        remove(dir.path()).unwrap();
        remove(dir.path()).unwrap();
        assert_eq!(read(dir.path()), None);
        std::fs::write(&file, "{ half").unwrap();
        assert_eq!(read(dir.path()), None);
    }
}
