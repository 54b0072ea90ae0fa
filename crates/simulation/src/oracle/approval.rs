//! Whether somebody allowed what is done, judged again by the policy and the rules that hold at that moment.

use domain::agent::{Demand, FilePlace, PermissionAsk};
use domain::event::{Event, PermissionResolved};
use domain::host::{Act, Keep};
use domain::ids::PermissionId;
use domain::machine::Effect;
use domain::policy::Policy;
use domain::rule::Subject;

use crate::driver::WORK_DIR;
use crate::invariants::{Checked, Invariant, hold};
use crate::world::World;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    Allow,
    Reject,
    Ask,
}

impl World {
    /// What a step has decided, before it is committed.
    pub fn check_step(&mut self, effects: &[Effect]) -> Checked {
        for effect in effects {
            match effect {
                Effect::Append(Event::PermissionRequest(request)) => {
                    let asked = super::Asked { call: request.tool_call_id.clone(), ask: request.ask.clone(), resolved: false };
                    self.oracle.permissions.entry(request.request_id).or_insert(asked);
                }
                Effect::Append(Event::PermissionResolved(resolved)) => self.check_resolved(resolved)?,
                Effect::Keep(Keep::PolicyDecided { request, option_id, .. }) => {
                    let option = request.ask.options.iter().find(|option| Some(&option.option_id) == option_id.as_ref());
                    let allows = option.is_some_and(|option| option.kind.starts_with("allow"));
                    let (verdict, fits) = (self.verdict(&request.ask), if allows { Verdict::Allow } else { Verdict::Reject });
                    hold(verdict == fits, Invariant::Approved, || format!("\"{}\" is decided: {verdict:?}", request.ask.title))?;
                    if allows {
                        self.oracle.allowed.insert(request.request_id);
                        self.oracle.grant(request.request_id, &request.tool_call_id, &request.ask);
                    }
                }
                Effect::Host { act: Act::Prompt { call_id, .. }, .. } => {
                    let stopped = self.oracle.is_stopped(call_id);
                    hold(!stopped, Invariant::StopStops, || format!("the prompt of {call_id} is sent after it was stopped"))?;
                }
                _ => {}
            }
        }
        for effect in effects {
            if let Effect::Keep(Keep::DebtBegun { id }) = effect {
                self.check_begun(*id)?;
            }
        }
        Ok(())
    }

    fn check_resolved(&mut self, resolved: &PermissionResolved) -> Checked {
        let PermissionResolved { request_id, option_id, by, .. } = resolved;
        let Some(asked) = self.oracle.permissions.get(request_id) else {
            return hold(false, Invariant::Approved, || "an answer to a question that was never asked".to_owned());
        };
        let option = option_id.as_ref().and_then(|id| asked.ask.options.iter().find(|option| option.option_id == *id));
        let allows = option.is_some_and(|option| option.kind.starts_with("allow"));
        let verdict = self.verdict(&asked.ask);
        let title = &asked.ask.title;
        match by.as_str() {
            "person" | "mcp" | "timeout" => {
                let given = self.oracle.answer.as_ref() == Some(&(*request_id, option_id.clone(), by.clone()));
                hold(given, Invariant::Approved, || format!("\"{title}\" was not answered so by anybody"))?;
            }
            "policy" | "rule" => {
                let fits = if allows { Verdict::Allow } else { Verdict::Reject };
                hold(verdict == fits, Invariant::Approved, || format!("\"{title}\" is decided by {by}: {option_id:?}, not {verdict:?}"))?;
            }
            _ => hold(!allows, Invariant::Approved, || format!("\"{title}\" is allowed by {by}"))?,
        }
        if allows {
            self.oracle.allowed.insert(*request_id);
            let (call, ask) = (asked.call.clone(), asked.ask.clone());
            self.oracle.grant(*request_id, &call, &ask);
        } else {
            self.oracle.grants.remove(request_id);
            // A server that died before its commit may have decided otherwise.
            self.oracle.allowed.remove(request_id);
        }
        Ok(())
    }

    /// Something is begun for an agent: a person or a rule allowed it, or the policy does.
    fn check_begun(&mut self, id: PermissionId) -> Checked {
        if self.oracle.allowed.contains(&id) {
            // A person was asked for this itself.
            self.oracle.grants.remove(&id);
            return Ok(());
        }
        let row = self.store.debts.iter().find(|(_, debt)| debt.id == id);
        let carried = row.and_then(|(_, debt)| Some((debt.call_id.clone()?, subject(&debt.demand)?)));
        if carried.is_some_and(|carried| self.oracle.carry_out(&carried)) {
            self.coverage.count("grant: carried out");
            self.oracle.allowed.insert(id);
            return Ok(());
        }
        let ask = row.and_then(|(_, debt)| ask_for(&debt.demand));
        let Some(ask) = ask else { return Ok(()) };
        let verdict = self.verdict(&ask);
        hold(verdict == Verdict::Allow, Invariant::Approved, || format!("something is begun for an agent: {verdict:?}"))?;
        self.oracle.allowed.insert(id);
        Ok(())
    }

    fn verdict(&self, ask: &PermissionAsk) -> Verdict {
        if ask.form.is_some() {
            return Verdict::Ask;
        }
        let all_in = |place: FilePlace| !ask.files.is_empty() && ask.files.iter().all(|file| file.place == place);
        let harmless = ask.kind.as_deref() == Some("read") && ask.command.is_none() && ask.diff.is_none() && all_in(FilePlace::Inside);
        match self.policy {
            Policy::Deny => Verdict::Reject,
            _ if all_in(FilePlace::Protected) => Verdict::Ask,
            _ if self.rules.iter().any(|rule| covers(&rule.subject, ask)) => Verdict::Allow,
            Policy::Auto => Verdict::Allow,
            Policy::ReadOnly if harmless => Verdict::Allow,
            Policy::ReadOnly | Policy::Ask => Verdict::Ask,
        }
    }
}

impl super::Oracle {
    fn grant(&mut self, id: PermissionId, call: &str, ask: &PermissionAsk) {
        let subject = match (ask.kind.as_deref(), &ask.command, &ask.files[..]) {
            (Some("execute"), Some(command), _) => format!("runs {command}"),
            (Some("edit"), _, [file]) => format!("changes {}", file.path),
            _ => return,
        };
        self.grants.insert(id, (call.to_owned(), subject));
    }

    /// Whether a permission covers it; then it is used up.
    fn carry_out(&mut self, carried: &(String, String)) -> bool {
        let found = self.grants.iter().find(|(_, grant)| *grant == carried).map(|(id, _)| *id);
        found.is_some_and(|id| self.grants.remove(&id).is_some())
    }

    /// Another server asks again.
    pub(crate) fn forget_grants(&mut self) {
        self.grants.clear();
    }
}

fn subject(demand: &Demand) -> Option<String> {
    match demand {
        Demand::WriteFile { path, .. } => Some(format!("changes {path}")),
        Demand::StartTerminal(start) => Some(format!("runs {}", start.command)),
        _ => None,
    }
}

fn covers(subject: &Subject, ask: &PermissionAsk) -> bool {
    match subject {
        Subject::Command { command, .. } => ask.kind.as_deref() == Some("execute") && ask.command.as_ref() == Some(command),
        // No person of this world chooses them.
        Subject::Commands { .. } | Subject::Files { .. } => false,
        Subject::Edits => ask.kind.as_deref() == Some("edit"),
        Subject::Request { title, kind, .. } => ask.command.is_none() && ask.title == *title && ask.kind == *kind,
    }
}

/// What a person would see of a demand that changes something.
fn ask_for(demand: &Demand) -> Option<PermissionAsk> {
    let (kind, command) = match demand {
        Demand::WriteFile { .. } => ("edit", None),
        Demand::StartTerminal(start) => ("execute", Some(start.command.clone())),
        _ => return None,
    };
    Some(PermissionAsk {
        title: WORK_DIR.to_owned(),
        kind: Some(kind.to_owned()),
        diff: command.is_none().then(String::new),
        command,
        cwd: None,
        files: Vec::new(),
        locations: Vec::new(),
        options: Vec::new(),
        agent_call: None,
        input: None,
        form: None,
        reason: None,
    })
}
