//! Asking a program something that it answers in one line.

use std::fs::File;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::AsyncReadExt;
use tokio::process::Command;
use tokio::time::timeout;

use crate::confine::Family;
use crate::invocation::Invocation;

const MAX_OUTPUT_BYTES: u64 = 4096;

/// The first line that the program prints. `None` where it fails, says nothing or takes too long; then everything of it is ended.
pub async fn first_line(program: &Invocation, deadline: Duration) -> Option<String> {
    let (mut command, broker) = program.prepare(File::open("/dev/null").ok()?.into()).ok()?;
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = Command::from(command).kill_on_drop(true).spawn().ok()?;
    let id = child.id()?;
    let mut group = Group(Pid::from_raw(id.cast_signed()));
    let _broker = broker.map(|broker| broker.start(Family::of(id, program.mark))).transpose().ok()?;
    let mut stdout = child.stdout.take()?.take(MAX_OUTPUT_BYTES);
    let mut output = Vec::new();
    let ended = timeout(deadline, async {
        stdout.read_to_end(&mut output).await.ok()?;
        child.wait().await.ok()
    });
    let status = ended.await.ok()??;
    // It has ended by itself, and its number may be somebody else's by now.
    group.0 = None;
    let output = String::from_utf8_lossy(&output);
    output.lines().map(str::trim).find(|line| status.success() && !line.is_empty()).map(str::to_owned)
}

/// Ended with this value: killing a wrapper alone would leave the real program running.
struct Group(Option<Pid>);

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}
