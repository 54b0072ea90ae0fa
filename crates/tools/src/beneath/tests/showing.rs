//! What was shown is what is written to.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use crate::{FileError, Shown, look, write_shown};

fn work() -> (tempfile::TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let work = home.path().join("work");
    for path in ["src", ".git"] {
        fs::create_dir_all(work.join(path)).unwrap();
    }
    fs::create_dir(home.path().join("outside")).unwrap();
    fs::write(work.join("src/config"), "a").unwrap();
    fs::write(work.join(".git/config"), "a").unwrap();
    fs::write(home.path().join("outside/config"), "a").unwrap();
    (home, work)
}

fn changed(outcome: Result<Option<String>, FileError>) -> bool {
    matches!(outcome, Err(FileError::Refused(why)) if why.ends_with("has changed since it was shown"))
}

#[test]
fn writes_to_the_file_that_was_shown() {
    let (_home, work) = work();
    symlink("src", work.join("alias")).unwrap();
    fs::set_permissions(work.join("src/config"), fs::Permissions::from_mode(0o750)).unwrap();
    let (shown, text) = look(&work, "alias/config").unwrap();
    assert_eq!((shown.path.as_str(), text.as_deref()), ("src/config", Some("a")));
    assert_eq!(shown.before.as_deref(), Some(domain::text::digest("a").as_str()));
    assert_eq!(write_shown(&work, &shown, "b", false).unwrap().as_deref(), Some("a"));
    assert_eq!(fs::read_to_string(work.join("src/config")).unwrap(), "b");
    assert_eq!(work.join("src/config").metadata().unwrap().permissions().mode() & 0o777, 0o750);
    let (shown, text) = look(&work, "alias/new/er/file").unwrap();
    assert_eq!((&shown, text), (&Shown { path: "src/new/er/file".to_owned(), before: None }, None));
    assert_eq!(write_shown(&work, &shown, "c", true).unwrap(), None);
    assert_eq!(fs::read_to_string(work.join("src/new/er/file")).unwrap(), "c");
    let stored = serde_json::to_string(&shown).unwrap();
    assert_eq!(serde_json::from_str::<Shown>(&stored).unwrap(), shown);
}

#[test]
fn refuses_what_has_changed_since() {
    type Case = (&'static str, fn(&PathBuf));
    let cases: [Case; 8] = [
        ("src/config", |work| fs::write(work.join("src/config"), "b").unwrap()),
        ("src/config", |work| fs::remove_file(work.join("src/config")).unwrap()),
        ("src/config", |work| {
            fs::remove_file(work.join("src/config")).unwrap();
            symlink("../.git/config", work.join("src/config")).unwrap();
        }),
        ("src/config", |work| {
            fs::rename(work.join("src"), work.join("moved")).unwrap();
            symlink(".git", work.join("src")).unwrap();
        }),
        ("src/config", |work| {
            fs::rename(work.join("src"), work.join("moved")).unwrap();
            symlink("moved", work.join("src")).unwrap();
        }),
        ("src/config", |work| {
            fs::rename(work.join("src"), work.join("moved")).unwrap();
            symlink("../outside", work.join("src")).unwrap();
        }),
        ("src/new", |work| fs::write(work.join("src/new"), "").unwrap()),
        ("src/new", |work| symlink("nowhere", work.join("src/new")).unwrap()),
    ];
    for (number, (path, change)) in cases.into_iter().enumerate() {
        let (home, work) = work();
        let (shown, _) = look(&work, path).unwrap();
        change(&work);
        assert!(changed(write_shown(&work, &shown, "evil", false)), "case {number}");
        for untouched in ["work/.git/config", "outside/config"] {
            assert_eq!(fs::read_to_string(home.path().join(untouched)).unwrap(), "a", "case {number}");
        }
        assert!(!home.path().join("outside/new").exists() && !work.join("nowhere").exists(), "case {number}");
    }
}

#[test]
fn a_shown_path_that_was_tampered_with_leads_nowhere() {
    let (home, work) = work();
    for path in ["../outside/config", "", ".", "src/../.git/config", "/etc/passwd", "src"] {
        let shown = Shown { path: path.to_owned(), before: Some(domain::text::digest("a")) };
        assert!(write_shown(&work, &shown, "evil", false).is_err(), "{path}");
    }
    assert_eq!(fs::read_to_string(home.path().join("outside/config")).unwrap(), "a");
    assert_eq!(fs::read_to_string(work.join(".git/config")).unwrap(), "a");
}
