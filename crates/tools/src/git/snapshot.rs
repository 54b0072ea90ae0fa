//! A tree of the working tree: of what git tracks and of what it does not ignore, as it lies on the disk.
//!
//! Files come, go and change while this runs; whatever is not there any more is not in the tree. A file that is too large, or
//! cannot be read, stays in the tree as the index has it and is named.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use super::checkout::{Checkout, Places};
use super::command::Call;
use crate::beneath::{Links, Root, reason};
use crate::{Refusal, bound};

/// A file beyond this is left out.
const MOST_FILE_BYTES: u64 = 5 * 1024 * 1024;
/// Beyond these no tree is made at all: it would take too long.
const MOST_BYTES: u64 = 100 * 1024 * 1024;
const MOST_FILES: usize = 20_000;
const MOST_INDEX_BYTES: u64 = 64 * 1024 * 1024;
/// Names of files that are left out.
const MOST_NAMED: usize = 20;

/// A tree, by its object name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Taken {
    pub tree: String,
    /// Files that are not in it as they are.
    pub left_out: Vec<String>,
}

pub(super) async fn take(checkout: &Checkout, places: &Places) -> Result<Taken, Refusal> {
    let mut outcome = attempt(checkout, places).await;
    if outcome.is_err() {
        // A file may have become something else between two looks.
        outcome = attempt(checkout, places).await;
    }
    outcome
}

async fn attempt(checkout: &Checkout, places: &Places) -> Result<Taken, Refusal> {
    let (git_dir, index) = (checkout.git_dir.clone(), PathBuf::from(&places.index));
    blocking(move || copy_index(&git_dir, &index)).await?;
    let listed = ["ls-files", "-z", "--modified", "--deleted", "--others", "--exclude-standard"].map(OsStr::new);
    let environment = places.environment();
    let listed = checkout.git.call(Call { arguments: &listed, environment: &environment, ..Call::default() }).await?;
    let listed = listed.succeeded("git ls-files")?;
    if listed.was_cut {
        return Err(too_many());
    }
    let root = checkout.work_dir.path().to_owned();
    let (names, left_out) = blocking(move || sifted(&root, &listed.stdout)).await?;
    if !names.is_empty() {
        let update = ["update-index", "-z", "--add", "--remove", "--replace", "--stdin"].map(OsStr::new);
        let call = Call { arguments: &update, input: Some(&names), environment: &environment, ..Call::default() };
        checkout.git.call(call).await?.succeeded("git update-index")?;
    }
    let write = ["write-tree", "--missing-ok"].map(OsStr::new);
    let written = checkout.git.call(Call { arguments: &write, environment: &environment, ..Call::default() }).await?;
    let tree = written.succeeded("git write-tree")?.text().trim().to_owned();
    if tree.is_empty() || !tree.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(Refusal::new("git names no tree"));
    }
    Ok(Taken { tree, left_out })
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, Refusal> + Send + 'static) -> Result<T, Refusal> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(Refusal::new("the working tree cannot be read")))
}

/// The time of the index goes along: git takes a file for unchanged only if it is older than that.
fn copy_index(git_dir: &Path, to: &Path) -> Result<(), Refusal> {
    let _ = fs::remove_file(to);
    let git_dir = Root::open(git_dir).map_err(Refusal::new)?;
    let from = git_dir.spot("index", Links::Refuse)?;
    if from.kind.is_none() {
        return Ok(());
    }
    let cannot = |why: std::io::Error| Refusal::new(format!("the index cannot be copied: {}", reason(&why)));
    let (mut index, about) = from.file("index")?;
    if about.len() > MOST_INDEX_BYTES {
        return Err(too_many());
    }
    let mut copy = File::create_new(to).map_err(cannot)?;
    std::io::copy(&mut index, &mut copy).map_err(cannot)?;
    copy.set_permissions(fs::Permissions::from_mode(0o600)).map_err(cannot)?;
    copy.set_modified(about.modified().map_err(cannot)?).map_err(cannot)
}

/// What is handed to git, NUL after each name, and the names of what is left out.
fn sifted(root: &Path, listed: &[u8]) -> Result<(Vec<u8>, Vec<String>), Refusal> {
    // What is in conflict is listed several times.
    let listed: BTreeSet<&[u8]> = listed.split(|byte| *byte == 0).filter(|name| !name.is_empty()).collect();
    if listed.len() > MOST_FILES {
        return Err(too_many());
    }
    let (mut names, mut left_out, mut total) = (Vec::new(), Vec::new(), 0);
    for name in listed {
        // A repository inside this one is another one's.
        if name.ends_with(b"/") {
            continue;
        }
        let path = root.join(OsStr::from_bytes(name));
        match size(&path) {
            Some(bytes) if bytes <= MOST_FILE_BYTES => {
                total += bytes;
                names.extend_from_slice(name);
                names.push(0);
            }
            _ if left_out.len() < MOST_NAMED => left_out.push(bound::name(&String::from_utf8_lossy(name))),
            _ => {}
        }
    }
    if total > MOST_BYTES { Err(too_many()) } else { Ok((names, left_out)) }
}

/// How much git would read; none where it could not.
fn size(path: &Path) -> Option<u64> {
    let Ok(about) = path.symlink_metadata() else { return Some(0) };
    if about.is_file() {
        return access(path, Access::READ_OK).is_ok().then_some(about.len());
    }
    (about.is_symlink() || about.is_dir()).then_some(0)
}

fn too_many() -> Refusal {
    Refusal::new("the working tree holds too much that is not committed")
}
