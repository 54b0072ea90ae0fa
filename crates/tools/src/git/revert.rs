//! A change taken back: a whole file, or one hunk of it. Never by `git apply`: what is written is computed here and put in its place
//! beneath the work directory, if the file still is what was shown.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use render::hunks::{DiffHunk, between};

use super::checkout::Checkout;
use super::compare::{Comparison, Entry, Status};
use crate::beneath::{self, ChangeError, MOST_BYTES, Root, State};
use crate::work_dir::WorkDir;
use crate::{Refusal, bound};

/// More lines than are shown cannot be told apart by their hunks.
const MOST_LINES: usize = 10_000;

/// How to take back what was taken back.
#[derive(Debug)]
pub struct Undo {
    root: PathBuf,
    steps: Vec<Step>,
}

#[derive(Clone, Debug)]
struct Step {
    path: Vec<u8>,
    from: State,
    to: State,
}

impl Undo {
    /// How much memory it holds.
    pub fn bytes(&self) -> usize {
        self.steps.iter().map(|step| step.from.bytes() + step.to.bytes() + step.path.len()).sum()
    }

    /// Puts the files back as they were before the revert, if nobody has changed them since. Blocking.
    pub fn run(&self) -> Result<(), ChangeError> {
        let back = self.steps.iter().rev().map(|step| Step { path: step.path.clone(), from: step.to.clone(), to: step.from.clone() });
        walk(&opened(&self.root)?, &back.collect::<Vec<_>>())
    }
}

impl Checkout {
    /// Takes back the change of a file, or only its hunk of that number.
    pub async fn revert(&self, comparison: &Comparison, path: &str, hunk: Option<usize>) -> Result<Undo, ChangeError> {
        let entry = comparison.find(path).ok_or_else(|| changed(path))?;
        if entry.is_module() {
            return Err(refused(path, "is a repository of its own: go there to take back what was changed"));
        }
        let mut paths: Vec<&[u8]> = vec![&entry.path];
        paths.extend(entry.old_path.as_deref());
        self.refuse_filtered(&paths).await?;
        let now = self.state_now(entry, path).await?;
        let steps = match hunk {
            Some(hunk) if matches!(entry.status, Status::Modified | Status::Renamed) => {
                let old = self.old_state(entry).await?;
                vec![Step { path: entry.path.clone(), to: self.without_hunk(entry, path, &old, &now, hunk).await?, from: now }]
            }
            _ => self.whole(entry, now).await?,
        };
        let root = self.work_dir.path().to_owned();
        carried_out(root, steps).await
    }

    async fn whole(&self, entry: &Entry, now: State) -> Result<Vec<Step>, ChangeError> {
        let path = entry.path.clone();
        let old = if entry.status == Status::Added { State::Absent } else { self.old_state(entry).await? };
        Ok(match &entry.old_path {
            Some(old_path) => {
                vec![Step { path: old_path.clone(), from: State::Absent, to: old }, Step { path, from: now, to: State::Absent }]
            }
            None => vec![Step { path, from: now, to: old }],
        })
    }

    /// What is on the disk, if that is what the new side of the comparison holds.
    async fn state_now(&self, entry: &Entry, path: &str) -> Result<State, ChangeError> {
        let (work_dir, name) = (Arc::clone(&self.work_dir), entry.path.clone());
        let read = move || beneath::read(work_dir.root(), &name);
        let now = tokio::task::spawn_blocking(read).await.map_err(|_| refused(path, "cannot be read"))??;
        let is_same = match &now {
            State::Absent => entry.status == Status::Deleted,
            State::File { content, .. } => entry.new_mode.starts_with("100") && self.name_of(entry, content).await? == entry.new_id,
            State::Link { target } => entry.new_mode == "120000" && self.name_of_raw(target).await? == entry.new_id,
        };
        if is_same { Ok(now) } else { Err(changed(path)) }
    }

    /// The name that git would give to this content of the file.
    async fn name_of(&self, entry: &Entry, content: &[u8]) -> Result<String, Refusal> {
        let path = joined("--path=", &entry.path);
        let command = [OsStr::new("hash-object"), OsStr::new("--stdin"), &path];
        Ok(self.run_os(&command, Some(content)).await?.succeeded("git hash-object")?.text().trim().to_owned())
    }

    async fn name_of_raw(&self, content: &[u8]) -> Result<String, Refusal> {
        let printed = self.run(&["hash-object", "--stdin", "--no-filters"], Some(content)).await?;
        Ok(printed.succeeded("git hash-object")?.text().trim().to_owned())
    }

    /// The old side as it would lie on the disk.
    async fn old_state(&self, entry: &Entry) -> Result<State, Refusal> {
        if entry.was_link() {
            let target = self.content(&[OsStr::new("cat-file"), OsStr::new("blob"), OsStr::new(&entry.old_id)]).await?;
            return Ok(State::Link { target });
        }
        // Unlike elsewhere this name is counted from the top of the repository.
        let from_top = [self.prefix.as_slice(), entry.old_path.as_ref().unwrap_or(&entry.path)].concat();
        let path = joined("--path=", &from_top);
        let command = [OsStr::new("cat-file"), OsStr::new("--filters"), &path, OsStr::new(&entry.old_id)];
        Ok(State::File { content: self.content(&command).await?, executable: entry.old_mode == "100755" })
    }

    async fn content(&self, command: &[&OsStr]) -> Result<Vec<u8>, Refusal> {
        let printed = self.run_os(command, None).await?.succeeded("git cat-file")?;
        if printed.was_cut || printed.stdout.len() as u64 > MOST_BYTES {
            return Err(Refusal::new(format!("the file is too large: at most {} are put back here", bound::size(MOST_BYTES))));
        }
        Ok(printed.stdout)
    }

    async fn without_hunk(&self, entry: &Entry, path: &str, old: &State, now: &State, hunk: usize) -> Result<State, ChangeError> {
        let (State::File { content: old, .. }, State::File { content: now, executable }) = (old, now) else {
            return Err(refused(path, "is no text on both sides: take the whole file back"));
        };
        let blobs = self.blobs(&[&entry.old_id, &entry.new_id]).await?;
        let (Some(old_blob), Some(new_blob)) = (blobs.get(&entry.old_id), blobs.get(&entry.new_id)) else {
            return Err(refused(path, "is too large to be taken back in part"));
        };
        // Line ends may differ between git and the disk, lines not.
        if count(old_blob) != count(old) || count(new_blob) != count(now) {
            return Err(refused(path, "is stored in another form: take the whole file back"));
        }
        let text = |bytes: &[u8]| bound::clean(&String::from_utf8_lossy(bytes));
        let hunks = between(&text(old_blob), &text(new_blob));
        let content = reversed(old, now, &hunks, hunk).ok_or_else(|| changed(path))?;
        Ok(State::File { content, executable: *executable })
    }
}

/// Takes back what an agent says it did, where there is no repository: the text, or one hunk of it.
pub async fn revert_text(work_dir: &Path, path: &str, old: Option<&str>, new: &str, hunk: Option<usize>) -> Result<Undo, ChangeError> {
    let (given, name, new) = (work_dir.to_owned(), path.to_owned(), new.to_owned());
    let old = old.map(str::to_owned);
    let work = move || {
        let root = WorkDir::open(&given)?;
        let relative = root.spelled(&name)?.into_os_string().as_bytes().to_vec();
        let now = beneath::read(root.root(), &relative)?;
        let State::File { content, executable } = &now else { return Err(changed(&name)) };
        if *content != new.as_bytes() {
            return Err(changed(&name));
        }
        let to = match (&old, hunk) {
            (None, _) => State::Absent,
            (Some(old), None) => State::File { content: old.clone().into_bytes(), executable: *executable },
            (Some(old), Some(hunk)) => {
                let content = reversed(old.as_bytes(), content, &between(old, &new), hunk).ok_or_else(|| changed(&name))?;
                State::File { content, executable: *executable }
            }
        };
        let steps = vec![Step { path: relative, from: now, to }];
        walk(root.root(), &steps)?;
        Ok(Undo { root: root.path().to_owned(), steps })
    };
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(refused(path, "cannot be written")))
}

async fn carried_out(root: PathBuf, steps: Vec<Step>) -> Result<Undo, ChangeError> {
    let work = move || {
        walk(&opened(&root)?, &steps)?;
        Ok(Undo { root, steps })
    };
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(ChangeError::Refused("the files cannot be written".to_owned())))
}

/// All of the steps or none.
fn walk(root: &Root, steps: &[Step]) -> Result<(), ChangeError> {
    for (done, step) in steps.iter().enumerate() {
        if let Err(error) = beneath::put(root, &step.path, &step.from, &step.to) {
            for step in steps[..done].iter().rev() {
                // Whoever changed it in this moment keeps what they made of it.
                let _ = beneath::put(root, &step.path, &step.to, &step.from);
            }
            return Err(error);
        }
    }
    Ok(())
}

fn opened(root: &Path) -> Result<Root, Refusal> {
    Root::open(root).map_err(|why| Refusal::new(format!("the work directory cannot be opened: {why}")))
}

/// `new` with one hunk as in `old`.
fn reversed(old: &[u8], new: &[u8], hunks: &[DiffHunk], hunk: usize) -> Option<Vec<u8>> {
    if hunks.iter().map(|hunk| hunk.lines.len()).sum::<usize>() > MOST_LINES {
        return None;
    }
    let hunk = hunks.get(hunk)?;
    let lines = |bytes: &[u8]| bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>();
    let (old, new) = (lines(old), lines(new));
    // A side without lines is named by the line before.
    let start = |start: u32, lines: u32| (start as usize).saturating_sub(usize::from(lines > 0));
    let (old_start, new_start) = (start(hunk.old_start, hunk.old_lines), start(hunk.new_start, hunk.new_lines));
    let before = new.get(..new_start)?;
    let restored = old.get(old_start..old_start + hunk.old_lines as usize)?;
    let after = new.get(new_start + hunk.new_lines as usize..)?;
    Some([before, restored, after].concat().concat())
}

fn count(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b'\n').count()
}

fn joined(option: &str, path: &[u8]) -> OsString {
    let mut joined = OsString::from(option);
    joined.push(OsStr::from_bytes(path));
    joined
}

fn changed(path: &str) -> ChangeError {
    ChangeError::Changed(format!("'{}' is no longer what was shown: look at it again", bound::name(path)))
}

fn refused(path: &str, why: &str) -> ChangeError {
    ChangeError::Refused(format!("'{}' {why}", bound::name(path)))
}
