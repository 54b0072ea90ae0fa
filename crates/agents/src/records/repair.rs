//! Taking out of a record what is damaged. What was there is kept beside it.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{Damage, Record, damage};

/// What was done, and where the record lies as it was.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Done {
    /// It can be loaded again.
    Mended { damage: Damage, kept: PathBuf },
    /// Nothing that could be loaded was left, so it is out of the agent's way.
    SetAside { damage: Damage, kept: PathBuf },
}

#[derive(Debug, thiserror::Error)]
pub enum RepairError {
    #[error("nothing is damaged in it")]
    Sound,
    #[error("process {0} has it open: end that agent first")]
    InUse(i32),
    #[error("it was written to meanwhile: try again when its agent has ended")]
    Changed,
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Cuts a torn tail and takes out what is no event, in one step; `time` goes into the name of the copy.
pub fn repair(record: &Record, time: &str) -> Result<Done, RepairError> {
    refuse_in_use(record)?;
    let before = state(&record.file)?;
    let bytes = fs::read(&record.file)?;
    let damage = damage::find(&bytes, &record.shape).ok_or(RepairError::Sound)?;
    let kept = record.file.with_file_name(format!("{}.damaged-{time}", record.shape.file));
    let Some(mended) = damage::mended(&bytes, &record.shape) else {
        refuse_in_use(record)?;
        fs::rename(&record.file, &kept)?;
        return Ok(Done::SetAside { damage, kept });
    };
    let fresh = record.file.with_file_name(format!("{}.repairing", record.shape.file));
    let replaced = write(&fresh, &mended, &record.file).and_then(|()| {
        // The same file under another name where that is possible: it takes no room.
        fs::hard_link(&record.file, &kept).or_else(|_| fs::copy(&record.file, &kept).map(drop))
    });
    let replaced = replaced.map_err(RepairError::from).and_then(|()| {
        refuse_in_use(record)?;
        if state(&record.file)? != before {
            return Err(RepairError::Changed);
        }
        Ok(fs::rename(&fresh, &record.file)?)
    });
    if let Err(error) = replaced {
        let _ = fs::remove_file(&fresh);
        let _ = fs::remove_file(&kept);
        return Err(error);
    }
    Ok(Done::Mended { damage, kept })
}

fn refuse_in_use(record: &Record) -> Result<(), RepairError> {
    user(record.dir()).map_or(Ok(()), |pid| Err(RepairError::InUse(pid)))
}

fn state(file: &Path) -> io::Result<(u64, Option<SystemTime>)> {
    let about = file.metadata()?;
    Ok((about.len(), about.modified().ok()))
}

/// With the rights of the file that it is to replace.
fn write(fresh: &Path, bytes: &[u8], like: &Path) -> io::Result<()> {
    let mut file = File::create(fresh)?;
    file.set_permissions(like.metadata()?.permissions())?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// A process that has something in the session's directory open, as every agent does that has the session.
pub(super) fn user(dir: &Path) -> Option<i32> {
    let dir = dir.canonicalize().ok()?;
    let processes = fs::read_dir("/proc").ok()?.filter_map(Result::ok);
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.into_iter().find(|pid| {
        let Ok(open) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
        open.filter_map(Result::ok).any(|file| fs::read_link(file.path()).is_ok_and(|target| target.starts_with(&dir)))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::catalogue::Quirks;
    use crate::records::Records;

    const SHAPE: Records = Records {
        below: "s",
        file: "events.jsonl",
        first: "start",
        families: &["start"],
        messages: &[],
        title: ("about", "name: "),
        complaints: &[],
    };
    const START: &str = "{\"type\":\"start\",\"id\":\"b93ec98b-8f31-4d47-a002-f240514ede74\"}\n";

    fn record(dir: &Path, text: &str) -> Record {
        let file = dir.join(SHAPE.file);
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        Record { agent_session: "s".into(), title: None, file, shape: SHAPE }
    }

    #[test]
    fn a_torn_record_is_cut_and_kept_beside_with_its_rights() {
        let dir = tempfile::tempdir().unwrap();
        let damaged = format!("{START}{{\"type\":\"half");
        let record = record(dir.path(), &damaged);
        let Done::Mended { kept, .. } = repair(&record, "now").unwrap() else { panic!("it was not mended") };
        assert_eq!(kept, dir.path().join("events.jsonl.damaged-now"));
        assert_eq!((fs::read_to_string(&record.file).unwrap(), fs::read_to_string(kept).unwrap()), (START.to_owned(), damaged));
        assert_eq!(record.file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert!(matches!(repair(&record, "later"), Err(RepairError::Sound)));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn one_of_which_nothing_is_left_is_set_aside() {
        let dir = tempfile::tempdir().unwrap();
        let record = record(dir.path(), "no event\n");
        assert!(matches!(repair(&record, "now").unwrap(), Done::SetAside { .. }));
        assert!(!record.file.exists() && dir.path().join("events.jsonl.damaged-now").exists());
    }

    #[test]
    fn one_that_a_process_has_open_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let record = record(dir.path(), "no event\n");
        let hold = File::create(dir.path().join("hold")).unwrap();
        assert!(matches!(repair(&record, "now"), Err(RepairError::InUse(pid)) if pid == std::process::id().cast_signed()));
        drop(hold);
        assert!(repair(&record, "now").is_ok());
    }

    #[test]
    fn the_records_of_an_agent_are_looked_through() {
        let home = tempfile::tempdir().unwrap();
        for (id, text) in [("good", START), ("bad", "no event\n")] {
            fs::create_dir_all(home.path().join("s").join(id)).unwrap();
            fs::write(home.path().join("s").join(id).join("events.jsonl"), text).unwrap();
            fs::write(home.path().join("s").join(id).join("about"), "id: x\nname: What it was\n").unwrap();
        }
        fs::create_dir(home.path().join("s/unprompted")).unwrap();
        let agent = crate::catalogue::Agent {
            id: "copilot".into(),
            command: "copilot".into(),
            quirks: Quirks { records: Some(SHAPE), ..Quirks::default() },
            ..crate::catalogue::Agent::default()
        };
        let env = [("COPILOT_HOME".to_owned(), home.path().to_str().unwrap().to_owned())];
        let examined = agent.examine_records(&env).unwrap().unwrap();
        let [(record, damage)] = &examined.damaged[..] else { panic!("{examined:?}") };
        assert_eq!((examined.sound, record.agent_session.as_str(), record.title.as_deref()), (1, "bad", Some("What it was")));
        assert!(!damage.repairable);
        assert_eq!(agent.record(&env, "bad").as_ref(), Some(record));
        assert!(agent.record(&env, "../s/bad").is_none() && agent.record(&env, "unprompted").is_none());
    }
}
