//! New objects, moved into a repository by handle. Git has written them into a directory of ours. Blocking.

use std::fs;
use std::path::Path;

use crate::Refusal;
use crate::beneath::{Existing, Kind, Links, Lost, Root, reason};

/// Everybody may read an object, and nobody changes one.
const MODE: u32 = 0o444;

/// Puts those of the objects that are in `from` into the repository. What it has already stays as it is.
pub(super) fn adopt(common_dir: &Root, from: &Path, names: &[String]) -> Result<(), Refusal> {
    for name in names.iter().filter(|name| name.len() > 2) {
        let (fan, rest) = name.split_at(2);
        let path = format!("{fan}/{rest}");
        let content = match fs::read(from.join(&path)) {
            Ok(content) => Some(content),
            // The repository has it, in one form or another.
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => None,
            Err(why) => return Err(Refusal::new(format!("an object cannot be read: {}", reason(&why)))),
        };
        let spot = common_dir.walk(format!("objects/{path}").as_bytes(), Links::Refuse).map_err(refused)?;
        match (spot.kind, content) {
            (None, None) | (Some(Kind::File), _) => {}
            (None, Some(content)) => match spot.replace(&content, Some(MODE), Existing::Keep, true) {
                // Another git was faster, with the same content.
                Err(why) if why.kind() == std::io::ErrorKind::AlreadyExists => {}
                outcome => outcome.map_err(|why| Refusal::new(format!("an object cannot be written: {}", reason(&why))))?,
            },
            (Some(_), _) => return Err(elsewhere()),
        }
    }
    Ok(())
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
