//! A repository that is made to have a program run, and the mark that the program leaves.

use std::os::unix::fs::PermissionsExt;

use super::*;

/// A repository with a change in it, and the mark that a planted program would leave.
pub(super) struct Trap {
    pub repository: Repository,
    mark: TempDir,
}

impl Trap {
    pub(super) fn new() -> Self {
        let trap = Self { repository: Repository::new(), mark: tempfile::tempdir().unwrap() };
        trap.repository.write("a", "1\n");
        trap.repository.write("b", "1\n");
        trap.repository.commit("first");
        trap.repository.write("a", "2\n");
        let program = trap.mark.path().join("program");
        fs::write(&program, format!("#!/bin/sh\n: > {}\n", trap.mark().display())).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        trap
    }

    pub(super) fn path(&self) -> &Path {
        self.repository.path()
    }

    pub(super) fn mark(&self) -> std::path::PathBuf {
        self.mark.path().join("ran")
    }

    pub(super) fn has_run(&self) -> bool {
        self.mark().exists()
    }

    /// The program's path, for settings that take no command line.
    pub(super) fn program(&self) -> String {
        self.mark.path().join("program").display().to_string()
    }

    /// A command line for a shell.
    pub(super) fn payload(&self) -> String {
        format!("sh {}", self.program())
    }

    pub(super) fn set(&self, key: &str, value: &str) {
        self.repository.git(&["config", key, value]);
    }

    pub(super) fn plant(&self, path: &str, content: &str) {
        self.repository.write(path, content);
    }

    pub(super) fn append(&self, path: &str, content: &str) {
        let path = self.path().join(".git").join(path);
        fs::File::options().append(true).open(path).unwrap().write_all(content.as_bytes()).unwrap();
    }

    pub(super) fn attribute(&self, line: &str) {
        self.plant(".gitattributes", &format!("{line}\n"));
    }

    pub(super) fn filter(&self, kind: &str) {
        self.attribute("a filter=evil");
        self.set(&format!("filter.evil.{kind}"), &self.payload());
    }

    pub(super) fn filter_section(&self) -> String {
        format!("[filter \"evil\"]\n\tclean = {}\n", self.payload())
    }

    pub(super) fn hook(&self, directory: &str) {
        let hook = self.path().join(directory).join("post-index-change");
        fs::create_dir_all(hook.parent().unwrap()).unwrap();
        fs::copy(self.mark.path().join("program"), hook).unwrap();
        // A file that only looks changed makes git write its index anew.
        let file = fs::File::options().write(true).open(self.path().join("b")).unwrap();
        file.set_modified(std::time::SystemTime::now() - Duration::from_secs(3600)).unwrap();
    }

    /// A commit with a signature that the program would have to check.
    pub(super) fn signed(&self, key: &str, signature: &str) {
        self.set(key, &self.program());
        self.set("log.showSignature", "true");
        let commit = self.read(&["cat-file", "commit", "HEAD"]);
        let (head, message) = commit.split_once("\n\n").unwrap();
        self.plant(".git/signed", &format!("{head}\ngpgsig {signature}\n\n{message}"));
        let signed = self.read(&["hash-object", "-t", "commit", "-w", ".git/signed"]);
        self.repository.git(&["update-ref", "HEAD", signed.trim()]);
    }

    pub(super) fn diverge(&self) {
        self.repository.git(&["checkout", "--quiet", "-b", "side"]);
        self.repository.git(&["commit", "--quiet", "-am", "side"]);
        self.repository.git(&["checkout", "--quiet", "main"]);
        self.plant("a", "3\n");
        self.repository.git(&["commit", "--quiet", "-am", "main"]);
    }

    /// The content of a file is missing, and promised by a remote.
    pub(super) fn promise(&self, url: &str) {
        for (key, value) in [
            ("core.repositoryFormatVersion", "1"),
            ("extensions.partialClone", "origin"),
            ("remote.origin.url", url),
            ("remote.origin.promisor", "true"),
        ] {
            self.set(key, value);
        }
        let blob = self.read(&["rev-parse", "HEAD:a"]);
        let (directory, file) = blob.trim().split_at(2);
        fs::remove_file(self.path().join(".git/objects").join(directory).join(file)).unwrap();
    }

    pub(super) fn submodule(&self) {
        fs::create_dir(self.path().join("part")).unwrap();
        self.inner(&["init", "--quiet"]);
        self.plant("part/b", "1\n");
        self.inner(&["add", "b"]);
        self.inner(&["-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "--quiet", "-m", "inner"]);
        self.repository.git(&["-c", "advice.addEmbeddedRepo=false", "add", "part"]);
        self.repository.git(&["commit", "--quiet", "-m", "with a module"]);
    }

    pub(super) fn inner(&self, arguments: &[&str]) {
        let done = Command::new("git").args(arguments).current_dir(self.path().join("part")).output().unwrap();
        assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    pub(super) fn read(&self, arguments: &[&str]) -> String {
        let done = Command::new("git").args(arguments).current_dir(self.path()).output().unwrap();
        assert!(done.status.success(), "{arguments:?}");
        String::from_utf8(done.stdout).unwrap()
    }
}
