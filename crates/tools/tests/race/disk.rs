//! A work directory beside what must stay out of reach, and everything that is done to a path of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::json;
use tools::Project;

use crate::cases::Case;

/// How many there are in `use_all`.
pub(crate) const OPERATIONS: usize = 14;

/// In the names of some files outside, and in the text of all.
const SECRET: &str = "SECRET";
const SECRET_TEXT: &str = "SECRET of somebody else";

pub(crate) struct Disk {
    _home: tempfile::TempDir,
    outside: PathBuf,
    pub(crate) work: PathBuf,
    before: Content,
}

impl Disk {
    pub(crate) fn new(case: &Case) -> Self {
        let home = tempfile::tempdir().unwrap();
        let (outside, work) = (home.path().join("outside"), home.path().join("work"));
        for path in ["x", "y", "deep/x", "deep/y", "deep/er/x", "AGENTS.md", "SECRET-name", "deep/SECRET-name", ".gitignore"] {
            write(&outside.join(path), SECRET_TEXT);
        }
        for path in ["x", "AGENTS.md", "kept/x"] {
            write(&work.join(path), "inside");
        }
        (case.prepare)(&work);
        let before = content(&outside, true);
        Self { _home: home, outside, work, before }
    }

    /// Every way in which a path of the work directory is used.
    pub(crate) async fn use_all(&self, case: &Case) {
        let path = case.path.replace("WORK", self.work.to_str().unwrap());
        let project = Project { work_dir: self.work.clone(), ignore: Vec::new(), ignore_root: self.work.clone() };
        let directory = Path::new(&path).parent().map_or(".", |parent| parent.to_str().unwrap()).to_owned();
        for (tool, arguments) in [
            ("read_file", json!({"path": path})),
            ("list_directory", json!({"path": directory})),
            ("grep_search", json!({"path": directory, "pattern": "."})),
            ("grep_search", json!({"pattern": "SEC"})),
            ("glob_search", json!({"path": directory, "pattern": "**"})),
        ] {
            self.shows_nothing(case, tool, &tools::run(&project, tool, &arguments.to_string()).await.content);
        }
        self.shows_nothing(case, "search", &tools::search(&project, "secret", 100).await.concat());
        let work = &self.work;
        self.shows_nothing(case, "read_text", &tools::read_text(work, &path, None, None).unwrap_or_default());
        self.shows_nothing(case, "write_text", &tools::write_text(work, &path, "written", false).ok().flatten().unwrap_or_default());
        self.shows_nothing(case, "beginning", &tools::beginning(work, &path, 100).ok().flatten().unwrap_or_default().0);
        self.shows_nothing(case, "changed_since", &tools::changed_since(&project, SystemTime::UNIX_EPOCH).concat());
        if let Ok(named) = tools::find(work, &path) {
            assert!(!named.path.contains(SECRET) && named.size != SECRET_TEXT.len() as u64, "{}: find {named:?}", case.name);
        }
        if let Ok(opened) = tools::directory(work, Some(&directory)) {
            assert!(opened.path.starts_with(work), "{}: directory {}", case.name, opened.path.display());
            let is_outside = rustix::fs::statat(&opened.handle, "SECRET-name", rustix::fs::AtFlags::empty()).is_ok();
            assert!(!is_outside, "{}: another directory than {}", case.name, opened.path.display());
        }
        let _ = tools::revert_text(work, &path, None, SECRET_TEXT, None).await;
        let _ = tools::revert_text(work, &path, Some("reverted"), SECRET_TEXT, None).await;
        self.write_as_shown(case, &path);
    }

    fn write_as_shown(&self, case: &Case, path: &str) {
        if let Ok((shown, text)) = tools::look(&self.work, path) {
            self.shows_nothing(case, "look", &text.unwrap_or_default());
            let replaced = tools::write_shown(&self.work, &shown, "written as shown", false);
            self.shows_nothing(case, "write_shown", &replaced.ok().flatten().unwrap_or_default());
        }
    }

    fn shows_nothing(&self, case: &Case, operation: &str, text: &str) {
        // The target of a link is no secret.
        let shown: Vec<&str> = text.lines().filter(|line| line.contains(SECRET) && !line.contains(" -> ")).collect();
        assert!(shown.is_empty(), "{}: {operation} shows {shown:?}", case.name);
    }

    pub(crate) fn is_untouched(&self, when: &str) {
        assert_eq!(content(&self.outside, true), self.before, "{when}: written to what is outside");
    }
}

pub(crate) fn write(path: &Path, content: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// What every file holds, and when it was written. Of directories only that they are there.
pub(crate) type Content = BTreeMap<PathBuf, Option<(Vec<u8>, Option<SystemTime>)>>;

pub(crate) fn content(directory: &Path, with_times: bool) -> Content {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            found.insert(entry.path(), None);
            found.extend(content(&entry.path(), with_times));
        } else {
            let written = with_times.then(|| entry.metadata().unwrap().modified().unwrap());
            found.insert(entry.path(), Some((fs::read(entry.path()).unwrap(), written)));
        }
    }
    found
}
