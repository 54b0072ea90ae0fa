//! The working tree of a session as git sees it: trees of it, made without a trace in the repository, and what differs between two.
//!
//! What is looked at goes into a directory of objects that is gone with the [`Checkout`]; what is kept, into one of the caller's. The
//! repository's own index is copied, never written, but by a commit.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;

use super::command::{Call, Git, Printed, quoted};
use super::repository::Repository;
use super::snapshot::Of;
use super::stand_in::StandIn;
use super::{revision, snapshot};
use crate::Refusal;
use crate::beneath::{real_path, reason};
use crate::work_dir::WorkDir;

/// A name longer than this is no name of a branch that somebody chose.
const BRANCH_CHARS: usize = 200;

pub struct Checkout {
    pub(super) work_dir: Arc<WorkDir>,
    pub(super) git: Git,
    pub(super) repository: Arc<Repository>,
    /// The work directory as seen from the top of the repository: nothing, or a path that ends in a slash.
    pub(super) prefix: Vec<u8>,
    /// The repository's own objects.
    pub(super) objects: PathBuf,
    /// Where the caller keeps the objects of trees.
    kept: Option<PathBuf>,
    /// For the index and the objects that nobody keeps.
    pub(super) scratch: Scratch,
}

/// A directory of our own. It is removed when it is dropped.
pub(super) struct Scratch {
    _directory: TempDir,
    /// Where it is, without links.
    path: PathBuf,
}

impl Scratch {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// What git is told to use in place of the repository's own.
pub(super) struct Places {
    pub objects: OsString,
    pub alternates: OsString,
    pub index: OsString,
}

impl Places {
    pub(super) fn environment(&self) -> [(&'static str, &OsStr); 3] {
        [("GIT_OBJECT_DIRECTORY", &self.objects), ("GIT_ALTERNATE_OBJECT_DIRECTORIES", &self.alternates), ("GIT_INDEX_FILE", &self.index)]
    }
}

impl Checkout {
    /// `kept` is where the objects of earlier trees are. Refused where there is no repository, or none that may be read.
    pub async fn open(work_dir: &Path, kept: Option<&Path>) -> Result<Self, String> {
        Self::opened(work_dir, kept).await.map_err(|refusal| refusal.0)
    }

    pub(super) async fn opened(work_dir: &Path, kept: Option<&Path>) -> Result<Self, Refusal> {
        let given = work_dir.to_owned();
        let lost = |_| Refusal::new("the repository cannot be read");
        let work_dir = tokio::task::spawn_blocking(move || WorkDir::open(&given)).await.map_err(lost)??;
        let git = Git::new(work_dir.path());
        let repository = Repository::find(&git, work_dir.path()).await?;
        let excludes_file = repository.settings.excludes_file.clone();
        let (repository, stand_in, scratch) = tokio::task::spawn_blocking(move || {
            let scratch = scratch()?;
            let stand_in = StandIn::make(&repository)?;
            Ok::<_, Refusal>((repository, stand_in, scratch))
        })
        .await
        .map_err(lost)??;
        let objects = stand_in.objects.clone();
        let git = git.behind(stand_in, excludes_file);
        let below = work_dir.path().strip_prefix(repository.top.path());
        let mut prefix = below.map(|below| below.as_os_str().as_bytes().to_vec()).unwrap_or_default();
        if !prefix.is_empty() {
            prefix.push(b'/');
        }
        let (work_dir, repository, kept) = (Arc::new(work_dir), Arc::new(repository), kept.map(Path::to_owned));
        Ok(Self { work_dir, git, repository, prefix, objects, kept, scratch })
    }

    /// Where git finds what it takes for the repository.
    pub(super) fn stand_in(&self) -> &Path {
        self.git.stand_in().unwrap_or(self.scratch.path())
    }

    /// The branch that is checked out; none where HEAD is at a commit of its own.
    pub async fn branch(&self) -> Option<String> {
        let printed = self.git.run(&["symbolic-ref", "--quiet", "--short", "HEAD"], None).await.ok()?;
        let name = printed.text().trim_end_matches('\n').to_owned();
        (printed.success && !name.is_empty()).then(|| name.chars().take(BRANCH_CHARS).collect())
    }

    /// What HEAD is at: a commit, or the empty tree where there is none.
    pub async fn head(&self) -> Result<String, String> {
        revision::current(&self.git).await.map_err(|refusal| refusal.0)
    }

    /// Where the work left the default branch, and what that is called. None where there is no such branch or it is this one.
    pub async fn base(&self) -> Option<(String, String)> {
        let (commit, label) = self.default_branch().await?;
        if self.branch().await.as_deref() == Some(&label) {
            return None;
        }
        let base = revision::merge_base(&self.git, &commit, "HEAD").await.ok()?;
        Some((base, label))
    }

    async fn default_branch(&self) -> Option<(String, String)> {
        let remote = self.git.run(&["symbolic-ref", "--quiet", "refs/remotes/origin/HEAD"], None).await.ok()?;
        let remote = remote.text().trim().to_owned();
        let candidates =
            [remote.as_str(), "refs/heads/main", "refs/heads/master", "refs/remotes/origin/main", "refs/remotes/origin/master"];
        for name in candidates {
            let Some(label) = name.strip_prefix("refs/heads/").or_else(|| name.strip_prefix("refs/remotes/")) else { continue };
            if let Ok(commit) = revision::commit(&self.git, name).await {
                return Some((commit, label.chars().take(BRANCH_CHARS).collect()));
            }
        }
        None
    }

    /// The working tree as it is now, untracked files included, for as long as this value lives.
    pub async fn now(&self) -> Result<snapshot::Taken, String> {
        snapshot::take(self, &self.looked_at(), Of::Everything).await.map_err(|refusal| refusal.0)
    }

    /// What git knows already, at one path.
    pub(super) async fn tracked_now(&self, path: &Path) -> Result<snapshot::Taken, Refusal> {
        snapshot::take(self, &self.looked_at(), Of::Tracked(path)).await
    }

    /// The same, to be kept where the caller keeps them.
    pub async fn keep(&self) -> Result<snapshot::Taken, String> {
        let Some(kept) = &self.kept else { return Err("there is no place to keep it".to_owned()) };
        fs::create_dir_all(kept).map_err(|why| reason(&why))?;
        let places = Places { objects: kept.clone().into(), alternates: quoted(&[&self.objects]), index: self.private_index() };
        snapshot::take(self, &places, Of::Everything).await.map_err(|refusal| refusal.0)
    }

    pub(super) fn looked_at(&self) -> Places {
        let mut alternates: Vec<&Path> = vec![&self.objects];
        alternates.extend(self.kept.as_deref().filter(|kept| kept.is_dir()));
        Places { objects: self.scratch.path().join("objects").into(), alternates: quoted(&alternates), index: self.private_index() }
    }

    pub(super) fn private_index(&self) -> OsString {
        self.scratch.path().join("index").into()
    }

    /// Runs git on all the objects that there are.
    pub(super) async fn run(&self, arguments: &[&str], input: Option<&[u8]>) -> Result<Printed, Refusal> {
        let arguments: Vec<&OsStr> = arguments.iter().map(OsStr::new).collect();
        self.run_os(&arguments, input).await
    }

    pub(super) async fn run_os(&self, arguments: &[&OsStr], input: Option<&[u8]>) -> Result<Printed, Refusal> {
        let places = self.looked_at();
        self.git.call(Call { arguments, input, environment: &places.environment(), ..Call::default() }).await
    }
}

fn scratch() -> Result<Scratch, Refusal> {
    let cannot = |why: std::io::Error| Refusal::new(format!("the repository cannot be read: {}", reason(&why)));
    let directory = tempfile::Builder::new().prefix("voxpilot-tree-").tempdir().map_err(cannot)?;
    let path = real_path(directory.path()).unwrap_or_else(|| directory.path().to_owned());
    fs::create_dir(path.join("objects")).map_err(cannot)?;
    Ok(Scratch { _directory: directory, path })
}
