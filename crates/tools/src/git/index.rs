//! The repository's own index, told of what was committed. Git works on a copy; what comes of it takes the index's place by handle,
//! under git's own lock.

use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::checkout::Checkout;
use super::copy;
use super::reference::Lock;
use super::repository::Repository;
use crate::Refusal;
use crate::beneath::{Kind, Links};

/// Another git may hold the index for a moment.
const TRIES: usize = 5;
const PAUSE: Duration = Duration::from_millis(100);
const MOST_BYTES: u64 = 64 * 1024 * 1024;

impl Checkout {
    /// Whatever else the index holds stays. False where it could not be brought up to date.
    pub(super) async fn refresh_index(&self, entries: &[u8]) -> bool {
        for _ in 0..TRIES {
            match self.lock_index().await {
                Ok(Some((lock, copy))) => return self.update_index(lock, &copy, entries).await.is_ok(),
                Ok(None) => tokio::time::sleep(PAUSE).await,
                Err(_) => return false,
            }
        }
        false
    }

    /// The lock, and a copy of the index that nobody changes as long as it is held.
    async fn lock_index(&self) -> Result<Option<(Lock, PathBuf)>, Refusal> {
        let (repository, scratch) = (Arc::clone(&self.repository), self.scratch.path().join("locked"));
        let work = move || {
            let Some(lock) = Lock::take(repository.git_dir.handle(), "index").map_err(|why| Refusal::new(why.to_string()))? else {
                return Ok(None);
            };
            let _ = fs::remove_dir_all(&scratch);
            fs::create_dir(&scratch).map_err(|why| Refusal::new(why.to_string()))?;
            copy::file(&repository.git_dir, "index", &scratch, MOST_BYTES)?;
            Ok(Some((lock, scratch.join("index"))))
        };
        tokio::task::spawn_blocking(work).await.map_err(|_| Refusal::new("the index cannot be locked"))?
    }

    async fn update_index(&self, lock: Lock, copy: &Path, entries: &[u8]) -> Result<(), Refusal> {
        self.plumb(&["update-index", "-z", "--index-info"], Some(entries), copy).await?.succeeded("git update-index")?;
        // Files that differ from it make this "fail"; the rest is refreshed all the same.
        let _ = self.plumb(&["update-index", "-q", "--refresh"], None, copy).await;
        let (repository, copy) = (Arc::clone(&self.repository), copy.to_owned());
        let work = move || put(&repository, lock, &copy).map_err(|why| Refusal::new(why.to_string()));
        tokio::task::spawn_blocking(work).await.map_err(|_| Refusal::new("the index cannot be written"))?
    }
}

/// Its time is that of the copy: git takes a file for unchanged only if it is older than the index.
fn put(repository: &Repository, mut lock: Lock, copy: &Path) -> std::io::Result<()> {
    let before = repository.git_dir.walk(b"index", Links::Refuse).ok().filter(|spot| spot.kind == Some(Kind::File));
    let mode = before.and_then(|spot| spot.file("index").ok()).map(|(_, about)| about.mode());
    lock.file.write_all(&fs::read(copy)?)?;
    lock.keep(mode.unwrap_or(0o644), copy.metadata()?.modified()?)?;
    lock.place("index")
}
