//! Copies of a project's files in a directory of our own, for git to read in peace.
//!
//! Git opens files by their names, and follows what it finds there. So it is not shown a hostile directory: what it needs is read by
//! handle and put down where nobody else writes. Only plain files are copied. Blocking.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::Refusal;
use crate::beneath::{self, Directory, Kind, Links, Root, reason};

const MOST_DEPTH: usize = 32;
const MOST_ENTRIES: usize = 100_000;

/// How much is copied at most.
pub(super) struct Budget {
    pub files: usize,
    pub bytes: u64,
    pub file_bytes: u64,
}

impl Budget {
    /// Whether there is room for one more file of this size.
    fn takes(&mut self, bytes: u64) -> bool {
        if self.files == 0 || bytes > self.bytes || bytes > self.file_bytes {
            return false;
        }
        self.files -= 1;
        self.bytes -= bytes;
        true
    }
}

/// One file, if it is there and a plain one. Its time goes along.
pub(super) fn file(from: &Root, name: &str, to: &Path, most_bytes: u64) -> Result<bool, Refusal> {
    let Ok(spot) = from.walk(name.as_bytes(), Links::Refuse) else { return Ok(false) };
    if spot.kind != Some(Kind::File) {
        return Ok(false);
    }
    let (file, about) = spot.file(name)?;
    if about.len() > most_bytes {
        return Err(Refusal::new(format!("the repository cannot be read: its {name} is too large")));
    }
    let time = about.modified();
    let written = File::create_new(to.join(name)).and_then(|mut copy| {
        io::copy(&mut file.take(most_bytes), &mut copy)?;
        copy.set_modified(time?)
    });
    written.map(|()| true).map_err(|why| cannot(&why))
}

/// A directory with everything below it. False where it holds more than the budget has room for.
pub(super) fn tree(from: &Root, name: &str, to: &Path, mut budget: Budget) -> Result<bool, Refusal> {
    let Ok(spot) = from.walk(name.as_bytes(), Links::Refuse) else { return Ok(true) };
    let Ok(directory) = spot.directory() else { return Ok(true) };
    below(&directory, &to.join(name), &mut budget, 0).map_err(|why| cannot(&why))
}

fn below(from: &Directory, to: &Path, budget: &mut Budget, depth: usize) -> io::Result<bool> {
    if !to.is_dir() {
        fs::create_dir(to)?;
    }
    let mut is_whole = depth < MOST_DEPTH;
    for entry in from.entries(MOST_ENTRIES)?.into_iter().filter(|_| depth < MOST_DEPTH) {
        match entry.kind {
            Kind::Directory => {
                if let Ok(inner) = Directory::open(from, &entry.name) {
                    is_whole &= below(&inner, &to.join(&entry.name), budget, depth + 1)?;
                }
            }
            Kind::File => is_whole &= one(from, &entry.name, &to.join(&entry.name), budget)?,
            _ => {}
        }
    }
    Ok(is_whole)
}

/// What is gone by now, or became something else, is left out.
fn one(from: impl AsFd, name: &OsStr, to: &Path, budget: &mut Budget) -> io::Result<bool> {
    // Half written by another git.
    if name.as_bytes().ends_with(b".lock") {
        return Ok(true);
    }
    let Ok((file, about)) = beneath::open(from, name, &name.to_string_lossy()) else { return Ok(true) };
    if !budget.takes(about.len()) {
        return Ok(false);
    }
    let mut bytes = Vec::new();
    file.take(about.len()).read_to_end(&mut bytes)?;
    File::create_new(to)?.write_all(&bytes)?;
    Ok(true)
}

fn cannot(why: &io::Error) -> Refusal {
    Refusal::new(format!("the repository cannot be read: {}", reason(why)))
}
