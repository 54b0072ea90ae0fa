//! What must hold when everything has come to an end.

use crate::invariants::{Checked, Invariant, hold};
use crate::world::World;

impl World {
    pub fn check_end(&mut self) -> Checked {
        let open: Vec<_> = self.oracle.calls.iter().filter(|(_, call)| !call.has_result).map(|(id, _)| id.as_str()).collect();
        hold(self.store.turn_from.is_none(), Invariant::ComesToAnEnd, || {
            format!("nobody has anything left to do, and the turn still runs; open calls: [{}]", open.join(", "))
        })?;
        hold(open.is_empty(), Invariant::CallEndsOnce, || format!("{} never ended", open.join(", ")))?;
        hold(self.store.queue.items.is_empty(), Invariant::QueueInOrder, || "messages wait, and no turn runs".to_owned())?;
        let forgotten = self.oracle.accepted.iter().any(|id| !self.oracle.begun.contains(id) && !self.oracle.withdrawn.contains(id));
        hold(!forgotten, Invariant::QueueInOrder, || "a message that was taken never ran".to_owned())?;
        for runner in self.runners.values() {
            let Some(process) = &runner.process else { continue };
            let demand = process.demands.first();
            hold(demand.is_none(), Invariant::DemandsAnswered, || {
                format!("{} waits for an answer to {}", runner.label, demand.map_or("", |demand| demand.rpc_id.as_str()))
            })?;
            let stopped = process.works.iter().find(|work| self.oracle.is_stopped(&work.call));
            hold(stopped.is_none(), Invariant::StopStops, || format!("{} still works on what was stopped", runner.label))?;
        }
        self.check_browser()
    }

    fn check_browser(&self) -> Checked {
        for (id, call) in &self.oracle.calls {
            let seen = self.browser.streams.get(id).map_or("", String::as_str);
            hold(seen == call.logged, Invariant::StreamsWhole, || {
                format!("of {id} the browser shows {seen:?}, the log has {:?}", call.logged)
            })?;
        }
        Ok(())
    }
}
