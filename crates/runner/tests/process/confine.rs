//! Confined commands on the kernel that is here: by both mechanisms, each skipped aloud where it does not work.

use std::fs;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use runner::{Body, Confinement, Mechanism, Terminal, TerminalSpec};
use uuid::Uuid;

use crate::rig::{Rig, exe, read_until, within};

/// A person's home: the project, the agent's own state, the data directory, and something that is none of these.
struct Home {
    home: tempfile::TempDir,
    confinement: Confinement,
}

impl Home {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        for directory in ["work", "share/voxpilot/runners", "share/other", "cache"] {
            fs::create_dir_all(home.path().join(directory)).unwrap();
        }
        fs::write(home.path().join("share/voxpilot/secret"), "the secret").unwrap();
        fs::write(home.path().join("share/voxpilot/mcp.json"), "shown").unwrap();
        fs::write(home.path().join("share/other/file"), "readable").unwrap();
        fs::write(home.path().join(".bashrc"), "as it was").unwrap();
        std::os::unix::fs::symlink("share/voxpilot", home.path().join("link")).unwrap();
        let path = |name: &str| home.path().join(name);
        let confinement = Confinement {
            writable: vec![path("work"), path("cache"), path("nowhere")],
            own: vec![path(".agent")],
            hidden: vec![path("share/voxpilot")],
            shown: vec![path("share/voxpilot/mcp.json")],
        };
        Self { home, confinement }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn wrap(&self, mechanism: &Mechanism, script: &str) -> (PathBuf, Vec<String>) {
        self.confinement.wrap(mechanism, &exe(), Path::new("/bin/sh"), &["-c".to_owned(), script.to_owned()])
    }

    fn sh(&self, mechanism: &Mechanism, script: &str) -> Output {
        let (command, args) = self.wrap(mechanism, script);
        Command::new(command).args(args).current_dir(self.path("work")).env("H", self.home.path()).output().unwrap()
    }
}

fn mechanisms() -> Vec<Mechanism> {
    let found = Mechanism::find(Some("/usr/bin:/bin".as_ref()));
    let mut mechanisms = Vec::new();
    match &found {
        Some(Mechanism::Landlock) => mechanisms.push(Mechanism::Landlock),
        _ => println!("skipped: this kernel has no Landlock, or too old a one"),
    }
    let bwrap = PathBuf::from("/usr/bin/bwrap");
    let works = Command::new(&bwrap).args(["--ro-bind", "/", "/", "--unshare-pid", "true"]).status().is_ok_and(|status| status.success());
    if works {
        mechanisms.push(Mechanism::Bubblewrap(bwrap))
    } else {
        println!("skipped: bubblewrap is not here or may not work")
    }
    mechanisms
}

#[test]
fn a_confined_command_writes_only_where_it_is_let() {
    for mechanism in mechanisms() {
        let home = Home::new();
        for script in [
            "echo x > inside",
            "mkdir -p deep/er && echo x > deep/er/file && mv deep/er/file deep/moved && rm -r deep",
            "echo x > $H/.agent/state",
            "echo x > $H/cache/file",
            "ln inside linked && chmod 600 linked",
            "echo x > /dev/null && (echo x | cat) > /dev/null",
            // What it starts is confined as well, and works.
            "sh -c 'echo x > child'",
        ] {
            let done = home.sh(&mechanism, script);
            assert!(done.status.success(), "{}: {script}: {}", mechanism.name(), String::from_utf8_lossy(&done.stderr));
        }
        assert!(home.path("work/inside").exists() && home.path("work/child").exists() && home.path(".agent/state").exists());
        for script in [
            "echo x > $H/outside",
            "echo x >> $H/.bashrc",
            ": > $H/.bashrc",
            "rm -f $H/.bashrc",
            "mv $H/.bashrc stolen",
            "mv inside $H/inside",
            "ln -s $H/.bashrc link && echo x > link",
            "ln $H/.bashrc hard && echo x > hard",
            "mkdir $H/new",
            "echo x > $H/share/voxpilot/new",
            "sh -c 'echo x > $H/outside'",
            "setsid sh -c 'echo x > $H/outside'",
            "cd / && echo x > $H/outside",
        ] {
            let done = home.sh(&mechanism, script);
            assert!(!done.status.success(), "{}: {script}", mechanism.name());
        }
        assert_eq!(fs::read_to_string(home.path(".bashrc")).unwrap(), "as it was", "{}", mechanism.name());
        assert!(!home.path("outside").exists() && !home.path("new").exists() && !home.path("share/voxpilot/new").exists());
    }
}

#[test]
fn what_is_hidden_from_a_confined_command_cannot_be_read() {
    for mechanism in mechanisms() {
        let home = Home::new();
        for script in ["cat $H/share/other/file", "cat $H/.bashrc", "cat $H/share/voxpilot/mcp.json", "cat /etc/passwd", "ls /usr"] {
            let done = home.sh(&mechanism, script);
            assert!(done.status.success(), "{}: {script}: {}", mechanism.name(), String::from_utf8_lossy(&done.stderr));
        }
        for script in [
            "cat $H/share/voxpilot/secret",
            "cat $H/link/secret",
            "cat $H/share/other/../voxpilot/secret",
            "ls $H/share/voxpilot | grep secret",
            "cp -r $H/share/voxpilot . && cat voxpilot/secret",
            "ln $H/share/voxpilot/secret here && cat here",
            "mv $H/share/voxpilot . && cat voxpilot/secret",
        ] {
            let done = home.sh(&mechanism, script);
            assert!(!done.status.success(), "{}: {script}", mechanism.name());
            assert!(!String::from_utf8_lossy(&done.stdout).contains("the secret"), "{}: {script}", mechanism.name());
        }
    }
}

#[test]
fn a_confined_command_reads_no_other_process() {
    for mechanism in mechanisms() {
        let home = Home::new();
        let mut other = Command::new("sleep").arg("600").env("TOKEN", "the secret").spawn().unwrap();
        let script = format!("cat /proc/{0}/environ; cat /proc/{0}/root/etc/passwd", other.id());
        let done = home.sh(&mechanism, &script);
        other.kill().unwrap();
        other.wait().unwrap();
        assert!(!done.status.success() && !String::from_utf8_lossy(&done.stdout).contains("the secret"), "{}", mechanism.name());
    }
}

#[test]
fn a_confinement_that_fails_runs_nothing() {
    let home = Home::new();
    let confinement = Confinement { hidden: home.confinement.writable.clone(), ..home.confinement.clone() };
    let (command, args) = confinement.wrap(&Mechanism::Landlock, &exe(), Path::new("/bin/sh"), &["-c".to_owned(), "echo ran".to_owned()]);
    let done = Command::new(command).args(args).output().unwrap();
    assert_eq!(done.status.code(), Some(126));
    assert!(done.stdout.is_empty() && String::from_utf8_lossy(&done.stderr).contains("cannot run /bin/sh confined"));

    let missing = Mechanism::Bubblewrap("/nowhere/bwrap".into());
    let done = home.sh(&missing, "echo ran");
    assert!(done.stdout.is_empty() && done.status.code() == Some(126));
    assert!(!matches!(Mechanism::find(None), Some(Mechanism::Bubblewrap(_))), "without a PATH there is no program");
}

#[tokio::test]
async fn a_runner_drives_a_confined_agent_and_ends_it() {
    for mechanism in mechanisms() {
        let home = Home::new();
        let mut rig = Rig::script("");
        let script = format!(
            "echo x > inside; cat {0}/share/voxpilot/secret 2> /dev/null || echo hidden; read line; echo \"got $line\"; read more",
            home.home.path().display()
        );
        (rig.spec.command, rig.spec.args) = home.wrap(&mechanism, &script);
        rig.spec.cwd = home.path("work");
        let rig = rig.start().await;
        let (handle, mut records) = rig.attach(0).await;
        handle.write(Uuid::new_v4(), b"a line".to_vec()).await.unwrap();
        let says = |records: &[runner::Record], line: &[u8]| {
            records.iter().any(|record| matches!(&record.body, Body::FromAgent(said) if said.as_ref() as &[u8] == line))
        };
        let read = read_until(&mut records, |read| says(read, b"got a line")).await;
        assert!(says(&read, b"hidden"), "{}: {read:?}", mechanism.name());
        assert!(home.path("work/inside").exists());
        within(handle.stop()).await.unwrap();
    }
}

#[tokio::test]
async fn a_terminal_of_a_confined_agent_is_confined() {
    for mechanism in mechanisms() {
        let home = Home::new();
        let script = format!("echo x > inside; echo x > {}/outside || echo held", home.home.path().display());
        let (command, args) = home.wrap(&mechanism, &script);
        let env = vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())];
        let command = command.to_string_lossy().into_owned();
        let spec = TerminalSpec { exe: exe(), command, args, env, cwd: home.path("work"), limit_bytes: None, runner: Uuid::new_v4() };
        let terminal = Terminal::start(spec).await.unwrap();
        within(terminal.ended()).await;
        assert!(terminal.output().0.contains("held"), "{}: {}", mechanism.name(), terminal.output().0);
        assert!(home.path("work/inside").exists() && !home.path("outside").exists());
    }
}

/// Landlock of most kernels does not hold back sockets that lie in the file system.
#[tokio::test]
async fn a_runner_listens_only_to_who_can_read_its_directory() {
    use std::io::{Read, Write};

    let rig = Rig::script("read line").start().await;
    let (handle, _records) = rig.attach(0).await;
    for request in [&[1u8][..], &[1, 9, 9, 9], &[2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]] {
        let socket = rig.dir.join("socket");
        let mut frame = u32::try_from(request.len()).unwrap().to_le_bytes().to_vec();
        frame.extend_from_slice(request);
        let answer = tokio::task::spawn_blocking(move || {
            let mut stream = UnixStream::connect(socket).unwrap();
            stream.write_all(&frame).unwrap();
            let mut answer = Vec::new();
            stream.read_to_end(&mut answer).unwrap();
            answer
        });
        let answer = within(answer).await.unwrap();
        assert!(answer.ends_with(b"not the server of this runner"), "{answer:?}");
    }
    // Who was attached still is.
    within(handle.busy(true)).await.unwrap();
    within(handle.stop()).await.unwrap();
}
