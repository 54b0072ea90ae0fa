//! Who goes next: at random while there are faults, and in turn when there are none.

use domain::agent::OptionKind;
use domain::ids::RunnerId;

use crate::defects::Defect;
use crate::invariants::{Checked, Invariant, Violation, hold};
use crate::tasks::TaskState;
use crate::world::World;

/// So many steps without faults must do.
const MOST_FAIR_STEPS: usize = 4000;

#[derive(Clone, Copy, Debug)]
enum Action {
    Person,
    Model,
    Tool,
    Perform,
    Deliver,
    Read,
    Commit,
    Recover,
    Agent,
    Timer,
    Hold,
    Browser,
    ServerStarts,
    ServerDies,
    AgentDies,
    DirectoryLost,
    BrowserLeaves,
}

const ACTIONS: [Action; 17] = [
    Action::Person,
    Action::Model,
    Action::Tool,
    Action::Perform,
    Action::Deliver,
    Action::Read,
    Action::Commit,
    Action::Recover,
    Action::Agent,
    Action::Timer,
    Action::Hold,
    Action::Browser,
    Action::ServerStarts,
    Action::ServerDies,
    Action::AgentDies,
    Action::DirectoryLost,
    Action::BrowserLeaves,
];

impl World {
    pub fn step(&mut self) -> Checked {
        let weights = ACTIONS.map(|action| self.weight(action));
        match self.choices.weighted(&weights) {
            Some(chosen) => self.act(ACTIONS[chosen]),
            None => Ok(()),
        }
    }

    fn weight(&self, action: Action) -> u32 {
        let when = |on: bool, weight: u32| if on { weight } else { 0 };
        let server = self.server.as_ref();
        let free = server.is_some_and(|server| server.is_free());
        match action {
            Action::Person => when(free, 10),
            Action::Model => when(free && server.is_some_and(|server| server.model.is_some()), 14),
            Action::Tool => when(free && server.is_some_and(|server| !server.tools.is_empty()), 5),
            Action::Perform => when(!self.tasks(false).is_empty(), 24),
            Action::Deliver => when(free && !self.tasks(true).is_empty(), 24),
            Action::Read => when(!self.readable().is_empty(), 16),
            Action::Commit => when(server.is_some_and(|server| server.pending.is_some()), 30),
            Action::Recover => when(server.is_some_and(|server| server.pending.is_none() && !server.recovery.is_empty()), 30),
            Action::Agent => when(!self.busy_agents().is_empty(), 24),
            Action::Timer => when(free && !self.due().is_empty(), 8),
            Action::Hold => when(free && self.held_until().is_some_and(|(_, until)| until <= self.clock), 8),
            Action::Browser => 3,
            Action::ServerStarts => when(server.is_none(), 12),
            Action::ServerDies => {
                let recovering = server.is_some_and(|server| !server.recovery.is_empty());
                let on = self.swarm.server_dies && (!recovering || self.swarm.recovery_dies);
                when(server.is_some() && on, if recovering { 8 } else { 4 })
            }
            Action::AgentDies => when(self.swarm.agents_die && self.runners.values().any(|runner| runner.is_alive()), 2),
            Action::DirectoryLost => {
                let there = || self.runners.values().any(|runner| runner.exists);
                when(self.swarm.directories_lost && server.is_none() && there(), 2)
            }
            Action::BrowserLeaves => when(self.browser.connected, 1),
        }
    }

    fn act(&mut self, action: Action) -> Checked {
        match action {
            Action::Person => return self.person_acts(),
            Action::Model => return self.model_acts(),
            Action::Tool => return self.tool_ends(),
            Action::Perform => {
                let tasks = self.tasks(false);
                let at = tasks[self.choices.draw(tasks.len())];
                return self.perform(at);
            }
            Action::Deliver => {
                let tasks = self.tasks(true);
                let at = tasks[self.choices.draw(tasks.len())];
                return self.deliver(at);
            }
            Action::Read => {
                let readable = self.readable();
                let runner = readable[self.choices.draw(readable.len())];
                return self.read(runner);
            }
            Action::Commit => return self.commit(),
            Action::Recover => return self.recover(),
            Action::Agent => {
                let busy = self.busy_agents();
                let runner = busy[self.choices.draw(busy.len())];
                self.agent_acts(runner);
            }
            Action::Timer => {
                let due = self.due();
                let at = due[self.choices.draw(due.len())];
                return self.fire(at);
            }
            Action::Hold => return self.hold_over(),
            Action::Browser => return self.browser_reads(),
            Action::ServerStarts => self.server_starts(),
            Action::ServerDies => self.server_dies(),
            Action::AgentDies => {
                let id = self.pick_runner(|runner| runner.is_alive());
                let label = self.label(id);
                self.coverage.count("fault: agent dies");
                self.tell(|| format!("{label} dies"));
                self.end_process(id);
            }
            Action::DirectoryLost => {
                let id = self.pick_runner(|runner| runner.exists);
                let label = self.label(id);
                self.coverage.count("fault: directory lost");
                self.tell(|| format!("the directory of {label} is lost"));
                self.end_process(id);
                if let Some(runner) = self.runners.get_mut(&id) {
                    runner.exists = false;
                }
                self.oracle.lost.insert(id);
            }
            Action::BrowserLeaves => self.browser_leaves(),
        }
        Ok(())
    }

    fn pick_runner(&mut self, fits: impl Fn(&crate::runner::Runner) -> bool) -> RunnerId {
        let found: Vec<_> = self.runners.values().filter(|runner| fits(runner)).map(|runner| runner.id).collect();
        found[self.choices.draw(found.len())]
    }

    /// The tasks to be done, or those whose end is to be heard.
    fn tasks(&self, ready: bool) -> Vec<usize> {
        let Some(server) = &self.server else { return Vec::new() };
        let wanted = |state: &TaskState| match state {
            TaskState::Todo | TaskState::Silent => !ready,
            TaskState::Waiting => false,
            TaskState::Ready(_) => ready,
        };
        let held = |at: usize| !ready && !self.has(Defect::CancelOvertaken) && server.is_held(at);
        server.tasks.iter().enumerate().filter(|(at, task)| wanted(&task.state) && !held(*at)).map(|(at, _)| at).collect()
    }

    fn due(&self) -> Vec<usize> {
        let Some(server) = &self.server else { return Vec::new() };
        server.timers.iter().enumerate().filter(|(_, (due, _))| *due <= self.clock).map(|(at, _)| at).collect()
    }

    /// Everybody goes on until nobody has anything left to do.
    pub fn run_fairly(&mut self) -> Checked {
        for _ in 0..MOST_FAIR_STEPS {
            self.story.begin_step();
            self.clock += 1;
            if !self.fair_step()? {
                return Ok(());
            }
        }
        hold(false, Invariant::ComesToAnEnd, || format!("it still goes on after {MOST_FAIR_STEPS} steps without a fault"))
    }

    /// Whether there was something to do.
    fn fair_step(&mut self) -> Result<bool, Box<Violation>> {
        let Some(server) = &self.server else {
            self.server_starts();
            return Ok(true);
        };
        let (pending, recovering) = (server.pending.is_some(), !server.recovery.is_empty());
        let (model, tool) = (server.model.is_some(), !server.tools.is_empty());
        let held = server.machine.turn().held;
        if pending {
            self.commit()?;
        } else if recovering {
            self.recover()?;
        } else if let Some(at) = self.tasks(true).first() {
            self.deliver(*at)?;
        } else if let Some(at) = self.tasks(false).first() {
            self.perform(*at)?;
        } else if let Some(runner) = self.readable().first() {
            self.read(*runner)?;
        } else if let Some((_, until)) = self.held_until() {
            self.clock = self.clock.max(until);
            self.hold_over()?;
        } else if let Some(request) = self.open_permissions().first() {
            let option = request.ask.options.iter().find(|option| option.kind == OptionKind::AllowOnce).cloned();
            self.answer_permission(request.request_id, option.as_ref(), "person")?;
        } else if let Some(call) = self.store.confirms.iter().next().cloned() {
            self.confirm(call, true)?;
        } else if self.wants_login().is_some() {
            self.person_logs_in()?;
        } else if let Some(runner) = self.busy_agents().first() {
            self.agent_acts(*runner);
        } else if model {
            self.model_acts()?;
        } else if tool {
            self.tool_ends()?;
        } else if held {
            self.person_sends_next()?;
        } else if !self.browser.connected || self.browser.cursor < self.store.log.len() {
            self.browser_reads()?;
        } else {
            return self.next_timer();
        }
        Ok(true)
    }

    fn next_timer(&mut self) -> Result<bool, Box<Violation>> {
        let Some(server) = &self.server else { return Ok(false) };
        let Some(next) = server.timers.iter().map(|(due, _)| *due).min() else { return Ok(false) };
        self.clock = self.clock.max(next);
        if let Some(at) = self.due().first() {
            self.fire(*at)?;
        }
        Ok(true)
    }
}
