//! What a permission of a running prompt covers: the one write or command that carries it out as it was shown. Some agents ask, and then
//! have us do what they asked for; a person who has just answered is not asked a second time for the very same thing.
//!
//! It is kept in memory alone. After a restart what was answered before is asked again: nothing says whether it was carried out.

use super::{Prompt, Step};
use crate::agent::{AskedChange, AskedFile, DIRECTORY_FIELDS, Demand, PermissionAsk, Run, Shown, StartTerminal, shell_script};
use crate::decision::{Decision, Verdict};
use crate::ids::PermissionId;
use crate::policy::Policy;

/// So many answers of a prompt are remembered; an older one is asked again.
const MAX_GRANTS: usize = 64;
/// So much of the changes that they cover, in bytes.
const MAX_GRANT_BYTES: usize = 4 * 1024 * 1024;
/// The directory of a command that names none.
const HERE: &str = ".";

/// An answer, and what is left of what it covers.
#[derive(Clone, Debug)]
pub(super) struct Grant {
    allowed: bool,
    /// The files that the request was about.
    files: Vec<AskedFile>,
    /// The changes that were shown, to be made once each.
    changes: Vec<AskedChange>,
    /// The command that was shown, to be run once in that directory.
    run: Option<(Run, String)>,
}

impl Grant {
    /// None where nothing that we would do carries it out.
    fn of(ask: &PermissionAsk, allowed: bool) -> Option<Grant> {
        if ask.form.is_some() {
            return None;
        }
        let edits = ask.kind.as_deref() == Some("edit");
        let (files, changes) = if edits { (ask.files.clone(), ask.changes.clone()) } else { (Vec::new(), Vec::new()) };
        let run = if ask.kind.as_deref() == Some("execute") { asked_run(ask) } else { None };
        let is_empty = run.is_none() && if allowed { changes.is_empty() } else { files.is_empty() };
        (!is_empty).then_some(Grant { allowed, files, changes, run })
    }

    /// Uses up what the demand carries out; whether it covered that. `ask` is the demand as a person would be asked about it, `before`
    /// the text of the file as it is.
    fn take(&mut self, demand: &Demand, ask: &PermissionAsk, before: Option<&str>) -> bool {
        match (demand, ask.shown.as_deref()) {
            (Demand::WriteFile { content, .. }, Some(Shown::File { path, .. })) if self.allowed => {
                let fits = |change: &AskedChange| change.path == *path && change.makes(before, content);
                let found = self.changes.iter().position(fits);
                found.map(|at| self.changes.remove(at)).is_some()
            }
            // What was refused is refused, whatever it would have become.
            (Demand::WriteFile { .. }, _) if !self.allowed => {
                let named = !ask.files.is_empty() && ask.files.iter().all(|file| self.files.contains(file));
                self.files.retain(|file| !named || !ask.files.contains(file));
                named
            }
            (Demand::StartTerminal(start), Some(Shown::Command { shell, .. })) => {
                let cwd = ask.cwd.as_deref().unwrap_or(HERE);
                // To refuse, any shell will do.
                let trusted = shell.is_some() || !self.allowed;
                self.run.take_if(|(run, directory)| directory == cwd && is_run(start, run, trusted)).is_some()
            }
            _ => false,
        }
    }

    fn is_used_up(&self) -> bool {
        self.run.is_none() && if self.allowed { self.changes.is_empty() } else { self.files.is_empty() }
    }

    fn bytes(&self) -> usize {
        self.changes.iter().map(AskedChange::len).sum()
    }
}

/// The command that a request is about, and its directory. Some agents say the command only in the title. None where the request names
/// directories that contradict each other.
fn asked_run(ask: &PermissionAsk) -> Option<(Run, String)> {
    let named = |input: &serde_json::Value| DIRECTORY_FIELDS.iter().any(|field| input.get(field).is_some());
    if ask.cwd.is_none() && ask.input.as_ref().is_some_and(named) {
        return None;
    }
    let run = match (&ask.run, &ask.command) {
        (Some(run), _) => run.as_ref().clone(),
        (None, None) => Run::script(ask.title.clone()),
        (None, Some(_)) => return None,
    };
    Some((run, ask.cwd.clone().unwrap_or_else(|| HERE.to_owned())))
}

/// Whether the terminal runs exactly this: word for word, or as the script of a shell that can be trusted to run just that.
fn is_run(start: &StartTerminal, asked: &Run, is_trusted_shell: bool) -> bool {
    let started = Run::of(start);
    let unwrapped = shell_script(start).filter(|_| is_trusted_shell).map(|script| match &started {
        Run::Words { env, .. } | Run::Script { env, .. } => Run::Script { script: script.to_owned(), env: env.clone() },
    });
    started == *asked || unwrapped.as_ref() == Some(asked)
}

impl Prompt {
    fn note_answer(&mut self, ask: &PermissionAsk, allowed: bool) {
        let Some(grant) = Grant::of(ask, allowed) else { return };
        self.grants.push(grant);
        while self.grants.len() > MAX_GRANTS || self.grants.iter().map(Grant::bytes).sum::<usize>() > MAX_GRANT_BYTES {
            self.grants.remove(0);
        }
    }
}

impl Step<'_> {
    pub(super) fn note_answer(&mut self, call_id: &str, ask: &PermissionAsk, decision: &Decision) {
        if let Some(at) = self.position(call_id) {
            self.host.prompts[at].note_answer(ask, decision.allows());
        }
    }

    /// What was answered when the agent asked for this, if it did; the last answer counts, and only once.
    pub(super) fn answered_before(
        &mut self,
        call_id: &str,
        id: PermissionId,
        ask: &PermissionAsk,
        before: Option<&str>,
    ) -> Option<Verdict> {
        // What is denied by now is decided anew.
        let at = self.position(call_id).filter(|_| self.context.policy != Policy::Deny)?;
        let demand = &self.host.debts.iter().find(|debt| debt.id == id)?.demand;
        let grants = &mut self.host.prompts[at].grants;
        let found = (0..grants.len()).rev().find(|grant| grants[*grant].take(demand, ask, before))?;
        let verdict = if grants[found].allowed { Verdict::Allow } else { Verdict::Reject };
        if grants[found].is_used_up() {
            grants.remove(found);
        }
        Some(verdict)
    }
}
