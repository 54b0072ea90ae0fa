//! The runner on its own, as `runner runner <dir>`, `runner terminal` and `runner confined`: what the process tests start.

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args_os().skip(1).collect();
    match args.as_slice() {
        [name, rest @ ..] if name == runner::CONFINED => runner::run_confined(rest.iter().cloned()),
        [name] if name == "terminal" => runner::keep_terminal(),
        [_, dir, ..] => runner::run(dir.as_ref()),
        _ => ExitCode::FAILURE,
    }
}
