//! How memory is given back to the system.

/// Buffers of this size and more are mapped, and returned to the system the moment they are freed.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE: libc::c_int = 128 * 1024;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const ARENAS: libc::c_int = 2;

/// A turn's whole output passes through memory a few times when it ends. Left to itself, glibc raises its idea of "large" with every
/// such buffer that is freed, and then keeps them all: after a flood of 12 MB the server stayed at four times its size.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "there is no safe way to say it; called before any other thread exists")]
pub fn give_back_what_is_freed() {
    for (what, value) in [(libc::M_MMAP_THRESHOLD, LARGE), (libc::M_TRIM_THRESHOLD, LARGE), (libc::M_ARENA_MAX, ARENAS)] {
        // SAFETY: mallopt takes two integers and changes only the allocator's own settings; no other thread runs yet.
        let _refused = unsafe { libc::mallopt(what, value) };
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn give_back_what_is_freed() {}

/// Lets go of the pages of this program that only its start has needed, its tables of relocations above all. What is needed again
/// is read from the file again.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "there is no safe way to say it; what is let go is never written to")]
pub fn forget_the_start() {
    let (Ok(exe), Ok(maps)) = (std::env::current_exe(), std::fs::read_to_string("/proc/self/maps")) else { return };
    for line in maps.lines() {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let [range, access, offset, _, _, path] = fields[..] else { continue };
        // The code, and the part before it. Behind it lies what the start has written relocations into.
        let unwritten = access == "r-xp" || access == "r--p" && offset.bytes().all(|digit| digit == b'0');
        let Some((Ok(start), Ok(end))) = range.split_once('-').map(|(start, end)| (hexadecimal(start), hexadecimal(end))) else { continue };
        if unwritten && exe.as_os_str() == path {
            // SAFETY: the range is a private mapping of this program's file to which nothing is ever written, so that each page of it
            // holds after this what it held before.
            let _refused = unsafe { libc::madvise(std::ptr::with_exposed_provenance_mut(start), end - start, libc::MADV_DONTNEED) };
        }
    }
}

#[cfg(target_os = "linux")]
fn hexadecimal(text: &str) -> Result<usize, std::num::ParseIntError> {
    usize::from_str_radix(text, 16)
}

#[cfg(not(target_os = "linux"))]
pub fn forget_the_start() {}
