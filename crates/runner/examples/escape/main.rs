//! A hostile program: `escape <way>` tries one way out of a sandbox. It ends with 0 where it got out, else it prints what stopped it.
//! `OUTSIDE` is a directory that it may not change, `SHARED` one that it may but in which somebody else listens, `OTHER` a process.
#![allow(unsafe_code, reason = "it makes the system calls that a hostile program makes")]
#![allow(clippy::disallowed_methods, reason = "it is told by its environment what to attack")]
#![allow(clippy::unwrap_used, reason = "a program that fails here has not got out")]

mod files;
mod processes;
mod sockets;

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

/// What a way comes to: out, or why not.
type Outcome = io::Result<()>;

fn main() -> ExitCode {
    let way = std::env::args().nth(1).unwrap();
    let outcome = processes::for_the_test(&way).or_else(|| sockets::of_its_own(&way));
    let outcome = outcome.or_else(|| files::try_way(&way)).or_else(|| sockets::try_way(&way)).or_else(|| processes::try_way(&way));
    match outcome {
        Some(Ok(())) => ExitCode::SUCCESS,
        Some(Err(error)) => {
            eprintln!("{way}: {error}");
            ExitCode::FAILURE
        }
        None => {
            eprintln!("{way}: no such way");
            ExitCode::from(2)
        }
    }
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap()
}

fn outside(name: &str) -> PathBuf {
    PathBuf::from(variable("OUTSIDE")).join(name)
}

fn shared(name: &str) -> PathBuf {
    PathBuf::from(variable("SHARED")).join(name)
}

fn other() -> i32 {
    variable("OTHER").parse().unwrap()
}

/// What a system call returned.
fn check(returned: impl Into<i64>) -> io::Result<i64> {
    let returned = returned.into();
    if returned < 0 { Err(io::Error::last_os_error()) } else { Ok(returned) }
}

fn held(why: &str) -> Outcome {
    Err(io::Error::other(why.to_owned()))
}
