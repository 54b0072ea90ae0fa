//! Files that have no lines: how large they are, and those of them that are images.

use std::collections::HashMap;

use super::checkout::Checkout;
use super::compare::{Comparison, Entry, FileChange, Side, is_null};
use crate::view::{IMAGE_MAX, Picture};

impl Checkout {
    /// Says of binary files how large they were and are. `files` begin as `entries` do.
    pub(super) async fn weigh(&self, entries: &[Entry], files: &mut [FileChange]) -> Result<(), String> {
        let binary = |(entry, file): &(&Entry, &mut FileChange)| file.binary && !entry.is_module();
        let pairs: Vec<_> = entries.iter().zip(files).filter(binary).collect();
        let ids: Vec<&str> = pairs.iter().flat_map(|(entry, _)| [entry.old_id.as_str(), &entry.new_id]).filter(|id| !is_null(id)).collect();
        let sizes: HashMap<_, _> = self.sizes(&ids).await.map_err(|why| why.0)?.into_iter().collect();
        for (entry, file) in pairs {
            file.old_size = sizes.get(&entry.old_id).copied();
            file.new_size = sizes.get(&entry.new_id).copied();
        }
        Ok(())
    }

    /// One side of a changed image. `None` where that side is not there, too large, or no image.
    pub async fn picture(&self, comparison: &Comparison, path: &str, side: Side) -> Result<Option<Picture>, String> {
        let Some(entry) = comparison.find(path).filter(|entry| !entry.is_module()) else { return Ok(None) };
        let id = match side {
            Side::Old => &entry.old_id,
            Side::New => &entry.new_id,
        };
        if is_null(id) || self.sizes(&[id]).await.map_err(|why| why.0)?.iter().any(|(_, size)| *size > IMAGE_MAX) {
            return Ok(None);
        }
        let bytes = self.blobs(&[id]).await.map_err(|why| why.0)?.remove(id);
        Ok(bytes.and_then(Picture::of))
    }
}
