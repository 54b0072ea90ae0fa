//! What agents do all day works in a sandbox as it does without one.

use std::io::Read;
use std::net::TcpListener;
use std::path::Path;

use runner::{Invocation, Mechanism};

use super::{Home, mechanisms, run, said};
use crate::rig::exe;

/// A script, and the program without which it makes no sense.
const HABITS: [(&str, &str); 24] = [
    ("sh", "echo a | tr a b | grep b > piped && test \"$(cat piped)\" = b"),
    ("sh", "for i in 1 2 3; do (echo $i > out$i) & done; wait; cat out1 out2 out3"),
    ("sh", "file=$(mktemp) && echo x > $file && rm $file"),
    ("sh", "mkdir -p a/b && cp -rp a c && mv c d && chmod -R u+w d && touch -d 2001-01-01 d && rm -r a d"),
    ("sh", "echo x > $H/.agent/state && mkdir -p $H/.agent/deep && chmod 700 $H/.agent/deep"),
    ("sh", "ln -s out1 link; ln piped hard; umask 077; : > private; test -f private"),
    ("sh", "echo x > /dev/null; head -c 8 /dev/urandom > random; test -c /dev/zero; echo x > /dev/shm/own; rm /dev/shm/own"),
    ("sh", "kill -0 $$ && sleep 600 & kill $! && ! wait $!"),
    ("sh", "cat /proc/self/status /proc/cpuinfo /etc/passwd /etc/resolv.conf > /dev/null"),
    ("sh", "ulimit -n 256 && ulimit -c 0 && nice true"),
    ("tar", "mkdir -p t && echo x > t/x && tar cf t.tar t && rm -r t && tar xpf t.tar && cat t/x"),
    (
        "git",
        "git init -q r && cd r && git config user.email a@b && git config user.name a && echo x > f && git add . && git commit -qm one \
             && git status --short && git checkout -qb two && echo y >> f && git commit -qam two && git diff HEAD~1 && git gc -q && git stash list",
    ),
    ("git", "git clone -q r s && cd s && git log --oneline && git worktree add -q ../t2 && git push -q origin HEAD:three"),
    (
        "python3",
        "python3 -c 'import tempfile,os,json; f=tempfile.NamedTemporaryFile(); f.write(b\"x\"); os.chmod(f.name,0o600); os.utime(f.name)'",
    ),
    ("python3", "python3 -c 'import multiprocessing as m; print(m.Pool(2).map(abs,[-1,2]))'"),
    ("python3", "python3 -c 'import multiprocessing.managers as m; s=m.SyncManager(); s.start(); print(s.dict()); s.shutdown()'"),
    (
        "python3",
        "python3 -c 'import socket as s,os\nl=s.socket(s.AF_UNIX); l.bind(\"own.sock\"); l.listen(); c=s.socket(s.AF_UNIX); c.connect(os.path.abspath(\"own.sock\")); \
                 a,_=l.accept(); c.sendall(b\"x\"); assert a.recv(1)==b\"x\"'",
    ),
    (
        "python3",
        "python3 -c 'import socket as s,subprocess as p,sys\nl=s.socket(s.AF_UNIX); l.bind(\"two.sock\"); l.listen()\n\
                 p.run([sys.executable,\"-c\",\"import socket as s; s.socket(s.AF_UNIX).connect(\\\"two.sock\\\")\"],check=True); l.accept()'",
    ),
    (
        "python3",
        "python3 -c 'import socket as s\nl=s.create_server((\"127.0.0.1\",0)); c=s.create_connection(l.getsockname(),timeout=9); a,_=l.accept(); \
                 c.sendall(b\"x\"); assert a.recv(1)==b\"x\"'",
    ),
    ("python3", "python3 -c 'import pty,os; a,b=pty.openpty(); os.write(b,b\"x\"); assert os.read(a,1)==b\"x\"; print(os.ttyname(b))'"),
    (
        "python3",
        "python3 -c 'import os; os.getxattr; os.setxattr(\"piped\",\"user.x\",b\"x\"); assert os.getxattr(\"piped\",\"user.x\")==b\"x\"'",
    ),
    (
        "node",
        "node -e 'const n=require(\"net\"); const s=n.createServer(c=>c.end(\"x\")).listen(\"node.sock\",()=>n.connect(\"node.sock\").on(\"data\",()=>s.close()))'",
    ),
    (
        "node",
        "node -e 'const h=require(\"http\"); const s=h.createServer((q,r)=>r.end(\"x\")).listen(0,\"127.0.0.1\",()=>\
              fetch(\"http://127.0.0.1:\"+s.address().port).then(r=>r.text()).then(t=>{console.log(t,require(\"os\").userInfo().username);s.close()}))'",
    ),
    (
        "node",
        "node -e 'const {fork,execSync}=require(\"child_process\"); execSync(\"true\"); new (require(\"worker_threads\").Worker)(\"1\",{eval:true}); \
              require(\"fs\").writeFileSync(\"c.js\",\"process.send(1)\"); fork(\"./c.js\").on(\"message\",m=>console.log(m))'",
    ),
];

#[expect(clippy::disallowed_methods, reason = "programs are found where the person who tests has them")]
fn search_path() -> String {
    std::env::var("PATH").unwrap_or_default()
}

fn program(home: &Home, mechanism: &Mechanism, script: &str) -> Invocation {
    let mut program = home.program(mechanism, "/bin/sh", &["-c", script]);
    program.env.retain(|(name, _)| name != "PATH");
    let temporary = home.path("cache").display().to_string();
    program.env.extend([("PATH".to_owned(), search_path()), ("HOME".to_owned(), home.home.path().display().to_string())]);
    program.env.push(("TMPDIR".to_owned(), temporary));
    program
}

#[test]
fn what_agents_do_all_day_works() {
    for mechanism in mechanisms() {
        let home = Home::new();
        for (needed, script) in HABITS {
            if runner::find_program(Path::new(needed), Some(search_path().as_ref())).is_none() {
                println!("skipped: {needed} is not installed: {script}");
                continue;
            }
            let done = run(&program(&home, &mechanism, script));
            assert!(done.status.success(), "{}: {script}: {}", mechanism.name(), said(&done));
        }
    }
}

#[test]
fn a_server_outside_is_reached_over_the_network() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let accepting = std::thread::spawn(move || {
        listener.incoming().take(mechanisms().len()).for_each(|stream| {
            stream.unwrap().read_exact(&mut [0]).unwrap();
        });
    });
    for mechanism in mechanisms() {
        let home = Home::new();
        let done = run(&program(&home, &mechanism, &format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo x >&3")).in_bash());
        assert!(done.status.success(), "{}: {}", mechanism.name(), said(&done));
    }
    accepting.join().unwrap();
}

trait InBash {
    fn in_bash(self) -> Self;
}

impl InBash for Invocation {
    fn in_bash(mut self) -> Self {
        self.command = "/bin/bash".into();
        self
    }
}

#[test]
fn beyond_the_most_a_connection_that_waits_is_refused() {
    let escape = exe().with_file_name("escape");
    for mechanism in mechanisms().into_iter().filter(|mechanism| mechanism.layers.calls) {
        let home = Home::new();
        let done = run(&program(&home, &mechanism, &format!("{} overfill-own slow.sock", escape.display())));
        assert!(done.status.success(), "{}: {}", mechanism.name(), said(&done));
    }
}

/// A connection that is not answered is waited for without holding up the others.
#[test]
fn a_slow_connection_holds_up_no_other() {
    let escape = exe().with_file_name("escape");
    for mechanism in mechanisms().into_iter().filter(|mechanism| mechanism.layers.calls) {
        let home = Home::new();
        let script = format!("{0} fill-own slow.sock", escape.display());
        let done = run(&program(&home, &mechanism, &script));
        assert!(done.status.success(), "{}: {}", mechanism.name(), said(&done));
    }
}
