//! What a permission of a running prompt covers: the one call that carries it out. Some agents ask, and then have us do what they
//! asked for; a person who has just answered is not asked a second time.
//!
//! It is kept in memory alone. After a restart what was answered before is asked again: nothing says whether it was carried out.

use super::{Prompt, Step};
use crate::agent::{AskedFile, Demand, PermissionAsk, StartTerminal};
use crate::ids::PermissionId;
use crate::policy::Policy;

/// So many answers of a prompt are remembered; an older one is asked again.
const MOST_GRANTS: usize = 64;
/// The directory of a command that names none.
const HERE: &str = ".";
const SHELLS: [&str; 3] = ["sh", "bash", "zsh"];

/// An answer, and what is left of what it covers.
#[derive(Clone, Debug)]
pub(super) struct Grant {
    allowed: bool,
    /// To be changed, each once.
    files: Vec<AskedFile>,
    /// To be run once, in that directory.
    command: Option<(String, String)>,
}

impl Grant {
    /// None where nothing that we would do carries it out.
    fn of(ask: &PermissionAsk, allowed: bool) -> Option<Grant> {
        let (kind, cwd) = (ask.kind.as_deref(), ask.cwd.as_deref().unwrap_or(HERE));
        let changes = kind == Some("edit") && ask.form.is_none();
        // Some say the command only in the title.
        let command = ask.command.as_ref().unwrap_or(&ask.title);
        let command = (kind == Some("execute") && ask.form.is_none()).then(|| (command.clone(), cwd.to_owned()));
        let files = if changes { ask.files.clone() } else { Vec::new() };
        (command.is_some() || !files.is_empty()).then_some(Grant { allowed, files, command })
    }

    /// Uses up what the demand carries out; whether it covered that. `ask` is the demand as a person would be asked about it.
    fn take(&mut self, demand: &Demand, ask: &PermissionAsk) -> bool {
        match demand {
            Demand::WriteFile { .. } => {
                let named = !ask.files.is_empty() && ask.files.iter().all(|file| self.files.contains(file));
                self.files.retain(|file| !named || !ask.files.contains(file));
                named
            }
            Demand::StartTerminal(start) => {
                let cwd = ask.cwd.as_deref().unwrap_or(HERE);
                let same = |(command, directory): &(String, String)| directory == cwd && is_command(start, ask, command);
                self.command.take_if(|known| same(known)).is_some()
            }
            _ => false,
        }
    }

    fn is_used_up(&self) -> bool {
        self.files.is_empty() && self.command.is_none()
    }
}

/// Whether the terminal runs exactly this: as it is shown, or handed to a shell as a whole.
fn is_command(start: &StartTerminal, ask: &PermissionAsk, command: &str) -> bool {
    let program = start.command.rsplit('/').next().unwrap_or_default();
    let script = match &start.args[..] {
        [flag, script] if SHELLS.contains(&program) && start.env.is_empty() && matches!(flag.as_str(), "-c" | "-lc") => Some(script),
        _ => None,
    };
    ask.command.as_deref() == Some(command) || script.is_some_and(|script| script == command)
}

impl Prompt {
    fn note_answer(&mut self, ask: &PermissionAsk, allowed: bool) {
        let Some(grant) = Grant::of(ask, allowed) else { return };
        if self.grants.len() == MOST_GRANTS {
            self.grants.remove(0);
        }
        self.grants.push(grant);
    }
}

impl Step<'_> {
    pub(super) fn note_answer(&mut self, call_id: &str, ask: &PermissionAsk, allowed: bool) {
        if let Some(at) = self.position(call_id) {
            self.host.prompts[at].note_answer(ask, allowed);
        }
    }

    /// What was answered when the agent asked for this, if it did; the last answer counts, and only once.
    pub(super) fn answered_before(&mut self, call_id: &str, id: PermissionId, ask: &PermissionAsk) -> Option<bool> {
        // What is denied by now is decided anew.
        let at = self.position(call_id).filter(|_| self.context.policy != Policy::Deny)?;
        let demand = &self.host.debts.iter().find(|debt| debt.id == id)?.demand;
        let grants = &mut self.host.prompts[at].grants;
        let found = (0..grants.len()).rev().find(|grant| grants[*grant].take(demand, ask))?;
        let allowed = grants[found].allowed;
        if grants[found].is_used_up() {
            grants.remove(found);
        }
        Some(allowed)
    }
}
