//! Confined commands on the kernel that is here, by Landlock and by bubblewrap. What this kernel could hold must be held; what it has not is
//! skipped aloud.

mod environments;
mod escapes;
mod habits;

use std::fs;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use runner::{Base, Body, Confinement, Family, Feature, Invocation, Mechanism, Sandbox, Terminal, TerminalSpec};
use uuid::Uuid;

use crate::rig::{Rig, exe, read_until, within};

/// A person's home: the project, the agent's own state, the data directory, and something that is none of these.
struct Home {
    home: tempfile::TempDir,
    confinement: Confinement,
}

impl Home {
    fn new() -> Self {
        // Not in a temporary directory: those are often a sandbox's to write to.
        let home = tempfile::tempdir_in(apart()).unwrap();
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
            untrusted: vec![],
        };
        Self { home, confinement }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn sandbox(&self, mechanism: &Mechanism) -> Sandbox {
        Sandbox { exe: exe(), mechanism: mechanism.clone(), confinement: self.confinement.clone() }
    }

    fn program(&self, mechanism: &Mechanism, command: impl Into<PathBuf>, args: &[&str]) -> Invocation {
        let home = self.home.path().display().to_string();
        Invocation {
            command: command.into(),
            args: args.iter().map(|word| (*word).to_owned()).collect(),
            env: vec![("PATH".to_owned(), SEARCH_PATH.to_owned()), ("H".to_owned(), home)],
            cwd: Some(self.path("work").into()),
            mark: None,
            sandbox: Some(self.sandbox(mechanism)),
        }
    }

    fn terminal(&self, mechanism: &Mechanism, script: &str) -> TerminalSpec {
        let program = self.program(mechanism, "/bin/sh", &["-c", script]);
        TerminalSpec {
            exe: exe(),
            command: "/bin/sh".to_owned(),
            args: program.args,
            env: program.env,
            cwd: self.path("work").into(),
            sandbox: program.sandbox,
            limit_bytes: None,
            runner: Uuid::new_v4(),
        }
    }

    fn sh(&self, mechanism: &Mechanism, script: &str) -> Output {
        run(&self.program(mechanism, "/bin/sh", &["-c", script]))
    }
}

const SEARCH_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Runs a program to its end, with a broker for it.
pub(crate) fn run(program: &Invocation) -> Output {
    let (mut command, broker) = program.prepare(fs::File::open("/dev/null").unwrap().into()).unwrap();
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(command);
    let _broker = broker.map(|broker| broker.start(Family::of(child.id(), program.mark)).unwrap());
    child.wait_with_output().unwrap()
}

pub(crate) fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Where a test makes what is outside. One that runs as somebody else has a directory of its own.
#[expect(clippy::disallowed_methods, reason = "a word from a test to itself")]
fn apart() -> PathBuf {
    std::env::var_os(APART).map_or_else(|| env!("CARGO_TARGET_TMPDIR").into(), PathBuf::from)
}

const APART: &str = "SANDBOX_TEST_DIR";
const NOBODY: u32 = 65534;

/// What root may do by itself, others may in a namespace of their own: that is another way, and holds as well.
#[test]
fn somebody_without_rights_is_held_as_well() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: this test does not run as root, so the others have shown it");
        return;
    }
    let own = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    std::os::unix::fs::chown(own.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    let somebody = |program: &Path| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", &NOBODY.to_string(), "--regid", &NOBODY.to_string(), "--clear-groups"]).arg(program);
        command
    };
    // Its own exit code says nothing: where a program can't be reached, setpriv ends with the same one.
    if !somebody(Path::new("test")).arg("-x").arg(exe()).stderr(Stdio::null()).status().is_ok_and(|status| status.success()) {
        println!("skipped: the programs cannot be run by another user");
        return;
    }
    let tests = ["confine::what_this_kernel_can_hold_is_held", "confine::escapes::a_hostile_program_does_not_get_out", "confine::habits::"];
    let done = somebody(&std::env::current_exe().unwrap())
        .args(tests)
        .args(["--nocapture"])
        .env(APART, own.path())
        .env("HOME", own.path())
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", said(&done));
    assert!(said(&done).contains("ways were tried"), "{}", said(&done));
}

/// Those that work here, found once. Whether one should work is asked of the system, not of what is tested.
pub(crate) fn mechanisms() -> Vec<Mechanism> {
    static FOUND: std::sync::LazyLock<Vec<Mechanism>> = std::sync::LazyLock::new(|| {
        let mut found = Vec::new();
        match Mechanism::of(&exe(), Base::Landlock) {
            Some(mechanism) => found.push(mechanism),
            None => {
                assert!(!has_landlock(), "this kernel has Landlock, and it is not used");
                println!("skipped: this kernel has no Landlock, or too old a one");
            }
        }
        let bwrap = PathBuf::from("/usr/bin/bwrap");
        let works = succeeds(&bwrap, &["--ro-bind", "/", "/", "--unshare-pid", "true"]);
        match Mechanism::of(&exe(), Base::Bubblewrap(bwrap)) {
            Some(mechanism) => found.push(mechanism),
            None => assert!(!works, "bubblewrap works here, and is not used"),
        }
        if !works {
            println!("skipped: bubblewrap is not here or may not work");
        }
        found
    });
    FOUND.clone()
}

/// As the kernel lists its own functions; and it has been able to hold what is needed since 6.2.
fn has_landlock() -> bool {
    let enabled = fs::read_to_string("/sys/kernel/security/lsm").map_or(true, |modules| modules.contains("landlock"));
    let known = fs::read_to_string("/proc/kallsyms").is_ok_and(|symbols| symbols.contains("landlock_restrict_self"));
    enabled && known && kernel() >= vec![6, 2]
}

fn kernel() -> Vec<u32> {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    release.split('.').map_while(|part| part.parse().ok()).take(2).collect()
}

fn succeeds(program: &Path, args: &[&str]) -> bool {
    Command::new(program).args(args).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// What this kernel cannot hold by Landlock, as the system itself says.
fn beyond_this_kernel() -> Vec<Feature> {
    let mut beyond = Vec::new();
    if !succeeds(Path::new("unshare"), &["--user", "--mount", "--map-current-user", "true"]) {
        println!("skipped: namespaces may not be made here, so metadata and shared memory are not held");
        beyond.extend([Feature::Metadata, Feature::Sharing]);
    }
    let actions = fs::read_to_string("/proc/sys/kernel/seccomp/actions_avail").unwrap_or_default();
    if !actions.contains("user_notif") {
        println!("skipped: this kernel hands no system calls over, so sockets are not held");
        beyond.push(Feature::Sockets);
    }
    if kernel() < vec![6, 12] {
        println!("skipped: Landlock holds no signals before Linux 6.12");
        beyond.push(Feature::Signals);
    }
    beyond
}

#[test]
fn what_this_kernel_can_hold_is_held() {
    let beyond = beyond_this_kernel();
    for mechanism in mechanisms() {
        match mechanism.base {
            Base::Landlock => assert!(mechanism.open.iter().all(|open| beyond.contains(open)), "{mechanism:?}"),
            Base::Bubblewrap(_) => {
                assert!(mechanism.open.iter().all(|open| *open == Feature::Sockets && beyond.contains(open)), "{mechanism:?}")
            }
        }
    }
}

/// A kernel without one or the other: the base still holds, and what is open is known.
#[test]
fn what_is_missing_is_known_and_the_rest_still_holds() {
    let Some(all) = mechanisms().into_iter().find(|mechanism| mechanism.base == Base::Landlock) else { return };
    let home = Home::new();
    for (view, calls) in [(true, false), (false, true), (false, false)] {
        let layers = runner::Layers { view: view && all.layers.view, calls: calls && all.layers.calls };
        let less = Mechanism { layers, ..all.clone() };
        let done = home.sh(&less, "echo x > inside && cat inside");
        assert!(done.status.success(), "{less:?}: {}", said(&done));
        assert!(
            !home.sh(&less, "echo x > $H/outside").status.success() && !home.sh(&less, "cat $H/share/voxpilot/secret").status.success()
        );
        assert_eq!(home.sh(&less, "chmod 600 $H/.bashrc").status.success(), !layers.view, "{less:?}");
    }
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
    let by = |base| Mechanism { base, layers: runner::Layers::default(), open: vec![] };
    let confinement = Confinement { hidden: home.confinement.writable.clone(), ..home.confinement.clone() };
    let mut program = home.program(&by(Base::Landlock), "/bin/sh", &["-c", "echo ran"]);
    program.sandbox = Some(Sandbox { confinement, ..home.sandbox(&by(Base::Landlock)) });
    let done = run(&program);
    assert_eq!(done.status.code(), Some(126));
    assert!(done.stdout.is_empty() && String::from_utf8_lossy(&done.stderr).contains("cannot run /bin/sh confined"));

    let done = home.sh(&by(Base::Bubblewrap("/nowhere/bwrap".into())), "echo ran");
    assert!(done.stdout.is_empty() && done.status.code() == Some(126));
    let found = Mechanism::find(&exe(), None, &[]);
    assert!(!matches!(found, Some(Mechanism { base: Base::Bubblewrap(_), .. })), "without a PATH there is no program");
    // Started by hand it has nothing to do, whatever is said to it.
    for words in [&["confined"][..], &["confined", "inside", "0", "1"], &["confined", "probe", "{}"], &["confined", "landlock", "--", "sh"]]
    {
        let done = Command::new(exe()).args(words).stdin(Stdio::null()).output().unwrap();
        assert!(!done.status.success() && done.stdout.is_empty(), "{words:?}");
    }
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
        rig.spec.args = vec!["-c".to_owned(), script];
        (rig.spec.sandbox, rig.spec.cwd) = (Some(home.sandbox(&mechanism)), home.path("work"));
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
        let terminal = Terminal::start(home.terminal(&mechanism, &script)).await.unwrap();
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
