//! Confinement by Landlock, which can only grant: everything that is not hidden is granted for reading, part by part. What is made later
//! beside a hidden directory is therefore not seen, and the directories on the way to it cannot be listed.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use ::landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr,
    RulesetError, Scope, path_beneath_rules,
};
use rustix::fs::{FileType, fstat};

use super::places::{Places, open_plain};

/// Before this a file could be emptied without the right to write it.
const NEEDED: ABI = ABI::V3;
/// What newer kernels hold back besides (devices, signals, sockets) is held back where they do.
const WANTED: ABI = ABI::V9;

/// What every program expects to be able to write to.
const DEVICES: [&str; 9] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/shm"];

pub(super) fn works() -> bool {
    ruleset().is_ok()
}

/// From here on this process and all that it starts have only these rights.
pub(super) fn restrict(places: &Places) -> io::Result<()> {
    let mut rules = ruleset().map_err(refused)?;
    rules = grant(rules, places, Path::new("/"), AccessFs::from_read(WANTED))?;
    for path in &places.shown {
        rules = allow(rules, &open_plain(path)?, AccessFs::ReadFile.into())?;
    }
    for path in &places.writable {
        rules = grant(rules, places, path, AccessFs::from_all(WANTED))?;
    }
    for path in DEVICES {
        rules = rules.add_rules(path_beneath_rules([path], AccessFs::from_all(WANTED))).map_err(refused)?;
    }
    rules.restrict_self().map(drop).map_err(refused)
}

fn ruleset() -> Result<RulesetCreated, RulesetError> {
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(NEEDED))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(WANTED))?
        .scope(Scope::from_all(WANTED))?
        .create()
}

fn grant(mut rules: RulesetCreated, places: &Places, path: &Path, access: BitFlags<AccessFs>) -> io::Result<RulesetCreated> {
    for part in places.open_parts(path)? {
        rules = allow(rules, &part, access)?;
    }
    Ok(rules)
}

/// By what is open: a name could mean something else by now.
fn allow(rules: RulesetCreated, opened: &OwnedFd, access: BitFlags<AccessFs>) -> io::Result<RulesetCreated> {
    let is_directory = FileType::from_raw_mode(fstat(opened)?.st_mode) == FileType::Directory;
    let access = if is_directory { access } else { access & AccessFs::from_file(WANTED) };
    rules.add_rule(PathBeneath::new(opened, access)).map_err(refused)
}

fn refused(error: RulesetError) -> io::Error {
    io::Error::other(error)
}
