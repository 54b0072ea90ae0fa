//! What a command tells whoever started it. Paths, titles and names come from outside: whatever a terminal would obey, hide or put into
//! another order is written out here, so that no caller has to think of it.

use std::fmt;
use std::io::{self, ErrorKind, Write};

use crate::config::visible;

/// A line, if they still listen: a pipe or a terminal that is gone is no reason to leave work half done.
pub fn say(text: fmt::Arguments<'_>) {
    let _ = writeln!(io::stdout(), "{}", visible(&text.to_string()));
}

/// A line beside the output, on stderr.
pub fn warn(text: fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr(), "{}", visible(&text.to_string()));
}

/// Why a command failed, which may take several lines.
pub fn fail(text: &str) {
    let _ = writeln!(io::stderr(), "voxpilot: {}", domain::text::visible(text));
}

/// All of what was asked for, as it is. Who closes the pipe has seen enough; anything else that keeps it from being written is an error.
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
