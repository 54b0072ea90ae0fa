//! A login as agents have one: a command that is run in a terminal, and a file that says that it has been done. The file is looked for
//! when the process starts and never again.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

use serde_json::{Value, json};

use crate::setting;

pub(crate) struct Login {
    /// Where it is needed, if anywhere.
    needed_at: Option<String>,
    is_done: bool,
    started: SystemTime,
}

impl Default for Login {
    fn default() -> Self {
        let is_done = marker().is_some_and(|marker| marker.exists());
        Self { needed_at: setting("FAULTY_LOGIN_AT"), is_done, started: SystemTime::now() }
    }
}

impl Login {
    pub(crate) fn is_missing_at(&self, moment: &str) -> bool {
        !self.is_done && self.needed_at.as_deref() == Some(moment)
    }

    /// Whether this file was there when the process started.
    pub(crate) fn was_there(&self, file: &Path) -> bool {
        let written = file.metadata().and_then(|found| found.modified());
        written.is_ok_and(|written| written < self.started)
    }
}

fn marker() -> Option<PathBuf> {
    setting("FAULTY_LOGIN_MARKER").map(PathBuf::from)
}

/// The login that the agent makes itself when it is asked to.
const OWN: &str = "faulty-web";

/// Does as it is asked, and prints what a person has to know.
pub(crate) fn authenticate(method: &Value) -> Result<Value, String> {
    let marker = marker().filter(|_| setting("FAULTY_AGENT_AUTH").is_some() && *method == OWN).ok_or("no such way to log in")?;
    eprintln!("open the page and type AB-CD");
    std::fs::write(marker, "").map_err(|error| error.to_string())?;
    Ok(json!({}))
}

/// Nobody is logged in any more.
pub(crate) fn forget() {
    if let Some(marker) = marker().filter(|marker| marker.exists()) {
        std::fs::remove_file(marker).expect("the marker can be removed");
    }
}

pub(crate) fn methods() -> Value {
    if setting("FAULTY_AGENT_AUTH").is_some() {
        return json!([{ "id": OWN, "name": "Log in", "description": "In a browser" }]);
    }
    let Some(marker) = marker().filter(|_| setting("FAULTY_TERMINAL_AUTH").is_some()) else {
        return json!([]);
    };
    let program = std::env::current_exe().expect("a running program has a path");
    let terminal = json!({ "command": program, "args": ["--log-in", marker], "label": "Faulty login" });
    json!([{ "id": "faulty-login", "name": "Log in", "description": "Run it in a terminal", "_meta": { "terminal-auth": terminal } }])
}

pub(crate) fn run(marker: &Path) -> ExitCode {
    let place = if std::io::stdout().is_terminal() { "in a terminal" } else { "without a terminal" };
    println!("the login runs {place}");
    std::fs::write(marker, "").expect("the marker can be written");
    ExitCode::SUCCESS
}
