//! The token of programs: the configured one, or one that is made at first start and kept in the data directory.
//!
//! It also makes the data directory, since the secret is the first thing in it. How a request proves that it knows the
//! secret is not known here.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::config::Secret;

/// What a secret must look like, for messages.
pub const FORM: &str = "at least 16 visible ASCII characters, no spaces";

/// Less can be guessed.
const SHORTEST: usize = 16;

const FILE_NAME: &str = "token";
const RANDOM_BYTES: usize = 32;

/// Whether a text may serve as the secret: it travels in headers.
pub fn is_usable(text: &str) -> bool {
    text.len() >= SHORTEST && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// The secret of this server. The data directory must exist.
pub fn load_or_make(data_dir: &Path, configured: Option<&Secret>) -> Result<Secret> {
    if let Some(secret) = configured {
        return Ok(secret.clone());
    }
    let path = data_dir.join(FILE_NAME);
    if !path.try_exists().with_context(|| format!("cannot look for {}", path.display()))? {
        make(data_dir, &path).with_context(|| format!("cannot store the access secret in {}", path.display()))?;
    }
    read(&path)
}

/// The secret that a server has made and kept in its data directory.
pub fn stored(data_dir: &Path) -> Option<Secret> {
    let text = std::fs::read_to_string(data_dir.join(FILE_NAME)).ok()?;
    is_usable(text.trim()).then(|| Secret::new(text.trim()))
}

/// Makes the data directory, for its owner alone.
pub fn prepare_data_dir(path: &Path) -> Result<()> {
    let shown = path.display();
    DirBuilder::new().recursive(true).mode(0o700).create(path).with_context(|| format!("cannot make the data directory {shown}"))?;
    let mode = path.metadata().with_context(|| format!("cannot look at {shown}"))?.permissions().mode();
    if mode & 0o077 == 0 {
        return Ok(());
    }
    // One that was there before may serve others too, as /tmp does; only an empty one is surely ours.
    if path.read_dir().with_context(|| format!("cannot list {shown}"))?.next().is_none() {
        std::fs::set_permissions(path, Permissions::from_mode(0o700)).with_context(|| format!("cannot close {shown} to others"))?;
    } else {
        tracing::warn!("the data directory {shown} is open to others: run `chmod 700 {shown}`");
    }
    Ok(())
}

/// Written aside and linked into place: two servers that start at once end up with one secret, and none is ever half
/// written.
fn make(data_dir: &Path, path: &Path) -> Result<()> {
    let aside = data_dir.join(format!("{FILE_NAME}.{}.tmp", std::process::id()));
    let linked = write_private(&aside, &random_text()?).and_then(|()| match std::fs::hard_link(&aside, path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        other => other,
    });
    match std::fs::remove_file(&aside) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
        _ => {}
    }
    linked?;
    Ok(File::open(data_dir)?.sync_all()?)
}

/// Writes a file that its owner alone may read.
pub fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    // The mode above is for a new file; a leftover of a killed process may have another one.
    file.set_permissions(Permissions::from_mode(0o600))?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

fn read(path: &Path) -> Result<Secret> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read the access secret {shown}"))?;
    if !is_usable(text.trim()) {
        bail!("the access secret in {shown} is not usable: expected {FORM}; remove the file and start again to make a new one");
    }
    let mode = path.metadata().with_context(|| format!("cannot look at {shown}"))?.permissions().mode();
    if mode & 0o077 != 0 {
        std::fs::set_permissions(path, Permissions::from_mode(0o600)).with_context(|| format!("cannot close {shown} to others"))?;
        tracing::warn!("the access secret {shown} was open to others; closed it");
    }
    Ok(Secret::new(text.trim()))
}

fn random_text() -> Result<String> {
    let mut bytes = [0; RANDOM_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| anyhow::anyhow!("no random bytes from the system: {error}"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_secret_is_made_once_and_kept_for_its_owner_alone() {
        let root = tempfile::tempdir().unwrap();
        let data_dir = root.path().join("a/b");
        prepare_data_dir(&data_dir).unwrap();
        assert_eq!(mode(&data_dir), 0o700);
        let made = load_or_make(&data_dir, None).unwrap();
        assert_eq!(made.expose().len(), 2 * RANDOM_BYTES);
        assert_eq!(mode(&data_dir.join(FILE_NAME)), 0o600);
        assert_eq!(load_or_make(&data_dir, None).unwrap(), made);
        assert_eq!(data_dir.read_dir().unwrap().count(), 1, "nothing but the secret is left behind");

        let other = tempfile::tempdir().unwrap();
        assert_ne!(load_or_make(other.path(), None).unwrap(), made);
    }

    #[test]
    fn a_configured_secret_wins_and_is_not_stored() {
        let dir = tempfile::tempdir().unwrap();
        let given = Secret::new("configured-secret");
        assert_eq!(load_or_make(dir.path(), Some(&given)).unwrap(), given);
        assert!(!dir.path().join(FILE_NAME).exists());
    }

    #[test]
    fn servers_that_start_at_once_agree_on_one_secret() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(FILE_NAME);
        make(dir.path(), &path).unwrap();
        let first = read(&path).unwrap();
        // The second one had looked before the first one was done.
        make(dir.path(), &path).unwrap();
        assert_eq!(read(&path).unwrap(), first);
    }

    #[test]
    fn a_stored_secret_that_is_open_to_others_is_closed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(FILE_NAME);
        std::fs::write(&path, "a-stored-secret-of-ours\n").unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        assert_eq!(load_or_make(dir.path(), None).unwrap().expose(), "a-stored-secret-of-ours");
        assert_eq!(mode(&path), 0o600);
    }

    #[test]
    fn a_stored_secret_that_is_cut_short_is_an_error_that_names_the_file() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(FILE_NAME), "").unwrap();
        let error = load_or_make(dir.path(), None).unwrap_err().to_string();
        assert!(error.contains(&dir.path().join(FILE_NAME).display().to_string()), "{error}");
    }

    #[test]
    fn a_directory_with_other_things_in_it_keeps_its_mode() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("other"), "").unwrap();
        std::fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
        prepare_data_dir(dir.path()).unwrap();
        assert_eq!(mode(dir.path()), 0o755);
    }
}
