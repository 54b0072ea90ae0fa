//! Decides which reply a request gets: a queue for each model name, or a function of the request.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use serde_json::json;

use super::reply::Reply;
use super::request::Request;
use super::rules::Rules;

type Decide = Box<dyn Fn(&Request) -> Reply + Send + Sync>;

/// Queues are asked first, by model name, then the queue for any model, then the function.
#[derive(Default)]
pub struct Script {
    queues: Mutex<HashMap<String, VecDeque<Reply>>>,
    otherwise: Option<Decide>,
}

/// The name of the queue that serves every model.
const ANY: &str = "";

impl Script {
    pub fn new() -> Script {
        Script::default()
    }

    /// One queue for whatever model is asked.
    pub fn replies(replies: impl IntoIterator<Item = Reply>) -> Script {
        Script::new().route(ANY, replies)
    }

    /// A function of the request, for conversations that do not come in a fixed order.
    pub fn rules(decide: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Script {
        Script::new().otherwise(decide)
    }

    /// A queue for the requests that name this model, or that go to this path if it starts with a
    /// slash: a provider's own dialect is scripted with whole bodies.
    pub fn route(self, model: &str, replies: impl IntoIterator<Item = Reply>) -> Script {
        for reply in replies {
            self.push(model, reply);
        }
        self
    }

    /// What is answered where no queue has a reply left.
    pub fn otherwise(mut self, decide: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Script {
        self.otherwise = Some(Box::new(decide));
        self
    }

    pub(super) fn push(&self, model: &str, reply: Reply) {
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        queues.entry(model.to_owned()).or_default().push_back(reply);
    }

    pub(super) fn answer(&self, request: &Request) -> Reply {
        if !request.is_completion() || self.has_path(&request.path) {
            return self.take(&request.path).unwrap_or_else(|| look_around(request));
        }
        if let Some(reply) = self.take(request.model()).or_else(|| self.take(ANY)) {
            return reply;
        }
        match &self.otherwise {
            Some(decide) => decide(request),
            None => unscripted(request),
        }
    }

    /// Whether this path is scripted with whole bodies.
    pub(super) fn has_path(&self, path: &str) -> bool {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner).contains_key(path)
    }

    fn take(&self, model: &str) -> Option<Reply> {
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        queues.get_mut(model)?.pop_front()
    }
}

/// A client error, so that no client retries what nobody scripted.
pub(super) fn unscripted(request: &Request) -> Reply {
    let message = format!("the script has no reply for model `{}` after `{}`", request.model(), request.last_user());
    let body = json!({"error": {"message": message, "type": "unscripted"}});
    Reply::status(400).body("application/json", &body.to_string())
}

/// Agents look around before they ask: a model list, or one model by its name.
fn look_around(request: &Request) -> Reply {
    let model = |id: &str| json!({"id": id, "object": "model", "created": 0, "owned_by": "script"});
    let path = request.path.split('?').next().unwrap_or_default();
    let body = match path.rsplit_once("/models") {
        _ if path.ends_with("/count_tokens") => json!({"input_tokens": 10}),
        _ if path.ends_with(":countTokens") => json!({"totalTokens": 10}),
        Some((_, "")) if request.method == "GET" => {
            json!({"object": "list", "data": [model("main"), model("coder")]})
        }
        Some((_, name)) if request.method == "GET" => model(name.trim_start_matches('/')),
        _ => {
            let message = format!("no such path: {} {}", request.method, request.path);
            let error = json!({"error": {"message": message}});
            return Reply::status(404).body("application/json", &error.to_string());
        }
    };
    Reply::new().body("application/json", &body.to_string())
}

impl From<Rules> for Script {
    fn from(rules: Rules) -> Script {
        Script::rules(move |request| rules.answer(request))
    }
}

impl<const N: usize> From<[Reply; N]> for Script {
    fn from(replies: [Reply; N]) -> Script {
        Script::replies(replies)
    }
}
