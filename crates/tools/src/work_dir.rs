//! The work directory as the boundary of the tools, and what of it a person does not want to see.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use crate::beneath::{Links, Lost, Root};
use crate::project::{LeftOut, Project};
use crate::{Refusal, bound};

pub(crate) struct WorkDir {
    root: Root,
    /// What the person does not want to see in lists and searches.
    left_out: LeftOut,
}

impl WorkDir {
    /// `path` is where every link led when the person chose it.
    pub(crate) fn open(path: &Path) -> Result<Self, Refusal> {
        let root = Root::open(path).map_err(|why| Refusal::new(format!("the work directory cannot be opened: {why}")))?;
        Ok(Self { root, left_out: LeftOut::nothing() })
    }

    pub(crate) fn of(project: &Project) -> Result<Self, Refusal> {
        Ok(Self { left_out: project.left_out(), ..Self::open(&project.work_dir)? })
    }

    pub(crate) fn left_out(&self) -> LeftOut {
        self.left_out.clone()
    }

    pub(crate) fn root(&self) -> &Root {
        &self.root
    }

    /// Where it is, for names that are shown or compared.
    pub(crate) fn path(&self) -> &Path {
        self.root.path()
    }

    /// The path relative to the work directory by its spelling alone, for git, which knows files that are gone.
    pub(crate) fn spelled(&self, path: &str) -> Result<PathBuf, Refusal> {
        let outside = || Lost::Outside.refusal(path);
        let mut relative = Path::new(path);
        if relative.is_absolute() {
            relative = relative.strip_prefix(self.path()).map_err(|_| outside())?;
        }
        let mut parts: Vec<OsString> = Vec::new();
        for part in relative.components() {
            match part {
                Component::Normal(name) => parts.push(name.to_owned()),
                Component::ParentDir => {
                    parts.pop().ok_or_else(outside)?;
                }
                Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
            }
        }
        // What is gone may be named, what leads out may not.
        match self.root.walk(path.as_bytes(), Links::Follow) {
            Err(Lost::Outside | Lost::System(_)) => Err(outside()),
            _ if parts.is_empty() => Ok(PathBuf::from(".")),
            _ => Ok(parts.iter().collect()),
        }
    }

    /// A path below the work directory as a model should see it: with slashes.
    pub(crate) fn shown(path: &Path) -> String {
        if path.as_os_str().is_empty() { ".".to_owned() } else { bound::clean(&path.to_string_lossy()) }
    }
}
