//! What is wrong with a run, counted by kind.

use std::fmt;
use std::ops::AddAssign;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fault {
    /// Something acknowledged, sent or streamed is missing.
    Lost(String),
    /// Something was shown or done twice.
    Doubled(String),
    /// A process outlived its session and server.
    Orphan(String),
    /// A socket, a file or a descriptor was left.
    Leak(String),
    /// Any other difference from what is documented.
    Wrong(String),
}

#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Findings(pub Vec<Fault>);

impl Findings {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn add(&mut self, fault: Fault) {
        self.0.push(fault);
    }

    /// Notes a difference, if there is one.
    pub fn expect(&mut self, holds: bool, wrong: impl FnOnce() -> String) {
        if !holds {
            self.add(Fault::Wrong(wrong()));
        }
    }

    pub fn count(&self, fits: impl Fn(&Fault) -> bool) -> usize {
        self.0.iter().filter(|fault| fits(fault)).count()
    }
}

impl AddAssign for Findings {
    fn add_assign(&mut self, other: Findings) {
        self.0.extend(other.0);
    }
}

/// A step that could not be taken at all ends the run.
impl From<String> for Fault {
    fn from(text: String) -> Fault {
        // The client that believes nothing says what it met as the first word.
        match text.split_once(": ") {
            Some(("lost", _)) => Fault::Lost(text),
            Some(("doubled", _)) => Fault::Doubled(text),
            _ => Fault::Wrong(text),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Lost(text) => write!(out, "lost: {}", text.trim_start_matches("lost: ")),
            Fault::Doubled(text) => write!(out, "doubled: {}", text.trim_start_matches("doubled: ")),
            Fault::Orphan(text) => write!(out, "orphan: {text}"),
            Fault::Leak(text) => write!(out, "leak: {text}"),
            Fault::Wrong(text) => out.write_str(text),
        }
    }
}
