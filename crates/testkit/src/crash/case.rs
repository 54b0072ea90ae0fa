//! What a case is made of, and what it is called.

use std::fmt;

use super::random::Dice;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Agent {
    Demo,
    Copilot,
    Codex,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Moment {
    Idle,
    ModelStreaming,
    AgentStreaming,
    ToolRunning,
    PermissionPending,
    QueuedPrompts,
    Loading,
    Cancelling,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Victim {
    /// The undisturbed run that the others are compared with.
    Nobody,
    Browser,
    Server,
    /// Killed, started, killed again while it is still taking up what the first one left, started.
    ServerTwice,
    Runner,
    Agent,
    /// What the person who started Copilot or Codex by its npm wrapper would hit.
    Wrapper,
    ServerAndRunner,
    ServerAndAgent,
}

/// Whether the rest of the world goes on while the victim is away, or only when it is back.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Release {
    Meanwhile,
    Afterwards,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Case {
    pub agent: Agent,
    pub moment: Moment,
    pub victim: Victim,
    pub release: Release,
}

impl Agent {
    pub const ALL: [Agent; 3] = [Agent::Demo, Agent::Copilot, Agent::Codex];

    pub fn name(self) -> &'static str {
        match self {
            Agent::Demo => "demo agent",
            Agent::Copilot => "Copilot CLI",
            Agent::Codex => "Codex CLI",
        }
    }

    /// As it is called where one is chosen.
    pub fn id(self) -> &'static str {
        match self {
            Agent::Demo => "demo",
            Agent::Copilot => "copilot",
            Agent::Codex => "codex",
        }
    }

    /// The model it asks, if it has one: how the scripted server knows it.
    pub(super) fn model(self) -> &'static str {
        match self {
            Agent::Demo => "",
            Agent::Copilot => "coder",
            Agent::Codex => crate::codex::MODEL,
        }
    }

    /// It is started by a program of npm's, which waits for it.
    pub(super) fn has_wrapper(self) -> bool {
        self != Agent::Demo
    }

    /// How a call may end whose agent lost its wrapper. Copilot sees the end of its input, takes that for the denial of whatever it asks,
    /// and still answers; Codex ends at once.
    pub(super) fn ends_without_wrapper(self) -> [&'static str; 2] {
        if self == Agent::Copilot { ["end_turn", "interrupted"] } else { ["interrupted", "interrupted"] }
    }
}

impl Moment {
    pub const ALL: [Moment; 8] = [
        Moment::Idle,
        Moment::ModelStreaming,
        Moment::AgentStreaming,
        Moment::ToolRunning,
        Moment::PermissionPending,
        Moment::QueuedPrompts,
        Moment::Loading,
        Moment::Cancelling,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Moment::Idle => "idle",
            Moment::ModelStreaming => "model streaming",
            Moment::AgentStreaming => "agent streaming",
            Moment::ToolRunning => "agent's tool running",
            Moment::PermissionPending => "permission pending",
            Moment::QueuedPrompts => "queued prompts",
            Moment::Loading => "loading",
            Moment::Cancelling => "cancelling",
        }
    }

    /// The agent has the prompt and has not answered it: its death cuts the work short.
    pub fn agent_is_working(self) -> bool {
        !matches!(self, Moment::Idle | Moment::ModelStreaming | Moment::Loading)
    }
}

impl Victim {
    pub const ALL: [Victim; 9] = [
        Victim::Nobody,
        Victim::Browser,
        Victim::Server,
        Victim::ServerTwice,
        Victim::Runner,
        Victim::Agent,
        Victim::Wrapper,
        Victim::ServerAndRunner,
        Victim::ServerAndAgent,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Victim::Nobody => "nobody",
            Victim::Browser => "browser",
            Victim::Server => "server",
            Victim::ServerTwice => "server twice",
            Victim::Runner => "runner",
            Victim::Agent => "agent",
            Victim::Wrapper => "agent's wrapper",
            Victim::ServerAndRunner => "server + runner",
            Victim::ServerAndAgent => "server + agent",
        }
    }

    pub fn takes_agent(self) -> bool {
        !matches!(self, Victim::Nobody | Victim::Browser | Victim::Server | Victim::ServerTwice)
    }

    pub fn takes_server(self) -> bool {
        matches!(self, Victim::Server | Victim::ServerTwice | Victim::ServerAndRunner | Victim::ServerAndAgent)
    }
}

impl Case {
    /// Every case of one agent, the undisturbed ones first.
    pub fn all(agent: Agent) -> Vec<Case> {
        let mut cases = Vec::new();
        for victim in Victim::ALL {
            for moment in Moment::ALL {
                cases.push(Case { agent, moment, victim, release: Release::Afterwards });
                if victim.takes_server() {
                    cases.push(Case { agent, moment, victim, release: Release::Meanwhile });
                }
            }
        }
        cases.retain(|case| agent.has_wrapper() || case.victim != Victim::Wrapper);
        cases
    }

    /// So many of them, chosen by the seed.
    pub fn selection(agent: Agent, count: usize, seed: u64) -> Vec<Case> {
        let mut dice = Dice::new(seed);
        let mut cases = Case::all(agent);
        while cases.len() > count {
            let index = usize::try_from(dice.below(cases.len() as u64)).unwrap_or(0);
            cases.swap_remove(index);
        }
        cases
    }

    /// The agent died beside its work. A prompt that met its end may have reached it or not; it is never sent twice.
    pub fn may_be_cut_short(self) -> bool {
        self.is_cut_short() || (self.victim.takes_agent() && matches!(self.moment, Moment::Idle | Moment::ModelStreaming))
    }

    /// What the agent was at work on ends as interrupted.
    pub fn is_cut_short(self) -> bool {
        self.victim.takes_agent() && self.moment.agent_is_working()
    }
}

impl fmt::Display for Case {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {} × {}", self.agent.name(), self.moment.name(), self.victim.name())?;
        if self.release == Release::Meanwhile { write!(out, ", the rest goes on meanwhile") } else { Ok(()) }
    }
}
