//! Fuzzing on a stable toolchain: hostile input for everything that reads what a peer sent. Development only.
//!
//! A [`Target`] is a function from bytes to nothing that panics when a property breaks. A [`worker`] mutates the target's corpus
//! (`corpus/<target>`), keeps what shows new behaviour, and counts what each case allocates. What breaks is made smaller and written to
//! `found/<target>`; once fixed, the input moves to the corpus, where the test `corpus` runs it for good.

pub mod allocator;
pub mod case;
pub mod corpus;
pub mod features;
pub mod finding;
pub mod minimise;
pub mod mutate;
pub mod random;
pub mod schedule;
pub mod scratch;
pub mod targets;
pub mod worker;

pub use targets::{TARGETS, Target};
