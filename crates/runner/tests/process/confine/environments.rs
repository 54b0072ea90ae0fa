//! Whatever an agent wants in an environment, it has no effect before the confinement: not when the agent is started, not in a terminal, not
//! in a login, not when its version is asked for.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use runner::{Body, Invocation, Mechanism, Pty, Terminal, TerminalSpec};
use uuid::Uuid;

use super::{Home, mechanisms};
use crate::rig::{Rig, exe, read_to_exit, within};

/// Writes to the file that `TOUCH` names as soon as it is loaded, however that comes about.
const LIBRARY: &str = r#"
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((constructor)) static void touch(void) {
    const char *path = getenv("TOUCH");
    if (path) { int fd = open(path, O_CREAT | O_WRONLY, 0600); if (fd >= 0) close(fd); }
}
unsigned la_version(unsigned version) { touch(); return version; }
int gconv_init(void *step) { touch(); return 0; }
"#;

/// Variables as `NAME=value`, several in a line; `W` stands for the work directory, `O` for a place outside. Whether the program that
/// gets them still runs.
const ENVIRONMENTS: [(&str, bool); 40] = [
    ("LD_PRELOAD=W/library.so", true),
    ("LD_PRELOAD=W/nothing.so:W/library.so", true),
    ("LD_AUDIT=W/library.so", true),
    ("LD_LIBRARY_PATH=W/libraries", false),
    ("LD_LIBRARY_PATH=W/nothing", true),
    ("LD_DEBUG=all LD_DEBUG_OUTPUT=O/debug", true),
    ("LD_PROFILE=libc.so.6 LD_PROFILE_OUTPUT=O", true),
    ("LD_BIND_NOW=1 LD_SHOW_AUXV=1", true),
    ("LD_ORIGIN_PATH=W LD_ASSUME_KERNEL=2.4", true),
    ("GCONV_PATH=W CHARSET=UTF-7 LANG=xx_XX.TOUCH LC_ALL=xx_XX.TOUCH", true),
    ("GLIBC_TUNABLES=glibc.malloc.check=3:glibc.rtld.nns=0", true),
    ("MALLOC_CHECK_=3 MALLOC_PERTURB_=85 MALLOC_ARENA_MAX=1", true),
    ("MALLOC_TRACE=O/trace MALLOC_MMAP_THRESHOLD_=1", true),
    ("LOCPATH=W NLSPATH=W/%N LANGUAGE=xx", true),
    ("HOSTALIASES=W/hosts RES_OPTIONS=debug LOCALDOMAIN=x", true),
    ("GETCONF_DIR=W POSIXLY_CORRECT=1 TZDIR=W TZ=:W/zone", true),
    ("TMPDIR=O TEMP=O TMP=O", true),
    ("HOME=O XDG_CONFIG_HOME=O XDG_CACHE_HOME=O XDG_DATA_HOME=O", true),
    ("XDG_RUNTIME_DIR=O DBUS_SESSION_BUS_ADDRESS=unix:path=O/bus SSH_AUTH_SOCK=O/agent", true),
    ("DOCKER_HOST=unix://O/docker DISPLAY=:0 WAYLAND_DISPLAY=O/wayland", true),
    ("PATH=W/bin:/usr/bin:/bin", true),
    ("PATH=W/bin", true),
    ("PATH=", true),
    ("ENV=W/start.sh BASH_ENV=W/start.sh", true),
    ("SHELLOPTS=xtrace PS4=x IFS=/ CDPATH=W", true),
    ("NODE_OPTIONS=--require=W/start.js NODE_PATH=W", true),
    ("PYTHONSTARTUP=W/start.py PYTHONPATH=W PYTHONHOME=W", true),
    ("PERL5OPT=-MStart PERL5LIB=W RUBYOPT=-rstart JAVA_TOOL_OPTIONS=-javaagent:W/x.jar", true),
    ("GIT_CONFIG_GLOBAL=W/config GIT_EXEC_PATH=W GIT_SSH_COMMAND=W/start.sh GIT_EXTERNAL_DIFF=W/start.sh", true),
    ("RUST_BACKTRACE=full RUST_LOG=trace RUST_LIB_BACKTRACE=1", true),
    ("RUST_MIN_STACK=99999999999999", true),
    ("RUNNER_DETACHED=1 AGENT_RUNNER=00000000-0000-0000-0000-000000000000", true),
    ("VOXPILOT_DATA_DIR=O VOXPILOT_LOG=trace VOXPILOT_TOKEN=x", true),
    ("TOKIO_WORKER_THREADS=0 SSLKEYLOGFILE=O/keys SSL_CERT_FILE=W/cert", true),
    ("LANDLOCK_FORCE=0 BWRAP=0 container=flatpak", true),
    ("A=\u{e9}\u{202e}\u{1f600} B=\t\u{7}\u{1b}[31m", true),
    ("A== B==x C=a=b=c", true),
    ("ld_preload=W/library.so Ld_Preload=W/library.so", true),
    ("TERM=W/terminfo TERMINFO=W TERMCAP=W/x", true),
    ("LONG=", true),
];

/// One home, and what is laid out in it for the variables to point to.
struct Trap(Home);

impl Trap {
    fn new() -> Self {
        let home = Home::new();
        let at = |name: &str| home.path("work").join(name);
        for directory in ["libraries", "bin"] {
            fs::create_dir(at(directory)).unwrap();
        }
        fs::create_dir(home.path("trapped")).unwrap();
        fs::write(at("library.c"), LIBRARY).unwrap();
        let compiled = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(at("library.so")).arg(at("library.c")).status().unwrap();
        assert!(compiled.success(), "a library for the test cannot be compiled");
        for library in ["libc.so.6", "libgcc_s.so.1", "libm.so.6", "libpthread.so.0"] {
            fs::copy(at("library.so"), at("libraries").join(library)).unwrap();
        }
        for alias in ["UTF-7.so", "TOUCH.so"] {
            fs::copy(at("library.so"), at(alias)).unwrap();
        }
        fs::write(at("gconv-modules"), "module TOUCH// INTERNAL TOUCH 1\nmodule INTERNAL TOUCH// TOUCH 1\n").unwrap();
        let touch = format!("#!/bin/sh\n: > {}/script\n", home.path("trapped").display());
        for script in ["start.sh", "bin/bwrap", "bin/voxpilot", "bin/sh", "bin/env"] {
            fs::write(at(script), &touch).unwrap();
            fs::set_permissions(at(script), fs::Permissions::from_mode(0o755)).unwrap();
        }
        Self(home)
    }

    fn variables(&self, line: &str) -> Vec<(String, String)> {
        let (work, outside) = (self.0.path("work").display().to_string(), self.0.path("trapped").display().to_string());
        let value = |name: &str, value: &str| match name {
            "LONG" => "x".repeat(100_000),
            _ => value.split(':').map(|part| place(part, &work, &outside)).collect::<Vec<_>>().join(":"),
        };
        let mut variables: Vec<(String, String)> = line
            .split(' ')
            .map(|pair| {
                let (name, text) = pair.split_once('=').unwrap();
                (name.to_owned(), value(name, text))
            })
            .collect();
        variables.push(("TOUCH".to_owned(), format!("{outside}/touched")));
        variables
    }

    /// It says what it got, in a file of its own, and tries to get out.
    fn program(&self, mechanism: &Mechanism, line: &str) -> Invocation {
        let script = "/usr/bin/env > got; echo got; (: > \"$TOUCH\"); exit 0";
        let mut program = self.0.program(mechanism, "/bin/sh", &["-c", script]);
        program.env = self.variables(line);
        program
    }

    /// Nothing outside, and inside what was asked for.
    fn check(&self, case: &str, line: &str, runs: bool) {
        let left: Vec<_> = fs::read_dir(self.0.path("trapped")).unwrap().flatten().map(|entry| entry.file_name()).collect();
        assert!(left.is_empty(), "{case}: {line}: {left:?} was made outside");
        let got = fs::read(self.0.path("work/got")).unwrap_or_default();
        let got = String::from_utf8_lossy(&got);
        let _ = fs::remove_file(self.0.path("work/got"));
        assert_eq!(!got.is_empty(), runs, "{case}: {line}");
        for (name, value) in self.variables(line).into_iter().filter(|(name, _)| runs && !changed_by_a_shell(name)) {
            assert!(got.lines().any(|set| set == format!("{name}={value}")), "{case}: {line}: {name} is missing in {got}");
        }
    }
}

fn place(value: &str, work: &str, outside: &str) -> String {
    match value
        .find("W/")
        .or_else(|| value.find('W').filter(|at| value.len() == at + 1))
        .or_else(|| value.find("O/"))
        .or_else(|| value.find('O').filter(|at| value.len() == at + 1))
    {
        Some(at) => format!("{}{}{}", &value[..at], if value.as_bytes()[at] == b'W' { work } else { outside }, &value[at + 1..]),
        None => value.to_owned(),
    }
}

/// Of these the shell that tells them has its own mind, or we have.
fn changed_by_a_shell(name: &str) -> bool {
    ["IFS", "PWD", "SHELLOPTS", "AGENT_RUNNER"].contains(&name)
}

async fn start_agent(trap: &Trap, program: &Invocation) {
    let mut rig = Rig::script("");
    (rig.spec.args, rig.spec.env) = (program.args.clone(), program.env.clone());
    (rig.spec.sandbox, rig.spec.cwd) = (program.sandbox.clone(), trap.0.path("work"));
    let rig = rig.start().await;
    let (_handle, mut records) = rig.attach(0).await;
    let read = read_to_exit(&mut records).await;
    assert!(read.iter().any(|record| matches!(record.body, Body::Exit { .. })));
}

async fn run_in_terminal(trap: &Trap, program: &Invocation) {
    let spec = TerminalSpec {
        exe: exe(),
        command: "/bin/sh".to_owned(),
        args: program.args.clone(),
        env: program.env.clone(),
        cwd: trap.0.path("work").into(),
        sandbox: program.sandbox.clone(),
        limit_bytes: None,
        runner: Uuid::new_v4(),
    };
    let terminal = Terminal::start(spec).await.unwrap();
    within(terminal.ended()).await;
}

async fn log_in(program: &Invocation) {
    let mut login = Pty::start(program.clone()).unwrap();
    within(async { while login.output().await.is_some() {} }).await;
    within(login.succeeded()).await;
}

#[tokio::test]
async fn no_variable_has_an_effect_before_the_confinement() {
    for mechanism in mechanisms() {
        let trap = Trap::new();
        for (line, runs) in ENVIRONMENTS {
            let case = |way: &str| format!("{} {way}", mechanism.name());
            let program = trap.program(&mechanism, line);
            start_agent(&trap, &program).await;
            trap.check(&case("agent"), line, runs);
            run_in_terminal(&trap, &program).await;
            trap.check(&case("terminal"), line, runs);
            log_in(&program).await;
            trap.check(&case("login"), line, runs);
            let version = within(runner::first_line(&program, Duration::from_secs(60))).await;
            trap.check(&case("version"), line, runs);
            assert_eq!(version.is_some(), runs, "{line}");
        }
    }
}

/// Without a sandbox the keeper is not the agent's to control either.
#[tokio::test]
async fn a_keeper_without_a_sandbox_does_not_load_what_a_command_asks_for() {
    let trap = Trap::new();
    let mechanism = mechanisms().remove(0);
    for line in ["LD_PRELOAD=W/library.so", "LD_LIBRARY_PATH=W/libraries", "RUST_MIN_STACK=99999999999999"] {
        let mut program = trap.program(&mechanism, line);
        program.sandbox = None;
        let spec = TerminalSpec {
            exe: exe(),
            command: "/nowhere/to/be/found".to_owned(),
            args: Vec::new(),
            env: program.env,
            cwd: trap.0.path("work").into(),
            sandbox: None,
            limit_bytes: None,
            runner: Uuid::new_v4(),
        };
        let error = Terminal::start(spec).await.err().unwrap().to_string();
        assert!(error.contains("No such file"), "the keeper itself works: {error}");
        assert!(!Path::new(&trap.0.path("trapped/touched")).exists(), "{line}");
    }
}

/// Nor can anybody on the machine read the variables of a confined agent before it is one.
#[tokio::test]
async fn neither_command_line_nor_environment_of_what_confines_shows_anything() {
    let Some(mechanism) = mechanisms().into_iter().next() else { return };
    let home = Home::new();
    let mut program = home.program(&mechanism, "/bin/sh", &["-c", "the argument"]);
    program.env.push(("KEY".to_owned(), "the key".to_owned()));
    let (command, _broker) = program.prepare(fs::File::open("/dev/null").unwrap().into()).unwrap();
    let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
    assert_eq!(words, ["confined"]);
    assert_eq!(command.get_envs().count(), 0);
    assert_eq!(command.get_program(), exe());
}
