//! New objects, moved into a repository by handle. Git has written them into a directory of ours. Blocking.

use std::ffi::OsStr;
use std::io;

use rustix::io::Errno;

use crate::Refusal;
use crate::beneath::{Existing, Kind, Links, Lost, Root, Spot, bytes, reason};

/// Everybody may read an object, and nobody changes one.
const MODE: u32 = 0o444;
/// A file of the largest size that is committed, and what compressing may add to it.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// Puts those of the objects that are in `from` into the repository. What it has already stays as it is.
pub(super) fn adopt(common_dir: &Root, from: &Root, names: &[String]) -> Result<(), Refusal> {
    for name in names.iter().filter(|name| name.len() > 2) {
        let (fan, rest) = name.split_at(2);
        let made = from.walk(format!("{fan}/{rest}").as_bytes(), Links::Refuse).ok().filter(|spot| spot.kind == Some(Kind::File));
        let place = common_dir.walk(format!("objects/{fan}/{rest}").as_bytes(), Links::Refuse).map_err(refused)?;
        match (place.kind, made) {
            // The repository has it, in one form or another.
            (None, None) | (Some(Kind::File), _) => {}
            (None, Some(made)) => put(&made, &place, rest)?,
            (Some(_), _) => return Err(elsewhere()),
        }
    }
    Ok(())
}

/// By a second name for the same file where that can be, by a copy elsewhere.
fn put(made: &Spot, place: &Spot, name: &str) -> Result<(), Refusal> {
    let cannot = |why: io::Error| Refusal::new(format!("an object cannot be written: {}", reason(&why)));
    match place.link(made, OsStr::new(name)) {
        // Another git was faster, with the same content.
        Ok(()) | Err(Errno::EXIST) => return Ok(()),
        Err(Errno::XDEV | Errno::PERM | Errno::ACCESS | Errno::MLINK | Errno::OPNOTSUPP) => {}
        Err(why) => return Err(cannot(why.into())),
    }
    let content = bytes(made.file(name)?.0, MOST_BYTES, name)?;
    match place.put(&content, MODE, Existing::Keep) {
        Err(why) if why.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        outcome => outcome.map_err(cannot),
    }
}

fn refused(lost: Lost) -> Refusal {
    match lost {
        Lost::Link | Lost::NotDirectory | Lost::Outside => elsewhere(),
        lost => Refusal::new(format!("the repository's objects cannot be opened: {}", reason(&lost.errno().into()))),
    }
}

fn elsewhere() -> Refusal {
    Refusal::new("the repository's objects lie somewhere else: commit with git itself")
}
