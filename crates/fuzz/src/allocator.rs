//! Counts the bytes that the process holds, so that a case can be held to a bound. Whoever links it makes it the global allocator.

#![allow(unsafe_code, reason = "a global allocator cannot be written without it; every call goes straight to the system's")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A process that wants more than this is stopped before the machine is: the allocation fails and the process aborts.
const MAX_LIVE_BYTES: usize = 2 << 30;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

pub struct Counting;

/// What is held now. The peak starts over from here.
pub fn start() -> usize {
    let live = LIVE.load(Ordering::Relaxed);
    PEAK.store(live, Ordering::Relaxed);
    live
}

/// The most that was held at once since [`start`].
pub fn peak() -> usize {
    PEAK.load(Ordering::Relaxed)
}

/// Whether the allocation fits.
fn take(bytes: usize) -> bool {
    let live = LIVE.fetch_add(bytes, Ordering::Relaxed) + bytes;
    PEAK.fetch_max(live, Ordering::Relaxed);
    if live > MAX_LIVE_BYTES {
        give_back(bytes);
        return false;
    }
    true
}

fn give_back(bytes: usize) {
    LIVE.fetch_sub(bytes, Ordering::Relaxed);
}

// SAFETY: every method passes its arguments to the system's allocator unchanged, or fails as an allocator may.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if take(layout.size()) { unsafe { System.alloc(layout) } } else { std::ptr::null_mut() }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if take(layout.size()) { unsafe { System.alloc_zeroed(layout) } } else { std::ptr::null_mut() }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        give_back(layout.size());
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        if !take(bytes) {
            return std::ptr::null_mut();
        }
        give_back(layout.size());
        unsafe { System.realloc(at, layout, bytes) }
    }
}
