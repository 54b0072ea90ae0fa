//! A full disk.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use testkit::server::Rig;

use crate::{doctor, is};

/// Root may mount. Whoever is not root becomes it in namespaces of their own, in which the same test is run again, and counts.
fn runs_in_a_namespace(test: &str) -> bool {
    if std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0) {
        return false;
    }
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "--"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .output();
    let said = output.map_or_else(|error| error.to_string(), |output| String::from_utf8_lossy(&output.stdout).into_owned());
    assert!(said.contains("test result: ok. 1 passed"), "a small disk needs root, or namespaces for everybody:\n{said}");
    true
}

struct SmallDisk<'a>(&'a Path);

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

#[tokio::test]
async fn a_full_disk_is_named_and_everything_else_is_still_looked_at() {
    if runs_in_a_namespace("disk::a_full_disk_is_named_and_everything_else_is_still_looked_at") {
        return;
    }
    let rig = Rig::default();
    let data = rig.data_dir();
    let status = Command::new("mount").args(["-t", "tmpfs", "-o", "size=16m", "tmpfs"]).arg(&data).status().unwrap();
    assert!(status.success(), "a small disk cannot be mounted at {}", data.display());
    let _disk = SmallDisk(&data);
    store::Store::open(&data.join("voxpilot.db"), false).await.unwrap().close().await;
    let filler = data.join("filler");
    let filled = Command::new("dd").arg("if=/dev/zero").arg(format!("of={}", filler.display())).arg("bs=4k").output();
    assert!(filled.is_ok_and(|output| !output.status.success()), "the disk should be full now");
    let report = doctor(&rig, &["--agent", "demo"], &[]).await;
    is(report.one(None, "disk"), "fail", &["is full", data.to_str().unwrap()], &format!("du -xh -d2 {}", data.display()));
    is(report.one(None, "database"), "ok", &["is whole", "schema version"], "");
    is(report.one(Some("demo"), "start"), "ok", &[], "");
    assert!(report.failed);
    report.is_complete();
    std::fs::remove_file(filler).unwrap();
    let report = doctor(&rig, &["--agent", "demo"], &[]).await;
    is(report.one(None, "disk"), "ok", &["free"], "");
}
