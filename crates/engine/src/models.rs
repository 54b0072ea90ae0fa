//! Which models a session can be given: the configured one, those that sessions have, and what the endpoint itself lists.

use std::time::{Duration, Instant};

use model::Model;

use crate::settings::RELAY;
use crate::tasks::Tasks;
use crate::{Engine, Refusal};

/// How long the endpoint has to answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long its answer counts, and how long a failure does.
const FRESH: Duration = Duration::from_secs(600);
const FAILED: Duration = Duration::from_secs(30);
const RELAY_TITLE: &str = "No main AI: talk directly to the agent";

/// A model that can be chosen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ListedModel {
    pub id: String,
    pub title: String,
    pub note: Option<&'static str>,
}

pub struct Models {
    /// The best first.
    pub models: Vec<ListedModel>,
    /// Why the endpoint's own list is not among them, for a person.
    pub error: Option<String>,
}

type Names = Result<Vec<String>, String>;
/// What the endpoint said, and when that was.
type Answer = (Instant, Names);

#[derive(Default)]
pub(crate) struct Asked {
    answer: Option<Answer>,
    /// The one task that asks it right now, or whose answer nobody has waited for.
    asking: Option<Tasks<Answer>>,
}

impl Asked {
    /// There is another endpoint now.
    pub(crate) fn forget(&mut self) {
        *self = Asked::default();
    }

    fn known(&self) -> Option<Names> {
        let (at, answer) = self.answer.as_ref()?;
        let counts = if answer.is_ok() { FRESH } else { FAILED };
        (at.elapsed() < counts).then(|| answer.clone())
    }
}

impl Engine {
    pub async fn models(&self) -> Result<Models, Refusal> {
        let choices = self.choices();
        let mut models = Vec::new();
        let mut add = |id: &str, note: Option<&'static str>| {
            if choices.check_model(id).is_ok() && !models.iter().any(|known: &ListedModel| known.id == id) {
                let title = if id == RELAY { RELAY_TITLE } else { id };
                models.push(ListedModel { id: id.to_owned(), title: title.to_owned(), note });
            }
        };
        add(&choices.model, Some("the server's default"));
        add(RELAY, None);
        self.store().models().await?.iter().for_each(|id| add(id, Some("used before")));
        let error = match self.ask_endpoint().await {
            Ok(names) => {
                names.iter().for_each(|id| add(id, None));
                None
            }
            Err(error) => Some(error),
        };
        Ok(Models { models, error })
    }

    /// Whoever comes while it is being asked waits for the same answer. Somebody who hangs up meanwhile ends nothing: else they could have
    /// it asked as often as they like.
    async fn ask_endpoint(&self) -> Names {
        let mut guard = self.shared.models.lock().await;
        let asked = &mut *guard;
        loop {
            if let Some(known) = asked.known() {
                return known;
            }
            let (endpoint, tuning) = (self.choices().endpoint.clone(), self.settings().model_tuning);
            let asking = asked.asking.get_or_insert_with(|| {
                let mut task = Tasks::default();
                task.start(names(endpoint, tuning));
                task
            });
            asked.answer = Some(asking.next().await.unwrap_or_else(|error| (Instant::now(), Err(error.to_string()))));
            asked.asking = None;
        }
    }
}

async fn names(endpoint: model::Settings, tuning: model::Tuning) -> Answer {
    let names = match Model::with_tuning(endpoint, tuning) {
        Ok(model) => model.names(PATIENCE).await.map_err(|fault| fault.to_string()),
        Err(error) => Err(error.to_string()),
    };
    (Instant::now(), names)
}
