//! The store on a real file.
#![allow(clippy::unwrap_used)]

mod devices;
mod feed;
mod file;
mod fixture;
mod log;
mod recovery;
mod rules;
mod tables;
mod trouble;
mod unreadable;
