//! What people have consented to: which project's file, with which content. Kept in the data directory.

use std::collections::BTreeMap;
use std::fs::{DirBuilder, File};
use std::io::{Error, ErrorKind, Result};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use super::ConfigFile;
use crate::token;

const FILE_NAME: &str = "trust.json";

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Consents {
    /// By the canonical path of the file.
    pub files: BTreeMap<PathBuf, Consent>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Consent {
    /// Of the content, in hexadecimal: another content is another file.
    pub sha256: String,
    pub at: Timestamp,
}

impl Consents {
    pub fn read(data_dir: &Path) -> Result<Consents> {
        let path = data_dir.join(FILE_NAME);
        let named = |error: &dyn std::fmt::Display| Error::other(format!("{} cannot be read: {error}", path.display()));
        match std::fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| named(&error)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Consents::default()),
            Err(error) => Err(named(&error)),
        }
    }

    pub fn cover(&self, file: &ConfigFile) -> bool {
        self.files.get(&file.path).is_some_and(|consent| consent.sha256 == file.hash())
    }

    pub fn add(data_dir: &Path, file: &ConfigFile) -> Result<()> {
        let consent = Consent { sha256: file.hash(), at: Timestamp::now() };
        change(data_dir, |files| drop(files.insert(file.path.clone(), consent)))
    }

    pub fn remove(data_dir: &Path, path: &Path) -> Result<()> {
        change(data_dir, |files| drop(files.remove(path)))
    }
}

/// One writer at a time, and never half a file.
fn change(data_dir: &Path, change: impl FnOnce(&mut BTreeMap<PathBuf, Consent>)) -> Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(data_dir)?;
    let dir = File::open(data_dir)?;
    flock(&dir, FlockOperation::LockExclusive)?;
    let mut consents = Consents::read(data_dir)?;
    change(&mut consents.files);
    let aside = data_dir.join(format!("{FILE_NAME}.tmp"));
    token::write_private(&aside, &serde_json::to_string_pretty(&consents)?)?;
    std::fs::rename(&aside, data_dir.join(FILE_NAME))?;
    dir.sync_all()
}
