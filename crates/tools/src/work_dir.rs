//! The work directory as the boundary of the tools: which path is inside it once every symlink is resolved.

use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::project::{LeftOut, Project};
use crate::{Refusal, bound};

/// A chain of dangling links longer than this is a loop.
const MOST_LINKS: usize = 16;

pub(crate) struct WorkDir {
    /// As configured; models repeat this spelling in absolute paths even where it is a symlink.
    given: PathBuf,
    root: PathBuf,
    /// What the person does not want to see in lists and searches.
    left_out: LeftOut,
}

impl WorkDir {
    pub(crate) fn open(given: &Path) -> Result<Self, Refusal> {
        let root = given.canonicalize().map_err(|why| Refusal::new(format!("the work directory cannot be opened: {}", reason(&why))))?;
        if !root.is_dir() {
            return Err(Refusal::new("the work directory is not a directory"));
        }
        Ok(Self { given: given.to_owned(), root, left_out: LeftOut::nothing() })
    }

    pub(crate) fn of(project: &Project) -> Result<Self, Refusal> {
        Ok(Self { left_out: project.left_out(), ..Self::open(&project.work_dir)? })
    }

    pub(crate) fn left_out(&self) -> LeftOut {
        self.left_out.clone()
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The real place of an existing path inside the work directory.
    pub(crate) fn existing(&self, path: &str) -> Result<PathBuf, Refusal> {
        let target = self.root.join(path);
        match target.canonicalize() {
            Ok(real) if real.starts_with(&self.root) => Ok(real),
            Ok(_) => Err(outside(path)),
            // Whether something exists out there is nobody's business, so a missing path outside is "outside" too.
            Err(_) if !self.deepest_parent_is_inside(&target) => Err(outside(path)),
            Err(why) => Err(Refusal::new(format!("cannot open '{}': {}", bound::name(path), reason(&why)))),
        }
    }

    /// The real place of a path inside the work directory, whether or not there is anything yet.
    pub(crate) fn place(&self, path: &str) -> Result<PathBuf, Refusal> {
        let mut target = self.root.join(path);
        if path.is_empty() || path.contains('\0') || !self.deepest_parent_is_inside(&target) {
            return Err(outside(path));
        }
        for _ in 0..MOST_LINKS {
            match deepest_real(&target) {
                Some((ancestor, Some(real))) => {
                    let below = target.strip_prefix(&ancestor).map_err(|_| outside(path))?;
                    // What does not exist has no parent to climb to.
                    if below.components().any(|part| !matches!(part, Component::Normal(_))) || !real.starts_with(&self.root) {
                        return Err(outside(path));
                    }
                    return Ok(if below.as_os_str().is_empty() { real } else { real.join(below) });
                }
                Some((link, None)) => {
                    let points_to = std::fs::read_link(&link).map_err(|_| outside(path))?;
                    let below = target.strip_prefix(&link).map_err(|_| outside(path))?.to_owned();
                    target = link.parent().unwrap_or(&link).join(points_to).join(below);
                }
                None => break,
            }
        }
        Err(outside(path))
    }

    /// The path relative to the work directory by its spelling alone, for git, which knows files that are gone.
    pub(crate) fn spelled(&self, path: &str) -> Result<PathBuf, Refusal> {
        let mut relative = Path::new(path);
        if relative.is_absolute() {
            let inside = relative.strip_prefix(&self.given).or_else(|_| relative.strip_prefix(&self.root));
            relative = inside.map_err(|_| outside(path))?;
        }
        let mut parts: Vec<OsString> = Vec::new();
        for part in relative.components() {
            match part {
                Component::Normal(name) => parts.push(name.to_owned()),
                Component::ParentDir => {
                    parts.pop().ok_or_else(|| outside(path))?;
                }
                Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
            }
        }
        if path.contains('\0') || !self.deepest_parent_is_inside(&self.root.join(path)) {
            return Err(outside(path));
        }
        Ok(if parts.is_empty() { PathBuf::from(".") } else { parts.iter().collect() })
    }

    /// A path as the model should see it: relative, with slashes.
    pub(crate) fn shown(&self, path: &Path) -> String {
        let relative = path.strip_prefix(&self.root).unwrap_or(path);
        if relative.as_os_str().is_empty() {
            return ".".to_owned();
        }
        bound::clean(&relative.to_string_lossy())
    }

    /// Resolves as much of the path as exists.
    fn deepest_parent_is_inside(&self, target: &Path) -> bool {
        let mut target = target.to_owned();
        for _ in 0..MOST_LINKS {
            let Some((ancestor, real)) = deepest_real(&target) else {
                return false;
            };
            let Some(real_ancestor) = real else {
                // A dangling link does not exist, yet where it points decides.
                let Ok(points_to) = std::fs::read_link(&ancestor) else {
                    return false;
                };
                target = ancestor.parent().unwrap_or(&ancestor).join(points_to);
                continue;
            };
            return real_ancestor.starts_with(&self.root) && !climbs_out(&real_ancestor, &target, &ancestor, &self.root);
        }
        false
    }
}

/// The deepest ancestor that is there, and its real place; no real place if it is a dangling link.
fn deepest_real(target: &Path) -> Option<(PathBuf, Option<PathBuf>)> {
    target.ancestors().find_map(|path| match path.canonicalize() {
        Ok(real) => Some((path.to_owned(), Some(real))),
        Err(_) if path.is_symlink() => Some((path.to_owned(), None)),
        Err(_) => None,
    })
}

/// Whether the part of `target` below its existing ancestor walks up out of `root` by `..`.
fn climbs_out(real: &Path, target: &Path, ancestor: &Path, root: &Path) -> bool {
    let Ok(below) = target.strip_prefix(ancestor) else {
        return true;
    };
    let mut depth = real.components().count();
    let floor = root.components().count();
    for part in below.components() {
        match part {
            Component::ParentDir => depth -= 1,
            Component::Normal(_) => depth += 1,
            _ => {}
        }
        if depth < floor {
            return true;
        }
    }
    false
}

fn outside(path: &str) -> Refusal {
    Refusal::new(format!("'{}' is outside the work directory", bound::name(path)))
}

/// An I/O error in words, without the path of the server that some carry.
pub(crate) fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file or directory".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::NotADirectory => "a part of the path is not a directory".to_owned(),
        io::ErrorKind::InvalidInput => "the path contains a NUL character".to_owned(),
        io::ErrorKind::InvalidFilename => "the name is too long".to_owned(),
        io::ErrorKind::WouldBlock => "it has nothing to read now".to_owned(),
        _ => bound::clean(&error.to_string()),
    }
}
