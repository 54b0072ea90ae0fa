//! Which repository the work directory is in, and whether it may be read: its working tree is where its `.git` is, and its objects
//! are its own. Git itself looks it up and checks whom it belongs to; both commands used here run nothing.

use std::path::{Path, PathBuf};

use super::command::{Git, Printed};
use crate::Refusal;
use crate::beneath::{Kind, Links, Root, real_path};

/// The files that link a worktree to its repository hold one path.
const LINK_BYTES: u64 = 8 * 1024;

pub(crate) struct Repository {
    /// The top of the working tree.
    pub top: Root,
    /// What belongs to this working tree alone: its HEAD, its index.
    pub git_dir: Root,
    /// What all working trees share: objects, branches, configuration.
    pub common_dir: Root,
    pub settings: Settings,
}

/// The few settings without which git would read the repository wrongly. Nothing else of its configuration is ever used, so
/// whatever it names, also in keys that a later git knows, stays unread.
#[derive(Default, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    /// From the repository, the person or the system; plain words such as `true` and `sha256`.
    pub words: Vec<(&'static str, String)>,
    /// The person's own list of files that no repository is told about.
    pub excludes_file: Option<String>,
    /// Who commits, where git knows it.
    pub name: Option<String>,
    pub email: Option<String>,
}

const WORDS: [&str; 10] = [
    "core.filemode",
    "core.symlinks",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.trustctime",
    "core.checkstat",
    "core.autocrlf",
    "core.eol",
    "extensions.objectformat",
    "extensions.refstorage",
];

impl Repository {
    pub(crate) async fn find(git: &Git, work_dir: &Path) -> Result<Self, Refusal> {
        let places = ["rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir"];
        let found = git.run(&places, None).await?;
        if found.complaint.contains("not a git repository") {
            return Err(Refusal::new("the work directory is not in a git repository"));
        }
        let found = found.succeeded("git")?.text();
        let settings = Settings::read(&git.run(&["config", "--list", "--show-scope", "-z"], None).await?.succeeded("git config")?);
        let work_dir = work_dir.to_owned();
        let opened = tokio::task::spawn_blocking(move || {
            let [top, git_dir, common_dir] = found.lines().map(opened).collect::<Result<Vec<_>, _>>()?.try_into().map_err(|_| odd())?;
            let repository = Self { top, git_dir, common_dir, settings };
            repository.check(&work_dir).map(|()| repository)
        });
        opened.await.map_err(|_| odd())?
    }

    /// A repository that reaches elsewhere would show another one's files as if they were the project's.
    fn check(&self, work_dir: &Path) -> Result<(), Refusal> {
        let kind = self.top.walk(b".git", Links::Refuse).ok().and_then(|spot| spot.kind);
        let kind = kind.ok_or_else(|| elsewhere("its working tree is not where its .git is"))?;
        let (dot_git, git_dir) = (self.top.path().join(".git"), self.git_dir.path());
        if !work_dir.starts_with(self.top.path()) {
            return Err(elsewhere("its working tree is outside the work directory"));
        }
        if kind == Kind::Directory {
            if git_dir != dot_git {
                return Err(elsewhere("its working tree is not where its .git is"));
            }
            let is_own = self.common_dir.path() == git_dir;
            return if is_own { Ok(()) } else { Err(elsewhere("it takes its objects from another repository")) };
        }
        if kind == Kind::File && (self.is_linked_worktree(&dot_git) || self.is_submodule()) {
            return Ok(());
        }
        Err(elsewhere("its .git leads to a directory that does not lead back"))
    }

    fn is_linked_worktree(&self, dot_git: &Path) -> bool {
        let written = self.git_dir.small_file("gitdir", LINK_BYTES).ok().flatten().and_then(|back| String::from_utf8(back).ok());
        let back = written.and_then(|back| real_path(&self.git_dir.path().join(back.trim_end_matches('\n'))));
        back.as_deref() == Some(dot_git) && self.git_dir.path().parent() == Some(&self.common_dir.path().join("worktrees"))
    }

    /// The repository of a submodule lies in the one that it is a module of.
    fn is_submodule(&self) -> bool {
        let above = self.top.path().ancestors().skip(1);
        let mut modules = above.map(|directory| directory.join(".git/modules"));
        let git_dir = self.git_dir.path();
        self.common_dir.path() == git_dir && modules.any(|modules| git_dir.starts_with(modules))
    }
}

impl Settings {
    /// Reads `scope NUL key LF value NUL` over and over; the last value of a key holds.
    fn read(listed: &Printed) -> Self {
        let text = listed.text();
        let mut fields = text.split_terminator('\0');
        let mut settings = Self::default();
        while let (Some(scope), Some(entry)) = (fields.next(), fields.next()) {
            let (key, value) = entry.split_once('\n').unwrap_or((entry, "true"));
            let is_own = matches!(scope, "system" | "global");
            if key == "core.excludesfile" && is_own {
                settings.excludes_file = Some(value.to_owned());
            }
            match key {
                "user.name" if is_shown(value) => settings.name = Some(value.to_owned()),
                "user.email" if is_shown(value) => settings.email = Some(value.to_owned()),
                _ => {}
            }
            if let Some(known) = WORDS.into_iter().find(|known| *known == key)
                && is_word(value)
            {
                settings.words.retain(|(key, _)| *key != known);
                settings.words.push((known, value.to_owned()));
            }
        }
        settings
    }
}

fn is_word(value: &str) -> bool {
    (1..=16).contains(&value.len()) && value.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// What can stand in the head of a commit.
fn is_shown(value: &str) -> bool {
    (1..=200).contains(&value.len()) && !value.chars().any(|c| c.is_control() || c == '<' || c == '>')
}

/// Every link is resolved here, and none is followed when it is opened.
fn opened(path: &str) -> Result<Root, Refusal> {
    let real: PathBuf = real_path(Path::new(path)).ok_or_else(odd)?;
    Root::open(&real).map_err(|_| odd())
}

fn odd() -> Refusal {
    Refusal::new("the repository cannot be read: git cannot tell where it is")
}

fn elsewhere(why: &str) -> Refusal {
    Refusal::new(format!("the repository is not read: {why}"))
}
