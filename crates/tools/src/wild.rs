//! Paths with wildcards: whether everything that they stand for lies in the project. For whoever judges what an agent wants to read;
//! nothing is read by what is found here.
//!
//! A search that goes down into directories by itself (`**`, or a name without a slash) does not follow the links that it meets. Every
//! link that a part of a pattern names is followed.

use std::path::Path;

use domain::protected;
use globset::{GlobBuilder, GlobMatcher};

use crate::beneath::{Entry, Kind, Links, Lost};
use crate::work_dir::WorkDir;

/// So many entries of directories are looked at for all patterns of a request.
const MOST_ENTRIES: usize = 20_000;

/// Follows the patterns of one request.
pub struct Patterns {
    work_dir: WorkDir,
    entries_left: usize,
}

/// What stands between two slashes.
enum Part {
    /// `**`
    Anything,
    Name(Name),
}

/// Some programs take wildcards as they are written, and some do not care about large and small letters.
struct Name {
    literal: GlobMatcher,
    wild: GlobMatcher,
    starts_with_star: bool,
}

impl Patterns {
    /// None where the work directory cannot be opened.
    pub fn of(work_dir: &Path) -> Option<Self> {
        Some(Self { work_dir: WorkDir::open(work_dir).ok()?, entries_left: MOST_ENTRIES })
    }

    /// Whether all that the pattern stands for, seen from `base`, is inside and nothing that a person is asked about before it is read.
    /// False also where that cannot be known, or would take too long.
    pub fn stays_inside(&mut self, base: &Path, pattern: &str) -> bool {
        let parts = pattern.split('/').filter(|part| !part.is_empty() && *part != ".");
        let Some(mut parts) = parts.map(Part::new).collect::<Option<Vec<Part>>>() else {
            // Without a slash it is an expression for what is looked for in files.
            return !pattern.contains('/');
        };
        parts.dedup_by(|one, other| matches!((one, other), (Part::Anything, Part::Anything)));
        self.goes_on_inside(base, &parts)
    }

    /// From where a path leads on. What is not there, or no directory, leads nowhere.
    fn goes_on_inside(&mut self, path: &Path, parts: &[Part]) -> bool {
        match self.work_dir.root().walk(path.as_os_str().as_encoded_bytes(), Links::Follow) {
            Ok(spot) if spot.kind == Some(Kind::Directory) => self.is_inside(&spot.path, parts),
            Ok(_) | Err(Lost::Missing | Lost::NotDirectory) => true,
            Err(Lost::Outside | Lost::Link | Lost::System(_)) => false,
        }
    }

    /// `directory` is relative to the work directory, and has no links.
    fn is_inside(&mut self, directory: &Path, parts: &[Part]) -> bool {
        match parts {
            // A name that is looked for everywhere is found, and not followed.
            [] | [Part::Anything] | [Part::Anything, Part::Name(_)] => true,
            [Part::Anything, rest @ ..] => {
                let Some(entries) = self.entries(directory) else { return false };
                let mut directories = entries.into_iter().filter(|entry| entry.kind == Kind::Directory);
                self.is_inside(directory, rest) && directories.all(|entry| self.is_inside(&directory.join(entry.name), parts))
            }
            [Part::Name(name), rest @ ..] => {
                let Some(entries) = self.entries(directory) else { return false };
                let mut fitting = entries.into_iter().filter(|entry| name.fits(entry));
                fitting.all(|entry| self.entry_is_inside(directory, name, &entry, rest))
            }
        }
    }

    fn entry_is_inside(&mut self, directory: &Path, name: &Name, entry: &Entry, rest: &[Part]) -> bool {
        let path = directory.join(&entry.name);
        match entry.kind {
            Kind::Directory | Kind::Link if !rest.is_empty() => self.goes_on_inside(&path, rest),
            _ if !rest.is_empty() => true,
            // A star lists directories, and does not look into them.
            Kind::Directory => name.starts_with_star || !is_secret(&path),
            Kind::Link => match self.work_dir.root().walk(path.as_os_str().as_encoded_bytes(), Links::Follow) {
                Ok(spot) => !is_secret(&path) && !is_secret(&spot.path),
                Err(_) => false,
            },
            _ => !is_secret(&path),
        }
    }

    /// None where they cannot be listed, or are more than are looked at.
    fn entries(&mut self, directory: &Path) -> Option<Vec<Entry>> {
        let spot = self.work_dir.root().walk(directory.as_os_str().as_encoded_bytes(), Links::Refuse).ok()?;
        // The directory itself counts too.
        self.entries_left = self.entries_left.checked_sub(1)?;
        let entries = spot.directory().ok()?.entries(self.entries_left + 1).ok()?;
        self.entries_left = self.entries_left.checked_sub(entries.len())?;
        Some(entries)
    }
}

fn is_secret(path: &Path) -> bool {
    protected::is_protected(&path.to_string_lossy(), true)
}

impl Part {
    /// None where it is not understood.
    fn new(text: &str) -> Option<Self> {
        let is_group = ["@(", "!(", "+(", "?(", "*("].iter().any(|group| text.contains(group));
        if is_group || text == ".." {
            return None;
        }
        if text == "**" {
            return Some(Part::Anything);
        }
        let matcher =
            |glob: &str| Some(GlobBuilder::new(glob).literal_separator(true).case_insensitive(true).build().ok()?.compile_matcher());
        let (literal, wild) = (matcher(&globset::escape(text))?, matcher(text)?);
        Some(Part::Name(Name { literal, wild, starts_with_star: text.starts_with('*') }))
    }
}

impl Name {
    fn fits(&self, entry: &Entry) -> bool {
        self.literal.is_match(&entry.name) || self.wild.is_match(&entry.name)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    use super::*;

    /// A project with links out of it, into its repository and around in itself.
    fn project() -> (tempfile::TempDir, PathBuf) {
        let home = tempfile::tempdir().unwrap();
        let work = home.path().canonicalize().unwrap().join("work");
        for path in ["work/src/deep/er", "work/app/[id]", "work/.git", "outside"] {
            fs::create_dir_all(work.parent().unwrap().join(path)).unwrap();
        }
        for path in ["work/src/a.rs", "work/.git/config", "work/.env", "work/server.pem", "outside/x"] {
            fs::write(work.parent().unwrap().join(path), "").unwrap();
        }
        for (target, link) in [
            ("../outside", "out"),
            ("../../../outside", "src/deep/away"),
            ("../../outside/x", "src/b.rs"),
            ("../outside/new", "dangling"),
            ("src", "inside"),
            ("nowhere", "broken"),
            ("loop", "loop"),
            (".git", "repository"),
            (".git/config", "src/settings"),
        ] {
            symlink(target, work.join(link)).unwrap();
        }
        (home, work)
    }

    fn stays_inside(work: &Path, base: &str, pattern: &str) -> bool {
        Patterns::of(work).unwrap().stays_inside(&work.join(base), pattern)
    }

    #[test]
    fn what_a_pattern_names_stays_inside() {
        let (_home, work) = project();
        for pattern in [
            "",
            "*.rs",
            "**/*.rs",
            "**",
            "src/**",
            "src/**/*.rs",
            "./src//deep/e*",
            "s*/deep/e*",
            "inside/d*/er/*",
            "app/[id]/page.tsx",
            "{src,app}/x",
            "missing/*/x",
            "src/a.rs/x",
            "a[",
            "(a|b)?(c)",
            "nothing",
            "broken/x",
            "app*",
            "*de/deep",
        ] {
            assert!(stays_inside(&work, ".", pattern), "{pattern}");
        }
        assert!(stays_inside(&work, "src", "deep/er/*"));
        assert!(stays_inside(&work, "missing", "out/*"));
    }

    #[test]
    fn a_link_that_a_pattern_names_leads_out() {
        let (home, work) = project();
        for pattern in [
            "out/*",
            "out",
            "out/**",
            "OUT/*",
            "o*/x",
            "o*",
            "?ut/x",
            "[o]ut/x",
            "[!s]ut/x",
            "{out,src}/x",
            "*/x",
            "*",
            "dangl*",
            "loop/x",
            "src/*.rs",
            "src/b.rs",
            "src/*/away/x",
            "src/deep/a*/x",
            "src/{deep,a}/away/*",
            "**/away/x",
            "inside/deep/*/x",
            "inside/deep/away",
            "@(out|src)/x",
            "a[/x",
            "../outside/x",
        ] {
            assert!(!stays_inside(&work, ".", pattern), "{pattern}");
        }
        assert!(!stays_inside(&work, "src", "deep/*/x"));
        assert!(!stays_inside(&work, "out", "x"));
        assert!(!Patterns::of(&work).unwrap().stays_inside(home.path(), "x"));
    }

    #[test]
    fn what_a_person_is_asked_about_is_not_reached_by_wildcards() {
        let (_home, work) = project();
        for pattern in [".g*/config", ".git/*", ".g*", "?git/config", "repository/*", ".e*", "{.env,x}", "*.pem", "src/set*", "*/config"] {
            assert!(!stays_inside(&work, ".", pattern), "{pattern}");
        }
    }

    #[test]
    fn wildcards_are_followed_so_far_and_no_further() {
        let (_home, work) = project();
        let mut patterns = Patterns::of(&work).unwrap();
        patterns.entries_left = 20;
        assert!(patterns.stays_inside(&work, "app/*/x"));
        assert!(!patterns.stays_inside(&work, "app/*/x"), "one bound for all of a request");
        fs::create_dir(work.join("many")).unwrap();
        for number in 0..MOST_ENTRIES {
            fs::write(work.join(format!("many/{number}")), "").unwrap();
        }
        assert!(!stays_inside(&work, ".", "many/*"));
    }
}
