//! Which changes are the session's own: when its agents' tool calls could write, and what they reported to have written.
//!
//! A call can write from its first report to its last, but not while a person is asked about it. What follows from an event is stored
//! with it, so a restarted server knows the same.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use domain::agent::{ToolCall, ToolContent, Update};
use domain::event::{AgentUpdate, Event, PermissionRequest, TurnState};
use domain::host::Signal;
use domain::ids::{PermissionId, TurnId};
use store::{CreditRow, Evidence, Row, Snapshot, WindowRow};

/// So many files of one tool call are credited by its report.
const MOST_FILES: usize = 500;
/// Of so many tool calls it is remembered when their agents reported them.
const MOST_HEARD: usize = 4096;

pub(crate) struct Attribution {
    work_dirs: [PathBuf; 2],
    turn: Option<TurnId>,
    /// The calls that have not ended, by their keys.
    running: HashMap<String, Running>,
    questions: HashMap<PermissionId, Question>,
    /// When the runners heard of calls, by the agents' own ids of them: the events are made later.
    heard: HashMap<String, Span>,
    ended: bool,
}

struct Running {
    delegation: String,
    agent_call: String,
    /// None while a person is asked.
    since_ms: Option<i64>,
}

struct Question {
    delegation: String,
    /// None where the agent does not say: then all its calls wait.
    agent_call: Option<String>,
}

/// In ms since 1970.
#[derive(Clone, Copy)]
struct Span {
    since_ms: i64,
    until_ms: i64,
}

impl Attribution {
    /// Goes on where an earlier server ended. `windows` are those that it left open.
    pub(crate) fn restored(snapshot: &Snapshot, windows: Vec<WindowRow>, now_ms: i64) -> (Attribution, Vec<Row>) {
        let work_dir = PathBuf::from(&snapshot.session.work_dir);
        let mut attribution = Attribution {
            work_dirs: [tools::real_path(&work_dir).unwrap_or_else(|| work_dir.clone()), work_dir],
            turn: snapshot.turn.map(|turn| turn.turn_id),
            running: HashMap::new(),
            questions: HashMap::new(),
            heard: HashMap::new(),
            ended: false,
        };
        snapshot.permissions.iter().for_each(|request| attribution.asked(request));
        let mut rows = Vec::new();
        for call in snapshot.turn_state.turn.iter().flat_map(|turn| turn.calls()) {
            for placed in &call.updates {
                if let Update::ToolCall(agent_call) = &placed.update
                    && agent_call.is_open()
                    && agent_call.may_write()
                {
                    attribution.running.insert(key(&call.call.id, &agent_call.id), Running::new(&call.call.id, &agent_call.id));
                }
            }
        }
        for window in windows {
            match attribution.running.get_mut(&window.call).filter(|_| Some(window.turn_id) == attribution.turn) {
                Some(running) => running.since_ms = Some(window.since_ms),
                // Its end was not stored: nobody knows when that was.
                None => rows.push(Row::Window(WindowRow { until_ms: Some(window.since_ms), ..window })),
            }
        }
        attribution.resume(now_ms, &mut rows);
        (attribution, rows)
    }

    /// The runner heard these signals between the two times.
    pub(crate) fn heard(&mut self, (since_ms, until_ms): (u64, u64), signals: &[Signal]) {
        let number = |ms: u64| i64::try_from(ms).unwrap_or(i64::MAX);
        for signal in signals {
            if let Signal::Update { update: Update::ToolCall(call), .. } = signal {
                self.note(&call.id, Span { since_ms: number(since_ms), until_ms: number(until_ms) });
            }
        }
    }

    /// What we do for an agent begins now: its report comes when it has begun, or is over.
    pub(crate) fn begun(&mut self, id: PermissionId, now_ms: i64) {
        let now = Span { since_ms: now_ms, until_ms: now_ms };
        self.note(&format!("write:{id}"), now);
        self.note(&format!("terminal-{id}"), now);
    }

    fn note(&mut self, agent_call: &str, span: Span) {
        if let Some(known) = self.heard.get_mut(agent_call) {
            known.until_ms = known.until_ms.max(span.until_ms);
        } else if self.heard.len() < MOST_HEARD {
            self.heard.insert(agent_call.to_owned(), span);
        }
    }

    /// What is stored with the event.
    pub(crate) fn follow(&mut self, event: &Event, now_ms: i64, rows: &mut Vec<Row>) {
        match event {
            Event::Turn(turn) if turn.state == TurnState::Running => self.turn = Some(turn.turn_id),
            Event::Turn(_) => {
                self.end_all(None, now_ms, rows);
                self.turn = None;
                self.heard.clear();
            }
            Event::AgentUpdate(AgentUpdate { tool_call_id, update: Update::ToolCall(call), .. }) => {
                self.reported(tool_call_id, call, now_ms, rows);
            }
            Event::CopilotDone(done) => self.end_all(Some(&done.tool_call_id), now_ms, rows),
            Event::PermissionRequest(request) => {
                self.asked(request);
                self.pause(now_ms, rows);
            }
            Event::PermissionResolved(resolved) if self.questions.remove(&resolved.request_id).is_some() => self.resume(now_ms, rows),
            _ => {}
        }
    }

    /// Whether calls that may have written ended since this was asked last.
    pub(crate) fn take_ended(&mut self) -> bool {
        std::mem::take(&mut self.ended)
    }

    fn reported(&mut self, delegation: &str, call: &ToolCall, now_ms: i64, rows: &mut Vec<Row>) {
        let Some(turn_id) = self.turn else { return };
        let key = key(delegation, &call.id);
        if !call.may_write() {
            // Some agents say only later what a call does.
            if self.running.remove(&key).is_some() {
                rows.push(Row::RemoveWindows { call: key });
            }
            return;
        }
        let span = self.heard.get(&call.id).copied().unwrap_or(Span { since_ms: now_ms, until_ms: now_ms });
        if !self.running.contains_key(&key) {
            self.running.insert(key.clone(), Running::new(delegation, &call.id));
            self.resume(span.since_ms, rows);
        }
        if call.is_open() {
            return;
        }
        self.heard.remove(&call.id);
        let files = self.files(call);
        if let Some(Running { since_ms: Some(since_ms), .. }) = self.running.remove(&key) {
            rows.push(Row::Window(WindowRow { turn_id, call: key.clone(), since_ms, until_ms: Some(span.until_ms.max(since_ms)) }));
        }
        if call.content.iter().flatten().any(|content| matches!(content, ToolContent::Diff { .. })) {
            // What it wrote is known better than from the time that it took.
            rows.push(Row::RemoveWindows { call: key });
        } else {
            self.ended = true;
        }
        let (since_ms, until_ms) = (span.since_ms, span.until_ms.max(span.since_ms));
        let credit = |path| Row::Credit(CreditRow { turn_id, path, evidence: Evidence::Report, since_ms, until_ms });
        rows.extend(files.into_iter().map(credit));
    }

    /// What the call reports to have written, relative to the work directory.
    fn files(&self, call: &ToolCall) -> Vec<String> {
        if call.status.as_deref() != Some("completed") {
            return Vec::new();
        }
        let diffs = call.content.iter().flatten().filter_map(|content| match content {
            ToolContent::Diff { path, .. } => Some(path),
            _ => None,
        });
        let changes_places = matches!(call.kind.as_deref(), Some("edit" | "delete" | "move"));
        let places = call.locations.iter().flatten().map(|location| &location.path).filter(|_| changes_places);
        let mut files: Vec<String> = diffs.chain(places).filter_map(|path| self.relative(path)).take(MOST_FILES).collect();
        files.sort();
        files.dedup();
        files
    }

    fn relative(&self, path: &str) -> Option<String> {
        let path = Path::new(path);
        let below = if path.is_absolute() { self.work_dirs.iter().find_map(|dir| path.strip_prefix(dir).ok())? } else { path };
        let below: PathBuf = below.components().filter(|part| !matches!(part, std::path::Component::CurDir)).collect();
        below.to_str().filter(|below| !below.is_empty()).map(str::to_owned)
    }

    fn asked(&mut self, request: &PermissionRequest) {
        let question = Question { delegation: request.tool_call_id.clone(), agent_call: request.ask.agent_call.clone() };
        self.questions.insert(request.request_id, question);
    }

    fn pause(&mut self, now_ms: i64, rows: &mut Vec<Row>) {
        let Some(turn_id) = self.turn else { return };
        for (key, running) in &mut self.running {
            if !is_asked_about(&self.questions, running) {
                continue;
            }
            if let Some(since_ms) = running.since_ms.take() {
                rows.push(Row::Window(WindowRow { turn_id, call: key.clone(), since_ms, until_ms: Some(now_ms.max(since_ms)) }));
            }
        }
    }

    /// Calls that nobody is asked about go on, or begin.
    fn resume(&mut self, now_ms: i64, rows: &mut Vec<Row>) {
        let Some(turn_id) = self.turn else { return };
        for (key, running) in &mut self.running {
            if running.since_ms.is_none() && !is_asked_about(&self.questions, running) {
                running.since_ms = Some(now_ms);
                rows.push(Row::Window(WindowRow { turn_id, call: key.clone(), since_ms: now_ms, until_ms: None }));
            }
        }
    }

    /// The calls of one delegation end with it, or all with the turn.
    fn end_all(&mut self, delegation: Option<&str>, now_ms: i64, rows: &mut Vec<Row>) {
        let Some(turn_id) = self.turn else { return };
        self.questions.retain(|_, question| delegation.is_some_and(|delegation| question.delegation != delegation));
        for (call, running) in self.running.extract_if(|_, running| delegation.is_none_or(|delegation| running.delegation == delegation)) {
            if let Some(since_ms) = running.since_ms {
                rows.push(Row::Window(WindowRow { turn_id, call, since_ms, until_ms: Some(now_ms.max(since_ms)) }));
                self.ended = true;
            }
        }
    }
}

impl Running {
    fn new(delegation: &str, agent_call: &str) -> Running {
        Running { delegation: delegation.to_owned(), agent_call: agent_call.to_owned(), since_ms: None }
    }
}

fn is_asked_about(questions: &HashMap<PermissionId, Question>, running: &Running) -> bool {
    questions.values().any(|question| {
        question.delegation == running.delegation && question.agent_call.as_ref().is_none_or(|call| *call == running.agent_call)
    })
}

fn key(delegation: &str, agent_call: &str) -> String {
    format!("{delegation}/{agent_call}")
}

#[cfg(test)]
mod tests;
