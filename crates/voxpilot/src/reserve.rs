//! Room that is kept for a start on a full disk. The database cannot be opened without a little of it, and without the database nobody
//! could delete anything.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use store::{OpenError, Store};

use crate::token::write_private;

/// What the database needs beside its file, and to note a link and a device.
const RESERVE_BYTES: usize = 256 * 1024;

fn file(data_dir: &Path) -> PathBuf {
    data_dir.join("reserve")
}

/// Opens the store. On a full disk the reserve is given up for it.
pub(crate) async fn open_store(data_dir: &Path, database: &Path, durable: bool) -> Result<Store> {
    match Store::open(database, durable).await {
        Err(error @ OpenError::Full { .. }) => {
            if fs::remove_file(file(data_dir)).is_err() {
                return Err(error.into());
            }
            tracing::warn!("the disk is full: the reserve in the data directory was used up to start; free some space");
            Ok(Store::open(database, durable).await?)
        }
        opened => {
            let store = opened?;
            fill(data_dir);
            Ok(store)
        }
    }
}

/// Written out, since a hole reserves nothing. Where there is no room for it, there is none.
fn fill(data_dir: &Path) {
    let path = file(data_dir);
    if path.metadata().is_ok_and(|file| file.len() == RESERVE_BYTES as u64) {
        return;
    }
    if let Err(error) = write_private(&path, vec![0_u8; RESERVE_BYTES]) {
        tracing::debug!(%error, "no room could be reserved");
        let _ = fs::remove_file(&path);
    }
}
