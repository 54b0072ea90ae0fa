//! Text files of the work directory, written for an agent that leaves that to its client. Blocking; the caller has asked whoever must be
//! asked.

use std::fs::{self, File, Permissions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use crate::bound;
use crate::files::{FileError, current_text};
use crate::work_dir::{WorkDir, reason};

/// What a file is called while it is being written: `.name.random.voxpilot-new`.
const SUFFIX: &str = ".voxpilot-new";

/// A file that is still called so after this time was left by a server that was killed.
const LEFT_BEHIND: Duration = Duration::from_secs(3600);
const MOST_LOOKED_AT: usize = 10_000;

/// Who writes to a file holds the lock that its path falls to. Two files may share one, and then wait for each other.
static WRITERS: [Mutex<()>; 64] = [const { Mutex::new(()) }; 64];

/// Makes the file hold exactly `content`, in one step: nobody ever sees half of it, and of two at once the second replaces the first
/// whole. With `to_disk` it is there after a loss of power too. Returns the text that it replaces.
pub fn write_text(work_dir: &Path, path: &str, content: &str, to_disk: bool) -> Result<Option<String>, FileError> {
    let root = WorkDir::open(work_dir)?;
    let place = root.place(path)?;
    let _alone = writer(&place);
    let before = current_text(work_dir, path)?;
    let cannot = |why: io::Error| FileError::Refused(format!("cannot write '{}': {}", bound::name(path), reason(&why)));
    let dir = place.parent().unwrap_or(root.root()).to_owned();
    let made: Vec<&Path> = dir.ancestors().take_while(|dir| !dir.exists()).collect();
    fs::create_dir_all(&dir).map_err(cannot)?;
    // Somebody may have put a link there meanwhile.
    if dir.canonicalize().ok().as_deref() != Some(&dir) || !dir.starts_with(root.root()) {
        return Err(FileError::Refused(format!("'{}' is outside the work directory", bound::name(path))));
    }
    replace(&place, &dir, content, to_disk).map_err(cannot)?;
    if to_disk {
        let parents = made.iter().filter_map(|dir| dir.parent());
        std::iter::once(dir.as_path()).chain(parents).try_for_each(|dir| File::open(dir)?.sync_all()).map_err(cannot)?;
    }
    Ok(before)
}

fn writer(place: &Path) -> MutexGuard<'static, ()> {
    let mut hasher = DefaultHasher::new();
    place.hash(&mut hasher);
    let lock = &WRITERS[(hasher.finish() % WRITERS.len() as u64) as usize];
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The new file is made beside the old one, under a name that nobody else uses, and takes its place.
fn replace(place: &Path, dir: &Path, content: &str, to_disk: bool) -> io::Result<()> {
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    let prefix = format!(".{}.", bound::prefix(&name, 100));
    sweep(dir, &prefix);
    let mode = place.metadata().ok().map(|about| about.permissions());
    let fresh = Permissions::from_mode(0o666);
    let mut file = tempfile::Builder::new().prefix(&prefix).suffix(SUFFIX).rand_bytes(16).permissions(fresh).tempfile_in(dir)?;
    file.write_all(content.as_bytes())?;
    if let Some(mode) = mode {
        file.as_file().set_permissions(mode)?;
    }
    if to_disk {
        file.as_file().sync_all()?;
    }
    file.persist(place).map_err(|failed| failed.error)?;
    Ok(())
}

/// Removes what a killed server left of this very file.
fn sweep(dir: &Path, prefix: &str) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries.flatten().take(MOST_LOOKED_AT) {
        let name = entry.file_name();
        let is_ours = name.to_str().is_some_and(|name| name.starts_with(prefix) && name.ends_with(SUFFIX));
        if is_ours && is_old(&entry) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn is_old(entry: &fs::DirEntry) -> bool {
    let written = entry.metadata().ok().filter(fs::Metadata::is_file).and_then(|about| about.modified().ok());
    written.and_then(|at| SystemTime::now().duration_since(at).ok()).is_some_and(|age| age > LEFT_BEHIND)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::process::Command;

    use super::*;

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
        for (name, at) in
            [(".a.0123.voxpilot-new", long_ago), (".a.4567.voxpilot-new", SystemTime::now()), (".b.0123.voxpilot-new", long_ago)]
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
        let done = traced.args(["--exact", "write::tests::one_durable_write"]).output();
        if !done.is_ok_and(|done| done.status.success()) {
            println!("skipped: strace is not here or may not trace");
            return;
        }
        let calls = fs::read_to_string(log).unwrap();
        let calls: Vec<&str> = calls.lines().filter(|line| line.contains("fsync(") || line.contains("rename")).collect();
        let [file, rename, dir, parent] = calls.as_slice() else { panic!("{calls:#?}") };
        assert!(file.contains("fsync(") && file.contains(SUFFIX), "{file}");
        assert!(rename.contains("rename") && rename.contains("new/a"), "{rename}");
        assert!(dir.contains("fsync(") && dir.contains("/new>"), "{dir}");
        assert!(parent.contains("fsync(") && !parent.contains("/new>"), "{parent}");
    }
}
