//! A person with a home of their own and a project that they have cloned.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use tempfile::TempDir;

pub(crate) struct Person {
    root: TempDir,
}

/// How a command ended and what it said.
#[derive(Debug)]
pub(crate) struct Ended {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Person {
    pub(crate) fn new() -> Person {
        let root = TempDir::new().unwrap();
        for name in ["home/.config/voxpilot", "work"] {
            std::fs::create_dir_all(root.path().join(name)).unwrap();
        }
        Person { root }
    }

    pub(crate) fn cloned(text: impl AsRef<[u8]>) -> Person {
        let person = Person::new();
        person.write(text);
        person
    }

    /// The project's file gets this content.
    pub(crate) fn write(&self, text: impl AsRef<[u8]>) {
        std::fs::write(self.file(), text).unwrap();
    }

    pub(crate) fn own_settings(&self, text: &str) {
        let path = self.home().join(".config/voxpilot/voxpilot.toml");
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    pub(crate) fn work_dir(&self) -> PathBuf {
        self.root.path().join("work").canonicalize().unwrap()
    }

    pub(crate) fn data_dir(&self) -> PathBuf {
        self.home().join(".local/share/voxpilot")
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.work_dir().join("voxpilot.toml")
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_voxpilot"));
        command.args(args).current_dir(self.work_dir()).env_clear().env("HOME", self.home()).stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ended {
        self.run_with(args, &[])
    }

    pub(crate) fn run_with(&self, args: &[&str], env: &[(&str, &str)]) -> Ended {
        let output = self.command(args).envs(env.iter().copied()).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Ended { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// What `voxpilot config` says of a setting: its value and where it is from.
    pub(crate) fn setting(&self, key: &str) -> String {
        let shown = self.run(&["config"]);
        assert_eq!(shown.code, 0, "{shown:?}");
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let line = shown.out.lines().map(words).find(|words| words[0] == key);
        line.unwrap_or_else(|| panic!("no {key} in {shown:?}"))[1..].join(" ")
    }
}
