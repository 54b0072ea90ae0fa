//! How memory is given back to the system.

/// Buffers of this size and more are mapped, and returned to the system the moment they are freed. What a flood passes through is
/// smaller: to map that anew each time would cost more than the rest of the way.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE: libc::c_int = 512 * 1024;
/// So much may be free at the end of the heap before it is returned.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const SPARE: libc::c_int = 1024 * 1024;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const ARENAS: libc::c_int = 1;

/// A turn's whole output passes through memory a few times when it ends. Left to itself, glibc raises its idea of "large" with every
/// such buffer that is freed, and then keeps them all: after a flood of 12 MB the server stayed at four times its size.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "there is no safe way to say it; called before any other thread exists")]
pub fn give_back_what_is_freed() {
    for (what, value) in [(libc::M_MMAP_THRESHOLD, LARGE), (libc::M_TRIM_THRESHOLD, SPARE), (libc::M_ARENA_MAX, ARENAS)] {
        // SAFETY: mallopt takes two integers and changes only the allocator's own settings; no other thread runs yet.
        let _refused = unsafe { libc::mallopt(what, value) };
    }
}

/// What is free between things that are still used goes back too, which glibc does not do by itself. Holds up whoever wants memory for
/// about a millisecond.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "there is no safe way to say it")]
pub fn trim() {
    // SAFETY: malloc_trim takes a number and only returns pages that hold nothing; it may be called at any time from any thread.
    let _any_returned = unsafe { libc::malloc_trim(0) };
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn give_back_what_is_freed() {}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn trim() {}
