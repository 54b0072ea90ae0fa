//! A hostile program (`examples/escape`) in a sandbox: whatever it tries, it does not get out. Without a sandbox the same things work, so
//! each of them is really tried.

use std::fs::{self, File, OpenOptions};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use runner::{Feature, Invocation, Mechanism};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, listen, socket_with};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::{Home, mechanisms, run, said};
use crate::rig::exe;

/// What it tries, what has to hold it, and whether anybody may do it who is in no sandbox.
const WAYS: [(&str, Feature, Control); 62] = [
    ("write", Feature::Files, Control::Works),
    ("truncate", Feature::Files, Control::Works),
    ("make", Feature::Files, Control::Works),
    ("make-directory", Feature::Files, Control::Works),
    ("make-pipe", Feature::Files, Control::Works),
    ("make-device", Feature::Files, Control::None),
    ("rename", Feature::Files, Control::Works),
    ("hard-link", Feature::Files, Control::Works),
    ("link", Feature::Files, Control::Works),
    ("own-root", Feature::Files, Control::Works),
    ("handle", Feature::Files, Control::None),
    ("mount", Feature::Files, Control::None),
    ("volume", Feature::Files, Control::Works),
    ("secret", Feature::Files, Control::Works),
    ("chmod", Feature::Metadata, Control::Works),
    ("chmod-directory", Feature::Metadata, Control::Works),
    ("chmod-opened", Feature::Metadata, Control::Works),
    ("chmod-at", Feature::Metadata, Control::None),
    ("chown", Feature::Metadata, Control::Works),
    ("chown-opened", Feature::Metadata, Control::Works),
    ("times", Feature::Metadata, Control::Works),
    ("times-opened", Feature::Metadata, Control::Works),
    ("attribute", Feature::Metadata, Control::Works),
    ("attribute-opened", Feature::Metadata, Control::Works),
    ("attribute-removed", Feature::Metadata, Control::Works),
    ("flags", Feature::Metadata, Control::None),
    ("remount", Feature::Metadata, Control::None),
    ("remount-new", Feature::Metadata, Control::None),
    ("new-namespace", Feature::Metadata, Control::None),
    ("other-namespace", Feature::Metadata, Control::None),
    ("other-root", Feature::Metadata, Control::None),
    ("connect", Feature::Sockets, Control::Works),
    ("connect-relative", Feature::Sockets, Control::Works),
    ("connect-by-link", Feature::Sockets, Control::Works),
    ("connect-by-handle", Feature::Sockets, Control::Works),
    ("connect-shared", Feature::Sockets, Control::Works),
    ("connect-moved", Feature::Sockets, Control::Works),
    ("connect-under-own-name", Feature::Sockets, Control::Works),
    ("connect-sequence", Feature::Sockets, Control::Works),
    ("connect-datagram", Feature::Sockets, Control::Works),
    ("send-datagram", Feature::Sockets, Control::Works),
    ("send-datagram-of-pair", Feature::Sockets, Control::Works),
    ("connect-abstract", Feature::Sockets, Control::Works),
    ("race-address", Feature::Sockets, Control::Works),
    ("race-socket", Feature::Sockets, Control::Works),
    ("ring", Feature::Sockets, Control::None),
    ("listen", Feature::Files, Control::Works),
    ("old-convention", Feature::Sockets, Control::None),
    ("signal", Feature::Signals, Control::Works),
    ("signal-handle", Feature::Signals, Control::Works),
    ("trace", Feature::Processes, Control::None),
    ("memory", Feature::Processes, Control::None),
    ("memory-read", Feature::Processes, Control::None),
    ("environment", Feature::Processes, Control::Works),
    ("root", Feature::Processes, Control::Works),
    ("directory", Feature::Processes, Control::Works),
    ("opened", Feature::Processes, Control::Works),
    ("take-opened", Feature::Processes, Control::None),
    ("limit", Feature::Sockets, Control::Works),
    ("key", Feature::Sockets, Control::None),
    ("type", Feature::Sockets, Control::None),
    ("inherited", Feature::Files, Control::Works),
];

/// Shared by all processes of one user, unless they have their own.
const SHARED: [(&str, Feature, Control); 4] = [
    ("other-terminal", Feature::Sharing, Control::Works),
    ("segment", Feature::Sharing, Control::Works),
    ("queue", Feature::Sharing, Control::Works),
    ("shared-memory-file", Feature::Sharing, Control::Works),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Control {
    Works,
    /// Not everybody may, or not on every kernel.
    None,
}

/// What there is to attack, made anew for each way.
struct Target {
    home: Home,
    other: Child,
    inherited: File,
    terminal: (OwnedFd, PathBuf),
    shm_file: String,
    _listening: (Vec<UnixListener>, OwnedFd, UnixDatagram),
    segment: i32,
    queue: String,
}

impl Target {
    fn new() -> Self {
        let home = Home::new();
        let at = |name: &str| home.path(name);
        fs::create_dir_all(at("outside")).unwrap();
        fs::create_dir_all(at("cache/place")).unwrap();
        fs::create_dir_all(at("hidden")).unwrap();
        fs::write(at("outside/kept"), "as it was").unwrap();
        fs::write(at("hidden/secret"), "the secret").unwrap();
        fs::set_permissions(at("outside/kept"), fs::Permissions::from_mode(0o640)).unwrap();
        rustix::fs::setxattr(at("outside/kept"), c"user.kept", b"x", rustix::fs::XattrFlags::empty()).unwrap();
        let sequence = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap();
        bind(&sequence, &SocketAddrUnix::new(at("outside/sequence")).unwrap()).unwrap();
        listen(&sequence, 8).unwrap();
        let bound = |name: &str| UnixListener::bind(at(name)).unwrap();
        let named = SocketAddr::from_abstract_name(at("outside").as_os_str().as_encoded_bytes()).unwrap();
        let listeners =
            vec![bound("outside/socket"), bound("cache/socket"), bound("cache/place/socket"), UnixListener::bind_addr(&named).unwrap()];
        // Nobody accepts, and a race connects often.
        let datagram = UnixDatagram::bind(at("outside/datagram")).unwrap();
        let inherited = File::open(at("outside/kept")).unwrap();
        fcntl_setfd(&inherited, FdFlags::empty()).unwrap();
        let other = Command::new("sleep").arg("600").env("TOKEN", "the secret").current_dir(at("outside")).spawn().unwrap();
        let screen = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&screen).and_then(|()| unlockpt(&screen)).unwrap();
        let terminal = PathBuf::from(ptsname(&screen, Vec::new()).unwrap().to_str().unwrap());
        let shm_file = format!("escape-{}", other.id());
        File::create(Path::new("/dev/shm").join(&shm_file)).unwrap();
        let queue = format!("/escape-{}", other.id());
        let segment = i32::try_from(other.id()).unwrap();
        shared_memory("make", segment, &queue);
        Self { home, other, inherited, terminal: (screen, terminal), shm_file, _listening: (listeners, sequence, datagram), segment, queue }
    }

    fn program(&self, mechanism: Option<&Mechanism>, way: &str) -> Invocation {
        let any = mechanisms().remove(0);
        let program = exe().with_file_name("escape");
        let mut program = self.home.program(mechanism.unwrap_or(&any), program, &[way]);
        if mechanism.is_none() {
            program.sandbox = None;
        }
        if let Some(sandbox) = &mut program.sandbox {
            sandbox.confinement.hidden.push(self.home.path("hidden"));
        }
        let text = |path: &Path| path.display().to_string();
        program.env.extend(
            [
                ("OUTSIDE", text(&self.home.path("outside"))),
                ("SHARED", text(&self.home.path("cache"))),
                ("ABSTRACT", text(&self.home.path("outside"))),
                ("OTHER", self.other.id().to_string()),
                ("INHERITED", self.inherited.as_raw_fd().to_string()),
                ("TERMINAL", text(&self.terminal.1)),
                ("SHM_FILE", self.shm_file.clone()),
                ("SEGMENT", self.segment.to_string()),
                ("QUEUE", self.queue.clone()),
            ]
            .map(|(name, value)| (name.to_owned(), value)),
        );
        program
    }

    /// Nothing outside is another than before.
    fn is_untouched(&self) -> bool {
        let kept = self.home.path("outside/kept");
        let names = fs::read_dir(self.home.path("outside")).unwrap().count();
        let mode = fs::metadata(&kept).unwrap().permissions().mode() & 0o777;
        fs::read_to_string(&kept).unwrap() == "as it was" && mode == 0o640 && names == 4
    }
}

/// By a program of our own, since no safe library makes them.
fn shared_memory(action: &str, segment: i32, queue: &str) {
    let done = Command::new(exe().with_file_name("escape"))
        .args([format!("shared-{action}")])
        .env("SEGMENT", segment.to_string())
        .env("QUEUE", queue)
        .status();
    assert!(done.unwrap().success(), "shared memory for the test: {action}");
}

impl Drop for Target {
    fn drop(&mut self) {
        let _ = self.other.kill();
        let _ = self.other.wait();
        let _ = fs::remove_file(Path::new("/dev/shm").join(&self.shm_file));
        shared_memory("remove", self.segment, &self.queue);
    }
}

#[test]
fn a_hostile_program_does_not_get_out() {
    let mut tried = 0;
    for mechanism in mechanisms() {
        for (way, feature, _) in WAYS.into_iter().chain(SHARED) {
            if mechanism.open.contains(&feature) {
                println!("skipped: {way}: {} does not hold {} here", mechanism.name(), feature.as_str());
                continue;
            }
            let target = Target::new();
            let done = run(&target.program(Some(&mechanism), way));
            let said = said(&done);
            assert!(!done.status.success() && done.status.code() != Some(2), "{}: {way} got out: {said}", mechanism.name());
            assert!(target.is_untouched(), "{}: {way} changed something: {said}", mechanism.name());
            assert!(!said.contains("the secret"), "{}: {way}: {said}", mechanism.name());
            tried += 1;
        }
    }
    println!("{tried} ways were tried");
}

#[test]
fn without_a_sandbox_the_same_program_gets_out() {
    for (way, ..) in WAYS.into_iter().chain(SHARED).filter(|(.., control)| *control == Control::Works) {
        let target = Target::new();
        let done = run(&target.program(None, way));
        assert!(done.status.success(), "{way}: {}", said(&done));
    }
}

/// An agent that runs in a directory above put a link where the other one has its work directory, or its own state.
#[test]
fn a_link_that_an_agent_has_made_opens_nothing() {
    for mechanism in mechanisms() {
        let home = Home::new();
        fs::create_dir(home.path("outside")).unwrap();
        std::os::unix::fs::symlink(home.path("outside"), home.path("work/swapped")).unwrap();
        for (writable, own) in [("work/swapped", ".agent"), ("work", "work/swapped/state")] {
            let mut program = home.program(&mechanism, "/bin/sh", &["-c", "echo x > $H/outside/made"]);
            let sandbox = program.sandbox.as_mut().unwrap();
            (sandbox.confinement.writable, sandbox.confinement.own) = (vec![home.path(writable)], vec![home.path(own)]);
            sandbox.confinement.untrusted = vec![home.path("work")];
            let done = run(&program);
            assert_eq!(done.status.code(), Some(126), "{}", said(&done));
            assert!(said(&done).contains("a link that an agent may have made"), "{}", said(&done));
            assert!(fs::read_dir(home.path("outside")).unwrap().next().is_none());
        }
    }
}

/// What another program of the agent's own listens at, it may use: a terminal and the agent are of one family.
#[test]
fn programs_of_one_agent_reach_each_other() {
    let Some(mechanism) = mechanisms().into_iter().find(|mechanism| mechanism.layers.calls) else {
        println!("skipped: connections are not held here");
        return;
    };
    let (home, mark) = (Home::new(), uuid::Uuid::new_v4());
    let start = |way: &str, mark| {
        let mut program = home.program(&mechanism, exe().with_file_name("escape"), &[way, "work-socket"]);
        program.mark = mark;
        program
    };
    let (mut command, broker) = start("serve-own", Some(mark)).prepare(File::open("/dev/null").unwrap().into()).unwrap();
    let mut serving = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut ready = [0];
    std::io::Read::read_exact(&mut serving.stdout.take().unwrap(), &mut ready).unwrap();
    drop(broker);
    let family = run(&start("connect-own", Some(mark)));
    let stranger = run(&start("connect-own", None));
    serving.kill().unwrap();
    serving.wait().unwrap();
    assert!(family.status.success(), "{}", said(&family));
    assert!(!stranger.status.success(), "one of another agent");
}

/// Otherwise a device in the test's way would look like a sandbox.
#[test]
fn a_terminal_of_the_test_can_be_opened() {
    let target = Target::new();
    OpenOptions::new().write(true).open(&target.terminal.1).unwrap();
}
