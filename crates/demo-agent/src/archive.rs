//! The sessions on disk: one NDJSON file each, appended as things happen. Knows nothing of the wire.
//!
//! A kill may tear the last line of a file; a torn tail is cut before anything is appended, and a line that
//! cannot be read is passed over, so that one bad line never costs the whole session.

use std::cmp::Reverse;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

/// One line of a session's file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Record {
    Session {
        id: String,
        cwd: PathBuf,
        at: Timestamp,
    },
    Cwd {
        cwd: PathBuf,
    },
    Title {
        title: String,
    },
    Mode {
        mode: String,
    },
    Pace {
        pace: String,
    },
    Prompt {
        text: String,
        at: Timestamp,
    },
    /// A piece of the agent's message; neighbours belong together.
    Text {
        text: String,
    },
    ToolCall {
        call: Value,
    },
    ToolUpdate {
        update: Value,
    },
    End {
        stop_reason: String,
        at: Timestamp,
    },
}

/// A session as the list shows it.
#[derive(Debug)]
pub(crate) struct Summary {
    pub id: String,
    pub cwd: PathBuf,
    pub title: Option<String>,
    /// From the records: a file's own time is too coarse to put sessions in order.
    pub updated: Timestamp,
}

impl Summary {
    /// Newest first, the id breaking ties: the order of the list, and what a cursor points into.
    pub(crate) fn sort_key(&self) -> (Reverse<i128>, &str) {
        (Reverse(self.updated.as_nanosecond()), &self.id)
    }
}

pub(crate) struct Archive {
    dir: PathBuf,
}

impl Archive {
    pub(crate) fn open(state_dir: &Path) -> io::Result<Self> {
        let dir = state_dir.join("sessions");
        fs::create_dir_all(&dir)?;
        Ok(Self { dir })
    }

    pub(crate) fn create(&self, id: &str) -> io::Result<Log> {
        let file = OpenOptions::new().append(true).create_new(true).open(self.path(id))?;
        Ok(Log { file })
    }

    /// Everything the file holds, and the file ready for more. `None` if there is no such session.
    pub(crate) fn restore(&self, id: &str) -> io::Result<Option<(Vec<Record>, Log)>> {
        if Uuid::parse_str(id).is_err() {
            return Ok(None);
        }
        let mut file = match OpenOptions::new().read(true).append(true).open(self.path(id)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        if whole < bytes.len() {
            file.set_len(whole as u64)?;
            file.seek(SeekFrom::End(0))?;
        }
        let records: Vec<Record> =
            bytes[..whole].split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
        Ok(Some((records, Log { file })))
    }

    /// True if there was such a session.
    pub(crate) fn delete(&self, id: &str) -> io::Result<bool> {
        if Uuid::parse_str(id).is_err() {
            return Ok(false);
        }
        match fs::remove_file(self.path(id)) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// All sessions in list order. Files that cannot be read are left out.
    pub(crate) fn list(&self) -> io::Result<Vec<Summary>> {
        let mut all: Vec<Summary> = fs::read_dir(&self.dir)?.filter_map(|entry| summarise(&entry.ok()?.path())).collect();
        all.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
        Ok(all)
    }

    fn path(&self, id: &str) -> PathBuf {
        self.dir.join(format!("{id}.ndjson"))
    }
}

fn summarise(path: &Path) -> Option<Summary> {
    let id = path.file_name()?.to_str()?.strip_suffix(".ndjson")?.to_owned();
    Uuid::parse_str(&id).ok()?;
    let file = File::open(path).ok()?;
    let (mut cwd, mut title, mut updated) = (None, None, None);
    // Most lines of a long session are text: only those that matter here are parsed.
    const WANTED: [&str; 5] = ["session", "cwd", "title", "prompt", "end"];
    let is_wanted = |line: &[u8]| {
        let rest = line.strip_prefix(b"{\"type\":\"").unwrap_or_default();
        WANTED.iter().any(|kind| rest.starts_with(kind.as_bytes()))
    };
    for line in BufReader::new(file).split(b'\n') {
        let line = line.ok()?;
        if !is_wanted(&line) {
            continue;
        }
        match serde_json::from_slice(&line) {
            Ok(Record::Session { cwd: first, at, .. }) => (cwd, updated) = (Some(first), Some(at)),
            Ok(Record::Prompt { at, .. } | Record::End { at, .. }) => updated = Some(at),
            Ok(Record::Cwd { cwd: moved }) => cwd = Some(moved),
            Ok(Record::Title { title: given }) => title = Some(given),
            _ => {}
        }
    }
    Some(Summary { id, cwd: cwd?, title, updated: updated? })
}

/// One session's file, open for appending.
pub(crate) struct Log {
    file: File,
}

impl Log {
    pub(crate) fn append(&mut self, record: &Record) -> io::Result<()> {
        let mut line = serde_json::to_vec(record)?;
        line.push(b'\n');
        self.file.write_all(&line)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn text(text: &str) -> Record {
        Record::Text { text: text.into() }
    }

    #[test]
    fn a_torn_tail_is_cut_and_the_session_goes_on() {
        let dir = tempfile::tempdir().unwrap();
        let archive = Archive::open(dir.path()).unwrap();
        let id = Uuid::new_v4().to_string();
        archive.create(&id).unwrap().append(&text("whole")).unwrap();
        let path = archive.path(&id);
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"{\"type\":\"text\",\"te").unwrap();

        let (records, mut log) = archive.restore(&id).unwrap().unwrap();
        assert_eq!(records, [text("whole")]);
        log.append(&text("more")).unwrap();
        let (records, _) = archive.restore(&id).unwrap().unwrap();
        assert_eq!(records, [text("whole"), text("more")]);
    }

    #[test]
    fn a_garbage_line_costs_only_itself() {
        let dir = tempfile::tempdir().unwrap();
        let archive = Archive::open(dir.path()).unwrap();
        let id = Uuid::new_v4().to_string();
        fs::write(archive.path(&id), b"{\"type\":\"text\",\"text\":\"a\"}\n\xff\xfenonsense\n{\"type\":\"text\",\"text\":\"b\"}\n")
            .unwrap();
        let (records, _) = archive.restore(&id).unwrap().unwrap();
        assert_eq!(records, [text("a"), text("b")]);
    }

    #[test]
    fn only_uuids_name_a_session() {
        let dir = tempfile::tempdir().unwrap();
        let archive = Archive::open(dir.path()).unwrap();
        assert!(archive.restore("../../etc/passwd").unwrap().is_none());
        assert!(!archive.delete("../x").unwrap());
        fs::write(archive.dir.join("notes.ndjson"), "x").unwrap();
        assert!(archive.list().unwrap().is_empty());
    }
}
