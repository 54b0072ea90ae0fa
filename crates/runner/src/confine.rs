//! Confinement of an agent: it and everything that it starts may write only where it is let, and never sees what is hidden.
//!
//! The runner stays as it is and starts, in place of the agent, a process of this binary. That one gives up its own rights, by Landlock
//! or by way of `bubblewrap`, and becomes the agent. Nothing can give them back.

mod bubblewrap;
mod landlock;
mod places;

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::find_program;

/// The word by which this binary is told to confine itself.
pub const CONFINED: &str = "confined";

const LANDLOCK: &str = "landlock";
/// What a shell answers when a command cannot be run.
const CANNOT_RUN: u8 = 126;

/// What holds the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mechanism {
    /// The kernel itself.
    Landlock,
    /// The program `bwrap`, at this path.
    Bubblewrap(PathBuf),
}

/// What a confined agent may do. Paths that are not there are left out, directories of its own are made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Confinement {
    /// Where it may write, and what is made for it if need be.
    pub writable: Vec<PathBuf>,
    pub own: Vec<PathBuf>,
    /// What it must not even read.
    pub hidden: Vec<PathBuf>,
    /// Single files of what is hidden that are meant for it.
    pub shown: Vec<PathBuf>,
}

impl Mechanism {
    /// The first that works here. Blocking.
    pub fn find(path: Option<&OsStr>) -> Option<Self> {
        if landlock::works() {
            return Some(Self::Landlock);
        }
        find_program(Path::new("bwrap"), path).filter(|program| bubblewrap::works(program)).map(Self::Bubblewrap)
    }

    /// As people call it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Landlock => LANDLOCK,
            Self::Bubblewrap(_) => "bubblewrap",
        }
    }
}

impl Confinement {
    /// The command line that runs `command` confined; `exe` is this binary.
    pub fn wrap(&self, mechanism: &Mechanism, exe: &Path, command: &Path, args: &[String]) -> (PathBuf, Vec<String>) {
        let by = match mechanism {
            Mechanism::Landlock => LANDLOCK.to_owned(),
            Mechanism::Bubblewrap(program) => text(program),
        };
        let mut words = vec![CONFINED.to_owned(), by];
        for (flag, paths) in [("--write", &self.writable), ("--own", &self.own), ("--hide", &self.hidden), ("--show", &self.shown)] {
            words.extend(paths.iter().flat_map(|path| [flag.to_owned(), text(path)]));
        }
        words.extend(["--".to_owned(), text(command)]);
        words.extend_from_slice(args);
        (exe.to_owned(), words)
    }

    fn read(mut words: impl Iterator<Item = OsString>) -> Option<(Self, Vec<OsString>)> {
        let mut confinement = Self::default();
        loop {
            let flag = words.next()?;
            let paths = match flag.to_str()? {
                "--write" => &mut confinement.writable,
                "--own" => &mut confinement.own,
                "--hide" => &mut confinement.hidden,
                "--show" => &mut confinement.shown,
                "--" => return Some((confinement, words.collect())),
                _ => return None,
            };
            paths.push(words.next()?.into());
        }
    }
}

/// Confines this process and becomes the command. Returns only where that fails; then nothing of the command has run.
pub fn run_confined(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut words = words.into_iter();
    let by = words.next().unwrap_or_default();
    let Some((confinement, command)) = Confinement::read(words) else {
        eprintln!("voxpilot: the confinement cannot be read");
        return ExitCode::from(CANNOT_RUN);
    };
    let Some((program, args)) = command.split_first() else {
        eprintln!("voxpilot: there is no command to confine");
        return ExitCode::from(CANNOT_RUN);
    };
    let places = match places::Places::of(&confinement) {
        Ok(places) => places,
        Err(error) => return failed(program, &error),
    };
    let error = if by == LANDLOCK {
        match landlock::restrict(&places) {
            Ok(()) => Command::new(program).args(args).exec(),
            Err(error) => error,
        }
    } else {
        Command::new(&by).args(bubblewrap::arguments(&places)).arg("--").arg(program).args(args).exec()
    };
    failed(program, &error)
}

fn failed(program: &OsStr, error: &io::Error) -> ExitCode {
    eprintln!("voxpilot: cannot run {} confined: {error}", program.display());
    ExitCode::from(CANNOT_RUN)
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_confinement_comes_back_as_it_went_in() {
        let confinement = Confinement {
            writable: vec!["/work".into(), "/tmp".into()],
            own: vec!["/home/x/.agent".into()],
            hidden: vec!["/data".into()],
            shown: vec!["/data/mcp.json".into()],
        };
        let (_, words) = confinement.wrap(&Mechanism::Landlock, Path::new("/exe"), Path::new("/bin/sh"), &["--write".to_owned()]);
        assert_eq!(words[..2], [CONFINED, LANDLOCK]);
        let (read, command) = Confinement::read(words.into_iter().skip(2).map(OsString::from)).unwrap();
        assert_eq!(read, confinement);
        assert_eq!(command, ["/bin/sh", "--write"]);
    }

    #[test]
    fn a_confinement_that_is_not_understood_is_none() {
        for words in [vec![], vec!["--write"], vec!["--other", "x", "--", "sh"], vec!["sh"]] {
            assert!(Confinement::read(words.into_iter().map(OsString::from)).is_none());
        }
    }
}
