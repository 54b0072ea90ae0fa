//! What a commit must and must not hold, and what must be in the store before something is done.

use domain::agent::{Demand, Fault, OptionKind, PermissionAsk, Reply, Update};
use domain::event::{Event, PermissionResolved, Queue, Role, ToolCall, TurnState};
use domain::host::Act;
use domain::ids::{MessageId, PermissionId, RunnerId};
use domain::text::utf16_len;

use super::{CallTruth, Oracle, TurnTruth, call_of, is_delegated};
use crate::agent::LATE;
use crate::invariants::{Checked, Invariant, hold};
use crate::runner::{Line, Record};
use crate::spoil::appended;
use crate::store::Commit;
use crate::tasks::TaskState;
use crate::world::World;

impl World {
    /// `cursors`: how far the journals were read before, and are now.
    pub fn check_commit(&mut self, commit: &Commit, cursors: &[(RunnerId, u64, u64)]) -> Checked {
        for (runner, from, to) in cursors {
            self.consume(*runner, *from, *to);
        }
        for event in commit.effects.iter().filter_map(appended) {
            self.check_event(event)?;
        }
        self.oracle.check_lines()
    }

    /// The server says that it has made events of these lines.
    fn consume(&mut self, runner: RunnerId, from: u64, to: u64) {
        let Some(runner) = self.runners.get(&runner) else { return };
        for seq in from + 1..=to {
            let Some(Record::Out(lines)) = runner.record(seq) else { continue };
            for line in lines {
                self.oracle.consume(line);
            }
        }
    }

    fn check_event(&mut self, event: &Event) -> Checked {
        if let Some(call) = call_of(event) {
            let over = self.oracle.calls.get(call).is_none_or(|call| call.word.is_some());
            hold(!over, Invariant::CallEndsOnce, || format!("{} of {call}, which has ended", event.kind()))?;
        }
        if matches!(event, Event::AgentUpdate(update) if matches!(update.update, Update::FollowUp { .. })) {
            self.coverage.count("told: a reason");
        }
        match event {
            Event::CopilotDone(done) => {
                self.check_word(&done.tool_call_id, &done.stop_reason)?;
                self.coverage.count(end_name(&done.stop_reason));
                self.oracle.call(&done.tool_call_id).word = Some(done.stop_reason.clone());
                if done.stop_reason == "cancelled" {
                    self.serve_again(&done.tool_call_id);
                }
                Ok(())
            }
            Event::Turn(turn) if turn.state != TurnState::Running => {
                let lost = !self.oracle.lost.is_empty();
                self.coverage.count(state_name(turn.state));
                self.oracle.turn_ends(turn.turn_id, turn.state, lost)
            }
            _ => self.oracle.note_event(event),
        }
    }

    /// An agent that breaks off by itself just when it is to stop goes on serving the session: nobody could tell the two apart.
    fn serve_again(&mut self, call: &str) {
        let processes = self.runners.values_mut().filter_map(|runner| runner.process.as_mut());
        for session in processes.flat_map(|process| &mut process.sessions).filter(|session| session.cut.as_deref() == Some(call)) {
            session.cut = None;
        }
    }

    /// Whatever is done must be decided by what the store has.
    pub fn check_committed(&self, act: &Act) -> Checked {
        let missing = |what: &str| hold(false, Invariant::CommitFirst, || format!("{what} is not stored"));
        match act {
            Act::Start { runner, .. } if !self.store.runners.contains_key(runner) => missing("the runner that is started"),
            Act::Clear { runner, .. } if self.store.runners.contains_key(runner) => missing("that the runner is removed"),
            Act::Acknowledge { runner, cursor } if self.store.runners.get(runner).is_some_and(|row| row.cursor < *cursor) => {
                hold(false, Invariant::LinesKept, || format!("{cursor} is acknowledged, and less is stored"))
            }
            Act::Prompt { name, call_id, .. } => {
                let prompted = self.store.sessions.get(name).is_some_and(|session| session.prompted_at.is_some());
                if prompted || self.oracle.is_over(call_id) { Ok(()) } else { missing("that the session is prompted") }
            }
            Act::Do { id, demand: Demand::WriteFile { .. } | Demand::StartTerminal(_), .. } => {
                let row = self.store.debts.iter().find(|(_, debt)| debt.id == *id);
                if row.is_none_or(|(_, debt)| debt.begun) { Ok(()) } else { missing("that it is begun") }
            }
            Act::Reply { id, reply, .. } if !self.is_reply_stored(*id, reply) => missing("the reply"),
            Act::Cancel { call_id, .. } if !self.oracle.is_stopped(call_id) && !self.oracle.is_over(call_id) => missing("the stop"),
            _ => Ok(()),
        }
    }

    fn is_reply_stored(&self, id: PermissionId, reply: &Reply) -> bool {
        let debt = self.store.debts.iter().find(|(_, debt)| debt.id == id);
        if let Some((_, debt)) = debt {
            let kept = matches!(debt.demand, Demand::WriteFile { .. } | Demand::StartTerminal(_) | Demand::Form { .. });
            return !kept || debt.reply.is_some();
        }
        match (self.store.permissions.get(&id), reply) {
            (Some(row), Reply::Chosen { option_id }) => {
                row.delivered || row.resolved.as_ref().is_some_and(|decision| told(&row.request.ask, decision.option_id()) == *option_id)
            }
            (Some(row), _) => row.delivered,
            // It was delivered, or its runner is removed.
            (None, _) => !self.is_owed(id),
        }
    }

    /// The server's memory says that it owes this, and the runner is still there.
    fn is_owed(&self, id: PermissionId) -> bool {
        let hosts = self.server.iter().flat_map(|server| server.machine.hosts());
        hosts.into_iter().any(|host| {
            let stored = host.runner().is_some_and(|runner| self.store.runners.contains_key(&runner));
            stored && host.debt(id).is_some_and(|debt| debt.stage.is_decided())
        })
    }

    /// When the deadline of a stop is over and everybody had their turn, the agent was told.
    pub fn check_told_to_stop(&self, call: &str) -> Checked {
        let tasks = self.server.iter().flat_map(|server| &server.tasks);
        let on_its_way = tasks
            .into_iter()
            .any(|task| matches!(&task.act, Act::Cancel { call_id, .. } if call_id == call) && !matches!(task.state, TaskState::Ready(_)));
        let processes = self.runners.values().filter_map(|runner| runner.process.as_ref());
        let untold = processes.flat_map(|process| &process.works).any(|work| work.call == call && !work.cancelled);
        hold(!self.fair || on_its_way || !untold, Invariant::StopStops, || format!("the agent was never told to stop {call}"))
    }
}

/// What is for always we remember ourselves: the agent is told that it holds this once.
fn told(ask: &PermissionAsk, chosen: Option<&str>) -> Option<String> {
    let kind_of = |id: &str| ask.options.iter().find(|option| option.option_id == id).map(|option| option.kind);
    let of_kind = |kind: OptionKind| ask.options.iter().find(|option| option.kind == kind).map(|option| option.option_id.clone());
    let chosen = chosen?;
    let once = match kind_of(chosen) {
        Some(OptionKind::AllowAlways) => of_kind(OptionKind::AllowOnce),
        Some(OptionKind::RejectAlways) => of_kind(OptionKind::RejectOnce),
        _ => None,
    };
    once.or_else(|| Some(chosen.to_owned()))
}

impl Oracle {
    fn call(&mut self, id: &str) -> &mut CallTruth {
        self.calls.entry(id.to_owned()).or_default()
    }

    fn consume(&mut self, line: &Line) {
        match line {
            Line::Text { call: Some(id), text, .. } => {
                let call = self.call(id);
                if call.word.is_none() && call.answer.is_none() {
                    call.written.push_str(text);
                }
            }
            Line::Tool { call: Some(id), title, .. } => {
                let call = self.call(id);
                if call.word.is_none() && call.answer.is_none() {
                    call.reported.push(title.clone());
                }
            }
            Line::Answered { call: id, round, result } => {
                let call = self.call(id);
                let waits = *result == Err(Fault::NeedsLogin) && !call.stopped;
                if call.word.is_none() && call.answer.is_none() && !waits && call.round == *round {
                    call.answer = Some(result.clone());
                }
            }
            _ => {}
        }
    }

    /// What is in the log of a call is what its agent wrote, as far as that was read.
    fn check_lines(&mut self) -> Checked {
        for (id, call) in self.calls.iter().filter(|(_, call)| call.delegated && !call.has_result) {
            // What comes after an answer names no prompt, and counts for the next one where that is out already.
            hold(call.logged.replace(LATE, "") == call.written, Invariant::LinesOnce, || {
                format!("{id}: the agent wrote {:?}, the log says {:?}", call.written, call.logged)
            })?;
            hold(call.logged_reports == call.reported, Invariant::LinesOnce, || {
                format!("{id}: the agent reported {:?}, the log says {:?}", call.reported, call.logged_reports)
            })?;
        }
        Ok(())
    }

    fn note_event(&mut self, event: &Event) -> Checked {
        match event {
            Event::ToolCall(call) => self.call_opens(call),
            Event::ToolStopping { id } => {
                let call = self.call(id);
                call.stopped = true;
                hold(call.stop_asked, Invariant::RightWord, || format!("{id} is stopped, and nobody asked for that"))
            }
            Event::CopilotDelta(delta) => {
                let call = self.call(&delta.tool_call_id);
                let have = utf16_len(&call.logged);
                call.logged.push_str(&delta.content);
                hold(delta.offset == have, Invariant::StreamsWhole, || {
                    format!("a delta at {}, where the text ends at {have}", delta.offset)
                })
            }
            Event::AgentUpdate(update) => {
                self.note_update(&update.tool_call_id, &update.update);
                if matches!(update.update, Update::FollowUp { .. }) { self.told_more(&update.tool_call_id) } else { Ok(()) }
            }
            Event::ToolResult(result) => {
                let call = self.call(&result.id);
                let first = !std::mem::replace(&mut call.has_result, true);
                let ended = !call.delegated || call.word.is_some();
                hold(first && ended, Invariant::CallEndsOnce, || format!("{} has a second result, or one before its end", result.id))
            }
            Event::PermissionResolved(resolved) => self.note_resolved(resolved),
            Event::PermissionHeld(held) => {
                let again = self.held.insert(held.request_id, held.clone()).is_some();
                hold(!again, Invariant::DenialHeld, || "a denial is held twice".to_owned())
            }
            Event::PermissionPending { request_id } => {
                let held = self.held.remove(request_id).is_some();
                hold(held, Invariant::DenialHeld, || "a denial is taken back that is not held".to_owned())
            }
            Event::Turn(turn) => self.turn_runs(turn.turn_id),
            Event::Queue(queue) => {
                queue.items.iter().for_each(|item| self.accept(item.message_id));
                self.note_moved(queue);
                self.note_queue(queue)
            }
            Event::Message(message) if message.role == Role::User => self.message_begins(message.id),
            _ => Ok(()),
        }
    }

    fn call_opens(&mut self, call: &ToolCall) -> Checked {
        hold(!self.calls.contains_key(&call.id), Invariant::CallEndsOnce, || format!("{} begins twice", call.id))?;
        self.call(&call.id).delegated = is_delegated(call);
        Ok(())
    }

    fn note_update(&mut self, call: &str, update: &Update) {
        let call = self.call(call);
        if let Update::Denied { .. } = update {
            call.rejected = Some(call.tools.clone());
        }
        let Update::ToolCall(tool) = update else { return };
        // What the server closed itself is not the agent's word.
        if matches!(tool.status.as_deref(), Some("cancelled" | "interrupted")) {
            return;
        }
        call.logged_reports.extend(tool.title.clone());
        let completed = tool.status.as_deref() == Some("completed");
        if completed && call.rejected.as_ref().is_some_and(|before| !before.contains(&tool.id)) {
            call.rejected = None;
        }
        call.tools.push(tool.id.clone());
    }

    /// The agent is prompted with what a person said when they refused: another prompt of the same call.
    fn told_more(&mut self, id: &str) -> Checked {
        let call = self.call(id);
        hold(!call.stopped, Invariant::StopStops, || format!("{id} goes on after it was stopped"))?;
        hold(call.reasons > 0 && matches!(call.answer, Some(Ok(_))), Invariant::RightWord, || {
            format!("{id} goes on, and nobody said why, or its agent has not answered")
        })?;
        (call.reasons, call.answer, call.rejected) = (0, None, None);
        call.round += 1;
        call.reached.clear();
        Ok(())
    }

    fn note_resolved(&mut self, resolved: &PermissionResolved) -> Checked {
        self.held.remove(&resolved.request_id);
        let Some(asked) = self.permissions.get_mut(&resolved.request_id) else { return Ok(()) };
        let again = std::mem::replace(&mut asked.resolved, true);
        let decided = matches!(resolved.by.as_str(), "person" | "mcp" | "rule" | "policy" | "timeout");
        let rejects = decided && asked.ask.form.is_none() && !self.allowed.contains(&resolved.request_id);
        let call = asked.call.clone();
        if rejects {
            let call = self.call(&call);
            call.rejected = Some(call.tools.clone());
            call.reasons += u32::from(resolved.reason.is_some());
        }
        hold(!again, Invariant::ReplyOnce, || "a question is answered twice".to_owned())
    }

    fn turn_runs(&mut self, id: domain::ids::TurnId) -> Checked {
        match &mut self.turn {
            Some(turn) if turn.id == id => {
                turn.stopped = true;
                let (asked, waits) = (turn.stop_asked, !self.stops || self.queue.held || self.queue.items.is_empty());
                self.calls.values_mut().filter(|call| !call.has_result).for_each(|call| call.stopped = true);
                hold(asked, Invariant::TurnEndsOnce, || "a turn is stopped, and nobody asked for that".to_owned())?;
                hold(waits, Invariant::StopStops, || "a person stops, and the queue goes on".to_owned())
            }
            other => {
                let free = other.is_none() && !self.ended_turns.contains(&id);
                *other = Some(TurnTruth { id, stopped: false, stop_asked: false });
                hold(free, Invariant::TurnEndsOnce, || "a turn begins while another runs, or once more".to_owned())
            }
        }
    }

    fn turn_ends(&mut self, id: domain::ids::TurnId, state: TurnState, lost: bool) -> Checked {
        let turn = self.turn.take();
        self.ended_turns.insert(id);
        let Some(turn) = turn.filter(|turn| turn.id == id) else {
            return hold(false, Invariant::TurnEndsOnce, || "a turn ends that does not run".to_owned());
        };
        let open: Vec<_> = self.calls.iter().filter(|(_, call)| !call.has_result).map(|(id, _)| id.as_str()).collect();
        hold(open.is_empty(), Invariant::CallEndsOnce, || format!("the turn ends while {} has no result", open.join(", ")))?;
        let fits = match state {
            TurnState::Cancelled => turn.stopped,
            TurnState::Unknown => lost,
            TurnState::Interrupted => false,
            _ => true,
        };
        hold(fits, Invariant::TurnEndsOnce, || format!("the turn ends as {state:?}, which is not what happened"))
    }

    fn accept(&mut self, id: MessageId) {
        if !self.accepted.contains(&id) {
            self.accepted.push(id);
        }
    }

    /// What was moved is to run before the one that stands behind it, and the order of the others is what it was.
    fn note_moved(&mut self, queue: &Queue) {
        let Some(id) = self.moved.take() else { return };
        let Some(place) = queue.items.iter().position(|item| item.message_id == id) else { return };
        self.accepted.retain(|other| *other != id);
        let next = queue.items.get(place + 1).and_then(|next| self.accepted.iter().position(|other| *other == next.message_id));
        self.accepted.insert(next.unwrap_or(self.accepted.len()), id);
    }

    /// What a stop holds leaves the queue when somebody asks for it, or withdraws it.
    fn note_queue(&mut self, queue: &Queue) -> Checked {
        let before = std::mem::replace(&mut self.queue, queue.clone());
        if !before.held || self.released && !queue.held {
            return Ok(());
        }
        let stays = |id: &MessageId| queue.items.iter().any(|item| item.message_id == *id) || self.withdrawn.contains(id);
        let waits = before.items.iter().all(|item| stays(&item.message_id)) && (queue.held || queue.items.is_empty());
        hold(waits, Invariant::StopStops, || "what a stop holds goes on, and nobody asked for it".to_owned())
    }

    /// What is sent while the queue is held begins before what is held.
    fn accept_begun(&mut self, id: MessageId) {
        let waits = |other: &MessageId| !self.begun.contains(other) && !self.withdrawn.contains(other);
        let place = self.accepted.iter().position(waits).filter(|_| self.queue.held && !self.accepted.contains(&id));
        match place {
            Some(place) => self.accepted.insert(place, id),
            None => self.accept(id),
        }
    }

    fn message_begins(&mut self, id: MessageId) -> Checked {
        self.accept_begun(id);
        let mut before = self.accepted.iter().take_while(|other| **other != id);
        let in_order = before.all(|other| self.begun.contains(other) || self.withdrawn.contains(other));
        let once = !self.begun.contains(&id);
        self.begun.push(id);
        hold(in_order && once, Invariant::QueueInOrder, || "a message begins before an earlier one, or twice".to_owned())
    }
}

fn end_name(word: &str) -> &'static str {
    match word {
        "end_turn" => "end: end_turn",
        "cancelled" => "end: cancelled",
        "denied" => "end: denied",
        "interrupted" => "end: interrupted",
        "max_tokens" => "end: max_tokens",
        "max_turn_requests" => "end: max_turn_requests",
        "refusal" => "end: refusal",
        "agent_not_started" => "end: agent_not_started",
        "agent_gone" => "end: agent_gone",
        "agent_not_sent" => "end: agent_not_sent",
        "agent_error" => "end: agent_error",
        "agent_timeout" => "end: agent_timeout",
        "agent_unguarded" => "end: agent_unguarded",
        "auth_required" => "end: auth_required",
        "attachment_unsupported" => "end: attachment_unsupported",
        _ => "end: another word",
    }
}

fn state_name(state: TurnState) -> &'static str {
    match state {
        TurnState::Running => "turn: running",
        TurnState::Completed => "turn: completed",
        TurnState::Cancelled => "turn: cancelled",
        TurnState::Failed => "turn: failed",
        TurnState::Interrupted => "turn: interrupted",
        TurnState::Unknown => "turn: unknown",
    }
}
