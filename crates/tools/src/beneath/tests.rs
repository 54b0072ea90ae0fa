#![allow(clippy::unwrap_used)]

mod showing;
mod writing;
