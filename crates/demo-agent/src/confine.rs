//! Keeps paths inside a session's directory, symlinks resolved. Touches nothing but metadata.

use std::path::{Component, Path, PathBuf};

/// Turns what a prompt calls a file into a real path below `root`, which must be canonical.
/// The file itself need not exist; what exists of its path is resolved.
pub(crate) fn resolve(root: &Path, name: &str) -> Result<PathBuf, String> {
    let outside = || format!("{name} is outside of {}", root.display());
    let mut existing = root.join(name);
    let mut missing = Vec::new();
    let resolved = loop {
        if let Ok(path) = existing.canonicalize() {
            break path;
        }
        // A link that leads nowhere could be made to lead anywhere between this check and the write.
        if existing.symlink_metadata().is_ok() {
            return Err(format!("{name} is a broken link"));
        }
        match existing.components().next_back() {
            Some(Component::Normal(part)) => missing.push(part.to_owned()),
            _ => return Err(outside()),
        }
        existing.pop();
    };
    if !resolved.starts_with(root) {
        return Err(outside());
    }
    Ok(missing.iter().rev().fold(resolved, |path, part| path.join(part)))
}

/// How a path is shown to people: relative to the session's directory.
pub(crate) fn shown(root: &Path, path: &Path) -> String {
    match path.strip_prefix(root) {
        Ok(rest) if rest.as_os_str().is_empty() => ".".to_owned(),
        Ok(rest) => rest.display().to_string(),
        Err(_) => path.display().to_string(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn paths_below_the_root_resolve_whether_or_not_they_exist() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::write(root.join("a"), "").unwrap();
        assert_eq!(resolve(&root, "a").unwrap(), root.join("a"));
        assert_eq!(resolve(&root, "./x/y.txt").unwrap(), root.join("x/y.txt"));
        assert_eq!(resolve(&root, root.join("b").to_str().unwrap()).unwrap(), root.join("b"));
        assert_eq!(resolve(&root, ".").unwrap(), root);
    }

    #[test]
    fn paths_that_leave_the_root_are_refused() {
        let outside = tempfile::tempdir().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        symlink(outside.path(), root.join("link")).unwrap();
        symlink(outside.path().join("nothing"), root.join("broken")).unwrap();
        for name in ["../x", "/etc/passwd", "link/x", "link", "broken", "no/../../x", "~/../.."] {
            assert!(resolve(&root, name).is_err(), "{name}");
        }
    }
}
