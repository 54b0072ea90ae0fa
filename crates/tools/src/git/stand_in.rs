//! A git directory of our own that stands in for the repository's while git reads it.
//!
//! Git takes programs to run from a repository's configuration: filters, drivers, monitors, hooks, helpers. No list of them is ever
//! complete, and a configuration that was looked at can have changed by the time git reads it. So git is never shown it. The stand-in
//! has a configuration of ours, no hooks and no remotes, and copies of the repository's own index, branches and attributes, made by
//! handle: a link among those would show another repository's branches, or have them written.
//!
//! Filters of the person's own, such as that of Git LFS, are not run either: which files they run on is the repository's choice. A file
//! that a filter would change is compared as it lies on the disk; git does not look into it as long as its size and time are those
//! of the index, so what was not touched does not show as changed.
//!
//! Objects are read where they are, those that the repository borrows from another one (`objects/info/alternates`) too: nobody gets at
//! them without their names. Git writes new ones into the stand-in.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::copy::{self, Budget};
use super::repository::{Repository, Settings};
use crate::Refusal;
use crate::beneath::{Kind, Links, reason};

/// A HEAD is a name or a hash.
const HEAD_BYTES: u64 = 4 * 1024;
/// What people write by hand, and what git notes of a fetch.
const LIST_BYTES: u64 = 1024 * 1024;
const INDEX_BYTES: u64 = 64 * 1024 * 1024;
const MOST_SHARED_INDEXES: usize = 64;
/// Branches and tags, as files of their own or all in one.
const BRANCHES: Budget = Budget { files: 50_000, bytes: 64 * 1024 * 1024, file_bytes: 64 * 1024 * 1024 };
/// Where branches were earlier. A log that is longer is not known.
const LOGS: Budget = Budget { files: 5000, bytes: 32 * 1024 * 1024, file_bytes: 4 * 1024 * 1024 };

/// What people call commits besides branches and tags.
const SPECIAL_HEADS: [&str; 6] = ["ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD"];

pub(crate) struct StandIn {
    directory: TempDir,
    pub top: PathBuf,
    /// The repository's own objects.
    pub objects: PathBuf,
}

impl StandIn {
    /// Blocking. It is removed when it is dropped.
    pub(crate) fn make(repository: &Repository) -> Result<Self, Refusal> {
        let cannot = |why: std::io::Error| Refusal::new(format!("the repository cannot be read: {}", reason(&why)));
        let common = &repository.common_dir;
        if !common.walk(b"objects", Links::Refuse).is_ok_and(|spot| spot.kind == Some(Kind::Directory)) {
            return Err(Refusal::new("the repository is not read: it has no objects of its own"));
        }
        let private = Permissions::from_mode(0o700);
        let directory = tempfile::Builder::new().prefix("voxpilot-git-").permissions(private).tempdir().map_err(cannot)?;
        for name in ["info", "logs", "objects", "refs"] {
            fs::create_dir(directory.path().join(name)).map_err(cannot)?;
        }
        fs::write(directory.path().join("config"), configuration(&repository.settings)).map_err(cannot)?;
        fill(directory.path(), repository)?;
        Ok(Self { directory, top: repository.top.path().to_owned(), objects: common.path().join("objects") })
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }
}

fn fill(to: &Path, repository: &Repository) -> Result<(), Refusal> {
    let (own, common) = (&repository.git_dir, &repository.common_dir);
    if !copy::file(own, "HEAD", to, HEAD_BYTES)? {
        return Err(Refusal::new("the repository cannot be read: its HEAD is not a plain file"));
    }
    copy::file(own, "index", to, INDEX_BYTES)?;
    for name in SPECIAL_HEADS.into_iter().chain(["logs/HEAD"]) {
        // One that is too large is one that git cannot be asked about.
        let _ = copy::file(own, name, to, LIST_BYTES);
    }
    for name in ["info/exclude", "info/attributes", "shallow"] {
        copy::file(common, name, to, LIST_BYTES)?;
    }
    copy::file(common, "packed-refs", to, BRANCHES.file_bytes)?;
    for name in ["refs", "reftable"] {
        if !copy::tree(common, name, to, BRANCHES)? {
            return Err(Refusal::new("the repository is not read: it has too many branches and tags; `git pack-refs --all` may help"));
        }
    }
    copy::tree(common, "logs/refs", to, LOGS)?;
    let entries = own.directory().and_then(|directory| directory.entries(10_000)).unwrap_or_default();
    let shared = entries.into_iter().filter_map(|entry| entry.name.into_string().ok()).filter(|name| name.starts_with("sharedindex."));
    for name in shared.take(MOST_SHARED_INDEXES) {
        copy::file(own, &name, to, INDEX_BYTES)?;
    }
    Ok(())
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
