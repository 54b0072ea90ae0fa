//! Whole files, one writer after the other, and nothing left behind.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use crate::write_text;

const SUFFIX: &str = ".voxpilot-new";
const LEFT_BEHIND: Duration = Duration::from_secs(3600);

fn names(dir: &Path) -> Vec<String> {
    fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_write_replaces_the_whole_file_and_keeps_its_mode() {
    let home = tempfile::tempdir().unwrap();
    let work = home.path();
    assert_eq!(write_text(work, "deep/er/a", "one", false).unwrap(), None);
    let absolute = work.join("deep/er/a");
    fs::set_permissions(&absolute, fs::Permissions::from_mode(0o750)).unwrap();
    assert_eq!(write_text(work, absolute.to_str().unwrap(), "two", false).unwrap().as_deref(), Some("one"));
    assert_eq!(fs::read_to_string(&absolute).unwrap(), "two");
    assert_eq!(absolute.metadata().unwrap().permissions().mode() & 0o777, 0o750);
    assert_eq!(fs::read_dir(work.join("deep/er")).unwrap().count(), 1, "nothing is left beside it");
}

#[test]
fn of_many_writes_at_once_each_is_whole_and_none_is_refused() {
    let work = tempfile::tempdir().unwrap();
    let contents: Vec<String> = (0..8).map(|writer| format!("{writer}\n").repeat(50_000)).collect();
    let replaced: Vec<Option<String>> = std::thread::scope(|scope| {
        let writers: Vec<_> = contents
            .iter()
            .map(|content| scope.spawn(|| (0..5).map(|_| write_text(work.path(), "a", content, false).unwrap()).collect::<Vec<_>>()))
            .collect();
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    });
    // Each write saw the one before it: as a whole they form one chain.
    let last = fs::read_to_string(work.path().join("a")).unwrap();
    assert!(contents.contains(&last));
    assert_eq!(replaced.iter().filter(|before| before.is_none()).count(), 1);
    for content in &contents {
        let seen = replaced.iter().flatten().filter(|before| *before == content).count();
        assert_eq!(seen + usize::from(*content == last), 5);
    }
    assert_eq!(names(work.path()), ["a"]);
}

#[test]
fn what_a_killed_server_left_of_a_file_is_removed_with_the_next_write() {
    let work = tempfile::tempdir().unwrap();
    let long_ago = SystemTime::now() - 2 * LEFT_BEHIND;
    for (name, at) in [(".a.0123.voxpilot-new", long_ago), (".a.4567.voxpilot-new", SystemTime::now()), (".b.0123.voxpilot-new", long_ago)]
    {
        File::create(work.path().join(name)).unwrap().set_modified(at).unwrap();
    }
    write_text(work.path(), "a", "1", false).unwrap();
    let mut left = names(work.path());
    left.sort();
    assert_eq!(left, [".a.4567.voxpilot-new", ".b.0123.voxpilot-new", "a"], "one may be in use, one is another file's");
}

/// Run by the next test in a process of its own.
#[test]
fn one_durable_write() {
    let work = tempfile::tempdir().unwrap();
    write_text(work.path(), "new/a", "1", true).unwrap();
}

#[test]
fn a_durable_write_is_on_the_disk_before_and_after_it_takes_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("calls");
    let mut traced = Command::new("strace");
    traced.args(["-f", "-y", "-e", "trace=fsync,/^rename", "-o"]).arg(&log).arg(std::env::current_exe().unwrap());
    let done = traced.args(["--exact", "beneath::tests::writing::one_durable_write"]).output();
    if !done.is_ok_and(|done| done.status.success()) {
        println!("skipped: strace is not here or may not trace");
        return;
    }
    let calls = fs::read_to_string(log).unwrap();
    let calls: Vec<&str> = calls.lines().filter(|line| line.contains("fsync(") || line.contains("rename")).collect();
    let [file, rename, dir, parent] = calls.as_slice() else { panic!("{calls:#?}") };
    assert!(file.contains("fsync(") && file.contains(SUFFIX), "{file}");
    assert!(rename.contains("rename") && rename.contains("/new>, \"a\""), "{rename}");
    assert!(dir.contains("fsync(") && dir.contains("/new>"), "{dir}");
    assert!(parent.contains("fsync(") && !parent.contains("/new>"), "{parent}");
}
