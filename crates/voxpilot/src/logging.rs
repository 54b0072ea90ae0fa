//! The log: to stderr, filtered, as text or as JSON. What is logged is not decided here.
//!
//! Much of it are the words of agents, models and browsers. So whatever is logged is clipped, hidden characters in it are made visible
//! and secrets masked, and nobody can fill the disk with it: of each kind of line a session gets only so many a second.

mod limit;
mod line;

use std::collections::BTreeSet;
use std::io::{self, IsTerminal, Write as _};
use std::sync::{Mutex, PoisonError, RwLock};
use std::time::Instant;

use agents::trace::Mask;
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer};

use crate::config::LogFormat;
use limit::Limit;
use line::Line;

const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// The library of MCP tells of every request and of how it ends, which is nothing that people need to know.
const QUIETER: &str = "rmcp=warn";

static MASK: RwLock<Option<Mask>> = RwLock::new(None);
/// What it masks.
static HIDDEN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Whether a text is a filter. A lone word must be a level: as a target, `verbose` would silently switch everything off.
pub fn is_filter(text: &str) -> bool {
    let lone_word = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if lone_word { LEVELS.contains(&text.to_ascii_lowercase().as_str()) } else { EnvFilter::try_new(text).is_ok() }
}

/// Installs the log for the whole process. The filter is one that `is_filter` accepts.
pub fn init(filter: &str, format: LogFormat) -> anyhow::Result<()> {
    let lines = Lines { format, colour: io::stderr().is_terminal(), limit: Mutex::default() };
    let filter = match filter.to_ascii_lowercase().as_str() {
        "off" | "error" => filter.to_owned(),
        _ => format!("{QUIETER},{filter}"),
    };
    let installed = tracing_subscriber::registry().with(EnvFilter::try_new(filter)?).with(lines).try_init();
    installed.map_err(|error| anyhow::anyhow!("cannot start the log: {error}"))
}

/// From now on these are masked in the log too, wherever they come from. What looks like a secret is masked anyway.
pub fn hide(secrets: impl IntoIterator<Item = String>) {
    let mut hidden = HIDDEN.lock().unwrap_or_else(PoisonError::into_inner);
    hidden.extend(secrets);
    *MASK.write().unwrap_or_else(PoisonError::into_inner) = Some(Mask::new(hidden.iter().cloned()));
}

struct Lines {
    format: LogFormat,
    colour: bool,
    limit: Mutex<Limit>,
}

impl<S: Subscriber> Layer<S> for Lines {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut line = Line::default();
        event.record(&mut line);
        let (told, admitted) = {
            let mut limit = self.limit.lock().unwrap_or_else(PoisonError::into_inner);
            let now = Instant::now();
            (limit.settle(now), limit.admit(event.metadata(), &line, now))
        };
        for left_out in told {
            self.write(left_out.metadata, &left_out.line());
        }
        if admitted {
            self.write(event.metadata(), &line);
        }
    }
}

impl Lines {
    fn write(&self, metadata: &Metadata<'_>, line: &Line) {
        let text = {
            let (known, by_looks) = (MASK.read().unwrap_or_else(PoisonError::into_inner), Mask::default());
            let mask = known.as_ref().unwrap_or(&by_looks);
            match self.format {
                LogFormat::Text => line.text(metadata, mask, self.colour),
                LogFormat::Json => line.json(metadata, mask),
            }
        };
        // Where nobody reads the log any more there is nobody to tell.
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_told_from_typing_errors() {
        for good in ["info", "WARN", "off", "info,engine=debug", "engine=trace", "voxpilot::config=debug,warn"] {
            assert!(is_filter(good), "{good}");
        }
        for bad in ["", "verbose", "engine=loud", "info,engine=loud"] {
            assert!(!is_filter(bad), "{bad}");
        }
    }
}
