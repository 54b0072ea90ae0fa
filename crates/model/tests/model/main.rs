//! The model against a scripted server, over real sockets.
#![allow(clippy::unwrap_used)]

mod asking;
mod faults;
mod floods;
mod names;
mod providers;
mod redirects;
mod relay;
mod retries;
mod streaming;
mod wire;
