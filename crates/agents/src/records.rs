//! The records that agents keep of their own sessions, one file of JSON lines each: finding what is damaged, and repairing it.
//!
//! Where they lie and what they look like is data. Nothing here starts an agent.

mod damage;
mod repair;

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

pub use damage::{Damage, Kind};
pub use repair::{Done, RepairError, repair};

use crate::catalogue::Agent;

/// So many sessions are looked at, the latest first, and no file that is larger.
const MOST: usize = 1000;
const MAX_BYTES: u64 = 512 * 1024 * 1024;
const TITLE_CHARS: usize = 80;

/// How an agent keeps its sessions on disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Records {
    /// Below its state directory; in it each session has a directory that bears its id.
    pub below: &'static str,
    /// The events, one JSON object a line.
    pub file: &'static str,
    /// The type of the event that comes first. Without it nothing can be loaded.
    pub first: &'static str,
    /// How the types begin that it knows; their events must have an id, and what it does not know it passes over.
    pub families: &'static [&'static str],
    /// The types of the events whose data has the text of a message, as `content`.
    pub messages: &'static [&'static str],
    /// A file beside it, and how the line begins that holds the title.
    pub title: (&'static str, &'static str),
    /// How it says that it cannot load a session because its record is damaged.
    pub complaints: &'static [&'static str],
}

/// A session as it lies on the disk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    pub agent_session: String,
    pub title: Option<String>,
    pub file: PathBuf,
    pub shape: Records,
}

/// What a look through an agent's records found.
#[derive(Default, Debug)]
pub struct Examined {
    pub sound: usize,
    /// Those that a process has open are not among them: it may be writing.
    pub damaged: Vec<(Record, Damage)>,
    /// Too many, too large, or not readable.
    pub skipped: usize,
}

impl Records {
    /// Whether the agent's words for why a session was not loaded mean that its record is damaged.
    pub fn is_damage(&self, message: &str) -> bool {
        self.complaints.iter().any(|complaint| message.contains(complaint))
    }
}

impl Agent {
    /// Where its records are, given the environment it is started with.
    fn records_dir(&self, env: &[(String, String)]) -> Option<(Records, PathBuf)> {
        let shape = self.quirks.records?;
        let state = self.state(env).into_iter().next()?;
        Some((shape, state.join(shape.below)))
    }

    /// One of its sessions. An id that is no plain name is nobody's.
    pub fn record(&self, env: &[(String, String)], agent_session: &str) -> Option<Record> {
        let (shape, dir) = self.records_dir(env)?;
        let plain = Path::new(agent_session).file_name().is_some_and(|name| name == agent_session);
        let file = dir.join(agent_session).join(shape.file);
        (plain && file.is_file()).then(|| record(shape, file, agent_session.to_owned()))
    }

    /// Looks through its records. `None` where it keeps none that are known.
    pub fn examine_records(&self, env: &[(String, String)]) -> Option<io::Result<Examined>> {
        let (shape, dir) = self.records_dir(env)?;
        Some(match examine(shape, &dir) {
            // Nothing was ever kept.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Examined::default()),
            examined => examined,
        })
    }
}

impl Record {
    /// `None` where it is sound.
    pub fn damage(&self) -> io::Result<Option<Damage>> {
        Ok(damage::find(&std::fs::read(&self.file)?, &self.shape))
    }

    fn dir(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new("/"))
    }
}

fn examine(shape: Records, dir: &Path) -> io::Result<Examined> {
    let mut all: Vec<(SystemTime, u64, Record)> = Vec::new();
    for entry in std::fs::read_dir(dir)?.filter_map(Result::ok) {
        let file = entry.path().join(shape.file);
        let (Ok(about), Ok(agent_session)) = (file.metadata(), entry.file_name().into_string()) else { continue };
        if about.is_file() {
            all.push((about.modified().unwrap_or(SystemTime::UNIX_EPOCH), about.len(), record(shape, file, agent_session)));
        }
    }
    all.sort_by_key(|(modified, ..)| std::cmp::Reverse(*modified));
    let mut examined = Examined { skipped: all.len().saturating_sub(MOST), ..Examined::default() };
    for (_, bytes, record) in all.into_iter().take(MOST) {
        let damage = if bytes > MAX_BYTES { Err(io::ErrorKind::FileTooLarge.into()) } else { record.damage() };
        match damage {
            Ok(Some(damage)) if repair::user(record.dir()).is_none() => examined.damaged.push((record, damage)),
            Ok(_) => examined.sound += 1,
            Err(_) => examined.skipped += 1,
        }
    }
    Ok(examined)
}

fn record(shape: Records, file: PathBuf, agent_session: String) -> Record {
    let (name, begins) = shape.title;
    let about = std::fs::read_to_string(file.with_file_name(name)).unwrap_or_default();
    let title = about.lines().find_map(|line| line.strip_prefix(begins)).map(|title| title.trim().trim_matches(['"', '\'']));
    let title = title.filter(|title| !title.is_empty()).map(|title| title.chars().take(TITLE_CHARS).collect());
    Record { agent_session, title, file, shape }
}
