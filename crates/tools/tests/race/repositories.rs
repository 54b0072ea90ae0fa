//! Repositories whose own directories lead elsewhere, or come to do so while they are used: nothing outside is written by a commit or a
//! revert, and nothing outside is shown as a change.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use tools::Checkout;

use crate::disk::{content, write};
use crate::swap::{Pair, Swap};

/// A repository with a change in it, beside what must not be touched. Who commits is chosen to be a command.
struct Repository {
    _home: tempfile::TempDir,
    outside: PathBuf,
    work: PathBuf,
}

struct Case {
    name: &'static str,
    /// Whether it can be committed to.
    commits: bool,
    /// Whether git, which marks an object that it meets again as young, does so to what a link leads to. It cannot be told not to.
    is_touched: bool,
    prepare: fn(&Repository),
}

const fn refused(name: &'static str, prepare: fn(&Repository)) -> Case {
    Case { name, commits: false, is_touched: false, prepare }
}

const fn committed(name: &'static str, prepare: fn(&Repository)) -> Case {
    Case { name, commits: true, is_touched: false, prepare }
}

impl Repository {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let repository = Self { outside: home.path().join("outside"), work: home.path().join("work"), _home: home };
        write(&repository.outside.join("startup"), "# runs when somebody logs in\n");
        write(&repository.outside.join("dir/x"), "SECRET\n");
        write(&repository.outside.join("dir/SECRET-name"), "SECRET\n");
        fs::create_dir(&repository.work).unwrap();
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        repository.git(&["config", "user.name", "$(touch pwned); rm -rf x #"]);
        repository.git(&["config", "user.email", "x@example.org"]);
        write(&repository.work.join("a"), "1\n");
        write(&repository.work.join("dir/x"), "1\n");
        repository.git(&["add", "--all"]);
        repository.git(&["commit", "--quiet", "-m", "first"]);
        write(&repository.work.join("a"), "2\n");
        repository
    }

    fn git(&self, arguments: &[&str]) -> String {
        let done = Command::new("git").args(arguments).current_dir(&self.work).output().unwrap();
        assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    }

    fn inside(&self, name: &str) -> PathBuf {
        self.work.join(".git").join(name)
    }

    /// In place of what the repository has by that name, a link to somewhere outside.
    fn link(&self, name: &str, target: &str) {
        let place = self.inside(name);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        if place.is_dir() {
            fs::remove_dir_all(&place).unwrap();
        } else if place.exists() {
            fs::remove_file(&place).unwrap();
        }
        symlink(self.outside.join(target), place).unwrap();
    }

    /// The same, with what was there moved to where the link leads.
    fn move_out(&self, name: &str) {
        let target = name.replace('/', "-");
        fs::rename(self.inside(name), self.outside.join(&target)).unwrap();
        self.link(name, &target);
    }

    fn pipe(&self, name: &str) {
        let _ = fs::remove_file(self.inside(name));
        assert!(Command::new("mkfifo").arg(self.inside(name)).status().unwrap().success());
    }

    fn branch(&self, name: &str) {
        self.git(&["checkout", "--quiet", "-b", name]);
    }

    async fn commit(&self) -> Result<tools::Commit, String> {
        let checkout = Checkout::open(&self.work, None).await?;
        checkout.commit("it\n\nwith words", None).await.map_err(|error| format!("{error:?}"))
    }

    /// All that is shown of what is not committed.
    async fn shown(&self) -> String {
        let Ok(checkout) = Checkout::open(&self.work, None).await else { return String::new() };
        let (Ok(head), Ok(now)) = (checkout.head().await, checkout.now().await) else { return String::new() };
        let Ok(comparison) = checkout.compare(&head, &now.tree).await else { return String::new() };
        let files = checkout.files(&comparison).await.unwrap_or_default();
        let _ = checkout.revert(&comparison, "dir/x", None).await;
        format!("{:?} {files:?}", now.left_out)
    }
}

const CASES: &[Case] = &[
    refused("the log of the branch is a link", |r| r.link("logs/refs/heads/main", "startup")),
    refused("the log of the branch is a link to what is not there", |r| r.link("logs/refs/heads/main", "new")),
    refused("the log of HEAD is a link", |r| r.link("logs/HEAD", "startup")),
    refused("the logs are elsewhere", |r| r.move_out("logs")),
    refused("the logs of branches are elsewhere", |r| r.move_out("logs/refs")),
    refused("the logs of local branches are elsewhere", |r| r.move_out("logs/refs/heads")),
    refused("the log of the branch is another name of a file outside", |r| {
        fs::remove_file(r.inside("logs/refs/heads/main")).unwrap();
        fs::hard_link(r.outside.join("startup"), r.inside("logs/refs/heads/main")).unwrap();
    }),
    refused("the log of the branch is a pipe", |r| r.pipe("logs/refs/heads/main")),
    refused("the log of the branch is a directory", |r| {
        fs::remove_file(r.inside("logs/refs/heads/main")).unwrap();
        fs::create_dir(r.inside("logs/refs/heads/main")).unwrap();
    }),
    refused("every directory of objects is a link", |r| {
        for fan in 0..=255 {
            let name = format!("objects/{fan:02x}");
            if r.inside(&name).exists() { r.move_out(&name) } else { r.link(&name, "dir") }
        }
    }),
    Case {
        name: "an object is a link to a file outside",
        commits: false,
        is_touched: true,
        prepare: |r| {
            let blob = r.git(&["hash-object", "a"]);
            let (fan, rest) = blob.trim().split_at(2);
            r.link(&format!("objects/{fan}/{rest}"), "startup");
        },
    },
    refused("the objects are elsewhere", |r| r.move_out("objects")),
    committed("packs are elsewhere", |r| r.move_out("objects/pack")),
    committed("what is known of objects is elsewhere", |r| r.move_out("objects/info")),
    committed("objects are borrowed from outside", |r| {
        let origin = r.outside.join("origin");
        let from = r.work.to_str().unwrap().to_owned();
        r.git(&["clone", "--quiet", "--bare", &from, origin.to_str().unwrap()]);
        write(&r.inside("objects/info/alternates"), &format!("{}\n", origin.join("objects").display()));
    }),
    refused("branches and tags are elsewhere", |r| r.move_out("refs")),
    refused("branches are elsewhere", |r| r.move_out("refs/heads")),
    refused("the branch is a link", |r| r.move_out("refs/heads/main")),
    refused("the branch is a pipe", |r| r.pipe("refs/heads/main")),
    refused("the lock of the branch is a link to what is not there", |r| r.link("refs/heads/main.lock", "new")),
    refused("a directory of branches is elsewhere", |r| {
        r.branch("feature/x");
        r.move_out("refs/heads/feature");
    }),
    refused("a directory of logs is elsewhere", |r| {
        r.branch("feature/x");
        r.move_out("logs/refs/heads/feature");
    }),
    refused("packed branches are elsewhere", |r| {
        r.git(&["pack-refs", "--all"]);
        r.move_out("packed-refs");
    }),
    refused("HEAD is a link", |r| r.move_out("HEAD")),
    refused("the lock of HEAD is a link to what is not there", |r| r.link("HEAD.lock", "new")),
    refused("the branch leads to another one", |r| write(&r.inside("refs/heads/main"), "ref: refs/heads/other\n")),
    refused("the index is a link", |r| r.move_out("index")),
    refused("the index is a pipe", |r| r.pipe("index")),
    refused("the lock of the index is a link to what is not there", |r| r.link("index.lock", "new")),
    refused("the repository is a link", |r| {
        fs::rename(r.work.join(".git"), r.outside.join("repository")).unwrap();
        symlink(r.outside.join("repository"), r.work.join(".git")).unwrap();
    }),
    refused("the repository is said to be elsewhere", |r| {
        fs::rename(r.work.join(".git"), r.outside.join("repository")).unwrap();
        write(&r.work.join(".git"), &format!("gitdir: {}\n", r.outside.join("repository").display()));
    }),
    refused("what is shared is said to be elsewhere", |r| {
        r.git(&["clone", "--quiet", "--bare", ".", r.outside.join("common").to_str().unwrap()]);
        write(&r.inside("commondir"), r.outside.join("common").to_str().unwrap());
    }),
    committed("lists and earlier heads are links", |r| {
        for name in ["info/exclude", "info/attributes", "ORIG_HEAD", "COMMIT_EDITMSG", "hooks", "description"] {
            r.link(name, "startup");
        }
    }),
    committed("branches are packed", |r| {
        r.git(&["pack-refs", "--all"]);
        r.git(&["gc", "--quiet"]);
    }),
    committed("it is a plain one", |_| {}),
];

#[tokio::test]
async fn nothing_outside_is_written_for_a_repository_that_leads_elsewhere() {
    assert!(CASES.len() >= 20);
    for case in CASES {
        let repository = Repository::new();
        (case.prepare)(&repository);
        let content = || content(&repository.outside, !case.is_touched);
        let before = content();
        repository.shown().await;
        write(&repository.work.join("a"), "2\n");
        let outcome = repository.commit().await;
        assert_eq!(content(), before, "{}: {outcome:?}", case.name);
        assert_eq!(case.commits, outcome.is_ok(), "{}: {outcome:?}", case.name);
        assert!(!repository.work.join("pwned").exists(), "{}", case.name);
        if outcome.is_ok() {
            repository.git(&["fsck", "--strict"]);
            assert_eq!(repository.git(&["show", "--format=%s", "HEAD:a"]), "2\n", "{}", case.name);
            assert_eq!(repository.git(&["status", "--porcelain"]), "", "{}", case.name);
            assert!(repository.git(&["reflog", "-1", "HEAD"]).contains("commit: it"), "{}", case.name);
        }
    }
}

/// What is exchanged while a repository is used: a name in it, and a link that is put beside it.
const PAIRS: &[(Pair, &str)] = &[
    ((".git/logs/refs/heads/main", ".git/link"), "startup"),
    ((".git/logs", ".git/link"), "dir"),
    ((".git/logs/refs", ".git/link"), "dir"),
    ((".git/refs/heads", ".git/link"), "dir"),
    ((".git/refs/heads/main", ".git/link"), "startup"),
    ((".git/objects", ".git/link"), "dir"),
    ((".git/index", ".git/link"), "startup"),
    ((".git/HEAD", ".git/link"), "startup"),
    ((".git", "link"), "dir"),
    (("dir", "link"), "dir"),
    (("a", "link"), "startup"),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn nothing_outside_is_shown_or_written_while_names_of_a_repository_are_exchanged() {
    let mut commits = 0;
    for (pair, target) in PAIRS {
        let repository = Repository::new();
        symlink(repository.outside.join(target), repository.work.join(pair.1)).unwrap();
        let before = content(&repository.outside, true);
        let swap = Swap::start(&repository.work, *pair);
        for round in 0..12 {
            // Through what is being exchanged, so it may fail.
            let _ = fs::write(repository.work.join("b"), round.to_string());
            let shown = repository.shown().await;
            assert!(!shown.contains("SECRET") && !shown.contains("logs in"), "{pair:?}: {shown}");
            let _ = fs::write(repository.work.join("c"), round.to_string());
            commits += usize::from(repository.commit().await.is_ok());
        }
        swap.stop();
        assert_eq!(content(&repository.outside, true), before, "{pair:?}");
        let history = show_all(&repository.work);
        assert!(!history.contains("SECRET") && !history.contains("logs in"), "{pair:?}: {history}");
    }
    println!("{commits} commits were made all the same");
}

/// Every object that was written: what was read outside would be among them.
fn show_all(work: &Path) -> String {
    let mut text = String::new();
    let listed = Command::new("git").args(["cat-file", "--batch-all-objects", "--batch", "--buffer"]).current_dir(work).output().unwrap();
    text.push_str(&String::from_utf8_lossy(&listed.stdout));
    text
}
