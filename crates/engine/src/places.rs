//! What the files and directories that a request names are on the disk: where they lead once every link is followed, and whether a
//! person is to be asked about them. Looking takes the disk's time, so it is done outside of the session's task.

use std::path::{Path, PathBuf};

use domain::agent::{AskedFile, FilePlace, PermissionAsk};
use domain::fields::{self, Names};
use domain::text::clip;
use domain::{patch, protected};
use tools::real_path as real;
use tools::{Patterns, exists};

use crate::Settings;

/// So many files of a request are looked at; one that names more is a person's to decide.
const MOST_FILES: usize = 64;
const SHOWN_BYTES: usize = 4096;
/// What may stand for other letters in a path.
const WILDCARDS: [char; 5] = ['*', '?', '[', '{', '('];

/// Where a session stands on the disk.
#[derive(Clone, Debug)]
pub(crate) struct Ground {
    /// As the agent knows it.
    work_dir: PathBuf,
    /// What it really is.
    root: PathBuf,
    home: Option<PathBuf>,
    /// VoxPilot's own directories.
    private: Vec<PathBuf>,
}

impl Ground {
    pub(crate) fn new(work_dir: &str, settings: &Settings) -> Ground {
        let variable = |name: &str| settings.environment.iter().find(|(known, _)| known == name).map(|(_, value)| PathBuf::from(value));
        let home = variable("HOME");
        let config = variable("XDG_CONFIG_HOME").or_else(|| Some(home.as_ref()?.join(".config"))).map(|dir| dir.join("voxpilot"));
        let private = std::iter::once(settings.data_dir.clone()).chain(config).collect();
        Ground { work_dir: PathBuf::from(work_dir), root: PathBuf::from(work_dir), home, private }
    }

    /// Fills in what is shown of the directory and the files, and where they are. Blocks for as long as the disk takes.
    pub(crate) fn look(mut self, asks: &mut [&mut PermissionAsk]) {
        self.root = real(&self.work_dir).unwrap_or_else(|| self.work_dir.clone());
        self.private = self.private.iter().map(|dir| real(dir).unwrap_or_else(|| dir.clone())).collect();
        for ask in asks {
            self.look_at(ask);
        }
    }

    fn look_at(&self, ask: &mut PermissionAsk) {
        let base = ask.cwd.as_deref().map_or_else(|| self.work_dir.clone(), |cwd| self.spelled(&self.work_dir, cwd));
        ask.cwd = ask.cwd.as_ref().map(|_| self.shown(&real(&base).unwrap_or_else(|| base.clone())));
        let reading = ask.is_read();
        let names = self.names(ask, &base);
        let elsewhere = if reading { self.elsewhere(ask, &base) } else { Vec::new() };
        ask.files.clear();
        for file in names.iter().take(MOST_FILES).map(|name| self.file(name, reading)).chain(elsewhere) {
            if !ask.files.contains(&file) {
                ask.files.push(file);
            }
        }
        if let Some(more @ 1..) = names.len().checked_sub(MOST_FILES) {
            ask.files.push(and_more(more));
        }
    }

    /// What a read names by a directory or with wildcards and is not known to lie inside. Wildcards are shown as they are written.
    fn elsewhere(&self, ask: &PermissionAsk, base: &Path) -> Vec<AskedFile> {
        let places = ask.input.as_ref().map(fields::places).unwrap_or_default();
        if let Some(more @ 1..) = places.len().checked_sub(MOST_FILES) {
            return vec![and_more(more)];
        }
        // A pattern may be meant from where the tool works, or from what it is told to look through.
        let files = places.iter().filter(|(names, _)| *names == Names::File).map(|(_, path)| self.spelled(base, path));
        let starts: Vec<PathBuf> = std::iter::once(base.to_owned()).chain(files).collect();
        let starts_wild = places.iter().any(|(names, text)| matches!(names, Names::Directory | Names::File) && text.contains(WILDCARDS));
        let mut patterns = Patterns::of(&self.root);
        let mut stays_inside = |from: &[PathBuf], text: &str| match (self.below(text), &mut patterns) {
            (Some((root, below)), Some(patterns)) => patterns.stays_inside(root, below),
            (None, _) if text.starts_with(['/', '~']) => false,
            (None, Some(patterns)) => from.iter().all(|start| patterns.stays_inside(start, text)),
            (_, None) => false,
        };
        let directories = places.iter().filter(|(names, _)| *names == Names::Directory);
        let directories = directories.map(|(_, path)| self.spelled(&self.work_dir, path)).chain(ask.cwd.is_some().then(|| base.to_owned()));
        let judged = directories.map(|directory| self.file(&directory, true));
        let mut elsewhere: Vec<AskedFile> = judged.filter(|directory| directory.place != FilePlace::Inside).collect();
        for (names, text) in places {
            let is_inside = match names {
                Names::Directory => !text.contains(WILDCARDS) || stays_inside(std::slice::from_ref(&self.work_dir), text),
                Names::File => !text.contains(WILDCARDS) || stays_inside(&starts[..1], text),
                _ if starts_wild && (names == Names::Glob || text.contains('/')) => false,
                _ => stays_inside(&starts, text),
            };
            if !is_inside {
                elsewhere.push(AskedFile { path: clip(text, SHOWN_BYTES).to_owned(), place: FilePlace::Outside });
            }
        }
        elsewhere
    }

    /// An absolute path into the work directory, as seen from there.
    fn below<'a>(&self, text: &'a str) -> Option<(&Path, &'a str)> {
        [&self.work_dir, &self.root]
            .into_iter()
            .find_map(|root| Some((root.as_path(), text.strip_prefix(root.to_str()?)?.strip_prefix('/')?)))
    }

    /// Everything that the request names, by its words alone: what the agent says outright, the headers of the diff, its hints.
    fn names(&self, ask: &PermissionAsk, base: &Path) -> Vec<PathBuf> {
        let mut names: Vec<PathBuf> = Vec::new();
        let mut add = |path: PathBuf| {
            if !names.contains(&path) {
                names.push(path);
            }
        };
        let outright = ask.files.iter().map(|file| file.path.as_str()).chain(ask.locations.iter().map(|place| place.path.as_str()));
        outright.map(|path| self.spelled(base, path)).for_each(&mut add);
        let headers = ask.diff.as_deref().map(patch::names).unwrap_or_default();
        let readings: Vec<_> = headers.iter().flat_map(|header| self.readings(base, header, &names)).collect();
        names.extend(readings);
        names
    }

    /// A header of a diff may have lost the slash that a path began with.
    fn readings(&self, base: &Path, header: &str, known: &[PathBuf]) -> Vec<PathBuf> {
        let (absolute, relative) = (Path::new("/").join(header), self.spelled(base, header));
        if known.contains(&absolute) || known.contains(&relative) {
            return Vec::new();
        }
        if absolute == relative || absolute.starts_with(&self.work_dir) || absolute.starts_with(&self.root) {
            return vec![absolute];
        }
        let first = Path::new(header).components().next().map(|first| PathBuf::from(first.as_os_str())).unwrap_or_default();
        let (far, near) = (exists(&Path::new("/").join(&first)), exists(&base.join(&first)));
        match (far, near) {
            (true, false) => vec![absolute],
            (true, true) => vec![absolute, relative],
            _ => vec![relative],
        }
    }

    fn spelled(&self, base: &Path, path: &str) -> PathBuf {
        let path = path.strip_prefix("file://").unwrap_or(path);
        match (path.strip_prefix('~'), &self.home) {
            (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
            _ => base.join(path),
        }
    }

    fn file(&self, name: &Path, reading: bool) -> AskedFile {
        let found = real(name);
        let real = found.as_deref().unwrap_or(name);
        let relative = real.strip_prefix(&self.root).ok();
        let spelled = name.strip_prefix(&self.work_dir).or_else(|_| name.strip_prefix(&self.root)).unwrap_or(name);
        let guarded = [relative.unwrap_or(real), spelled].iter().any(|path| protected::is_protected(&path.to_string_lossy(), reading));
        let place = if guarded || self.private.iter().any(|dir| real.starts_with(dir)) {
            FilePlace::Protected
        } else if found.is_some() && relative.is_some() {
            FilePlace::Inside
        } else {
            FilePlace::Outside
        };
        AskedFile { path: self.shown(real), place }
    }

    fn shown(&self, real: &Path) -> String {
        let path = real.strip_prefix(&self.root).unwrap_or(real).to_string_lossy();
        if path.is_empty() { ".".to_owned() } else { clip(&path, SHOWN_BYTES).to_owned() }
    }
}

fn and_more(count: usize) -> AskedFile {
    AskedFile { path: format!("… and {count} more"), place: FilePlace::Protected }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;
    use std::os::unix::fs::symlink;

    use domain::agent::Location;
    use domain::fields::{DIRECTORY_FIELDS, FILE_FIELDS, GLOB_FIELDS, PATTERN_FIELDS};
    use serde_json::{Value, json};

    use super::*;

    struct Disk {
        _dir: tempfile::TempDir,
        root: PathBuf,
    }

    /// A work directory with links that lead out of it and into its repository.
    fn disk() -> Disk {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for path in ["work/src", "work/.git/hooks", "work/etc", "data/voxpilot", "elsewhere"] {
            fs::create_dir_all(root.join(path)).unwrap();
        }
        for path in ["work/src/main.rs", "work/.git/config"] {
            fs::write(root.join(path), "").unwrap();
        }
        symlink(root.join("elsewhere"), root.join("work/out")).unwrap();
        symlink(root.join("elsewhere/new"), root.join("work/dangling")).unwrap();
        symlink(".git/config", root.join("work/settings")).unwrap();
        symlink("../../elsewhere", root.join("work/src/away")).unwrap();
        symlink(root.join("work"), root.join("spelled")).unwrap();
        Disk { _dir: dir, root }
    }

    impl Disk {
        fn look(&self, mut ask: PermissionAsk) -> PermissionAsk {
            let ground = Ground {
                work_dir: self.root.join("spelled"),
                root: PathBuf::new(),
                home: Some(self.root.join("elsewhere")),
                private: vec![self.root.join("data")],
            };
            ground.look(&mut [&mut ask]);
            ask
        }

        /// Whether nothing that a search with this input names is elsewhere.
        fn finds_inside(&self, input: &Value) -> bool {
            let cwd = DIRECTORY_FIELDS.iter().find_map(|field| input.get(field)?.as_str()).map(str::to_owned);
            let is_file = |(names, _): &(Names, &str)| *names == Names::File;
            let named = |(_, path): (Names, &str)| AskedFile { path: path.to_owned(), place: FilePlace::Outside };
            let files = fields::places(input).into_iter().filter(is_file).map(named).collect();
            let ask = PermissionAsk { kind: Some("search".to_owned()), input: Some(input.clone()), cwd, files, ..PermissionAsk::default() };
            self.look(ask).files.iter().all(|file| file.place == FilePlace::Inside)
        }

        fn place(&self, path: &str) -> (String, FilePlace) {
            let path = path.replace("ROOT", self.root.to_str().unwrap());
            let named = AskedFile { path, place: FilePlace::Outside };
            let mut files =
                self.look(PermissionAsk { files: vec![named], kind: Some("edit".to_owned()), ..PermissionAsk::default() }).files;
            assert_eq!(files.len(), 1);
            let file = files.remove(0);
            (file.path.replace(self.root.to_str().unwrap(), "ROOT"), file.place)
        }
    }

    #[test]
    fn a_file_is_where_it_leads() {
        use FilePlace::{Inside, Outside, Protected};
        let disk = disk();
        for (named, shown, place) in [
            ("src/main.rs", "src/main.rs", Inside),
            ("ROOT/work/src/main.rs", "src/main.rs", Inside),
            ("ROOT/spelled/src/new/file.rs", "src/new/file.rs", Inside),
            ("file://ROOT/work/src/main.rs", "src/main.rs", Inside),
            (".", ".", Inside),
            ("out/x", "ROOT/elsewhere/x", Outside),
            ("dangling", "ROOT/elsewhere/new", Outside),
            ("../elsewhere/x", "ROOT/elsewhere/x", Outside),
            ("~/x", "ROOT/elsewhere/x", Outside),
            ("none/../../elsewhere", "ROOT/spelled/none/../../elsewhere", Outside),
            ("settings", ".git/config", Protected),
            (".GIT/config", ".GIT/config", Protected),
            ("AGENTS.md", "AGENTS.md", Protected),
            ("out/.ssh/id", "ROOT/elsewhere/.ssh/id", Protected),
            ("ROOT/data/voxpilot/voxpilot.db", "ROOT/data/voxpilot/voxpilot.db", Protected),
        ] {
            assert_eq!(disk.place(named), (shown.to_owned(), place), "{named}");
        }
    }

    #[test]
    fn the_diff_says_what_is_changed_and_hints_only_add_to_it() {
        let disk = disk();
        let diff = |name: &str| Some(format!("--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-a\n+b\n"));
        let files = |ask: PermissionAsk| {
            let files = disk.look(ask).files;
            files.into_iter().map(|file| (file.path.replace(disk.root.to_str().unwrap(), "ROOT"), file.place)).collect::<Vec<_>>()
        };
        let hint = |path: &str| vec![Location { path: path.to_owned(), line: None }];
        let ask = PermissionAsk { diff: diff(".git/config"), locations: hint("src/main.rs"), ..PermissionAsk::default() };
        assert_eq!(files(ask), [("src/main.rs".to_owned(), FilePlace::Inside), (".git/config".to_owned(), FilePlace::Protected)]);
        // Without its first slash, as some agents write it.
        let whole = disk.root.join("spelled/src/main.rs").to_str().unwrap().to_owned();
        let ask = PermissionAsk { diff: diff(whole.trim_start_matches('/')), locations: hint(&whole), ..PermissionAsk::default() };
        assert_eq!(files(ask), [("src/main.rs".to_owned(), FilePlace::Inside)]);
        let ask = PermissionAsk { diff: diff(whole.trim_start_matches('/')), ..PermissionAsk::default() };
        assert_eq!(files(ask), [("src/main.rs".to_owned(), FilePlace::Inside)]);
        // It may be meant either way.
        let ask = PermissionAsk { diff: diff("etc/nothing"), ..PermissionAsk::default() };
        assert_eq!(files(ask), [("/etc/nothing".to_owned(), FilePlace::Outside), ("etc/nothing".to_owned(), FilePlace::Inside)]);
    }

    #[test]
    fn the_directory_is_shown_and_what_is_named_is_read_from_there() {
        let disk = disk();
        let ask = |cwd: &str| {
            let named = AskedFile { path: "x".to_owned(), place: FilePlace::Outside };
            disk.look(PermissionAsk { cwd: Some(cwd.to_owned()), files: vec![named], ..PermissionAsk::default() })
        };
        let root = disk.root.to_str().unwrap();
        let shown = |cwd: &str| (ask(cwd).cwd.unwrap().replace(root, "ROOT"), ask(cwd).files[0].path.replace(root, "ROOT"));
        assert_eq!(shown(&format!("{root}/work")), (".".to_owned(), "x".to_owned()));
        assert_eq!(shown("src"), ("src".to_owned(), "src/x".to_owned()));
        assert_eq!(shown("out"), ("ROOT/elsewhere".to_owned(), "ROOT/elsewhere/x".to_owned()));
        assert_eq!(disk.look(PermissionAsk::default()).cwd, None);
    }

    /// By the table itself, so that no field is forgotten here.
    #[test]
    fn every_field_that_names_a_place_is_looked_at() {
        let disk = disk();
        let outside = disk.root.join("elsewhere/x").to_str().unwrap().to_owned();
        let absolute = disk.root.join("spelled/o*/x").to_str().unwrap().to_owned();
        let inside = disk.root.join("work/s*/x").to_str().unwrap().to_owned();
        for field in DIRECTORY_FIELDS.iter().chain(&FILE_FIELDS).chain(&GLOB_FIELDS).chain(&PATTERN_FIELDS) {
            for value in ["src/main.rs", "src/new", "s*/main.rs", "src/{main,new}.rs", &inside] {
                assert!(disk.finds_inside(&json!({ *field: value })), "{field} {value}");
            }
            for value in ["out/x", "src/away/x", "o*/x", "src/{away,new}/x", "s*/away/*", "settings*", ".g*/config", &outside, &absolute] {
                assert!(!disk.finds_inside(&json!({ *field: value })), "{field} {value}");
                assert!(!disk.finds_inside(&json!({ *field: ["src/main.rs", value] })), "{field} {value} in a list");
            }
        }
    }

    #[test]
    fn a_pattern_is_meant_from_where_the_tool_looks() {
        let disk = disk();
        assert!(disk.finds_inside(&json!({ "glob": "away/*" })));
        for input in [
            json!({ "path": "src", "glob": "away/*" }),
            json!({ "paths": ["etc", "src"], "include": "a*/x" }),
            json!({ "cwd": "src", "pattern": "away/*" }),
            json!({ "dir_path": "out", "pattern": "x" }),
            json!({ "directory": ".git", "pattern": "url" }),
            json!({ "path": "s*", "glob": "away/*" }),
            json!({ "path": "s*", "pattern": "away/*" }),
        ] {
            assert!(!disk.finds_inside(&input), "{input}");
        }
    }

    #[test]
    fn more_places_than_are_looked_at_are_asked_for() {
        let disk = disk();
        let patterns = |count: usize| json!({ "include": vec!["src/*.rs"; count] });
        assert!(disk.finds_inside(&patterns(MOST_FILES)));
        assert!(!disk.finds_inside(&patterns(MOST_FILES + 1)));
    }

    #[test]
    fn what_names_too_many_files_is_asked_for() {
        let disk = disk();
        let files = (0..200).map(|n| AskedFile { path: format!("f{n}"), place: FilePlace::Outside }).collect();
        let ask = disk.look(PermissionAsk { files, ..PermissionAsk::default() });
        assert_eq!((ask.files.len(), ask.is_protected()), (MOST_FILES + 1, true));
    }
}
