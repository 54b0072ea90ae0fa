//! Whether agents can be held to their work directory here, for those who want that.

use std::ffi::OsStr;

use super::{Check, Verdict};
use crate::config::Config;

const NAME: &str = "sandbox";
const MEND: &str = "sudo apt-get install bubblewrap   (or a kernel of 6.2 or later with Landlock)";

pub(super) async fn look(config: &Config, path: Option<&str>) -> Check {
    let path = path.map(|path| OsStr::new(path).to_owned());
    let found = tokio::task::spawn_blocking(move || agents::Mechanism::find(path.as_deref())).await.ok().flatten();
    let wanted: Vec<&str> = config.agents.iter().filter(|(_, agent)| agent.confined).map(|(id, _)| id.as_str()).collect();
    match found {
        Some(mechanism) if wanted.is_empty() => Check::ok(NAME, format!("{}, used by no agent", mechanism.name())),
        Some(mechanism) => Check::ok(NAME, format!("{}, holds {}", mechanism.name(), wanted.join(", "))),
        None if wanted.is_empty() => Check::bad(NAME, Verdict::Warn, "neither Landlock nor bubblewrap works here; no agent needs it", MEND),
        None => {
            let detail = format!("neither Landlock nor bubblewrap works here, so these are not started: {}", wanted.join(", "));
            Check::bad(NAME, Verdict::Fail, detail, MEND)
        }
    }
}
