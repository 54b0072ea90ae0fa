//! The targets: what reads bytes of a peer, and what must hold whatever they are.

mod agent_lines;
mod backup;
mod diff;
mod http;
mod journal;
mod permission;
mod recipe;
mod sse;
mod toml;

use crate::corpus::Corpus;
use crate::features::Features;
use crate::random::Random;

/// Something that reads untrusted bytes, with the properties that hold for all of them.
pub struct Target {
    pub name: &'static str,
    pub about: &'static str,
    /// Panics where a property breaks.
    pub run: fn(&[u8], &mut Features),
    /// A new input of at most so many bytes.
    pub generate: fn(&mut Random, &Corpus, usize) -> Vec<u8>,
    pub max_bytes: usize,
    pub memory: Memory,
}

/// How much a case may hold at once: so many bytes for each byte of input, and what any input may take.
#[derive(Clone, Copy)]
pub struct Memory {
    pub per_byte: usize,
    pub base: usize,
}

impl Memory {
    /// What is asked of every target that has no reason to need more.
    pub const USUAL: Memory = Memory { per_byte: 64, base: 1 << 20 };

    pub fn bound(self, input_bytes: usize) -> usize {
        self.per_byte * input_bytes + self.base
    }
}

pub static TARGETS: &[Target] =
    &[agent_lines::TARGET, journal::TARGET, http::TARGET, sse::TARGET, toml::TARGET, diff::TARGET, backup::TARGET, permission::TARGET];
