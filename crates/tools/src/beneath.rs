//! Everything that is opened below a directory on behalf of an agent, a model or a project.
//!
//! A [`Root`] holds the directory open. A path is walked from that handle, one name at a time, and what is read or written is the
//! handle that the walk ended at. Nobody looks a name up a second time, so a name that is exchanged meanwhile changes nothing.
//! `openat2` walks a path without links in one call; every link is followed by hand, and only as far as it stays below the root.
//!
//! No other module of the workspace opens a path for an agent: `tests/files_by_handle.rs` checks that. Blocking.

mod directory;
mod file;
mod names;
mod replace;
mod shown;
mod state;
mod walk;

#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::{Refusal, bound};

pub(crate) use directory::{Directory, Entry, Kind};
pub(crate) use file::{bytes, is_kernel_tree, open, text};
pub use names::{exists, real_path};
pub(crate) use replace::Existing;
pub(crate) use shown::current_text;
pub use shown::{Shown, look, write_shown, write_text};
pub use state::ChangeError;
pub(crate) use state::{MOST_BYTES, State, put, read};
pub(crate) use walk::{Links, Lost, Spot};

/// An open directory that nothing below it leads out of.
pub(crate) struct Root {
    directory: OwnedFd,
    /// Where it is. For names that are shown or compared, never for opening.
    path: PathBuf,
}

impl Root {
    /// `path` is one whose links were resolved when it was chosen. A link in it now is refused: somebody has put it there since.
    pub(crate) fn open(path: &Path) -> Result<Self, String> {
        if !path.is_absolute() {
            return Err("its path is not absolute".to_owned());
        }
        let opened = Self::top()?.walk(path.as_os_str().as_bytes(), Links::Refuse).and_then(|spot| {
            let directory = if spot.kind == Some(Kind::Link) { Err(Lost::Link) } else { spot.handle().map_err(Lost::System) };
            Ok(Self { directory: directory?, path: Path::new("/").join(spot.path) })
        });
        opened.map_err(|lost| if lost == Lost::Link { "a link leads there now".to_owned() } else { reason(&lost.errno().into()) })
    }

    fn top() -> Result<Self, String> {
        let directory = open_plain("/").map_err(|why| reason(&why.into()))?;
        Ok(Self { directory, path: PathBuf::from("/") })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn handle(&self) -> &OwnedFd {
        &self.directory
    }

    /// The directory itself, to list it.
    pub(crate) fn directory(&self) -> Result<Directory, Errno> {
        Directory::open(&self.directory, OsStr::new("."))
    }

    /// Where a path leads. It may be absolute, as long as it leads to something below the root.
    pub(crate) fn walk(&self, path: &[u8], links: Links) -> Result<Spot, Lost> {
        walk::walk(self, path, links)
    }

    /// The same, in words for whoever named the path.
    pub(crate) fn spot(&self, path: &str, links: Links) -> Result<Spot, Refusal> {
        self.walk(path.as_bytes(), links).map_err(|lost| lost.refusal(path))
    }

    /// What is at a path, whose last name may not be missing.
    pub(crate) fn existing(&self, path: &str) -> Result<Spot, Refusal> {
        let spot = self.spot(path, Links::Follow)?;
        if spot.kind.is_some() { Ok(spot) } else { Err(Lost::Missing.refusal(path)) }
    }

    /// A directory below as a root of its own, with no link on the way.
    pub(crate) fn open_below(&self, path: &[u8]) -> Result<Self, Lost> {
        let spot = self.walk(path, Links::Refuse)?;
        let directory = spot.handle().map_err(Lost::System)?;
        Ok(Self { directory, path: self.path.join(spot.path) })
    }

    /// A small file of a repository or project, by its plain path. `None` where there is none, or something else than a file.
    pub(crate) fn small_file(&self, path: &str, most_bytes: u64) -> Result<Option<Vec<u8>>, Refusal> {
        let Ok(spot) = self.walk(path.as_bytes(), Links::Refuse) else { return Ok(None) };
        if spot.kind != Some(Kind::File) {
            return Ok(None);
        }
        file::bytes(spot.file(path)?.0, most_bytes, path).map(Some)
    }

    /// Whether there is anything of that name, a link that leads nowhere included.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.walk(path.as_bytes(), Links::Refuse).is_ok_and(|spot| spot.kind.is_some())
    }
}

/// Opens a file that a person was shown by this very path: no part of it may be a link.
pub(crate) fn open_shown(path: &str) -> Result<(File, std::fs::Metadata), Refusal> {
    let shown = bound::name(path);
    match Root::top().map_err(Refusal::new)?.walk(path.as_bytes(), Links::Refuse) {
        Ok(spot) if spot.kind == Some(Kind::Link) => Err(led_elsewhere(path)),
        Err(Lost::Link) => Err(led_elsewhere(path)),
        Ok(spot) if spot.kind.is_none() => Err(Lost::Missing.refusal(path)),
        Ok(spot) => spot.file(path),
        Err(Lost::Outside) => Err(Refusal::new(format!("cannot open '{shown}': write the path without '..'"))),
        Err(lost) => Err(lost.refusal(path)),
    }
}

fn led_elsewhere(path: &str) -> Refusal {
    let leads_to = names::real_path(Path::new(path)).map(|real| format!("; it leads to '{}'", bound::name(&real.to_string_lossy())));
    Refusal::new(format!("'{}' is a link, or lies behind one{}", bound::name(path), leads_to.unwrap_or_default()))
}

fn open_plain(path: &str) -> Result<OwnedFd, Errno> {
    rustix::fs::open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

pub(crate) fn duplicate(handle: impl AsFd) -> Result<OwnedFd, Errno> {
    rustix::io::fcntl_dupfd_cloexec(handle, 0)
}

/// An I/O error in words, without the path of the server that some carry.
pub(crate) fn reason(error: &std::io::Error) -> String {
    use std::io::ErrorKind;
    match error.kind() {
        ErrorKind::NotFound => "no such file or directory".to_owned(),
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::NotADirectory => "a part of the path is not a directory".to_owned(),
        ErrorKind::InvalidInput => "the path contains a NUL character".to_owned(),
        ErrorKind::InvalidFilename => "the name is too long".to_owned(),
        ErrorKind::WouldBlock => "it has nothing to read now".to_owned(),
        _ => bound::clean(&error.to_string()),
    }
}
