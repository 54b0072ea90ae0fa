//! What changed in the working tree, copied for git to read: git follows names, and a name of a project can be exchanged for a link
//! while it does. The copies lie in the same directories below a top of our own. Blocking.

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::module;
use super::repository::Repository;
use crate::beneath::{Kind, Links, Lost, Root, Spot, reason};
use crate::{Refusal, bound};

/// Names of files that are left out.
const MOST_NAMED: usize = 20;
const ATTRIBUTES: &str = ".gitattributes";
const ATTRIBUTES_BYTES: u64 = 1024 * 1024;

/// How much of a working tree is looked at.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// A file beyond this is left out.
    pub file_bytes: u64,
    /// Beyond these there is no answer at all: it would take too long.
    pub bytes: u64,
    pub files: usize,
}

/// The names that git is to look at, NUL after each, and what is not among the copies because it is too large or cannot be read.
#[derive(Default)]
pub(super) struct Mirrored {
    pub names: Vec<u8>,
    pub left_out: Vec<String>,
}

struct Mirror<'a> {
    repository: &'a Repository,
    from: &'a Root,
    /// The work directory as seen from the top.
    prefix: &'a Path,
    to: Root,
    /// Directories, as seen from the top, whose attributes are there already.
    attributes: HashSet<PathBuf>,
    limits: Limits,
    mirrored: Mirrored,
}

/// `listed` are names below the work directory, NUL after each.
pub(super) fn fill(
    repository: &Repository,
    (from, prefix): (&Root, &Path),
    to: &Path,
    listed: &[u8],
    limits: Limits,
) -> Result<Mirrored, Refusal> {
    // What is in conflict is listed several times.
    let listed: BTreeSet<&[u8]> = listed.split(|byte| *byte == 0).filter(|name| !name.is_empty()).collect();
    if listed.len() > limits.files {
        return Err(too_many());
    }
    let to = Root::open(to).map_err(Refusal::new)?;
    let mut mirror = Mirror { repository, from, prefix, to, attributes: HashSet::new(), limits, mirrored: Mirrored::default() };
    // A repository inside this one is another one's.
    for name in listed.into_iter().filter(|name| !name.ends_with(b"/")) {
        mirror.add(name)?;
    }
    Ok(mirror.mirrored)
}

impl Mirror<'_> {
    fn add(&mut self, name: &[u8]) -> Result<(), Refusal> {
        let spot = match self.from.walk(name, Links::Refuse) {
            Ok(spot) => spot,
            // It is not there: git is told of the name, and finds nothing.
            Err(Lost::Link | Lost::NotDirectory | Lost::Missing) => return self.tell(name, true),
            Err(_) => return self.tell(name, false),
        };
        let is_copied = match spot.kind {
            None => true,
            Some(Kind::File) => self.file(&spot, name)?,
            Some(Kind::Link) => self.link(&spot, name)?,
            Some(Kind::Directory) => self.module(name)?,
            Some(_) => false,
        };
        self.tell(name, is_copied)
    }

    fn tell(&mut self, name: &[u8], is_copied: bool) -> Result<(), Refusal> {
        let Mirrored { names, left_out } = &mut self.mirrored;
        if is_copied {
            names.extend_from_slice(name);
            names.push(0);
        } else if left_out.len() < MOST_NAMED {
            left_out.push(bound::name(&String::from_utf8_lossy(name)));
        }
        Ok(())
    }

    fn file(&mut self, spot: &Spot, name: &[u8]) -> Result<bool, Refusal> {
        let Ok((file, about)) = spot.file(&String::from_utf8_lossy(name)) else { return Ok(false) };
        if about.len() > self.limits.file_bytes {
            return Ok(false);
        }
        self.limits.bytes = self.limits.bytes.checked_sub(about.len()).ok_or_else(too_many)?;
        self.add_attributes(name)?;
        // Only whether it can be executed matters to git.
        let mode = if about.mode() & 0o100 != 0 { 0o700 } else { 0o600 };
        self.put(name, mode, file, self.limits.file_bytes)
    }

    fn link(&mut self, spot: &Spot, name: &[u8]) -> Result<bool, Refusal> {
        let Some(target) = spot.target() else { return Ok(false) };
        let Some(place) = self.place(&self.whole(name)) else { return Ok(false) };
        place.make_link(&target).map(|()| true).map_err(|why| cannot(&why.into()))
    }

    /// A directory that git tracks is a repository of its own: what counts is the commit that it is at. Any other takes the place of
    /// a file, which is not there any more.
    fn module(&mut self, name: &[u8]) -> Result<bool, Refusal> {
        let Ok(directory) = self.from.open_below(name) else { return Ok(false) };
        if !directory.has(".git") {
            return Ok(true);
        }
        let Some(head) = module::head(&directory, &self.repository.common_dir) else { return Ok(false) };
        let git_dir = self.whole(name).join(".git");
        for directory in ["objects/x", "refs/x"] {
            // What git takes for a repository.
            let Some(place) = self.place(&git_dir.join(directory)) else { return Ok(false) };
            place.make_directories().map_err(|why| cannot(&why.into()))?;
        }
        let Some(place) = self.place(&git_dir.join("HEAD")) else { return Ok(false) };
        place
            .create(0o600)
            .map_err(io::Error::from)
            .and_then(|mut file| io::Write::write_all(&mut file, head.as_bytes()))
            .map_err(|why| cannot(&why))?;
        Ok(true)
    }

    /// How lines end, and the like, is up to the attributes of all directories above. Those that git tracks it takes from the index;
    /// one that is copied as a file of its own is there already, or is yet to come.
    fn add_attributes(&mut self, name: &[u8]) -> Result<(), Refusal> {
        let whole = self.whole(name);
        for above in whole.ancestors().skip(1) {
            if !self.attributes.insert(above.to_owned()) {
                break;
            }
            let path = above.join(ATTRIBUTES);
            let spot = self.repository.top.walk(path.as_os_str().as_bytes(), Links::Refuse);
            let Ok(spot) = spot.and_then(|spot| if spot.kind == Some(Kind::File) { Ok(spot) } else { Err(Lost::Missing) }) else {
                continue;
            };
            let Ok((file, about)) = spot.file(ATTRIBUTES) else { continue };
            if about.len() <= ATTRIBUTES_BYTES {
                self.put_whole(&path, 0o600, file, ATTRIBUTES_BYTES)?;
            }
        }
        Ok(())
    }

    fn whole(&self, name: &[u8]) -> PathBuf {
        self.prefix.join(OsStr::from_bytes(name))
    }

    fn put(&self, name: &[u8], mode: u32, file: File, most_bytes: u64) -> Result<bool, Refusal> {
        self.put_whole(&self.whole(name), mode, file, most_bytes)
    }

    fn put_whole(&self, path: &Path, mode: u32, file: File, most_bytes: u64) -> Result<bool, Refusal> {
        let Some(place) = self.place(path) else { return Ok(false) };
        if place.kind == Some(Kind::File) {
            return Ok(true);
        }
        let copied = place.create(mode).map_err(io::Error::from).and_then(|mut copy| io::copy(&mut file.take(most_bytes), &mut copy));
        copied.map(|_| true).map_err(|why| cannot(&why))
    }

    /// None where a copied link is in the way: names came and went between two looks.
    fn place(&self, path: &Path) -> Option<Spot> {
        self.to.walk(path.as_os_str().as_bytes(), Links::Refuse).ok().filter(|spot| spot.kind != Some(Kind::Link))
    }
}

fn cannot(why: &io::Error) -> Refusal {
    Refusal::new(format!("the working tree cannot be copied: {}", reason(why)))
}

pub(super) fn too_many() -> Refusal {
    Refusal::new("the working tree holds too much that is not committed")
}
