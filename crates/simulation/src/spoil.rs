//! Where defects get at what a step has decided, on its way to the store.

use domain::event::Event;
use domain::host::{Act, Keep};
use domain::machine::Effect;

use crate::defects::Defect;
use crate::driver::Pending;
use crate::invariants::{Checked, Invariant, hold};
use crate::store::Commit;
use crate::world::World;

impl World {
    pub fn spoil(&mut self, pending: &mut Pending) -> Checked {
        let Some(defect) = self.defect else { return Ok(()) };
        let early = |act: &Effect| match defect {
            Defect::ActEarly => true,
            Defect::AcknowledgeEarly => matches!(act, Effect::Host { act: Act::Acknowledge { .. }, .. }),
            Defect::ReplyEarly => matches!(act, Effect::Host { act: Act::Reply { .. }, .. }),
            _ => false,
        };
        let (now, after) = std::mem::take(&mut pending.acts).into_iter().partition(early);
        pending.acts = after;
        self.begin(now)?;
        match defect {
            Defect::CancelDropped => pending.acts.retain(|act| !matches!(act, Effect::Host { act: Act::Cancel { .. }, .. })),
            Defect::TellEarly => self.tell_early(&pending.commit)?,
            _ => {}
        }
        let effects = &mut pending.commit.effects;
        match defect {
            Defect::CursorLost => effects.retain(|effect| !matches!(effect, Effect::Keep(Keep::Cursor { .. }))),
            Defect::EndingLost => effects.retain(|effect| !matches!(effect, Effect::Keep(Keep::RunnerEnding { .. }))),
            Defect::SessionLost => effects.retain(|effect| !matches!(effect, Effect::Keep(Keep::Session(_)))),
            Defect::LoginMarkLost => self.keep_login_mark(effects),
            Defect::RowRemovedEarly => self.remove_rows(effects),
            _ => {}
        }
        Ok(())
    }

    fn tell_early(&mut self, commit: &Commit) -> Checked {
        let events: Vec<Event> = commit.effects.iter().filter_map(appended).cloned().collect();
        if self.browser.connected && self.browser.cursor == self.store.log.len() && !events.is_empty() {
            self.browser.cursor += events.len();
            return hold(self.browser.cursor <= self.store.log.len(), Invariant::CommitFirst, || {
                format!("a browser was told a {} that is not committed", events[0].kind())
            });
        }
        Ok(())
    }

    fn keep_login_mark(&self, effects: &mut [Effect]) {
        for effect in effects {
            if let Effect::Keep(Keep::Session(session)) = effect
                && session.runner_id.is_none()
            {
                session.runner_id = self.store.sessions.get(&session.name).and_then(|stored| stored.runner_id);
            }
        }
    }

    fn remove_rows(&self, effects: &mut Vec<Effect>) {
        let Some(server) = &self.server else { return };
        for host in server.machine.hosts() {
            if let domain::host::Process::Gone { runner } = host.process()
                && self.store.runners.contains_key(runner)
            {
                effects.push(Effect::Keep(Keep::RunnerRemoved { runner: *runner }));
            }
        }
    }

    /// The part of a commit that a defect stores apart from the rest.
    pub fn split_off(&mut self, commit: &mut Commit) -> Option<Commit> {
        let effects = match self.defect? {
            Defect::CursorApart => {
                let is_cursor = |effect: &Effect| matches!(effect, Effect::Keep(Keep::Cursor { .. }));
                let (later, now): (Vec<_>, Vec<_>) = std::mem::take(&mut commit.effects).into_iter().partition(is_cursor);
                let apart = !now.is_empty() && !later.is_empty();
                commit.effects = now;
                if !apart {
                    commit.effects.extend(later);
                    return None;
                }
                later
            }
            Defect::CommitSplit if commit.effects.len() > 1 => commit.effects.split_off(commit.effects.len() / 2),
            _ => return None,
        };
        Some(Commit { effects, rpc: commit.rpc.clone(), confirm_closed: commit.confirm_closed.take() })
    }
}

pub(crate) fn appended(effect: &Effect) -> Option<&Event> {
    match effect {
        Effect::Append(event) => Some(event),
        _ => None,
    }
}
