//! The runner's own log, `runner.log`. It must never be the reason that a runner fails, or that the disk is full.

use std::fmt::Arguments;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::Stdio;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::journal::now_ms;
use crate::spec::log_path;

/// A runner that has said this much says no more.
const MOST_BYTES: usize = 1024 * 1024;

static FILE: OnceLock<File> = OnceLock::new();
static WRITTEN: AtomicUsize = AtomicUsize::new(0);

pub(super) fn open(dir: &Path) {
    if let Ok(file) = OpenOptions::new().append(true).create(true).mode(0o600).open(log_path(dir)) {
        let _ = FILE.set(file);
    }
    std::panic::set_hook(Box::new(|panic| line(format_args!("{panic}"))));
}

/// Where a child of this process may write what it has to say before it can open the log itself.
pub(super) fn sink() -> Stdio {
    FILE.get().and_then(|file| file.try_clone().ok()).map_or_else(Stdio::null, Stdio::from)
}

pub(super) fn line(text: Arguments<'_>) {
    let now = now_ms();
    let text = format!("{}.{:03} {text}\n", now / 1000, now % 1000);
    if WRITTEN.fetch_add(text.len(), Ordering::Relaxed) > MOST_BYTES {
        return;
    }
    match FILE.get() {
        // On a full disk there is nowhere left to complain.
        Some(mut file) => drop(file.write_all(text.as_bytes())),
        None => eprint!("{text}"),
    }
}
