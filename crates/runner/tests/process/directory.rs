//! The directory that a command was given when it was opened, while its name is exchanged with a link to another one.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use runner::{Confinement, Directory, Invocation, Sandbox, Terminal, TerminalSpec};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use uuid::Uuid;

use crate::confine::{mechanisms, run, said};
use crate::rig::{exe, within};

const SCRIPT: &str = "cat name; touch made";
const ROUNDS: usize = 20;

/// A work directory in which `dir` is a directory and `link` leads out.
struct Disk {
    home: tempfile::TempDir,
}

impl Disk {
    fn new() -> Self {
        let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        for name in ["work/dir", "outside"] {
            fs::create_dir_all(home.path().join(name)).unwrap();
            fs::write(home.path().join(name).join("name"), name).unwrap();
        }
        symlink("../outside", home.path().join("work/link")).unwrap();
        Self { home }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn opened(&self) -> Directory {
        let path = self.path("work/dir");
        let handle: OwnedFd = fs::File::open(&path).unwrap().into();
        Directory::opened(path, handle).unwrap()
    }

    fn exchange(&self) {
        exchange(&self.path("work"));
    }

    /// Each sandbox that works here, and none.
    fn sandboxes(&self) -> Vec<Option<Sandbox>> {
        let confinement = Confinement { writable: vec![self.home.path().to_owned()], ..Confinement::default() };
        let sandbox = |mechanism| Some(Sandbox { exe: exe(), mechanism, confinement: confinement.clone() });
        mechanisms().into_iter().map(sandbox).chain([None]).collect()
    }

    /// What the command printed, or why it did not start.
    async fn terminal(&self, cwd: Directory, sandbox: Option<Sandbox>) -> String {
        let spec = TerminalSpec {
            exe: exe(),
            command: "/bin/sh".to_owned(),
            args: vec!["-c".to_owned(), SCRIPT.to_owned()],
            env: vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())],
            cwd,
            sandbox,
            limit_bytes: None,
            runner: Uuid::new_v4(),
        };
        match within(Terminal::start(spec)).await {
            Ok(terminal) => {
                within(terminal.ended()).await;
                terminal.output().0
            }
            Err(error) => error.to_string(),
        }
    }
}

fn exchange(work: &Path) {
    renameat_with(CWD, work.join("dir"), CWD, work.join("link"), RenameFlags::EXCHANGE).unwrap();
}

#[tokio::test]
async fn a_command_does_not_start_where_another_directory_has_the_name() {
    let disk = Disk::new();
    for sandbox in disk.sandboxes() {
        let cwd = disk.opened();
        assert_eq!(disk.terminal(cwd.clone(), sandbox.clone()).await, "work/dir");
        assert!(disk.path("work/dir/made").exists());
        fs::remove_file(disk.path("work/dir/made")).unwrap();
        disk.exchange();
        let refused = disk.terminal(cwd, sandbox).await;
        assert!(refused.contains("was moved or replaced"), "{refused}");
        disk.exchange();
        assert!(!disk.path("outside/made").exists() && !disk.path("work/dir/made").exists());
    }
}

/// Exchanged after the keeper has looked: the last look is that of the process that becomes the command.
#[test]
fn a_confined_command_is_not_in_another_directory_of_its_name() {
    let disk = Disk::new();
    for sandbox in disk.sandboxes().into_iter().flatten() {
        let args = vec!["-c".to_owned(), SCRIPT.to_owned()];
        let env = vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())];
        let program = Invocation { command: "/bin/sh".into(), args, env, cwd: Some(disk.opened()), mark: None, sandbox: Some(sandbox) };
        disk.exchange();
        let done = run(&program);
        disk.exchange();
        assert!(done.stdout.is_empty() && said(&done).contains("was moved or replaced"), "{}", said(&done));
        assert!(!disk.path("outside/made").exists());
    }
}

/// Exchanges the two names until it is told to stop, and back at last.
struct Swap {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<usize>,
}

impl Swap {
    fn start(work: PathBuf) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut count = 0;
            while !stopped.load(Ordering::Relaxed) {
                (0..2).for_each(|_| exchange(&work));
                count += 2;
            }
            count
        });
        Self { stop, thread }
    }

    fn stop(self) -> usize {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

#[tokio::test]
async fn a_command_runs_where_it_was_opened_or_not_at_all_while_names_are_exchanged() {
    let disk = Disk::new();
    for sandbox in disk.sandboxes() {
        let cwd = disk.opened();
        let swap = Swap::start(disk.path("work"));
        let mut ran = 0;
        for _ in 0..ROUNDS {
            let output = disk.terminal(cwd.clone(), sandbox.clone()).await;
            assert!(output == "work/dir" || output.contains("was moved or replaced"), "{output}");
            ran += usize::from(output == "work/dir");
        }
        println!("{ran} of {ROUNDS} ran during {} exchanges", swap.stop());
        assert!(!disk.path("outside/made").exists());
    }
}
