//! A commit of what lies in the working tree, by plumbing: no hook, no editor, no signing program, and of the index only what was
//! committed. What the person staged and did not choose stays as it is.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::Arc;

use super::checkout::{Checkout, Places};
use super::command::{Call, Printed, quoted};
use super::compare::{Comparison, Entry, Status, shown};
use super::reference::{Move, is_branch};
use super::snapshot::Of;
use super::{objects, revision, snapshot};
use crate::beneath::{ChangeError, Kind, Links, Root};
use crate::{Refusal, bound};

const MESSAGE_BYTES: usize = 64 * 1024;

/// What git is in the middle of when one of these is in its directory.
const UNFINISHED: [(&str, &str); 6] = [
    ("MERGE_HEAD", "a merge"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase"),
    ("BISECT_LOG", "a bisection"),
];

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Commit {
    pub commit: String,
    pub branch: String,
    /// Changed files that are not in it because they are too large or cannot be read.
    pub left_out: Vec<String>,
    /// The index could not be brought up to date: `git status` shows the commit's files as staged the other way round.
    pub index_is_stale: bool,
}

impl Checkout {
    /// Commits what changed since HEAD: everything, or the files of these names.
    pub async fn commit(&self, message: &str, paths: Option<&[String]>) -> Result<Commit, ChangeError> {
        let message = message.trim();
        if message.is_empty() || message.len() > MESSAGE_BYTES || message.contains('\0') {
            return Err(refused("the message of a commit is some text of at most 64 KiB"));
        }
        self.refuse_unfinished()?;
        let reference = self.reference().await?;
        let branch = reference.trim_start_matches("refs/heads/").to_owned();
        let identity = self.identity()?;
        let parent = revision::object(&self.git, &["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).await?;

        let taken = snapshot::take(self, &self.fresh(), Of::Everything).await?;
        let head = self.head().await.map_err(ChangeError::Refused)?;
        let comparison = self.compare(&head, &taken.tree).await.map_err(ChangeError::Refused)?;
        let chosen = chosen(&comparison, paths)?;
        let added: Vec<&[u8]> = chosen.iter().filter(|entry| entry.status != Status::Deleted).map(|entry| entry.path.as_slice()).collect();
        self.refuse_filtered(&added).await?;

        let entries = self.index_info(&chosen);
        let tree = self.tree(parent.as_deref(), &entries).await?;
        let commit = self.commit_object(&tree, parent.as_deref(), message, &identity).await?;
        self.adopt(&commit, &tree, &head).await?;
        self.move_branch(reference, commit.clone(), parent, message).await?;
        let index_is_stale = !self.refresh_index(&entries).await;
        Ok(Commit { commit, branch, left_out: taken.left_out, index_is_stale })
    }

    /// New objects go into the scratch directory, all that the repository does not have.
    fn fresh(&self) -> Places {
        Places { alternates: quoted(&[&self.objects]), ..self.looked_at() }
    }

    fn refuse_unfinished(&self) -> Result<(), ChangeError> {
        let own = &self.repository.git_dir;
        for (name, what) in UNFINISHED {
            if own.has(name) {
                return Err(refused(format!("the repository is in the middle of {what}: finish or abort it with git first")));
            }
        }
        if own.has("index.lock") {
            return Err(refused("another git works in this repository (its index is locked): try again when it is done"));
        }
        if !matches!(own.walk(b"index", Links::Refuse).map(|spot| spot.kind), Ok(None | Some(Kind::File))) {
            return Err(refused("the repository's index lies somewhere else: commit with git itself"));
        }
        if self.repository.settings.words.iter().any(|(key, value)| *key == "extensions.refstorage" && value != "files") {
            return Err(refused("the repository keeps its branches in tables: commit with git itself"));
        }
        let entries =
            own.directory().and_then(|directory| directory.entries(10_000)).map_err(|_| refused("the repository cannot be read"))?;
        if entries.iter().any(|entry| entry.name.to_string_lossy().starts_with("sharedindex.")) {
            return Err(refused("the repository has a split index: commit with git itself"));
        }
        Ok(())
    }

    /// The full name of the branch that is checked out.
    async fn reference(&self) -> Result<String, ChangeError> {
        let printed = self.git.run(&["symbolic-ref", "--quiet", "HEAD"], None).await?;
        let reference = printed.text().trim_end_matches('\n').to_owned();
        if !printed.success || !reference.starts_with("refs/heads/") {
            return Err(refused("no branch is checked out (HEAD is detached): check one out, then commit"));
        }
        if !is_branch(&reference) {
            return Err(refused("the branch has a name that is not used here: commit with git itself"));
        }
        Ok(reference)
    }

    fn identity(&self) -> Result<Vec<(&'static str, OsString)>, ChangeError> {
        let (Some(name), Some(email)) = (&self.repository.settings.name, &self.repository.settings.email) else {
            return Err(refused("git does not know who you are: set user.name and user.email with git config on the server"));
        };
        let pairs = [("GIT_AUTHOR_NAME", name), ("GIT_AUTHOR_EMAIL", email), ("GIT_COMMITTER_NAME", name), ("GIT_COMMITTER_EMAIL", email)];
        Ok(pairs.into_iter().map(|(key, value)| (key, OsString::from(value))).collect())
    }

    /// Entries as `update-index --index-info` reads them; names are counted from the top of the repository.
    fn index_info(&self, chosen: &[&Entry]) -> Vec<u8> {
        let mut info = Vec::new();
        let mut push = |mode: &str, id: &str, path: &[u8]| {
            info.extend_from_slice(format!("{mode} {id}\t").as_bytes());
            info.extend_from_slice(&self.prefix);
            info.extend_from_slice(path);
            info.push(0);
        };
        for entry in chosen {
            let nothing = "0".repeat(entry.new_id.len());
            if let Some(old_path) = &entry.old_path {
                push("0", &nothing, old_path);
            }
            match entry.status {
                Status::Deleted => push("0", &nothing, &entry.path),
                _ => push(&entry.new_mode, &entry.new_id, &entry.path),
            }
        }
        info
    }

    async fn tree(&self, parent: Option<&str>, entries: &[u8]) -> Result<String, Refusal> {
        let index = self.scratch.path().join("commit-index");
        let start: Vec<&str> = parent.map_or_else(|| vec!["read-tree", "--empty"], |parent| vec!["read-tree", parent]);
        self.plumb(&start, None, &index).await?.succeeded("git read-tree")?;
        self.plumb(&["update-index", "-z", "--index-info"], Some(entries), &index).await?.succeeded("git update-index")?;
        Ok(self.plumb(&["write-tree", "--missing-ok"], None, &index).await?.succeeded("git write-tree")?.text().trim().to_owned())
    }

    async fn commit_object(
        &self,
        tree: &str,
        parent: Option<&str>,
        message: &str,
        identity: &[(&'static str, OsString)],
    ) -> Result<String, Refusal> {
        let mut arguments = vec![OsStr::new("commit-tree"), OsStr::new("-F"), OsStr::new("-")];
        if let Some(parent) = parent {
            arguments.extend([OsStr::new("-p"), OsStr::new(parent)]);
        }
        arguments.push(OsStr::new(tree));
        let message = format!("{message}\n");
        let places = self.fresh();
        let mut environment = places.environment().to_vec();
        environment.extend(identity.iter().map(|(key, value)| (*key, value.as_os_str())));
        let call = Call { arguments: &arguments, input: Some(message.as_bytes()), environment: &environment, ..Call::default() };
        Ok(self.git.call(call).await?.succeeded("git commit-tree")?.text().trim().to_owned())
    }

    /// Puts the commit and what is new in its tree into the repository.
    async fn adopt(&self, commit: &str, tree: &str, head: &str) -> Result<(), ChangeError> {
        let command = ["diff-tree", "-r", "-t", "-z", "--raw", "--no-abbrev", "--no-renames", "--end-of-options", head, tree];
        let printed = self.run(&command, None).await?.succeeded("git diff-tree")?;
        if printed.was_cut {
            return Err(refused("these are too many files at once: commit with git itself"));
        }
        let text = printed.text();
        // `:modes ids status`, where the second id is that of what is new.
        let changed = text.split('\0').filter(|field| field.starts_with(':')).filter_map(|field| field.split(' ').nth(3));
        let names: Vec<String> = changed.chain([tree, commit]).map(str::to_owned).collect();
        let (repository, from) = (Arc::clone(&self.repository), self.scratch.path().join("objects"));
        let work = move || objects::adopt(&repository.common_dir, &Root::open(&from).map_err(Refusal::new)?, &names);
        Ok(tokio::task::spawn_blocking(work).await.map_err(|_| refused("the commit cannot be written"))??)
    }

    /// Only if nobody has committed meanwhile.
    async fn move_branch(&self, reference: String, commit: String, parent: Option<String>, message: &str) -> Result<(), ChangeError> {
        let about = self.run(&["cat-file", "commit", &commit], None).await?.succeeded("git cat-file")?.text();
        let committer = about.lines().find_map(|line| line.strip_prefix("committer ")).unwrap_or_default().to_owned();
        let word = if parent.is_some() { "commit" } else { "commit (initial)" };
        let message = format!("{word}: {}", bound::name(message.lines().next().unwrap_or_default()));
        let repository = Arc::clone(&self.repository);
        let work = move || {
            let (old, new) = (parent.as_deref(), commit.as_str());
            Move { reference: &reference, old, new, committer: &committer, message: &message }.run(&repository)
        };
        tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(refused("the branch cannot be moved")))
    }

    /// With another index.
    pub(super) async fn plumb(&self, arguments: &[&str], input: Option<&[u8]>, index: &Path) -> Result<Printed, Refusal> {
        let arguments: Vec<&OsStr> = arguments.iter().map(OsStr::new).collect();
        let places = Places { index: index.into(), ..self.fresh() };
        self.git.call(Call { arguments: &arguments, input, environment: &places.environment(), ..Call::default() }).await
    }
}

fn chosen<'a>(comparison: &'a Comparison, paths: Option<&[String]>) -> Result<Vec<&'a Entry>, ChangeError> {
    if comparison.cut {
        return Err(refused("these are too many files at once: commit with git itself"));
    }
    let chosen: Vec<&Entry> = match paths {
        None => comparison.entries.iter().collect(),
        Some(paths) => {
            if let Some(gone) = paths.iter().find(|path| comparison.find(path).is_none()) {
                let sentence = format!("'{}' has no changes to commit any more: look at the changes again", bound::name(gone));
                return Err(ChangeError::Changed(sentence));
            }
            comparison.entries.iter().filter(|entry| paths.contains(&shown(&entry.path))).collect()
        }
    };
    if chosen.is_empty() { Err(refused("nothing to commit")) } else { Ok(chosen) }
}

fn refused(sentence: impl Into<String>) -> ChangeError {
    ChangeError::Refused(sentence.into())
}
