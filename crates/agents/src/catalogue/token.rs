//! The token file: a secret that only its owner may read.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

const OTHERS: u32 = 0o077;
const MAX_BYTES: u64 = 64 * 1024;

/// Names the file, never its content.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    #[error("token file {} can be read by others: run chmod 600 {}", .0.display(), .0.display())]
    Exposed(PathBuf),
    #[error("token file {} is empty", .0.display())]
    Empty(PathBuf),
    #[error("reading token file {}: {source}", .path.display())]
    Unreadable { path: PathBuf, source: io::Error },
}

pub(super) fn read(path: &Path) -> Result<String, TokenError> {
    let unreadable = |source| TokenError::Unreadable { path: path.to_owned(), source };
    // The rights are those of the file that is read, not of one put in its place meanwhile.
    let file = File::open(path).map_err(unreadable)?;
    if file.metadata().map_err(unreadable)?.permissions().mode() & OTHERS != 0 {
        return Err(TokenError::Exposed(path.to_owned()));
    }
    let mut content = String::new();
    file.take(MAX_BYTES).read_to_string(&mut content).map_err(unreadable)?;
    match content.trim() {
        "" => Err(TokenError::Empty(path.to_owned())),
        token => Ok(token.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs::{self, Permissions};

    use super::*;

    #[test]
    fn a_file_that_others_can_read_is_refused_without_telling_its_content() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), " secret \n").unwrap();
        for (mode, read_by_others) in [(0o600, false), (0o400, false), (0o640, true), (0o604, true)] {
            fs::set_permissions(file.path(), Permissions::from_mode(mode)).unwrap();
            match read(file.path()) {
                Ok(token) => assert!(token == "secret" && !read_by_others),
                Err(error) => assert!(read_by_others && error.to_string().contains("chmod 600") && !error.to_string().contains("secret")),
            }
        }
    }

    #[test]
    fn an_empty_or_missing_file_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(matches!(read(file.path()), Err(TokenError::Empty(_))));
        let error = read(Path::new("/nowhere/token")).unwrap_err();
        assert!(error.to_string().starts_with("reading token file /nowhere/token"));
    }
}
