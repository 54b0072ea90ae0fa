//! What agents do: they start, open sessions, work on prompts, ask, answer, and misbehave.

use domain::agent::{Failure, Fault};
use domain::host::{self, Act, Described, How, Opened};
use domain::ids::RunnerId;

use crate::runner::{Line, OpenSession, Opening, Process, Runner, Start};
use crate::tasks::TaskState;
use crate::world::World;

const FAULTS: [Fault; 6] = [Fault::Refused, Fault::UnknownSession, Fault::TimedOut, Fault::Unsupported, Fault::NotSent, Fault::Gone];
const OTHER_REASONS: [&str; 3] = ["max_tokens", "max_turn_requests", "refusal"];

/// What an agent writes after it has answered.
pub(crate) const LATE: &str = "late";

/// Some sessions come up with the agent's own "allow all" on.
pub(crate) fn allows_all(agent_session: &str) -> bool {
    let number = agent_session.rsplit_once('-').and_then(|(_, number)| number.parse().ok());
    number.is_some_and(|number: u64| number.is_multiple_of(7))
}

impl World {
    /// The agents that can do something.
    pub fn busy_agents(&self) -> Vec<RunnerId> {
        let fair = self.fair;
        let busy = |process: &Process| {
            process.ending
                || !process.openings.is_empty()
                || if fair { self.next_fair(process).is_some() } else { !process.works.is_empty() }
        };
        let acts = |runner: &&Runner| runner.start == Start::Pending || runner.process.as_ref().is_some_and(busy);
        self.runners.values().filter(|runner| runner.is_alive()).filter(acts).map(|runner| runner.id).collect()
    }

    /// The prompt that a fair agent would answer next: what it asked is answered, and it was told to stop where somebody wants that.
    fn next_fair(&self, process: &Process) -> Option<usize> {
        process.works.iter().position(|work| {
            let asks = process.demands.iter().any(|demand| demand.call.as_deref() == Some(&work.call));
            let wait = if work.cancelled { work.deaf } else { asks || (work.deaf && self.oracle.is_stopped(&work.call)) };
            !wait && process.serves(&work.session)
        })
    }

    pub fn agent_acts(&mut self, id: RunnerId) {
        let Some(runner) = self.runners.get(&id) else { return };
        let Some(process) = &runner.process else { return };
        if runner.start == Start::Pending {
            return self.agent_starts(id);
        }
        // It ends in its own time.
        if process.ending && (process.works.is_empty() || self.fair || self.choices.once_in(2)) {
            let label = self.label(id);
            self.tell(|| format!("{label} ends as it was told"));
            return self.end_process(id);
        }
        if !process.openings.is_empty() {
            return self.agent_opens(id);
        }
        if self.fair {
            let Some(at) = self.next_fair(process) else { return };
            let cancelled = process.works[at].cancelled;
            return self.answer(id, at, Ok(if cancelled { "cancelled" } else { "end_turn" }.to_owned()));
        }
        if !process.works.is_empty() {
            let at = self.choices.draw(process.works.len());
            self.agent_works(id, at);
        }
    }

    fn agent_starts(&mut self, id: RunnerId) {
        if self.fault(self.swarm.starts_fail, 4) {
            self.coverage.count("fault: agent dies at its start");
            let label = self.label(id);
            self.tell(|| format!("{label} dies while it starts"));
            self.oracle.start_failures += 1;
            return self.end_process(id);
        }
        if !self.fair && self.choices.once_in(6) {
            self.say(id, vec![Line::Dropped]);
            return;
        }
        let label = self.label(id);
        self.tell(|| format!("{label} is up"));
        if let Some(runner) = self.runners.get_mut(&id) {
            runner.start = Start::Up;
        }
        let started = host::Started { capabilities: serde_json::Value::Null, can_reopen: true, warning: None };
        self.finish(
            |act| matches!(act, Act::Start { runner, .. } if *runner == id),
            host::Input::Started { runner: id, outcome: Ok(started) },
        );
    }

    /// The task that waits for this hears of it, if its server still lives.
    fn finish(&mut self, is: impl Fn(&Act) -> bool, input: host::Input) {
        let Some(server) = &mut self.server else { return };
        let waiting = server.tasks.iter_mut().find(|task| matches!(task.state, TaskState::Waiting) && is(&task.act));
        if let Some(task) = waiting {
            task.state = TaskState::Ready(input);
        }
    }

    fn agent_opens(&mut self, id: RunnerId) {
        let Some(runner) = self.runners.get_mut(&id) else { return };
        let (label, agent) = (runner.label.clone(), runner.agent.clone());
        let Some(process) = runner.process.as_mut() else { return };
        let Opening { server, task, name, restore } = process.openings.remove(0);
        let logged_in = process.logged_in;
        let outcome = if !logged_in && !self.swarm.login_at_prompt {
            Err(Failure::new(Fault::NeedsLogin, "log in first"))
        } else if self.fault(self.swarm.agents_err, 6) {
            let fault = [Fault::Refused, Fault::TimedOut, Fault::UnknownSession][self.choices.draw(3)];
            self.oracle.open_failures += 1;
            Err(Failure::new(fault, "no"))
        } else {
            Ok(self.open(id, &agent, restore))
        };
        self.tell(|| format!("{label} answers about session {name}: {}", if outcome.is_ok() { "open" } else { "no" }));
        let is_current = self.server.as_ref().is_some_and(|now| now.number == server);
        if is_current && let Some(waiting) = self.server.as_mut().and_then(|now| now.tasks.iter_mut().find(|waiting| waiting.id == task)) {
            waiting.state = TaskState::Ready(host::Input::SessionOpened { runner: id, name, outcome });
        }
    }

    fn open(&mut self, id: RunnerId, agent: &str, restore: Option<String>) -> Opened {
        let forgets = self.fault(self.swarm.agents_err, 4);
        let number = self.number();
        let Some(kept) = self.agents.get_mut(agent) else { return opened(String::new(), How::New) };
        if let (true, Some(restore)) = (forgets, &restore) {
            kept.known.retain(|known| known != restore);
        }
        let (session, how) = match restore {
            Some(restore) if kept.known.contains(&restore) => (restore, if number.is_multiple_of(2) { How::Resumed } else { How::Loaded }),
            lost => {
                let new = format!("{agent}-{number}");
                kept.known.push(new.clone());
                (new, if lost.is_some() { How::Lost } else { How::New })
            }
        };
        if let Some(process) = self.runners.get_mut(&id).and_then(|runner| runner.process.as_mut()) {
            process.sessions.retain(|open| open.id != session);
            process.sessions.push(OpenSession { id: session.clone(), cut: None });
        }
        let mut opened = opened(session, how);
        opened.described.allows_all = allows_all(&opened.agent_session);
        opened
    }

    fn agent_works(&mut self, id: RunnerId, at: usize) {
        let Some(process) = self.runners.get(&id).and_then(|runner| runner.process.as_ref()) else { return };
        let work = process.works[at].clone();
        if !process.serves(&work.session) {
            return;
        }
        if !process.logged_in && self.swarm.login {
            return self.answer(id, at, Err(Fault::NeedsLogin));
        }
        if work.cancelled && !work.deaf && !self.choices.once_in(4) {
            return self.answer(id, at, Ok("cancelled".to_owned()));
        }
        match self.choices.draw(16) {
            0..4 => self.agent_writes(id, at),
            4 => self.agent_begins_tool(id, at),
            5 => self.agent_ends_tool(id, at),
            6 | 7 if self.swarm.agents_ask => self.agent_asks_permission(id, at),
            8 | 9 if self.swarm.agents_ask => self.agent_demands(id, at),
            10 if self.swarm.agents_ask => self.agent_withdraws(id),
            15 if self.swarm.agents_hostile && self.choices.once_in(2) => self.agent_tampers(id),
            11 | 12 => self.answer(id, at, Ok("end_turn".to_owned())),
            13 => {
                let reason = OTHER_REASONS[self.choices.draw(OTHER_REASONS.len())];
                self.answer(id, at, Ok(reason.to_owned()));
            }
            14 if self.swarm.agents_err => {
                if self.choices.once_in(2) {
                    let fault = FAULTS[self.choices.draw(FAULTS.len())];
                    self.answer(id, at, Err(fault));
                } else {
                    self.coverage.count("fault: agent breaks off by itself");
                    self.answer(id, at, Ok("cancelled".to_owned()));
                }
            }
            15 if self.swarm.agents_repeat => self.agent_repeats(id, at),
            _ => {}
        }
    }

    pub(crate) fn say(&mut self, id: RunnerId, lines: Vec<Line>) -> u64 {
        self.runners.get_mut(&id).map_or(0, |runner| runner.say(lines))
    }

    fn text(&mut self, id: RunnerId, at: usize) -> Option<Line> {
        let number = self.number();
        let work = self.runners.get(&id)?.process.as_ref()?.works.get(at)?;
        let text = if number.is_multiple_of(5) { format!("é𝄞{number} ") } else { format!("t{number} ") };
        Some(Line::Text { session: work.session.clone(), call: Some(work.call.clone()), text })
    }

    fn agent_writes(&mut self, id: RunnerId, at: usize) {
        let Some(line) = self.text(id, at) else { return };
        let label = self.label(id);
        self.tell(|| format!("{label} writes text"));
        let more = if self.choices.once_in(4) { self.text(id, at) } else { None };
        self.say(id, std::iter::once(line).chain(more).collect());
    }

    fn agent_begins_tool(&mut self, id: RunnerId, at: usize) {
        let tool = format!("tool-{}", self.number());
        self.tell_tool(id, at, tool, false);
    }

    fn agent_ends_tool(&mut self, id: RunnerId, at: usize) {
        let process = self.runners.get_mut(&id).and_then(|runner| runner.process.as_mut());
        let tool = process.and_then(|process| process.works.get_mut(at)).and_then(|work| work.tools.pop());
        let tool = tool.unwrap_or_else(|| format!("tool-{}", self.number()));
        self.tell_tool(id, at, tool, true);
    }

    fn tell_tool(&mut self, id: RunnerId, at: usize, tool: String, completed: bool) {
        let (title, label) = (format!("title {}", self.number()), self.label(id));
        self.tell(|| format!("{label} reports {tool}{}", if completed { ", completed" } else { "" }));
        let process = self.runners.get_mut(&id).and_then(|runner| runner.process.as_mut());
        let Some(work) = process.and_then(|process| process.works.get_mut(at)) else { return };
        if !completed {
            work.tools.push(tool.clone());
        }
        let (session, call) = (work.session.clone(), Some(work.call.clone()));
        self.say(id, vec![Line::Tool { session, call, id: tool, title, completed }]);
    }

    fn answer(&mut self, id: RunnerId, at: usize, result: Result<String, Fault>) {
        let label = self.label(id);
        let Some(process) = self.runners.get_mut(&id).and_then(|runner| runner.process.as_mut()) else { return };
        let work = process.works.remove(at);
        // After a rejection agents end like this too, and go on serving the session.
        let unasked = !work.cancelled && !work.asked && result.as_deref() == Ok("cancelled");
        if let Some(session) = process.session(&work.session).filter(|_| unasked) {
            session.cut = Some(work.call.clone());
        }
        if result == Err(Fault::UnknownSession) {
            process.sessions.retain(|open| open.id != work.session);
        }
        if result == Err(Fault::NeedsLogin) {
            self.oracle.refused_for_login(&work.call, id);
        }
        self.tell(|| format!("{label} answers {}: {result:?}", work.call));
        self.say(id, vec![Line::Answered { call: work.call, round: work.round, result }]);
    }

    /// It answers twice, or writes more after it has answered.
    fn agent_repeats(&mut self, id: RunnerId, at: usize) {
        self.coverage.count("fault: agent answers twice");
        let Some(process) = self.runners.get(&id).and_then(|runner| runner.process.as_ref()) else { return };
        let work = process.works[at].clone();
        self.answer(id, at, Ok("end_turn".to_owned()));
        let text = Line::Text { session: work.session, call: None, text: LATE.to_owned() };
        let second = Line::Answered { call: work.call, round: work.round, result: Ok("max_tokens".to_owned()) };
        let line = if self.choices.once_in(2) { text } else { second };
        self.say(id, vec![line]);
    }
}

fn opened(agent_session: String, how: How) -> Opened {
    Opened { agent_session, how, described: Described::default(), wanted: None, unguarded: false, cut_off: false, damaged: None }
}
