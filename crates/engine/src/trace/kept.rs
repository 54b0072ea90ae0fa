//! Where the journals of runners go that have ended: `traces/<session>/<runner>/journal`.
//!
//! A runner's place is made before it is started, so that whoever clears it away, even after a crash, finds where its journal belongs.
//! A place without a journal is a runner whose traffic is no longer kept.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use agents::trace;
use domain::ids::SessionId;
use uuid::Uuid;

use super::TracedRunner;

/// What ended runners of one session may take; the oldest is dropped first.
const SESSION_BYTES: u64 = 64 * 1024 * 1024;
const JOURNAL: &str = "journal";

/// Makes the place for a runner's journal.
pub(crate) fn reserve(traces: &Path, session: SessionId, runner: Uuid) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(place(traces, session, runner))
}

/// Moves the journal out of a runner's directory that is about to be removed. One whose session is gone has no place.
pub(crate) fn keep(traces: &Path, runner_dir: &Path) -> io::Result<()> {
    let Some(name) = runner_dir.file_name() else { return Ok(()) };
    let journal = runner_dir.join(JOURNAL);
    if !journal.exists() {
        return Ok(());
    }
    for session in subdirs(traces)? {
        let place = session.join(name);
        if place.is_dir() {
            fs::rename(&journal, place.join(JOURNAL))?;
            return drop_beyond(&session, SESSION_BYTES);
        }
    }
    Ok(())
}

/// All runners of a session, newest first. A journal that is not in its place is where the runner has it, in `runners`.
pub(super) fn runners(traces: &Path, runners: &Path, session: SessionId, running: &[Uuid]) -> io::Result<Vec<TracedRunner>> {
    let mut all = Vec::new();
    for place in subdirs(&traces.join(session.to_string()))? {
        let Some(id) = place.file_name().and_then(|name| name.to_str()?.parse::<Uuid>().ok()) else { continue };
        let dir = if place.join(JOURNAL).exists() { place } else { runners.join(id.to_string()) };
        all.push(TracedRunner { id, running: running.contains(&id), first_seq: trace::oldest(&dir)?, dir });
    }
    all.sort_by_key(|runner| std::cmp::Reverse(runner.id));
    Ok(all)
}

pub(crate) fn forget(traces: &Path, session: SessionId) -> io::Result<()> {
    match fs::remove_dir_all(traces.join(session.to_string())) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The sessions that something is kept of.
pub(crate) fn sessions(traces: &Path) -> io::Result<Vec<SessionId>> {
    let names = subdirs(traces)?;
    Ok(names.iter().filter_map(|path| path.file_name()?.to_str()?.parse().ok()).collect())
}

pub(super) fn drop_older(traces: &Path, age: Duration) -> io::Result<()> {
    for place in subdirs(traces)?.iter().map(|session| subdirs(session)).collect::<io::Result<Vec<_>>>()?.concat() {
        let journal = place.join(JOURNAL);
        let Ok(ended) = fs::metadata(&place).and_then(|place| place.modified()) else { continue };
        if journal.exists() && SystemTime::now().duration_since(ended).is_ok_and(|since| since > age) {
            fs::remove_dir_all(journal)?;
        }
    }
    Ok(())
}

/// Drops the oldest pieces until what is left fits; the newest piece always stays.
fn drop_beyond(session: &Path, most: u64) -> io::Result<()> {
    let mut pieces = Vec::new();
    for place in subdirs(session)? {
        let Ok(entries) = fs::read_dir(place.join(JOURNAL)) else { continue };
        for entry in entries {
            let entry = entry?;
            pieces.push((entry.path(), entry.metadata()?.len()));
        }
    }
    // Runners' ids grow with time, and so do the names of their pieces.
    pieces.sort();
    let mut total: u64 = pieces.iter().map(|(_, bytes)| bytes).sum();
    pieces.pop();
    for (path, bytes) in pieces {
        if total <= most {
            break;
        }
        fs::remove_file(path)?;
        total -= bytes;
    }
    Ok(())
}

fn place(traces: &Path, session: SessionId, runner: Uuid) -> PathBuf {
    traces.join(session.to_string()).join(runner.to_string())
}

fn subdirs(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    let paths = entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()?;
    Ok(paths.into_iter().filter(|path| path.is_dir()).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_journal_goes_to_the_place_that_was_made_for_it_and_to_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let (traces, runners) = (dir.path().join("traces"), dir.path().join("runners"));
        let (session, known, stray) = (SessionId(Uuid::now_v7()), Uuid::now_v7(), Uuid::now_v7());
        reserve(&traces, session, known).unwrap();
        for runner in [known, stray] {
            let journal = runners.join(runner.to_string()).join(JOURNAL);
            fs::create_dir_all(&journal).unwrap();
            fs::write(journal.join("0000000001.seg"), "x").unwrap();
            keep(&traces, &runners.join(runner.to_string())).unwrap();
        }
        let listed = || super::runners(&traces, Path::new("/nowhere"), session, &[]).unwrap();
        let kept = listed();
        assert_eq!(kept.iter().map(|runner| (runner.id, runner.first_seq)).collect::<Vec<_>>(), [(known, Some(1))]);
        assert!(runners.join(stray.to_string()).join(JOURNAL).exists(), "it is removed with its directory");
        drop_older(&traces, Duration::ZERO).unwrap();
        assert_eq!(listed()[0].first_seq, None);
        assert_eq!(sessions(&traces).unwrap(), [session]);
        forget(&traces, session).unwrap();
        assert!(sessions(&traces).unwrap().is_empty());
    }

    #[test]
    fn the_oldest_pieces_go_first_and_the_newest_stays() {
        let session = tempfile::tempdir().unwrap();
        for (runner, piece) in [("a", 1), ("a", 2), ("b", 1), ("b", 2)] {
            let journal = session.path().join(runner).join(JOURNAL);
            fs::create_dir_all(&journal).unwrap();
            fs::write(journal.join(format!("{piece:010}.seg")), [0; 10]).unwrap();
        }
        let left = |most| {
            drop_beyond(session.path(), most).unwrap();
            let count = |runner: &str| fs::read_dir(session.path().join(runner).join(JOURNAL)).unwrap().count();
            (count("a"), count("b"))
        };
        assert_eq!(left(40), (2, 2));
        assert_eq!(left(35), (1, 2));
        assert_eq!(left(10), (0, 1));
        assert_eq!(left(0), (0, 1));
    }
}
