//! A tree of the working tree: of what git tracks and of what it does not ignore, as it lies on the disk.
//!
//! Files come, go and change while this runs; whatever is not there any more is not in the tree. A file that is too large, or
//! cannot be read, stays in the tree as the index has it and is named. Git says which names differ; what they hold is read by us.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::checkout::{Checkout, Places};
use super::command::Call;
use super::mirror::{self, Limits, Mirrored};
use crate::Refusal;
use crate::beneath::reason;

const LIMITS: Limits = Limits { file_bytes: 5 * 1024 * 1024, bytes: 100 * 1024 * 1024, files: 20_000 };
/// Of a diff a person or a model asked for. What is too large to be shown is cut later.
const DIFF_LIMITS: Limits = Limits { file_bytes: 100 * 1024 * 1024, ..LIMITS };

/// A tree, by its object name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Taken {
    pub tree: String,
    /// Files that are not in it as they are.
    pub left_out: Vec<String>,
}

/// Which files are looked at.
#[derive(Clone, Copy)]
pub(super) enum Of<'a> {
    Everything,
    /// What git knows already, at this path.
    Tracked(&'a Path),
}

pub(super) async fn take(checkout: &Checkout, places: &Places, of: Of<'_>) -> Result<Taken, Refusal> {
    let mut outcome = attempt(checkout, places, of).await;
    if outcome.is_err() {
        // A file may have become something else between two looks.
        outcome = attempt(checkout, places, of).await;
    }
    outcome
}

async fn attempt(checkout: &Checkout, places: &Places, of: Of<'_>) -> Result<Taken, Refusal> {
    let (from, index) = (checkout.stand_in().join("index"), PathBuf::from(&places.index));
    blocking(move || copy_index(&from, &index)).await?;
    let environment = places.environment();
    let names: &[&str] = match of {
        Of::Everything => &["--modified", "--deleted", "--others", "--exclude-standard"],
        Of::Tracked(_) => &["--modified", "--deleted"],
    };
    let listed: Vec<&OsStr> = ["ls-files", "-z"].iter().chain(names).map(OsStr::new).collect();
    let path = if let Of::Tracked(path) = of { Some(path) } else { None };
    let listed = checkout.git.call(Call { arguments: &listed, path, environment: &environment, ..Call::default() }).await?;
    let listed = listed.succeeded("git ls-files")?;
    if listed.was_cut {
        return Err(mirror::too_many());
    }
    let limits = if matches!(of, Of::Everything) { LIMITS } else { DIFF_LIMITS };
    let left_out = update(checkout, places, listed.stdout, limits).await?;
    let write = ["write-tree", "--missing-ok"].map(OsStr::new);
    let written = checkout.git.call(Call { arguments: &write, environment: &environment, ..Call::default() }).await?;
    let tree = written.succeeded("git write-tree")?.text().trim().to_owned();
    if tree.is_empty() || !tree.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(Refusal::new("git names no tree"));
    }
    Ok(Taken { tree, left_out })
}

/// Brings the index up to date from copies of the files.
async fn update(checkout: &Checkout, places: &Places, listed: Vec<u8>, limits: Limits) -> Result<Vec<String>, Refusal> {
    let (repository, work_dir) = (Arc::clone(&checkout.repository), Arc::clone(&checkout.work_dir));
    let prefix = PathBuf::from(OsStr::from_bytes(&checkout.prefix));
    let (scratch, below) = (checkout.scratch.path().to_owned(), prefix.clone());
    let (copies, mirrored) = blocking(move || {
        let cannot = |why: std::io::Error| Refusal::new(format!("the working tree cannot be copied: {}", reason(&why)));
        let copies = tempfile::Builder::new().prefix("copies-").tempdir_in(scratch).map_err(cannot)?;
        fs::create_dir_all(copies.path().join(&below)).map_err(cannot)?;
        let mirrored = mirror::fill(&repository, (work_dir.root(), &below), copies.path(), &listed, limits)?;
        Ok((copies, mirrored))
    })
    .await?;
    let Mirrored { names, left_out } = mirrored;
    if !names.is_empty() {
        let update = ["update-index", "-z", "--add", "--remove", "--replace", "--stdin"].map(OsStr::new);
        let mut environment = places.environment().to_vec();
        environment.push(("GIT_WORK_TREE", copies.path().as_os_str()));
        let directory = copies.path().join(&prefix);
        let (arguments, input) = (&update, Some(names.as_slice()));
        let call = Call { arguments, input, environment: &environment, directory: Some(&directory), ..Call::default() };
        checkout.git.call(call).await?.succeeded("git update-index")?;
    }
    // Removing many files takes the disk's time, too.
    blocking(move || {
        drop(copies);
        Ok(())
    })
    .await?;
    Ok(left_out)
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, Refusal> + Send + 'static) -> Result<T, Refusal> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(Refusal::new("the working tree cannot be read")))
}

/// The time of the index goes along: git takes a file for unchanged only if it is older than that.
fn copy_index(from: &Path, to: &Path) -> Result<(), Refusal> {
    let cannot = |why: std::io::Error| Refusal::new(format!("the index cannot be copied: {}", reason(&why)));
    let _ = fs::remove_file(to);
    if !from.exists() {
        return Ok(());
    }
    fs::copy(from, to).map_err(cannot)?;
    let time = from.metadata().and_then(|about| about.modified()).map_err(cannot)?;
    File::options().write(true).open(to).and_then(|copy| copy.set_modified(time)).map_err(cannot)
}
