#![allow(clippy::unwrap_used)]

mod showing;
mod walking;
mod writing;
