//! What is wrong with the settings, all of it at once, so that a person mends it in one go.

use std::fmt;

use super::form::visible;

/// One sentence for each problem; each names the setting, where it was given and the expected form, and never a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    pub problems: Vec<String>,
}

impl ConfigError {
    pub(super) fn unless_empty(problems: Vec<String>) -> Result<(), ConfigError> {
        if problems.is_empty() { Ok(()) } else { Err(ConfigError { problems }) }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.problems.as_slice() {
            [one] => write!(out, "configuration: {}", visible(one)),
            many => {
                write!(out, "configuration: {} problems", many.len())?;
                many.iter().try_for_each(|problem| write!(out, "\n  {}", visible(problem)))
            }
        }
    }
}

impl std::error::Error for ConfigError {}
