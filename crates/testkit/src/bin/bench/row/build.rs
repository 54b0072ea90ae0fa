//! From a fresh clone to a binary, with nothing built before. The page is copied, because it is built by other tools.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, ensure};
use tempfile::TempDir;
use testkit::counts;

use crate::rig::blocking;
use crate::table::Line;

pub(crate) async fn run() -> anyhow::Result<Vec<Line>> {
    let (minutes, cpu_minutes, binary_mb) = blocking(build).await?;
    Ok(vec![
        Line::new("cargo build of a fresh clone, min", minutes)
            .at_most(4.0)
            .limited_by("the code generation of our own crates and of those that parse: two cores have no more"),
        Line::new("processor time of it, min", cpu_minutes),
        Line::new("the binary, MB", binary_mb)
            .at_most(20.0)
            .limited_by("code that is made anew for each type: 22 MB of it, with 5 MB of tables to unwind it"),
    ])
}

fn build() -> anyhow::Result<(f64, f64, f64)> {
    let dir = TempDir::new()?;
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    let clone = dir.path().join("clone");
    succeed(Command::new("git").args(["clone", "--quiet"]).arg(&repository).arg(&clone))?;
    succeed(Command::new("cp").arg("-r").arg(repository.join("ui/dist")).arg(clone.join("ui/dist")))?;
    let me = i32::try_from(std::process::id())?;
    let before = counts::cpu_of_children(me).unwrap_or_default();
    let begun = Instant::now();
    let target = clone.join("target");
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--release", "--locked", "--quiet", "-p", "voxpilot"]).current_dir(&clone).env("CARGO_TARGET_DIR", &target);
    succeed(&mut cargo)?;
    let minutes = begun.elapsed().as_secs_f64() / 60.0;
    let used = counts::cpu_of_children(me).unwrap_or_default().saturating_sub(before);
    let binary = std::fs::metadata(target.join("release/voxpilot")).context("the binary was not built")?;
    Ok((minutes, used.as_secs_f64() / 60.0, binary.len() as f64 / 1e6))
}

fn succeed(command: &mut Command) -> anyhow::Result<()> {
    let status = command.status()?;
    ensure!(status.success(), "{command:?} failed: {status}");
    Ok(())
}
