//! The demo agent: a complete ACP v1 agent on stdin and stdout that needs no account and no model.
//!
//! It owns its sessions on disk and the small work it does in a session's directory. It knows nothing of the server
//! that starts it: whoever speaks ACP can drive it.

mod archive;
mod confine;
mod gate;
mod instruction;
mod peer;
mod server;
mod session;
mod turn;
mod wire;

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

pub use server::{CwdPolicy, Options, serve};
pub use session::Pace;

const USAGE: &str = "usage: demo-agent [--acp] [--stdio] [--pace fast|normal|slow]

An ACP agent on stdin and stdout. Sessions are kept in $DEMO_AGENT_HOME, else in
$XDG_STATE_HOME/voxpilot-demo-agent, else in ~/.local/state/voxpilot-demo-agent.";

/// Serves ACP on this process's stdin and stdout until stdin ends. `args` are the arguments after the command's name.
#[allow(clippy::disallowed_methods, reason = "a program of its own, with an environment of its own")]
pub fn run(args: impl Iterator<Item = String>) -> ExitCode {
    let pace = match parse_args(args) {
        Ok(Request::Serve(pace)) => pace,
        Ok(Request::Print(text)) => {
            println!("{text}");
            return ExitCode::SUCCESS;
        }
        Err(problem) => {
            eprintln!("{problem}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let Some(state_dir) = state_dir(|name| env::var_os(name)) else {
        eprintln!("no state directory: set DEMO_AGENT_HOME or HOME");
        return ExitCode::FAILURE;
    };
    let options = Options { state_dir, cwd_policy: CwdPolicy::AnyDirectory, pace };
    match serve(std::io::stdin(), std::io::stdout(), options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("demo-agent: {error}");
            ExitCode::FAILURE
        }
    }
}

enum Request {
    Serve(Pace),
    Print(String),
}

fn parse_args(mut args: impl Iterator<Item = String>) -> Result<Request, String> {
    let mut pace = Pace::Normal;
    while let Some(arg) = args.next() {
        match arg.as_str() {
            // What every ACP agent is started with; there is no other way to talk to this one.
            "--acp" | "--stdio" => {}
            "--pace" => {
                let value = args.next().unwrap_or_default();
                pace = Pace::from_id(&value).ok_or_else(|| format!("unknown pace {value:?}"))?;
            }
            "--help" | "-h" => return Ok(Request::Print(USAGE.to_owned())),
            "--version" | "-V" => {
                return Ok(Request::Print(format!("demo-agent {}", env!("CARGO_PKG_VERSION"))));
            }
            other => return Err(format!("unknown argument {other:?}")),
        }
    }
    Ok(Request::Serve(pace))
}

fn state_dir(env: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let path = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    path("DEMO_AGENT_HOME")
        .or_else(|| path("XDG_STATE_HOME").map(|dir| dir.join("voxpilot-demo-agent")))
        .or_else(|| path("HOME").map(|dir| dir.join(".local/state/voxpilot-demo-agent")))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn state_dir_prefers_its_own_variable_and_skips_empty_ones() {
        let lookup = |pairs: &'static [(&str, &str)]| {
            state_dir(move |name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value)))
        };
        assert_eq!(lookup(&[("DEMO_AGENT_HOME", "/d"), ("HOME", "/h")]).unwrap(), PathBuf::from("/d"));
        assert_eq!(lookup(&[("DEMO_AGENT_HOME", ""), ("XDG_STATE_HOME", "/x")]).unwrap(), PathBuf::from("/x/voxpilot-demo-agent"));
        assert_eq!(lookup(&[("HOME", "/h")]).unwrap(), PathBuf::from("/h/.local/state/voxpilot-demo-agent"));
        assert!(lookup(&[]).is_none());
    }

    #[test]
    fn the_usual_acp_flags_are_accepted_and_others_named() {
        let parse = |args: &[&str]| parse_args(args.iter().map(|arg| (*arg).to_owned()));
        assert!(matches!(parse(&["--acp", "--stdio"]), Ok(Request::Serve(Pace::Normal))));
        assert!(matches!(parse(&["--pace", "fast"]), Ok(Request::Serve(Pace::Fast))));
        assert!(parse(&["--port"]).is_err_and(|problem| problem.contains("--port")));
    }
}
