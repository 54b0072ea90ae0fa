//! A secret that the configuration only refers to: found anew at every start and never kept.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

const OTHERS: u32 = 0o077;
const MAX_BYTES: u64 = 64 * 1024;

/// Where the value of a variable is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reference {
    /// In another variable of the server's environment.
    Variable(String),
    /// In a file that only its owner may read.
    File(PathBuf),
}

/// Names where the secret was to be, never what is there.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    #[error("secret file {} can be read by others: run chmod 600 {}", .0.display(), .0.display())]
    Exposed(PathBuf),
    #[error("secret file {} is empty", .0.display())]
    Empty(PathBuf),
    #[error("reading secret file {}: {source}", .path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{wanted} is to be what {variable} is, which is not set: set it and start the server again, or change the configuration")]
    NotSet { wanted: String, variable: String },
}

impl Reference {
    /// The value of `wanted`.
    pub(super) fn resolve(&self, wanted: &str, vars: &[(OsString, OsString)]) -> Result<String, SecretError> {
        match self {
            Reference::File(path) => read(path),
            Reference::Variable(variable) => {
                let found = vars.iter().find(|(name, value)| name == OsStr::new(variable) && !value.is_empty());
                let value = found.and_then(|(_, value)| value.to_str());
                let not_set = || SecretError::NotSet { wanted: wanted.to_owned(), variable: variable.clone() };
                value.map(str::to_owned).ok_or_else(not_set)
            }
        }
    }
}

fn read(path: &Path) -> Result<String, SecretError> {
    let unreadable = |source| SecretError::Unreadable { path: path.to_owned(), source };
    // The rights are those of the file that is read, not of one put in its place meanwhile.
    let file = File::open(path).map_err(unreadable)?;
    if file.metadata().map_err(unreadable)?.permissions().mode() & OTHERS != 0 {
        return Err(SecretError::Exposed(path.to_owned()));
    }
    let mut content = String::new();
    file.take(MAX_BYTES).read_to_string(&mut content).map_err(unreadable)?;
    match content.trim() {
        "" => Err(SecretError::Empty(path.to_owned())),
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
        fs::write(file.path(), " hidden \n").unwrap();
        for (mode, read_by_others) in [(0o600, false), (0o400, false), (0o640, true), (0o604, true)] {
            fs::set_permissions(file.path(), Permissions::from_mode(mode)).unwrap();
            match read(file.path()) {
                Ok(token) => assert!(token == "hidden" && !read_by_others),
                Err(error) => assert!(read_by_others && error.to_string().contains("chmod 600") && !error.to_string().contains("hidden")),
            }
        }
    }

    #[test]
    fn an_empty_or_missing_file_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(matches!(read(file.path()), Err(SecretError::Empty(_))));
        let error = read(Path::new("/nowhere/token")).unwrap_err();
        assert!(error.to_string().starts_with("reading secret file /nowhere/token"));
    }

    #[test]
    fn a_variable_that_is_not_set_is_named_with_what_it_was_for() {
        let vars = [(OsString::from("MY_KEY"), OsString::from("k")), (OsString::from("EMPTY"), OsString::new())];
        let resolve = |name: &str| Reference::Variable(name.to_owned()).resolve("API_KEY", &vars);
        assert_eq!(resolve("MY_KEY").unwrap(), "k");
        for absent in ["EMPTY", "ABSENT"] {
            let error = resolve(absent).unwrap_err().to_string();
            assert!(error.contains("API_KEY") && error.contains(absent), "{error}");
        }
    }
}
