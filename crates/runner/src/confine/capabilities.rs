//! Root's ways around a sandbox: they are given up. For anybody else there is nothing to give up but what came with a namespace.

use rustix::io::Errno;
use rustix::process::geteuid;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set, remove_capability_from_bounding_set, set_capabilities,
};

/// What root keeps: to own, read and run files as root does, to become another user, and to listen. Not to mount, trace, load, make
/// devices, open files by number, set the clock or change the network.
fn kept() -> CapabilitySet {
    if !geteuid().is_root() {
        return CapabilitySet::empty();
    }
    CapabilitySet::CHOWN
        | CapabilitySet::DAC_OVERRIDE
        | CapabilitySet::FSETID
        | CapabilitySet::FOWNER
        | CapabilitySet::KILL
        | CapabilitySet::NET_BIND_SERVICE
        | CapabilitySet::NET_RAW
        | CapabilitySet::SETGID
        | CapabilitySet::SETUID
        | CapabilitySet::SYS_CHROOT
}

/// With no new privileges, which are set before, they do not come back with the next program.
pub(super) fn reduce() -> Result<(), Errno> {
    let (kept, now) = (kept(), capabilities(None)?);
    if now.effective.contains(CapabilitySet::SETPCAP) {
        for lost in (CapabilitySet::all() - kept).iter() {
            match remove_capability_from_bounding_set(lost) {
                // A kernel that does not know it cannot give it either.
                Ok(()) | Err(Errno::INVAL) => {}
                Err(error) => return Err(error),
            }
        }
    }
    clear_ambient_capability_set()?;
    let sets = CapabilitySets { effective: now.effective & kept, permitted: now.permitted & kept, inheritable: CapabilitySet::empty() };
    set_capabilities(None, sets)
}
