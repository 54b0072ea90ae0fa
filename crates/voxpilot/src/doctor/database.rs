//! The database: can it be opened, is it whole, is it of a version that we know.

use std::path::Path;
use std::time::Duration;

use store::{Look, OpenError};
use tokio::time::timeout;

use super::{Check, Verdict};
use crate::stop::DATABASE;

/// A large one takes longer to be read through than anybody waits.
const DEADLINE: Duration = Duration::from_secs(30);

pub(super) async fn look(data_dir: &Path) -> Check {
    let (name, path) = ("database", data_dir.join(DATABASE));
    let shown = path.display();
    if !path.exists() {
        return Check::ok(name, format!("{shown} (will be made at first start)"));
    }
    let error = match timeout(DEADLINE, store::look(&path)).await {
        Err(_) => return Check::ok(name, format!("{shown}, too large to be read through in {} s", DEADLINE.as_secs())),
        Ok(Ok(Look { version, known, in_use })) => {
            let version = if version < known { format!("{version}, will be {known} after the next start") } else { version.to_string() };
            let used = if in_use { ", in use by a running server" } else { "" };
            return Check::ok(name, format!("{shown} is whole, schema version {version}{used}"));
        }
        Ok(Err(error)) => error,
    };
    let fix = match &error {
        OpenError::Newer { .. } => "install the newer voxpilot that wrote it".to_owned(),
        OpenError::Full { .. } => "free some disk space".to_owned(),
        OpenError::Io { .. } | OpenError::InUse { .. } => format!("sudo chown \"$USER\" {shown}* && chmod 600 {shown}*"),
        _ => format!("voxpilot restore FILE   (a file made by `voxpilot backup`; without one: mv {shown} {shown}.damaged)"),
    };
    Check::bad(name, Verdict::Fail, format!("{:#}", anyhow::Error::from(error)), fix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_database_is_looked_at_and_not_changed() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(look(dir.path()).await.verdict, Verdict::Ok);
        let path = dir.path().join(DATABASE);
        let store = store::Store::open(&path, false).await.unwrap();
        let check = look(dir.path()).await;
        assert!(check.verdict == Verdict::Ok && check.detail.contains("in use"), "{check:?}");
        store.close().await;
        let before = std::fs::read(&path).unwrap();
        let check = look(dir.path()).await;
        assert!(check.verdict == Verdict::Ok && check.detail.contains("schema version"), "{check:?}");
        assert_eq!(std::fs::read(&path).unwrap(), before);
        assert!(!dir.path().join("voxpilot.db-shm").exists());
    }

    #[tokio::test]
    async fn one_that_is_damaged_or_not_ours_fails() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(DATABASE);
        store::Store::open(&path, false).await.unwrap().close().await;
        let mut bytes = std::fs::read(&path).unwrap();
        let second = 4096..bytes.len().min(8192);
        bytes[second].fill(0x5a);
        std::fs::write(&path, &bytes).unwrap();
        let check = look(dir.path()).await;
        assert!(check.verdict == Verdict::Fail && check.fix.as_ref().unwrap().contains("voxpilot restore"), "{check:?}");
        std::fs::write(&path, "not a database, but long enough to be read as the header of one").unwrap();
        assert_eq!(look(dir.path()).await.verdict, Verdict::Fail);
    }
}
