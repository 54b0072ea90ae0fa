//! What the files and directories that a request names are on the disk: where they lead once every link is followed, and whether a
//! person is to be asked about them. Looking takes the disk's time, so it is done outside of the session's task.

use std::path::{Path, PathBuf};

use domain::agent::{AskedFile, FilePlace, PermissionAsk};
use domain::text::clip;
use domain::{patch, protected};
use tools::real_path as real;

use crate::Settings;

/// So many files of a request are looked at; one that names more is a person's to decide.
const MOST_FILES: usize = 64;
const SHOWN_BYTES: usize = 4096;

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
        ask.files.clear();
        for name in names.iter().take(MOST_FILES) {
            let file = self.file(name, reading);
            if !ask.files.contains(&file) {
                ask.files.push(file);
            }
        }
        if let Some(more @ 1..) = names.len().checked_sub(MOST_FILES) {
            ask.files.push(AskedFile { path: format!("… and {more} more"), place: FilePlace::Protected });
        }
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
        let (far, near) = (Path::new("/").join(&first).exists(), base.join(&first).symlink_metadata().is_ok());
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;
    use std::os::unix::fs::symlink;

    use domain::agent::Location;

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
        fs::write(root.join("work/src/main.rs"), "").unwrap();
        symlink(root.join("elsewhere"), root.join("work/out")).unwrap();
        symlink(root.join("elsewhere/new"), root.join("work/dangling")).unwrap();
        symlink(".git/config", root.join("work/settings")).unwrap();
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

    #[test]
    fn what_names_too_many_files_is_asked_for() {
        let disk = disk();
        let files = (0..200).map(|n| AskedFile { path: format!("f{n}"), place: FilePlace::Outside }).collect();
        let ask = disk.look(PermissionAsk { files, ..PermissionAsk::default() });
        assert_eq!((ask.files.len(), ask.is_protected()), (MOST_FILES + 1, true));
    }
}
