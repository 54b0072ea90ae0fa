//! How much room the data directory takes, how much it may take, and how much the disk has left.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::{Engine, Refusal, Shared};

/// Above this share of the quota people are warned.
const QUOTA_WARNING_PERCENT: u64 = 90;
/// Below both of these people are warned: so many bytes, and so much of the disk.
const FREE_WARNING_BYTES: u64 = 1024 * 1024 * 1024;
const FREE_WARNING_PERCENT: u64 = 5;
/// So long a measurement is good enough to be shown.
const FRESH: Duration = Duration::from_secs(5);

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Disk {
    /// Without what deleted sessions have left in the database to be used again.
    pub used_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quota_bytes: Option<u64>,
    pub free_bytes: u64,
    /// What people should know before it is too late.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

impl Disk {
    /// `unused_bytes` of the files are there to be used again.
    pub fn measure(data_dir: &Path, quota_bytes: Option<u64>, unused_bytes: u64) -> io::Result<Disk> {
        let disk = rustix::fs::statvfs(data_dir)?;
        let (free_bytes, all_bytes) = (disk.f_bavail * disk.f_frsize, disk.f_blocks * disk.f_frsize);
        let used_bytes = used(data_dir).saturating_sub(unused_bytes);
        let warning = quota_bytes.and_then(|quota| quota_warning(used_bytes, quota)).or_else(|| free_warning(free_bytes, all_bytes));
        Ok(Disk { used_bytes, quota_bytes, free_bytes, warning })
    }

    fn is_over_quota(&self) -> bool {
        self.quota_bytes.is_some_and(|quota| self.used_bytes > quota)
    }
}

fn quota_warning(used: u64, quota: u64) -> Option<String> {
    let advice = "delete sessions you no longer need, or raise VOXPILOT_DISK_QUOTA";
    let (shown, most) = (size(used), size(quota));
    if used > quota {
        Some(format!("the data directory has {shown}, more than its quota of {most}: nothing new is started; {advice}"))
    } else if used / 100 >= quota / 10_000 * QUOTA_WARNING_PERCENT {
        Some(format!("the data directory has {shown}, and its quota is {most}: {advice}"))
    } else {
        None
    }
}

fn free_warning(free: u64, all: u64) -> Option<String> {
    let low = free < FREE_WARNING_BYTES && free / FREE_WARNING_PERCENT < all / 100;
    low.then(|| format!("the disk of the data directory has only {} left: free some space", size(free)))
}

/// What all files below have together. One that goes away meanwhile has nothing.
fn used(dir: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(dir) else { return 0 };
    let of = |entry: fs::DirEntry| match entry.metadata() {
        Ok(about) if about.is_dir() => used(&entry.path()),
        Ok(about) => about.len(),
        Err(_) => 0,
    };
    entries.filter_map(Result::ok).map(of).sum()
}

/// A number of bytes as people read it.
pub fn size(bytes: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match UNITS.iter().find(|(_, unit)| bytes >= *unit) {
        Some((name, unit)) => format!("{:.1} {name}", bytes as f64 / *unit as f64),
        None => format!("{bytes} bytes"),
    }
}

impl Engine {
    /// As it is now, or was a moment ago.
    pub async fn disk(&self) -> Result<Disk, Refusal> {
        let known = self.shared.known_disk().clone();
        match known {
            Some((measured, disk)) if measured.elapsed() < FRESH => Ok(disk),
            _ => self.shared.measure_disk().await,
        }
    }
}

impl Shared {
    /// Refuses what is new once the quota is used up. What runs already goes on.
    pub(crate) async fn check_room(&self) -> Result<(), Refusal> {
        if self.choices().disk_quota.is_none() {
            return Ok(());
        }
        let disk = self.measure_disk().await?;
        match disk.warning.as_ref().filter(|_| disk.is_over_quota()) {
            Some(warning) => Err(Refusal::NoRoom(warning.clone())),
            None => Ok(()),
        }
    }

    async fn measure_disk(&self) -> Result<Disk, Refusal> {
        let (data_dir, quota) = (self.settings.data_dir.clone(), self.choices().disk_quota);
        let unused = self.store.unused_bytes().await?;
        let measured = tokio::task::spawn_blocking(move || Disk::measure(&data_dir, quota, unused)).await;
        let failed = |error: &dyn std::fmt::Display| {
            tracing::warn!(%error, "the data directory cannot be measured");
            Refusal::Unavailable("the data directory cannot be measured: see the server's log".to_owned())
        };
        let disk = measured.map_err(|error| failed(&error))?.map_err(|error| failed(&error))?;
        *self.known_disk() = Some((Instant::now(), disk.clone()));
        Ok(disk)
    }

    fn known_disk(&self) -> std::sync::MutexGuard<'_, Option<(Instant, Disk)>> {
        self.disk.lock().expect("no code panics while it holds the measurement")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    #[test]
    fn people_are_warned_before_it_is_full() {
        assert_eq!(quota_warning(89 * GIB, 100 * GIB), None);
        assert!(quota_warning(90 * GIB, 100 * GIB).unwrap().contains("has 90.0 GiB, and its quota is 100.0 GiB"));
        assert!(quota_warning(100 * GIB + 1, 100 * GIB).unwrap().contains("more than its quota"));
        assert_eq!(free_warning(2 * GIB, 1000 * GIB), None);
        assert_eq!(free_warning(GIB / 2, GIB), None, "half of a small disk is much");
        assert!(free_warning(GIB / 2, 1000 * GIB).unwrap().contains("only 512.0 MiB left"));
    }

    #[test]
    fn everything_below_counts() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("below")).unwrap();
        fs::write(dir.path().join("below/a"), [0; 1000]).unwrap();
        fs::write(dir.path().join("b"), [0; 24]).unwrap();
        let disk = Disk::measure(dir.path(), Some(1000), 0).unwrap();
        assert_eq!((disk.used_bytes, disk.is_over_quota()), (1024, true));
        assert!(disk.warning.unwrap().contains("1.0 KiB"));
    }
}
