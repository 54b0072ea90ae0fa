//! An agent whose input can be held back: lines of some kinds wait in front of it until a file appears. It makes moments exact that
//! would otherwise be over before anybody could be killed in them: a session being loaded, a turn being stopped.

use std::path::{Path, PathBuf};

/// The agent itself gets the script's process, so whoever kills the agent kills what the runner started.
const SCRIPT: &str = r#"#!/bin/sh
# gate.sh <directory> <agent> [arguments]: `held-load` appears where a line that brings a session back waits
# for `go-load`; the same with `cancel` for one that stops a turn.
exec 3<&0
dir=$1; shift
pipe=$dir/pipe-$$
mkfifo "$pipe"
{
    rm -f "$pipe"
    while IFS= read -r line; do
        case $line in
        *'"session/load"'* | *'"session/resume"'* | *'"thread/resume"'*) word=load ;;
        *'"session/cancel"'* | *'"turn/interrupt"'*) word=cancel ;;
        *) word= ;;
        esac
        if [ -n "$word" ]; then
            : > "$dir/held-$word"
            until [ -e "$dir/go-$word" ]; do sleep 0.02; done
        fi
        printf '%s\n' "$line"
    done
} <&3 3<&- > "$pipe" &
exec 3<&-
exec "$@" < "$pipe"
"#;

#[derive(Clone, Debug)]
pub(super) struct InputGate {
    dir: PathBuf,
}

impl InputGate {
    /// Writes the script into `dir`, which also holds its gates.
    pub(super) fn new(dir: PathBuf) -> std::io::Result<InputGate> {
        std::fs::create_dir_all(&dir)?;
        std::fs::write(dir.join("gate.sh"), SCRIPT)?;
        Ok(InputGate { dir })
    }

    /// Command and arguments that start `agent` behind the gate.
    pub(super) fn command(&self, agent: &Path, args: &[&str]) -> (PathBuf, Vec<String>) {
        let script = self.dir.join("gate.sh").display().to_string();
        let mut all = vec![script, self.dir.display().to_string(), agent.display().to_string()];
        all.extend(args.iter().map(|arg| (*arg).to_owned()));
        (PathBuf::from("/bin/sh"), all)
    }

    pub(super) fn is_held(&self, word: &str) -> bool {
        self.dir.join(format!("held-{word}")).exists()
    }

    pub(super) fn open(&self, word: &str) -> std::io::Result<()> {
        std::fs::write(self.dir.join(format!("go-{word}")), "")
    }
}
