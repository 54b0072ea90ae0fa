//! Confinement by Landlock, which can only grant: everything that is not hidden is granted for reading, part by part. What is made later
//! beside a hidden directory is therefore not seen, and the directories on the way to it cannot be listed.

use std::io;
use std::path::Path;

use ::landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError,
    Scope, path_beneath_rules,
};

use rustix::thread::{CapabilitySet, capabilities, set_capabilities};

use super::places::Places;

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
    let read = AccessFs::from_read(WANTED);
    rules = grant(rules, places, Path::new("/"), read)?;
    for path in &places.shown {
        rules = rules.add_rules(path_beneath_rules([path], AccessFs::ReadFile)).map_err(refused)?;
    }
    for path in &places.writable {
        rules = grant(rules, places, path, AccessFs::from_all(WANTED))?;
    }
    for path in DEVICES {
        rules = rules.add_rules(path_beneath_rules([path], AccessFs::from_all(WANTED))).map_err(refused)?;
    }
    rules.restrict_self().map_err(refused)?;
    drop_capabilities()
}

/// Root's ways around: to read other processes, to open files by number, to make devices. With no new privileges, which Landlock asks for,
/// they do not come back with the next program.
fn drop_capabilities() -> io::Result<()> {
    let around = CapabilitySet::SYS_PTRACE
        | CapabilitySet::PERFMON
        | CapabilitySet::SYS_ADMIN
        | CapabilitySet::SYS_MODULE
        | CapabilitySet::SYS_RAWIO
        | CapabilitySet::SYS_BOOT
        | CapabilitySet::BPF
        | CapabilitySet::MKNOD
        | CapabilitySet::DAC_READ_SEARCH;
    let mut sets = capabilities(None)?;
    for set in [&mut sets.effective, &mut sets.permitted, &mut sets.inheritable] {
        set.remove(around);
    }
    Ok(set_capabilities(None, sets)?)
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

fn grant(rules: RulesetCreated, places: &Places, path: &Path, access: BitFlags<AccessFs>) -> io::Result<RulesetCreated> {
    rules.add_rules(path_beneath_rules(places.open_parts(path)?, access)).map_err(refused)
}

fn refused(error: RulesetError) -> io::Error {
    io::Error::other(error)
}
