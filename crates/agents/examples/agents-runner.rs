//! The runner on its own, as `agents-runner runner <dir>`: what the tests of connections start.

use std::process::ExitCode;

fn main() -> ExitCode {
    match std::env::args_os().nth(2) {
        Some(dir) => runner::run(dir.as_ref()),
        None => ExitCode::FAILURE,
    }
}
