//! What is owed to us: the requests that wait for an answer, and the prompts that may have to be sent under another name.
//! Pure bookkeeping behind a mutex that is never held across an await.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

use agent_client_protocol_schema::v1::ContentBlock;
use tokio::sync::oneshot;
use uuid::Uuid;

use crate::acp::alias::{self, Names};
use crate::acp::decoder::Answer;
use crate::fault::RpcError;

#[derive(Default)]
pub(super) struct Pending {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    waiting: HashMap<String, Entry>,
    prompts: HashMap<String, Prompt>,
    names: HashMap<&'static str, Name>,
    tickets: u64,
    gone: Option<String>,
}

/// The name under which the agent knows a method.
#[derive(Clone, Copy)]
struct Name {
    name: &'static str,
    /// This connection has used it. One that comes from a store may be out of date.
    certain: bool,
}

struct Entry {
    ticket: u64,
    answer: oneshot::Sender<Result<Answer, RpcError>>,
}

/// A prompt that was sent and may yet turn out to go by another method.
#[derive(Clone, Debug)]
pub(super) struct Prompt {
    pub write_id: Uuid,
    pub agent_session: String,
    pub text: String,
    /// What goes along with the text.
    pub along: Vec<ContentBlock>,
    pub name: &'static str,
    /// The names that the agent did not know.
    pub tried: Vec<&'static str>,
}

pub(super) const PROMPT_METHOD: &str = "session/prompt";

/// A place in the table, given up when it is dropped.
pub(super) struct Waiting<'a> {
    pending: &'a Pending,
    id: String,
    ticket: u64,
    answer: oneshot::Receiver<Result<Answer, RpcError>>,
}

impl Pending {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no holder of this lock can panic")
    }

    /// From now on an answer to `id` is kept for the caller.
    pub(super) fn wait(&self, id: &str, method: &str) -> Result<Waiting<'_>, RpcError> {
        let mut state = self.state();
        if let Some(gone) = &state.gone {
            return Err(RpcError::Gone(gone.clone()));
        }
        if state.waiting.contains_key(id) {
            return Err(RpcError::Busy { method: method.to_owned() });
        }
        state.tickets += 1;
        let ticket = state.tickets;
        let (sender, answer) = oneshot::channel();
        state.waiting.insert(id.to_owned(), Entry { ticket, answer: sender });
        Ok(Waiting { pending: self, id: id.to_owned(), ticket, answer })
    }

    /// Late, repeated and foreign answers find nobody.
    pub(super) fn resolve(&self, id: &str, answer: Answer) {
        let entry = self.state().waiting.remove(id);
        match entry {
            Some(entry) => _ = entry.answer.send(Ok(answer)),
            None => tracing::debug!(id, "ignored an answer that nobody waits for"),
        }
    }

    /// Everything that waits fails, and so does everything that comes.
    pub(super) fn fail(&self, text: &str) {
        let waiting = {
            let mut state = self.state();
            state.gone = Some(text.to_owned());
            state.prompts.clear();
            std::mem::take(&mut state.waiting)
        };
        for entry in waiting.into_values() {
            let _ = entry.answer.send(Err(RpcError::Gone(text.to_owned())));
        }
    }

    pub(super) fn gone(&self) -> Option<String> {
        self.state().gone.clone()
    }

    pub(super) fn knowing(names: &Names) -> Self {
        let names = names.known().map(|(method, name)| (method, Name { name, certain: false }));
        Self { state: Mutex::new(State { names: names.collect(), ..State::default() }) }
    }

    /// Tried first, and others where they turn out to be wrong. What was seen in this connection counts more.
    pub(super) fn suppose(&self, names: &Names) {
        let mut state = self.state();
        for (method, name) in names.known() {
            state.names.entry(method).or_insert(Name { name, certain: false });
        }
    }

    pub(super) fn names(&self) -> Names {
        let mut names = Names::default();
        for (method, name) in &self.state().names {
            names.insert(method, name.name);
        }
        names
    }

    /// The name to use for `method`, and whether it is certain.
    pub(super) fn name(&self, method: &'static str) -> (&'static str, bool) {
        self.state().names.get(method).map_or((method, false), |known| (known.name, known.certain))
    }

    pub(super) fn learn(&self, method: &'static str, name: &'static str) {
        self.state().learn(method, name);
    }

    pub(super) fn prompt_sent(&self, call_id: &str, prompt: Prompt) {
        self.state().prompts.insert(call_id.to_owned(), prompt);
    }

    /// The agent has done something with the prompt, so it knows the method by that name.
    pub(super) fn prompt_ended(&self, call_id: &str) {
        let mut state = self.state();
        if let Some(prompt) = state.prompts.remove(call_id) {
            state.learn(PROMPT_METHOD, prompt.name);
        }
    }

    pub(super) fn prompt_failed(&self, call_id: &str) {
        self.state().prompts.remove(call_id);
    }

    /// The prompt under the next name to try, if there is one left and the right one is not known yet; else the names that were tried.
    pub(super) fn rename_prompt(&self, call_id: &str) -> Result<Prompt, Vec<&'static str>> {
        let mut state = self.state();
        let Some(prompt) = state.prompts.get_mut(call_id) else { return Err(Vec::new()) };
        prompt.tried.push(prompt.name);
        match alias::names(PROMPT_METHOD).find(|name| !prompt.tried.contains(name)) {
            Some(next) => {
                prompt.name = next;
                Ok(prompt.clone())
            }
            None => {
                let tried = std::mem::take(&mut prompt.tried);
                state.prompts.remove(call_id);
                Err(tried)
            }
        }
    }
}

impl State {
    /// Only what may have another name is worth remembering.
    fn learn(&mut self, method: &'static str, name: &'static str) {
        if alias::names(method).nth(1).is_some() {
            self.names.insert(method, Name { name, certain: true });
        }
    }
}

impl Waiting<'_> {
    pub(super) async fn answer(&mut self) -> Result<Answer, RpcError> {
        match (&mut self.answer).await {
            Ok(answer) => answer,
            Err(_) => Err(RpcError::Gone("the connection was given up".to_owned())),
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut state = self.pending.state();
        if state.waiting.get(&self.id).is_some_and(|entry| entry.ticket == self.ticket) {
            state.waiting.remove(&self.id);
        }
    }
}
