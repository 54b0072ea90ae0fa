//! Being asked at a terminal.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use testkit::processes;

use crate::SOON;
use crate::person::Person;

/// A command at a terminal of its own.
struct Terminal {
    person: Person,
    child: Child,
    screen: File,
    seen: String,
}

impl Terminal {
    fn open(person: Person, args: &[&str]) -> Terminal {
        let screen = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&screen).unwrap();
        unlockpt(&screen).unwrap();
        let name = ptsname(&screen, Vec::new()).unwrap();
        let end = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        let child = person.command(args).stdin(end.try_clone().unwrap()).stdout(end).stderr(Stdio::null()).spawn().unwrap();
        Terminal { person, child, screen: File::from(screen), seen: String::new() }
    }

    /// Reads on until this is there.
    fn wait_for(&mut self, text: &str) {
        while !self.seen.contains(text) {
            let soon = Timespec { tv_sec: SOON.as_secs().try_into().unwrap(), tv_nsec: 0 };
            let ready = poll(&mut [PollFd::new(&self.screen, PollFlags::IN)], Some(&soon)).unwrap();
            assert_eq!(ready, 1, "no {text:?} in {}", self.seen);
            let mut bytes = [0; 4096];
            let count = self.screen.read(&mut bytes).unwrap_or_else(|error| panic!("{error}: {}", self.seen));
            self.seen.push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
    }

    fn type_in(&mut self, text: &str) {
        self.screen.write_all(text.as_bytes()).unwrap();
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        processes::signal(self.child.id().try_into().unwrap(), "TERM");
        let _ = self.child.wait();
    }
}

const WANTED: &str = "title = 'x'\nlog = 'warn'\n";

#[test]
fn enter_is_a_no_and_y_is_a_yes() {
    for (typed, trusted) in [("\n", false), ("n\n", false), ("y\n", true)] {
        let mut terminal = Terminal::open(Person::cloned(WANTED), &["trust"]);
        terminal.wait_for("[y/N]");
        assert!(terminal.seen.contains("2 | log = 'warn'") && !terminal.seen.contains("title"), "{}", terminal.seen);
        terminal.type_in(typed);
        assert_eq!(terminal.child.wait().unwrap().success(), trusted, "{typed:?}");
        assert_eq!(terminal.person.setting("log").starts_with("warn "), trusted, "{typed:?}");
    }
}

#[test]
fn a_server_asks_once_at_its_start() {
    for (typed, trusted) in [("\n", false), ("y\n", true)] {
        let mut terminal = Terminal::open(Person::cloned(WANTED), &["serve", "--bind", "127.0.0.1:0"]);
        terminal.wait_for("[y/N]");
        terminal.type_in(typed);
        terminal.wait_for("listening on http");
        assert_eq!(terminal.seen.matches("[y/N]").count(), 1, "{}", terminal.seen);
        assert_eq!(terminal.person.setting("log").starts_with("warn "), trusted, "{typed:?}");
    }
}

#[test]
fn a_server_does_not_ask_about_what_is_harmless() {
    let mut terminal = Terminal::open(Person::cloned("title = 'x'\n"), &["serve", "--bind", "127.0.0.1:0"]);
    terminal.wait_for("listening on http");
    assert!(!terminal.seen.contains("[y/N]"), "{}", terminal.seen);
}

#[test]
fn a_server_that_takes_itself_up_anew_asks_nobody() {
    let mut terminal = Terminal::open(Person::cloned(WANTED), &["serve", "--bind=127.0.0.1:0", "--restarted"]);
    terminal.wait_for("listening on http");
    assert!(!terminal.seen.contains("[y/N]"), "{}", terminal.seen);
}

#[test]
fn automatic_approvals_by_default_are_told() {
    let model = ["--model", "main", "--model-base-url", "http://127.0.0.1:9/v1"];
    let serve = ["serve", "--bind", "127.0.0.1:0"];
    let mut told = Terminal::open(Person::new(), &[&serve[..], &model[..]].concat());
    told.wait_for("approvals: automatic for delegated work (the default); start with --permission-policy ask");
    for more in [&[][..], &[&model[..], &["--permission-policy", "auto"]].concat()[..]] {
        let mut untold = Terminal::open(Person::new(), &[&serve[..], more].concat());
        untold.wait_for("\nopen http");
        assert!(!untold.seen.contains("approvals:"), "{}", untold.seen);
    }
}
