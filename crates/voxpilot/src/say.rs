//! What a command tells whoever started it.

use std::fmt;
use std::io::{self, ErrorKind, Write};

/// A line, if they still listen: a pipe or a terminal that is gone is no reason to leave work half done.
pub(crate) fn say(text: fmt::Arguments<'_>) {
    let _ = writeln!(io::stdout(), "{text}");
}

/// All of what was asked for. Who closes the pipe has seen enough; anything else that keeps it from being written is an error.
///
/// # Errors
/// If it cannot be written.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}
