//! A program that runs for an agent, and how it is started: in a sandbox or not, always with its own environment and nothing else.

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::confine::{Broker, Sandbox};
use crate::directory::Directory;
use crate::spec::MARK;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Invocation {
    /// A path, or a name to look up in its own `PATH`.
    pub command: PathBuf,
    pub args: Vec<String>,
    /// The complete environment, but for the mark.
    pub env: Vec<(String, String)>,
    /// Where it runs; without one where this process does, or in a sandbox at the root. Without a sandbox it is gone to by its name:
    /// whoever means the one that was opened enters it first.
    pub cwd: Option<Directory>,
    /// By which its processes are found.
    pub mark: Option<Uuid>,
    pub sandbox: Option<Sandbox>,
}

impl Invocation {
    /// The command that starts it with this as its stdin. What confines it sees nothing of its environment. Where there is a broker, it
    /// must be started, or the program makes no connections.
    pub fn prepare(&self, stdin: OwnedFd) -> io::Result<(Command, Option<Broker>)> {
        Ok(match &self.sandbox {
            Some(sandbox) => {
                let (command, broker) = sandbox.command(self, stdin)?;
                (command, Some(broker))
            }
            None => {
                let mut command = Command::new(&self.command);
                command.args(&self.args).env_clear().envs(self.environment()).stdin(Stdio::from(stdin));
                if let Some(cwd) = &self.cwd {
                    command.current_dir(cwd.path());
                }
                (command, None)
            }
        })
    }

    /// What it finds in its environment.
    pub(crate) fn environment(&self) -> impl Iterator<Item = (String, String)> {
        let mark = self.mark.map(|mark| (MARK.to_owned(), mark.to_string()));
        self.env.iter().cloned().chain(mark)
    }
}
