//! The person, the main AI and its tools: whoever starts things.

use std::collections::BTreeMap;

use domain::agent::{OptionKind, PermissionOption, Update};
use domain::decision::{Decision, Verdict};
use domain::event::{Event, PermissionRequest, QueueItem, ToolCall};
use domain::host;
use domain::ids::{MessageId, PermissionId, RuleId, TurnId};
use domain::machine::Input;
use domain::policy::Policy;
use domain::rule::{Rule, Scope, Subject};
use domain::turn;
use jiff::Timestamp;

use crate::defects::Defect;
use crate::invariants::Checked;
use crate::world::{AGENTS, World};

#[derive(Clone, Debug, Default)]
pub struct Person {
    pub sent: u32,
    /// How long the log was when they last logged in, by agent.
    pub logins: BTreeMap<&'static str, usize>,
}

const MOST_MESSAGES: u32 = 4;
const SESSION_NAMES: [&str; 3] = ["main", "side", "docs"];

impl World {
    pub fn person_acts(&mut self) -> Checked {
        let choice = self.choices.draw(16);
        match choice {
            0..3 if self.person.sent < MOST_MESSAGES => self.person_sends(),
            3..8 => self.person_answers(),
            8 => self.person_confirms(),
            9 | 10 if self.swarm.person_stops => self.person_stops(),
            11 => self.person_changes_queue(),
            12 => self.person_logs_in(),
            13..16 if self.swarm.person_changes => self.person_changes_settings(),
            _ => Ok(()),
        }
    }

    fn person_sends(&mut self) -> Checked {
        self.person.sent += 1;
        let content = format!("m{}", self.person.sent);
        self.tell(|| format!("the person sends {content}"));
        let item = QueueItem {
            message_id: MessageId(self.new_id()),
            turn_id: TurnId(self.new_id()),
            content,
            created_at: Timestamp::UNIX_EPOCH,
            client_id: None,
            attachments: Vec::new(),
        };
        self.input(Input::Turn(turn::Input::Message(item)))
    }

    fn person_changes_queue(&mut self) -> Checked {
        let Some(item) = self.store.queue.items.last().cloned() else { return Ok(()) };
        let message_id = item.message_id;
        match self.choices.draw(6) {
            0 => return self.person_sends_next(),
            1 => {
                self.tell(|| format!("the person sends {} now", item.content));
                return self.input(Input::Turn(turn::Input::SendNow { message_id }));
            }
            _ => {}
        }
        if self.choices.once_in(2) {
            self.tell(|| format!("the person withdraws {}", item.content));
            return self.input(Input::Turn(turn::Input::Withdraw { message_id }));
        }
        if self.choices.once_in(2) {
            self.tell(|| format!("the person wants {} to be the next", item.content));
            return self.input(Input::Turn(turn::Input::Move { message_id, position: 0 }));
        }
        self.tell(|| format!("the person edits {}", item.content));
        self.input(Input::Turn(turn::Input::Edit { message_id, content: format!("{}, again", item.content) }))
    }

    pub fn person_sends_next(&mut self) -> Checked {
        self.tell(|| "the person sends the next message".to_owned());
        self.input(Input::Turn(turn::Input::SendNext))
    }

    fn person_stops(&mut self) -> Checked {
        let Some(turn) = self.server.as_ref().and_then(|server| server.machine.turn().turn.as_ref()) else { return Ok(()) };
        let calls: Vec<String> = turn.calls().iter().map(|call| call.call.id.clone()).collect();
        if self.choices.once_in(8) {
            self.tell(|| "a program ends its turn".to_owned());
            return self.input(Input::Turn(turn::Input::CancelTurn));
        }
        if calls.is_empty() || self.choices.once_in(2) {
            self.tell(|| "the person stops the turn".to_owned());
            return self.input(Input::Turn(turn::Input::Cancel));
        }
        let call_id = calls[self.choices.draw(calls.len())].clone();
        self.tell(|| format!("the person stops {call_id}"));
        self.input(Input::Turn(turn::Input::CancelCall { call_id }))
    }

    /// The permissions that wait for somebody.
    pub fn open_permissions(&self) -> Vec<domain::event::PermissionRequest> {
        let turn = self.server.as_ref().and_then(|server| server.machine.turn().turn.as_ref());
        turn.map(|turn| turn.permissions.clone()).unwrap_or_default()
    }

    fn person_answers(&mut self) -> Checked {
        let open = self.open_permissions();
        if open.is_empty() {
            return Ok(());
        }
        let request = &open[self.choices.draw(open.len())];
        if self.is_held(request.request_id) {
            return self.person_undoes(request);
        }
        let options = &request.ask.options;
        // By a word, or by what is read on an option.
        let option = if self.choices.once_in(4) {
            let word = ["allow", "reject"][self.choices.draw(2)];
            self.oracle.said = Some((request.request_id, if word == "allow" { Verdict::Allow } else { Verdict::Reject }));
            let found = self.by_word(request, word);
            if found.is_none() {
                return Ok(());
            }
            found
        } else {
            let option = options.get(self.choices.draw(options.len() + 1)).cloned();
            self.oracle.said = Some((request.request_id, option.as_ref().map_or(Verdict::Cancel, |option| option.kind.verdict())));
            option
        };
        let by = if option.is_none() && self.choices.once_in(2) { "timeout" } else { "person" };
        if let Some(rule) = option.as_ref().and_then(|option| self.remembered(request, option)) {
            let (request_id, decision) = (request.request_id, option.as_ref().map_or_else(Decision::cancelled, Decision::of));
            let saved = Some(rule.saved());
            self.tell(|| format!("the person has it remembered: {}", rule.text()));
            self.rules.push(rule);
            return self.input(Input::Answer { request_id, decision, by: by.to_owned(), content: None, reason: None, saved });
        }
        if let Some(option) = option.as_ref().filter(|option| option.kind == OptionKind::RejectOnce && request.ask.form.is_none())
            && self.choices.once_in(2)
        {
            self.tell(|| "the person says why not".to_owned());
            let (request_id, decision) = (request.request_id, Decision::of(option));
            let (by, reason) = (by.to_owned(), Some("rather so".to_owned()));
            return self.input(Input::Answer { request_id, decision, by, content: None, reason, saved: None });
        }
        self.answer_permission(request.request_id, option.as_ref(), by)
    }

    fn is_held(&self, request_id: PermissionId) -> bool {
        let turn = self.server.as_ref().and_then(|server| server.machine.turn().turn.as_ref());
        turn.is_some_and(|turn| turn.held(request_id).is_some())
    }

    /// On another device the question may still stand as it was: what is answered there counts for nothing.
    fn person_undoes(&mut self, request: &PermissionRequest) -> Checked {
        let request_id = request.request_id;
        if self.choices.once_in(3) {
            let option = request.ask.options.first().cloned();
            return self.answer_permission(request_id, option.as_ref(), "person");
        }
        self.oracle.said = None;
        self.tell(|| "the person takes a denial back".to_owned());
        self.input(Input::TakeBack { request_id })
    }

    /// What an answer for always makes a rule of; a refusal also where a person wants it.
    fn remembered(&mut self, request: &PermissionRequest, option: &PermissionOption) -> Option<Rule> {
        let allow = match option.kind {
            OptionKind::AllowAlways if !request.ask.is_protected() => true,
            OptionKind::RejectAlways => false,
            OptionKind::RejectOnce if request.ask.form.is_none() && self.choices.once_in(8) => false,
            _ => return None,
        };
        let subject = Subject::of(&request.ask);
        Some(Rule { id: RuleId(self.new_id()), scope: Scope::Session, allow, subject, created_at: Timestamp::UNIX_EPOCH })
    }

    /// The option that a word means: by its kind, once before always.
    fn by_word(&self, request: &PermissionRequest, word: &str) -> Option<PermissionOption> {
        let options = &request.ask.options;
        let by_id = options.iter().find(|option| option.option_id == word).filter(|_| self.has(Defect::WordById));
        let kinds = if word == "allow" { OptionKind::ALLOW } else { OptionKind::REJECT };
        let by_kind = || kinds.iter().find_map(|kind| options.iter().find(|option| option.kind == *kind));
        by_id.or_else(by_kind).cloned()
    }

    pub fn answer_permission(&mut self, request_id: PermissionId, option: Option<&PermissionOption>, by: &str) -> Checked {
        let decision = option.map_or_else(Decision::cancelled, Decision::of);
        self.tell(|| format!("{by} answers a permission: {decision:?}"));
        let content = Some(serde_json::json!({ "a": 1 }));
        self.input(Input::Answer { request_id, decision, by: by.to_owned(), content, reason: None, saved: None })
    }

    fn person_confirms(&mut self) -> Checked {
        let Some(call) = self.store.confirms.iter().next().cloned() else { return Ok(()) };
        let approved = !self.choices.once_in(3);
        self.confirm(call, approved)
    }

    pub fn confirm(&mut self, call_id: String, approved: bool) -> Checked {
        if !self.store.confirms.contains(&call_id) {
            return Ok(());
        }
        self.tell(|| format!("{call_id} is {}", if approved { "agreed to" } else { "not agreed to" }));
        let closed = Some(call_id.clone());
        self.input_closing(Input::Turn(turn::Input::Confirm { call_id, approved, reason: "no".to_owned() }), closed)
    }

    /// The agent that somebody has to log in to: it says so, or never had a login.
    pub fn wants_login(&self) -> Option<&'static str> {
        let asks = |agent: &str| {
            let seen = self.person.logins.get(agent).copied().unwrap_or(0);
            self.store.log[seen..]
                .iter()
                .any(|event| matches!(event, Event::Notice(notice) if notice.code == "auth_required" && notice.text.starts_with(agent)))
        };
        AGENTS.into_iter().find(|agent| asks(agent) || !self.agents[agent].logged_in)
    }

    pub fn person_logs_in(&mut self) -> Checked {
        let Some(agent) = self.wants_login() else { return Ok(()) };
        self.person.logins.insert(agent, self.store.log.len());
        self.tell(|| format!("the person logs in to {agent}"));
        if let Some(kept) = self.agents.get_mut(agent) {
            kept.logged_in = true;
        }
        self.tell_host(agent, host::Input::LoggedIn)
    }

    fn tell_host(&mut self, agent: &str, input: host::Input) -> Checked {
        self.input(Input::Host { agent: agent.to_owned(), input })
    }

    fn person_changes_settings(&mut self) -> Checked {
        match self.choices.draw(6) {
            0 => {
                self.policy = Policy::ALL[self.choices.draw(5)];
                let policy = self.policy.as_str();
                self.tell(|| format!("the person sets the policy to {policy}"));
                for agent in AGENTS {
                    self.settle_commit()?;
                    self.tell_host(agent, host::Input::PolicyChanged { by_person: true })?;
                }
                self.settle_commit()?;
                self.input(Input::Reconsider)
            }
            1 if self.swarm.two_agents => {
                let old = self.settings.agent.clone();
                self.settings.agent = if old == AGENTS[0] { AGENTS[1] } else { AGENTS[0] }.to_owned();
                self.tell(|| format!("the person chooses another agent than {old}"));
                self.tell_host(&old, host::Input::Retire)
            }
            2 => {
                let Some(name) = self.store.sessions.keys().next().cloned() else { return Ok(()) };
                let agent = self.store.sessions[&name].agent.clone();
                let set = [("model".to_owned(), serde_json::json!("large"))].into_iter().collect();
                self.tell(|| format!("the person sets an option of {name}"));
                self.tell_host(&agent, host::Input::SetOptions { name, set, allow_all: None, shown: "model: large".to_owned() })
            }
            3 => {
                self.rules.clear();
                self.tell(|| "the person takes back what was remembered".to_owned());
                for agent in AGENTS {
                    self.settle_commit()?;
                    self.tell_host(agent, host::Input::ForgetAlways)?;
                }
                Ok(())
            }
            4 => {
                let idle = self.server.as_ref().and_then(|server| server.machine.hosts().find(|host| host.is_idle()));
                let Some(agent) = idle.map(|host| host.agent().to_owned()) else { return Ok(()) };
                self.tell(|| format!("{agent} is idle, and makes room"));
                self.tell_host(&agent, host::Input::Retire)
            }
            5 => {
                let prompt_of = |host: &host::Host| Some((host.agent().to_owned(), host.prompts().first()?.call_id.clone()));
                let found = self.server.as_ref().and_then(|server| server.machine.hosts().find_map(prompt_of));
                let Some((agent, call_id)) = found else { return Ok(()) };
                self.tell(|| format!("a terminal of {call_id} changes"));
                let update = Box::new(Update::Thought { text: "output".to_owned() });
                self.tell_host(&agent, host::Input::TerminalChanged { call_id, terminal_id: "terminal".to_owned(), update, running: true })
            }
            _ => Ok(()),
        }
    }

    /// What is decided is committed before the next input is taken.
    fn settle_commit(&mut self) -> Checked {
        for _ in 0..20 {
            if self.server.as_ref().is_some_and(|server| server.pending.is_some()) {
                self.commit()?;
            }
        }
        Ok(())
    }

    /// The main AI writes, asks for tools, ends or fails.
    pub fn model_acts(&mut self) -> Checked {
        let Some(model) = self.server.as_mut().and_then(|server| server.model.as_mut()) else { return Ok(()) };
        model.pieces += 1;
        let (message_id, pieces) = (model.message_id, model.pieces);
        let choice = if self.fair { 9 } else { self.choices.draw(10) };
        if choice < 3 && pieces < 4 {
            let text = format!("𝄞{} ", self.number());
            self.tell(|| "the main AI writes".to_owned());
            return self.input(Input::Turn(turn::Input::ModelText { message_id, text }));
        }
        if let Some(server) = &mut self.server {
            server.model = None;
        }
        if choice == 3 && self.swarm.model_fails {
            let repeat = !self.choices.once_in(3);
            self.tell(|| format!("the main AI fails{}", if repeat { ", and may be asked again" } else { "" }));
            let (code, message) = ("model_error".to_owned(), "no".to_owned());
            return self.input(Input::Turn(turn::Input::ModelFault { message_id, code, message, repeat }));
        }
        let tool_calls = if self.fair { Vec::new() } else { self.model_calls() };
        let names: Vec<_> = tool_calls.iter().map(|call| format!("{} {} {}", call.id, call.name, call.arguments)).collect();
        self.tell(|| format!("the main AI ends, and asks for [{}]", names.join(", ")));
        let text = format!("a{}", self.number());
        self.input(Input::Turn(turn::Input::ModelEnd { message_id, text, tool_calls }))
    }

    fn model_calls(&mut self) -> Vec<ToolCall> {
        let count = [1, 0, 1, 2, 2, 3][self.choices.draw(6)];
        (0..count).map(|_| self.model_call()).collect()
    }

    fn model_call(&mut self) -> ToolCall {
        let id = format!("c{}", self.number());
        let session_name = SESSION_NAMES[self.choices.draw(SESSION_NAMES.len())];
        let agent = AGENTS[self.choices.draw(if self.swarm.two_agents { 2 } else { 1 })];
        let (name, arguments) = match self.choices.draw(10) {
            0..4 => ("copilot_agent", serde_json::json!({ "prompt": "do it", "session_name": session_name }).to_string()),
            4..7 => ("delegate", serde_json::json!({ "prompt": "do it", "session_name": session_name, "agent": agent }).to_string()),
            7 => ("read_file", "{}".to_owned()),
            8 => ("read_file_external", "{}".to_owned()),
            _ => ("delegate", "{}".to_owned()),
        };
        ToolCall { id, name: name.to_owned(), arguments }
    }

    pub fn tool_ends(&mut self) -> Checked {
        let Some(server) = self.server.as_mut().filter(|server| !server.tools.is_empty()) else { return Ok(()) };
        let call = server.tools.remove(0);
        self.tell(|| format!("the tool of {} ends", call.id));
        let end = turn::ToolEnd { content: "done".to_owned(), ..turn::ToolEnd::default() };
        self.input(Input::Turn(turn::Input::ToolEnd { call_id: call.id, end }))
    }
}
