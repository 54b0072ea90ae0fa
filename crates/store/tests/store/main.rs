//! The store on a real file.
#![allow(clippy::unwrap_used)]

mod crowd;
mod devices;
mod feed;
mod file;
mod fixture;
mod growth;
mod large;
mod list;
mod log;
mod recovery;
mod restore;
mod retention;
mod rules;
mod search;
mod tables;
mod trouble;
mod unreadable;
