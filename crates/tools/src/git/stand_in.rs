//! A git directory of our own that stands in for the repository's while git reads it.
//!
//! Git takes programs to run from a repository's configuration: filters, drivers, monitors, hooks, helpers. No list of them is ever
//! complete, and a configuration that was looked at can have changed by the time git reads it. So git is never shown it. The stand-in
//! has a configuration of ours, no hooks and no remotes, and leads to the repository's own history, index and attributes.
//!
//! Filters of the person's own, such as that of Git LFS, are not run either: which files they run on is the repository's choice. A file
//! that a filter would change is compared as it lies on the disk; git does not look into it as long as its size and time are those
//! of the index, so what was not touched does not show as changed.
//!
//! Objects that the repository borrows from another one (`objects/info/alternates`) are read: nobody gets at them without their names.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::repository::{Repository, Settings};
use crate::Refusal;
use crate::beneath::{Root, reason, text};

/// A HEAD is a name or a hash.
const HEAD_BYTES: u64 = 4 * 1024;
const MOST_SHARED_INDEXES: usize = 64;

/// What people call commits besides branches and tags.
const SPECIAL_HEADS: [&str; 6] = ["ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD"];

pub(crate) struct StandIn {
    directory: TempDir,
    pub top: PathBuf,
    pub objects: PathBuf,
}

impl StandIn {
    /// Blocking. It is removed when it is dropped.
    pub(crate) fn make(repository: &Repository) -> Result<Self, Refusal> {
        let cannot = |why: std::io::Error| Refusal::new(format!("the repository cannot be read: {}", reason(&why)));
        let private = Permissions::from_mode(0o700);
        let directory = tempfile::Builder::new().prefix("voxpilot-git-").permissions(private).tempdir().map_err(cannot)?;
        let git_dir = Root::open(&repository.git_dir).map_err(Refusal::new)?;
        let (head, _) = git_dir.spot("HEAD", crate::beneath::Links::Refuse)?.file("HEAD")?;
        fs::write(directory.path().join("HEAD"), text(head, HEAD_BYTES, "HEAD")?).map_err(cannot)?;
        fs::write(directory.path().join("config"), configuration(&repository.settings)).map_err(cannot)?;
        let objects = repository.common_dir.join("objects");
        if !objects.symlink_metadata().is_ok_and(|about| about.is_dir()) {
            return Err(Refusal::new("the repository is not read: it has no objects of its own"));
        }
        lead(directory.path(), repository).map_err(cannot)?;
        Ok(Self { directory, top: repository.top.clone(), objects })
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }
}

fn lead(to: &Path, repository: &Repository) -> std::io::Result<()> {
    let (own, common) = (&repository.git_dir, &repository.common_dir);
    for directory in ["info", "logs"] {
        fs::create_dir(to.join(directory))?;
    }
    link(own, to, "index")?;
    link(own, to, "logs/HEAD")?;
    for name in SPECIAL_HEADS {
        link(own, to, name)?;
    }
    for name in ["refs", "packed-refs", "reftable", "shallow", "logs/refs", "info/exclude", "info/attributes"] {
        link(common, to, name)?;
    }
    let entries = fs::read_dir(own)?.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    for name in entries.filter(|name| name.starts_with("sharedindex.")).take(MOST_SHARED_INDEXES) {
        link(own, to, &name)?;
    }
    Ok(())
}

/// Only what really lies there: a link would lead to what is not the project's, a pipe nowhere.
fn link(from: &Path, to: &Path, name: &str) -> std::io::Result<()> {
    let place = from.join(name);
    let is_plain = place.symlink_metadata().is_ok_and(|about| about.is_file() || about.is_dir());
    if is_plain { symlink(&place, to.join(name)) } else { Ok(()) }
}

fn configuration(settings: &Settings) -> String {
    let mut text = String::from("[core]\n\trepositoryformatversion = 1\n\tbare = false\n");
    for (key, value) in &settings.words {
        if let Some((section, name)) = key.split_once('.') {
            text.push_str(&format!("[{section}]\n\t{name} = {value}\n"));
        }
    }
    text
}
