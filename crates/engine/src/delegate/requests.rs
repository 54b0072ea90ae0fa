//! What an agent asks of its client: files, terminals, forms. Each request gets exactly one answer, whichever server gives it.
//!
//! A request is stored with the journal cursor that moves past it, and leaves the store when its answer is in the journal. What has
//! an effect is marked as begun before it is; a server that finds such a mark without an answer cannot know how far the effect came,
//! says so, and does not repeat it.

mod forms;
mod terminals;
mod work;

pub(crate) use terminals::Running;

use std::time::Duration;

use agents::acp::client_request::{CANCELLED, REFUSED};
use agents::{Answer, ClientRequest, RpcError, RpcId};
use domain::agent::{PermissionAsk, Update};
use domain::ids::PermissionId;
use domain::policy::Decision;
use domain::rule::Decider;
use domain::turn::{CallState, Input};
use serde_json::json;
use store::{RequestRow, Row, RunnerRow};
use tokio::task::AbortHandle;
use uuid::Uuid;

use super::AgentTask;
use super::signals::permission_id;
use crate::Refusal;
use crate::actor::{Actor, TaskEnd};
use crate::host::{rpc_id, rpc_text};

const UNSENT_PAUSE: Duration = Duration::from_secs(1);

/// A request that is not answered yet.
pub(crate) struct Asked {
    pub id: PermissionId,
    pub rpc_id: RpcId,
    pub request: ClientRequest,
    /// The delegated call it was made in; none where no prompt ran.
    pub call_id: Option<String>,
    pub stage: Stage,
}

#[derive(Debug)]
pub(crate) enum Stage {
    Fresh,
    /// It is being looked at, or a person is asked.
    Waiting,
    /// It may be done, and that it is begun is being stored.
    Granted,
    Acting(Option<AbortHandle>),
    /// Sent once it is durable.
    Answered(Answer),
    Sending,
}

/// What a task of a request's came to.
pub(crate) enum RequestTask {
    /// What a person would be asked; or the answer, where there is nothing to ask.
    Prepared {
        id: PermissionId,
        outcome: Box<Result<PermissionAsk, Answer>>,
    },
    Done {
        id: PermissionId,
        answer: Answer,
        update: Option<Box<Update>>,
    },
    TerminalStarted {
        id: PermissionId,
        outcome: Result<agents::Terminal, String>,
    },
    /// There is more to see of it.
    TerminalShown {
        terminal_id: String,
    },
    TerminalReleased {
        id: PermissionId,
        terminal_id: String,
    },
    Sent {
        id: PermissionId,
        outcome: Result<(), RpcError>,
    },
}

impl Actor {
    pub(super) fn agent_requests(&mut self, runner: Uuid, agent_session: &str, rpc_id: RpcId, request: ClientRequest) {
        let id = permission_id(runner, &rpc_id);
        if self.host.requests.iter().any(|asked| asked.id == id) {
            return;
        }
        let call_id = self.host.find(agent_session).and_then(|(_, named)| named.running.clone());
        self.rows.push(Row::OpenRequest(RequestRow {
            id,
            runner_id: runner.to_string(),
            rpc_id: rpc_text(&rpc_id),
            call_id: call_id.clone(),
            request: serde_json::to_value(&request).expect("a request was JSON before"),
            begun: false,
            answer: None,
        }));
        self.host.requests.push(Asked { id, rpc_id, request, call_id, stage: Stage::Fresh });
    }

    /// Does the next thing that each request needs. Called when everything decided so far is durable.
    pub(super) fn advance_requests(&mut self) {
        // An agent that is gone or told to go needs nothing done for it.
        if self.host.ending || !self.host.is_up() {
            return;
        }
        let ready = |asked: &&Asked| matches!(asked.stage, Stage::Fresh | Stage::Granted | Stage::Answered(_));
        while self.rows.is_empty() && self.effects.is_empty() {
            let ids: Vec<_> = self.host.requests.iter().filter(ready).map(|asked| asked.id).collect();
            if ids.is_empty() {
                return;
            }
            ids.into_iter().for_each(|id| self.advance_request(id));
        }
    }

    fn advance_request(&mut self, id: PermissionId) {
        let Some(asked) = self.asked(id) else { return };
        match std::mem::replace(&mut asked.stage, Stage::Waiting) {
            Stage::Fresh => self.begin_request(id),
            Stage::Granted => {
                asked.stage = Stage::Acting(None);
                self.do_request(id);
            }
            Stage::Answered(answer) => self.send_answer(id, answer),
            other => asked.stage = other,
        }
    }

    fn begin_request(&mut self, id: PermissionId) {
        let Some(asked) = self.asked(id) else { return };
        let has_call = asked.call_id.is_some();
        match &asked.request {
            ClientRequest::Elicit { .. } => self.ask_form(id),
            ClientRequest::WriteTextFile { .. } | ClientRequest::CreateTerminal(_) if !has_call => {
                self.answer_request(id, Answer::error(REFUSED, "no prompt is running in this session, so nothing is changed for it"));
            }
            ClientRequest::WriteTextFile { .. } | ClientRequest::CreateTerminal(_) => self.prepare(id),
            _ => {
                asked.stage = Stage::Acting(None);
                self.do_request(id);
            }
        }
    }

    pub(crate) fn request_task(&mut self, task: RequestTask) {
        match task {
            RequestTask::Prepared { id, outcome } => self.prepared(id, *outcome),
            RequestTask::Done { id, answer, update } => self.request_done(id, answer, update.map(|update| *update)),
            RequestTask::TerminalStarted { id, outcome } => self.terminal_started(id, outcome),
            RequestTask::TerminalShown { terminal_id } => self.terminal_shown(&terminal_id),
            RequestTask::TerminalReleased { id, terminal_id } => self.terminal_released(id, &terminal_id),
            RequestTask::Sent { id, outcome } => self.answer_sent(id, outcome),
        }
    }

    fn prepared(&mut self, id: PermissionId, outcome: Result<PermissionAsk, Answer>) {
        if !self.asked(id).is_some_and(|asked| matches!(asked.stage, Stage::Waiting)) {
            return;
        }
        match outcome {
            Err(answer) => self.answer_request(id, answer),
            // The person has stopped the call meanwhile.
            Ok(_) if self.is_stopping(id) => _ = self.request_decided(id, None),
            Ok(ask) => self.decide_request(id, ask),
        }
    }

    fn decide_request(&mut self, id: PermissionId, ask: PermissionAsk) {
        let call_id = self.asked(id).and_then(|asked| asked.call_id.clone()).unwrap_or_default();
        self.note_asked(&call_id, &ask);
        let (decision, by) = self.decide(&ask);
        let option_id = match &decision {
            Decision::Ask => return self.ask_person(id, ask),
            Decision::Select(option) => Some(option.option_id.clone()),
            Decision::Cancel => None,
        };
        if by == Decider::Rule {
            self.ask_person(id, ask);
            return self.step(Input::PermissionAnswer { request_id: id, option_id, by: by.as_str().to_owned() });
        }
        self.request_decided(id, option_id.as_deref());
    }

    fn is_stopping(&mut self, id: PermissionId) -> bool {
        let call_id = self.asked(id).and_then(|asked| asked.call_id.clone()).unwrap_or_default();
        let Some(turn) = &self.state.turn else { return true };
        turn.cancelling || turn.call(&call_id).is_none_or(|call| call.stopping || call.state == CallState::Done)
    }

    fn ask_person(&mut self, id: PermissionId, ask: PermissionAsk) {
        let Some(asked) = self.asked(id) else { return };
        let (rpc_id, call_id) = (asked.rpc_id.clone(), asked.call_id.clone().unwrap_or_default());
        self.host.asks.insert(id, rpc_id);
        self.step(Input::Permission { call_id, request_id: id, ask });
    }

    /// Whether `id` is a request of this kind; then its permission is not the agent's to hear but ours to act on.
    pub(crate) fn request_decided(&mut self, id: PermissionId, option_id: Option<&str>) -> bool {
        let Some(asked) = self.asked(id) else { return false };
        if !matches!(asked.stage, Stage::Waiting | Stage::Fresh) {
            return true;
        }
        match (&asked.request, option_id) {
            (ClientRequest::Elicit { .. }, option) => {
                let action = if option == Some(forms::DECLINE) { "decline" } else { "cancel" };
                self.answer_request(id, Answer::Result(json!({ "action": action })));
            }
            (_, Some(option)) if option.starts_with("allow") => {
                asked.stage = Stage::Granted;
                self.rows.push(Row::BeginRequest { id });
            }
            (_, Some(_)) => self.answer_request(id, Answer::error(REFUSED, "refused: this was not allowed")),
            (_, None) => self.answer_request(id, Answer::error(CANCELLED, "cancelled before anybody allowed it")),
        }
        true
    }

    fn request_done(&mut self, id: PermissionId, answer: Answer, update: Option<Update>) {
        let call_id = self.asked(id).and_then(|asked| asked.call_id.clone());
        if let (Some(call_id), Some(update)) = (call_id, update) {
            self.step(Input::AgentUpdate { call_id, update });
        }
        self.answer_request(id, answer);
    }

    /// Decides the answer. One that could not be given twice is stored before it is sent.
    pub(super) fn answer_request(&mut self, id: PermissionId, answer: Answer) {
        let Some(asked) = self.asked(id) else { return };
        let repeatable =
            !matches!(asked.request, ClientRequest::WriteTextFile { .. } | ClientRequest::CreateTerminal(_) | ClientRequest::Elicit { .. });
        asked.stage = Stage::Answered(answer.clone());
        if !repeatable {
            let answer = serde_json::to_value(&answer).expect("an answer is JSON");
            self.rows.push(Row::AnswerRequest { id, answer });
        }
    }

    fn send_answer(&mut self, id: PermissionId, answer: Answer) {
        let Some(connection) = self.host.connection().cloned() else { return };
        let Some(asked) = self.asked(id) else { return };
        asked.stage = Stage::Sending;
        let rpc_id = asked.rpc_id.clone();
        self.tasks.spawn(async move {
            let mut outcome = connection.answer(&rpc_id, &answer).await;
            while let Err(error @ RpcError::NotSent(_)) = &outcome {
                tracing::warn!(%rpc_id, %error, "an agent's request could not be answered; trying again");
                tokio::time::sleep(UNSENT_PAUSE).await;
                outcome = connection.answer(&rpc_id, &answer).await;
            }
            TaskEnd::Agent(AgentTask::Request(RequestTask::Sent { id, outcome }))
        });
    }

    fn answer_sent(&mut self, id: PermissionId, outcome: Result<(), RpcError>) {
        if let Err(error) = outcome {
            return tracing::debug!(session = %self.id, %error, "an agent ended before its request was answered");
        }
        self.host.requests.retain(|asked| asked.id != id);
        self.rows.push(Row::CloseRequest { id });
    }

    /// The agent no longer wants an answer, and is owed one all the same.
    pub(super) fn withdraw_request(&mut self, id: PermissionId) {
        // What a person is being asked ends as any other permission that is withdrawn.
        let is_asked = self.host.asks.contains_key(&id);
        match self.asked(id).map(|asked| &asked.stage) {
            Some(Stage::Acting(Some(task))) => {
                task.abort();
                self.answer_request(id, Answer::error(CANCELLED, "cancelled"));
            }
            Some(Stage::Fresh | Stage::Waiting) if !is_asked => _ = self.request_decided(id, None),
            _ => {}
        }
    }

    /// The call is over: nobody is asked any more for what it wanted.
    pub(super) fn close_requests_of(&mut self, call_id: &str) {
        let of_call = |asked: &&Asked| asked.call_id.as_deref() == Some(call_id) && self.host.asks.contains_key(&asked.id);
        let open: Vec<_> = self.host.requests.iter().filter(of_call).map(|asked| asked.id).collect();
        for id in open {
            self.host.asks.remove(&id);
            self.request_decided(id, None);
        }
    }

    /// Takes up what an earlier server owed the agent of this runner.
    pub(crate) async fn reopen_requests(&mut self, left: &RunnerRow) -> Result<(), Refusal> {
        let decided =
            self.shared.store.answers(self.id, &left.id).await?.into_iter().map(|row| (row.rpc_id, row.option_id)).collect::<Vec<_>>();
        for row in self.shared.store.requests(self.id, &left.id).await? {
            let (Some(rpc), Ok(request)) = (rpc_id(&row.rpc_id), serde_json::from_value(row.request)) else { continue };
            let answer = row.answer.and_then(|answer| serde_json::from_value(answer).ok());
            let stage = match answer {
                Some(answer) => Stage::Answered(answer),
                None if self.host.asks.contains_key(&row.id) => Stage::Waiting,
                None => Stage::Fresh,
            };
            let fresh = matches!(stage, Stage::Fresh);
            self.host.requests.push(Asked { id: row.id, rpc_id: rpc, request, call_id: row.call_id, stage });
            let option = decided.iter().find(|(rpc_id, _)| *rpc_id == row.rpc_id).map(|(_, option)| option.clone());
            match option {
                _ if !fresh => {}
                _ if row.begun => self.answer_request(row.id, Answer::error(-32603, UNKNOWN)),
                Some(option) => _ = self.request_decided(row.id, option.as_deref()),
                None => {}
            }
        }
        Ok(())
    }

    fn asked(&mut self, id: PermissionId) -> Option<&mut Asked> {
        self.host.requests.iter_mut().find(|asked| asked.id == id)
    }
}

const UNKNOWN: &str = "the server was restarted while this was being done; it may or may not have happened, so look before trying again";
