//! The log: to stderr, filtered, as text or as JSON. What is logged is not decided here.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use crate::config::LogFormat;

const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Whether a text is a filter. A lone word must be a level: as a target, `verbose` would silently switch everything off.
pub fn is_filter(text: &str) -> bool {
    let lone_word = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if lone_word { LEVELS.contains(&text.to_ascii_lowercase().as_str()) } else { EnvFilter::try_new(text).is_ok() }
}

/// Installs the log for the whole process. The filter is one that `is_filter` accepts.
pub fn init(filter: &str, format: LogFormat) -> anyhow::Result<()> {
    let builder = tracing_subscriber::fmt().with_env_filter(EnvFilter::try_new(filter)?).with_writer(std::io::stderr);
    let installed = match format {
        LogFormat::Text => builder.with_ansi(std::io::stderr().is_terminal()).try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
    installed.map_err(|error| anyhow::anyhow!("cannot start the log: {error}"))
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
