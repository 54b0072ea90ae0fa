//! One call of the main AI at a time, and what is heard of it.

use domain::event::{Notice, ToolCall};
use domain::ids::{MessageId, SessionId, TurnId};
use model::{Event, Fault, Model, Request, ToolSpec};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use crate::actor::{Actor, Ended};
use crate::attachments::{self, Contents};
use crate::observer::model::Asked;
use crate::settings::RELAY;
use crate::{Refusal, history, instructions, tool_call};

const CHANNEL: usize = 256;

pub(crate) enum ModelSignal {
    Text { message_id: MessageId, text: String },
    Retrying { message_id: MessageId, notice: Notice },
    End { message_id: MessageId, text: String, tool_calls: Vec<ToolCall> },
    Fault { message_id: MessageId, code: String, message: String, repeat: bool },
}

/// The running call, if there is one.
#[derive(Default)]
pub(crate) struct ModelCall {
    signals: Option<mpsc::Receiver<ModelSignal>>,
    message_id: Option<MessageId>,
    task: Option<AbortHandle>,
}

impl ModelCall {
    /// Like `recv_many`; waits for ever while no call runs.
    pub(crate) async fn receive(&mut self, into: &mut Vec<ModelSignal>, limit: usize) -> usize {
        match &mut self.signals {
            Some(signals) => signals.recv_many(into, limit).await,
            None => std::future::pending().await,
        }
    }

    /// The call's task is over; the message that it was to write.
    pub(crate) fn ended(&mut self) -> Option<MessageId> {
        self.signals = None;
        self.task = None;
        self.message_id.take()
    }

    /// Ending the task drops the request with it.
    pub(crate) fn stop(&mut self) {
        if let Some(task) = self.task.take() {
            task.abort();
        }
        self.ended();
    }

    pub(crate) fn began(&mut self, task: AbortHandle) {
        self.task = Some(task);
    }
}

impl Actor {
    /// The call as a task; what it says comes by [`ModelCall::receive`].
    pub(crate) fn call_model(&mut self, turn_id: TurnId, message_id: MessageId) -> impl Future<Output = Ended> + Send + use<> {
        self.model.stop();
        let (sender, signals) = mpsc::channel(CHANNEL);
        (self.model.signals, self.model.message_id) = (Some(signals), Some(message_id));
        let shared = self.shared.clone();
        let (session, row) = (self.id, self.row.clone());
        let mut asked = self.observer.model_asked(&row.model);
        tracing::debug!(%session, %message_id, "the model is asked");
        async move {
            let outcome = ask(&shared, &row, message_id, &sender, &mut asked).await;
            asked.ended(outcome.as_ref().map_err(Failure::fault));
            let signal = match outcome {
                Ok(completion) => {
                    let tool_calls = named(&shared, session, message_id, completion.tool_calls).await;
                    ModelSignal::End { message_id, text: completion.text, tool_calls }
                }
                Err(Failure::Model(fault)) => {
                    tracing::warn!(%session, %turn_id, code = fault.code(), %fault, "the model failed");
                    let repeat = matches!(fault, Fault::Cut { .. } | Fault::Stalled { .. });
                    ModelSignal::Fault { message_id, code: fault.code().to_owned(), message: fault.to_string(), repeat }
                }
                Err(Failure::Setup(error)) => {
                    tracing::warn!(%session, %turn_id, %error, "the model cannot be asked");
                    ModelSignal::Fault { message_id, code: "model_not_available".to_owned(), message: error.to_string(), repeat: false }
                }
            };
            // The session's task may have moved on; then nobody waits for this.
            let _ = sender.send(signal).await;
            Ended::Nothing
        }
    }
}

/// The calls under ids that no other call of the session has.
async fn named(shared: &crate::Shared, session: SessionId, message_id: MessageId, calls: Vec<model::ToolCall>) -> Vec<ToolCall> {
    if calls.is_empty() {
        return Vec::new();
    }
    let ids: Vec<String> = calls.iter().map(|call| call.id.clone()).collect();
    match shared.store.known_calls(session, ids.clone()).await {
        Ok(mut taken) => tool_call::unique(calls, message_id, &mut taken),
        Err(error) => {
            tracing::warn!(%session, %error, "whether the model's call ids are new is not known, so they are replaced");
            tool_call::unique(calls, message_id, &mut ids.into_iter().collect())
        }
    }
}

enum Failure {
    Model(Fault),
    Setup(Refusal),
}

impl Failure {
    fn fault(&self) -> Option<&Fault> {
        match self {
            Failure::Model(fault) => Some(fault),
            Failure::Setup(_) => None,
        }
    }
}

async fn ask(
    shared: &crate::Shared,
    row: &store::SessionRow,
    message_id: MessageId,
    signals: &mpsc::Sender<ModelSignal>,
    asked: &mut Asked,
) -> Result<model::Completion, Failure> {
    let settings = shared.choices().model_settings(&row.model).map_err(Failure::Setup)?;
    let model =
        Model::with_tuning(settings, shared.settings.model_tuning).map_err(|error| Failure::Setup(Refusal::Invalid(error.to_string())))?;
    let request = request(shared, row).await.map_err(Failure::Setup)?;
    let (sender, mut events) = mpsc::channel(CHANNEL);
    let completion = model.complete(request, sender);
    tokio::pin!(completion);
    loop {
        tokio::select! {
            biased;
            Some(event) = events.recv() => {
                asked.heard(&event);
                forward(event, message_id, signals).await;
            }
            outcome = &mut completion => {
                while let Ok(event) = events.try_recv() {
                    asked.heard(&event);
                    forward(event, message_id, signals).await;
                }
                return outcome.map_err(Failure::Model);
            }
        }
    }
}

async fn forward(event: Event, message_id: MessageId, signals: &mpsc::Sender<ModelSignal>) {
    let signal = match event {
        Event::Text(text) => ModelSignal::Text { message_id, text },
        Event::Retrying { after_ms, reason } => ModelSignal::Retrying { message_id, notice: retrying(after_ms, &reason) },
        Event::Thought(_) | Event::End(_) => return,
    };
    let _ = signals.send(signal).await;
}

fn retrying(after_ms: u64, reason: &str) -> Notice {
    Notice {
        code: "model_retry".to_owned(),
        level: "warning".to_owned(),
        title: "The model did not answer".to_owned(),
        text: format!("{reason} Trying again in {:.1} s.", after_ms as f64 / 1000.0),
        session_name: None,
    }
}

/// A message that begins with `@file` is about that file; without the space it would be for an agent session of that name.
fn keep_mention(messages: &mut [model::Message], work_dir: &std::path::Path) {
    if let Some(model::Message::User(text)) = messages.last_mut()
        && let Some(name) = text.strip_prefix('@').and_then(|rest| rest.split(char::is_whitespace).next())
        && tools::find(work_dir, name).is_ok_and(|named| !named.is_dir)
    {
        text.insert(0, ' ');
    }
}

async fn request(shared: &crate::Shared, row: &store::SessionRow) -> Result<Request, Refusal> {
    let relay = row.model == RELAY;
    // The relay answers to the turn alone.
    let latest = shared.store.history(row.id, if relay { 0 } else { history::BUDGET }).await?;
    let delegate = tools::delegate(&if relay { Vec::new() } else { shared.available() });
    let mut messages = Vec::new();
    if !relay {
        let title = shared.settings.agent(&row.agent).map_or("the agent", |agent| agent.title.as_str());
        messages.push(model::Message::System(instructions::system_prompt(row.work_dir.as_ref(), title, delegate.is_some()).await));
    }
    let contents = if relay { Contents::new() } else { attachments::contents(&shared.store, row.id, &latest.messages).await? };
    messages.extend(history::for_model(&latest, &contents, relay));
    if relay {
        keep_mention(&mut messages, row.work_dir.as_ref());
    }
    let tools = tools::definitions()
        .into_iter()
        .chain(delegate)
        .map(|tool| ToolSpec { name: tool.name.to_owned(), description: tool.description.to_owned(), parameters: tool.parameters })
        .collect();
    Ok(Request { messages, tools })
}
