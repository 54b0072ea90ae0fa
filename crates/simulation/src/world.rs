//! Everything there is, and what can happen next.

use std::cell::Cell;
use std::collections::BTreeMap;

use domain::ids::{RunnerId, SessionId};
use domain::machine::AgentWords;
use domain::policy::Policy;
use domain::rule::Rule;
use domain::turn::Settings;
use uuid::Uuid;

use crate::browser::Browser;
use crate::choices::Choices;
use crate::coverage::Coverage;
use crate::defects::Defect;
use crate::disk::Disk;
use crate::driver::Server;
use crate::invariants::Checked;
use crate::oracle::Oracle;
use crate::person::Person;
use crate::runner::Runner;
use crate::store::Store;
use crate::story::Story;
use crate::swarm::Swarm;

pub(crate) const AGENTS: [&str; 2] = ["alpha", "beta"];
const HOLD_MS: i64 = 3000;

pub struct World {
    pub choices: Choices,
    pub story: Story,
    pub coverage: Coverage,
    pub swarm: Swarm,
    pub defect: Option<Defect>,
    /// In seconds.
    pub clock: i64,
    pub ids: Cell<u64>,
    /// No more faults, and everybody goes on.
    pub fair: bool,
    pub session: SessionId,
    pub settings: Settings,
    pub policy: Policy,
    pub rules: Vec<Rule>,
    pub words: BTreeMap<String, AgentWords>,
    pub store: Store,
    pub disk: Disk,
    pub runners: BTreeMap<RunnerId, Runner>,
    pub agents: BTreeMap<&'static str, Agent>,
    pub server: Option<Server>,
    pub servers: u64,
    pub person: Person,
    pub browser: Browser,
    pub oracle: Oracle,
    /// For names that nothing else has.
    pub counter: u64,
}

/// What an agent has on its disk.
#[derive(Clone, Debug, Default)]
pub struct Agent {
    pub logged_in: bool,
    pub known: Vec<String>,
}

impl World {
    pub fn new(mut choices: Choices, defect: Option<Defect>, wanted: bool) -> World {
        choices.begin_step();
        let swarm = Swarm::draw(&mut choices);
        let policy = Policy::ALL[[1, 0, 2, 3, 4][choices.draw(5)]];
        let relay = choices.once_in(8);
        let agent = |_| Agent { logged_in: !swarm.login, known: Vec::new() };
        World {
            agents: AGENTS.into_iter().map(|name| (name, agent(name))).collect(),
            choices,
            story: Story::new(wanted),
            coverage: Coverage::default(),
            swarm,
            defect,
            clock: 0,
            ids: Cell::new(0),
            fair: false,
            session: SessionId(Uuid::from_u64_pair(7, 7)),
            settings: Settings {
                max_iterations: 4,
                relay,
                model: "model".to_owned(),
                agent: AGENTS[0].to_owned(),
                is_full: false,
                denial_hold_ms: if defect == Some(Defect::HoldSkipped) { 0 } else { HOLD_MS },
            },
            policy,
            rules: Vec::new(),
            words: BTreeMap::new(),
            store: Store::default(),
            disk: Disk::default(),
            runners: BTreeMap::new(),
            server: None,
            servers: 0,
            person: Person::default(),
            browser: Browser::default(),
            oracle: Oracle::default(),
            counter: 0,
        }
    }

    pub fn has(&self, defect: Defect) -> bool {
        self.defect == Some(defect)
    }

    pub fn new_id(&self) -> Uuid {
        self.ids.set(self.ids.get() + 1);
        Uuid::from_u64_pair(1, self.ids.get())
    }

    pub fn number(&mut self) -> u64 {
        self.counter += 1;
        self.counter
    }

    pub fn label(&self, runner: RunnerId) -> String {
        self.runners.get(&runner).map_or_else(|| "a runner that never was".to_owned(), |runner| runner.label.clone())
    }

    pub fn tell(&mut self, line: impl FnOnce() -> String) {
        self.story.tell(line);
    }

    /// A fault of this group, once in `of` times.
    pub fn fault(&mut self, on: bool, of: usize) -> bool {
        !self.fair && on && self.choices.once_in(of)
    }

    /// The whole schedule: faults for `steps` steps, then none until everything has come to an end.
    pub fn run(&mut self, steps: usize) -> Checked {
        for _ in 0..steps {
            if !self.choices.begin_step() {
                break;
            }
            self.story.begin_step();
            self.clock += 1;
            self.step()?;
        }
        self.fair = true;
        self.story.begin_step();
        self.tell(|| "faults stop, and everybody goes on".to_owned());
        self.run_fairly()?;
        self.check_end()
    }
}
