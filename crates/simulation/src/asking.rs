//! What agents ask for: permissions, files, terminals, forms. A hostile one offers answers that contradict themselves, asks for one thing
//! and does another, and changes what it asked about in between.

use domain::agent::{
    AskedChange, AskedFile, ChangeText, Demand, FilePlace, OptionKind, PermissionAsk, PermissionOption, Problem, Run, StartTerminal,
};
use domain::ids::{PermissionId, RunnerId};
use uuid::Uuid;

use crate::disk::{FILES, change};
use crate::runner::{Line, OpenDemand};
use crate::world::World;

const CONTENTS: [&str; 3] = ["one", "two", "three"];
type Offer = &'static [(&'static str, OptionKind)];

/// What a plain agent offers.
const PLAIN: Offer = &[("always", OptionKind::AllowAlways), ("yes", OptionKind::AllowOnce), ("no", OptionKind::RejectOnce)];
/// What a hostile one offers: one id for two answers, ids that say the opposite, kinds that nobody knows, nothing at all.
const HOSTILE: [Offer; 8] = [
    &[("x", OptionKind::RejectOnce), ("x", OptionKind::AllowOnce)],
    &[("x", OptionKind::AllowOnce), ("x", OptionKind::RejectOnce)],
    &[("reject", OptionKind::AllowOnce), ("allow", OptionKind::RejectOnce)],
    &[("reject", OptionKind::AllowAlways), ("allow", OptionKind::RejectAlways)],
    &[("no", OptionKind::AllowOnce), ("yes", OptionKind::RejectOnce)],
    &[("yes", OptionKind::Unknown), ("no", OptionKind::RejectOnce)],
    &[("", OptionKind::AllowOnce)],
    &[],
];

impl World {
    pub(crate) fn agent_asks_permission(&mut self, id: RunnerId, at: usize) {
        let offer = if self.fault(self.swarm.agents_hostile, 2) { HOSTILE[self.choices.draw(HOSTILE.len())] } else { PLAIN };
        let options = offer.iter().map(|(id, kind)| PermissionOption::new(*id, "what the agent calls it", *kind)).collect();
        let (number, kind) = (self.choices.draw(3), ["execute", "read", "other", "edit"][self.choices.draw(4)]);
        let mut ask = PermissionAsk { title: format!("{kind} {number}"), kind: Some(kind.to_owned()), options, ..PermissionAsk::default() };
        match kind {
            "execute" => {
                let start = self.command(number);
                ask.command = Some(crate::disk::command(&start));
                ask.run = Some(Box::new(Run::of(&start)));
            }
            "read" => {
                let place = [FilePlace::Inside, FilePlace::Outside, FilePlace::Protected][number];
                ask.files = vec![AskedFile { path: format!("file {number}"), place }];
            }
            "edit" => {
                let (name, new) = self.wanted_change();
                let old = self.disk.text(&self.disk.resolve(&name)).map(str::to_owned);
                ask.changes = vec![AskedChange { path: name, text: ChangeText::Texts { old, new } }];
            }
            _ => {}
        }
        self.demand(id, at, Demand::Permission(ask));
    }

    /// A file and what is to be in it.
    fn wanted_change(&mut self) -> (String, String) {
        let files = if self.swarm.agents_hostile { FILES.len() } else { FILES.len() - 1 };
        (FILES[self.choices.draw(files)].to_owned(), CONTENTS[self.choices.draw(CONTENTS.len())].to_owned())
    }

    /// A line for a shell, its words, or a shell with the line; a hostile agent has a shell of its own.
    fn command(&mut self, number: usize) -> StartTerminal {
        let line = format!("run {number}");
        let words = |command: &str, args: &[&str]| StartTerminal {
            command: command.to_owned(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            ..StartTerminal::default()
        };
        match self.choices.draw(if self.swarm.agents_hostile { 4 } else { 3 }) {
            0 => words(&line, &[]),
            1 => words("/bin/sh", &["-c", &line]),
            2 => words("run", &[&number.to_string()]),
            _ => words("/project/sh", &["-c", &line]),
        }
    }

    pub(crate) fn agent_demands(&mut self, id: RunnerId, at: usize) {
        let terminal_id = "terminal".to_owned();
        let (path, content) = self.wanted_change();
        let asked = self.asked_before(id, at).filter(|_| !self.fair && self.choices.once_in(2));
        let demand = match self.choices.draw(10) {
            _ if asked.is_some() => self.carry_out(asked),
            0 => Demand::ReadFile { path, line: None, limit: None },
            1 | 8 => Demand::WriteFile { path, content },
            2 => {
                let number = self.choices.draw(3);
                Demand::StartTerminal(self.command(number))
            }
            3 => Demand::TerminalOutput { terminal_id },
            4 => Demand::WaitForTerminal { terminal_id },
            5 => Demand::KillTerminal { terminal_id },
            6 => Demand::ReleaseTerminal { terminal_id },
            7 => Demand::Form { message: "which?".to_owned(), schema: serde_json::json!({}) },
            _ => Demand::Unknown { problem: Problem::Unsupported, message: "what?".to_owned() },
        };
        self.demand(id, at, demand);
    }

    /// What it asked about last in this prompt.
    fn asked_before(&self, id: RunnerId, at: usize) -> Option<PermissionAsk> {
        let process = self.runners.get(&id)?.process.as_ref()?;
        let call = &process.works.get(at)?.call;
        let mut asked = process.asked.iter().rev().filter(|asked| asked.call.as_ref() == Some(call));
        asked.find_map(|asked| match &asked.demand {
            Demand::Permission(ask) if ask.run.is_some() || !ask.changes.is_empty() => Some(ask.clone()),
            _ => None,
        })
    }

    /// What it asked about, or, from a hostile agent, something like it.
    fn carry_out(&mut self, asked: Option<PermissionAsk>) -> Demand {
        let other = self.fault(self.swarm.agents_hostile, 2);
        let ask = asked.unwrap_or_default();
        if let Some(AskedChange { path, text: ChangeText::Texts { new, .. } }) = ask.changes.first() {
            let content = if other { CONTENTS[self.choices.draw(CONTENTS.len())].to_owned() } else { new.clone() };
            return Demand::WriteFile { path: path.clone(), content };
        }
        let words = match ask.run.map(|run| *run) {
            Some(Run::Words { words, .. }) => words,
            Some(Run::Script { script, .. }) if other => vec!["/project/sh".to_owned(), "-c".to_owned(), script],
            Some(Run::Script { script, .. }) if self.choices.once_in(2) => vec!["/bin/sh".to_owned(), "-c".to_owned(), script],
            Some(Run::Script { script, .. }) => vec![script],
            None => Vec::new(),
        };
        let mut words = words.into_iter();
        let command = words.next().unwrap_or_default();
        Demand::StartTerminal(StartTerminal { command, args: words.collect(), ..StartTerminal::default() })
    }

    /// It puts a link where a file was, takes it away, or writes by itself.
    pub(crate) fn agent_tampers(&mut self, id: RunnerId) {
        let (name, content) = self.wanted_change();
        let label = self.label(id);
        self.coverage.count("fault: agent tampers with files");
        if self.choices.once_in(3) {
            self.tell(|| format!("{label} writes {name} by itself"));
            let path = self.disk.resolve(&name);
            return self.disk.write(&path, &content);
        }
        let to = FILES[self.choices.draw(FILES.len())];
        self.tell(|| format!("{label} makes {name} lead to {to}"));
        self.disk.link(&name, to);
    }

    /// Agents use an id again once it was answered, and hostile ones before.
    fn demand(&mut self, id: RunnerId, at: usize, demand: Demand) {
        let (again, hostile) = (self.choices.once_in(2), self.fault(self.swarm.agents_hostile, 4));
        let label = self.label(id);
        let Some(runner) = self.runners.get_mut(&id) else { return };
        let seq = runner.end() + 1;
        let Some(process) = runner.process.as_mut() else { return };
        process.works[at].asked = true;
        let work = process.works[at].clone();
        let reusable = (1..=process.next_rpc).map(|rpc| rpc.to_string());
        let taken = process.demands.last().map(|open| open.rpc_id.clone());
        let mut free = reusable.rev().filter(|rpc| process.demands.iter().all(|open| open.rpc_id != *rpc));
        let reused = free.next().filter(|_| again).or_else(|| taken.filter(|_| hostile));
        let rpc_id = reused.unwrap_or_else(|| {
            process.next_rpc += 1;
            process.next_rpc.to_string()
        });
        let demand_id = PermissionId(Uuid::new_v5(&id.0, format!("demand/{seq}/0").as_bytes()));
        let call = Some(work.call.clone());
        let open = OpenDemand { id: demand_id, rpc_id: rpc_id.clone(), call, demand: demand.clone() };
        process.demands.push(open.clone());
        process.asked.push(open);
        let line = Line::Demand { session: work.session, rpc_id: rpc_id.clone(), demand: demand.clone() };
        runner.say(vec![line]);
        self.tell(|| format!("{label} asks for {} under {rpc_id}", what(&demand)));
    }

    pub(crate) fn agent_withdraws(&mut self, id: RunnerId) {
        let label = self.label(id);
        let Some(process) = self.runners.get_mut(&id).and_then(|runner| runner.process.as_mut()) else { return };
        let Some(rpc_id) = process.demands.last().map(|demand| demand.rpc_id.clone()) else { return };
        self.tell(|| format!("{label} withdraws {rpc_id}"));
        self.say(id, vec![Line::Withdrawn { rpc_id }]);
    }

    /// What the server makes of a request before anybody decides about it: where the files lead, and what is shown.
    pub(crate) fn look_at(&self, ask: &mut PermissionAsk) {
        for change_of in &mut ask.changes {
            change_of.path = self.disk.resolve(&change_of.path);
        }
        if let Some(AskedChange { path, text: ChangeText::Texts { old, new } }) = ask.changes.first() {
            ask.files = vec![AskedFile { path: path.clone(), place: place(path) }];
            ask.diff = Some(change(path, old.as_deref(), new));
        }
    }
}

pub(crate) fn place(path: &str) -> FilePlace {
    if path.starts_with(".git") { FilePlace::Protected } else { FilePlace::Inside }
}

fn what(demand: &Demand) -> &'static str {
    match demand {
        Demand::Permission(_) => "a permission",
        Demand::ReadFile { .. } => "a file",
        Demand::WriteFile { .. } => "a change of a file",
        Demand::StartTerminal(_) => "a terminal",
        Demand::TerminalOutput { .. } => "a terminal's output",
        Demand::WaitForTerminal { .. } => "a terminal's end",
        Demand::KillTerminal { .. } => "a terminal to be killed",
        Demand::ReleaseTerminal { .. } => "a terminal to be released",
        Demand::Form { .. } => "a form",
        Demand::Unknown { .. } => "something unknown",
    }
}
