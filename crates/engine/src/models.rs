//! Which models a session can be given: the configured one, those that sessions have, and what the endpoint itself lists.

use std::time::{Duration, Instant};

use model::Model;

use crate::settings::RELAY;
use crate::{Engine, Refusal};

/// How long the endpoint has to answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long its answer counts, and how long a failure does.
const FRESH: Duration = Duration::from_secs(600);
const FAILED: Duration = Duration::from_secs(30);
const RELAY_TITLE: &str = "No main AI: talk straight to the agent";

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

/// What the endpoint said when it was last asked, and when that was.
#[derive(Default)]
pub(crate) struct Asked(Option<(Instant, Result<Vec<String>, String>)>);

impl Asked {
    fn known(&self) -> Option<Result<Vec<String>, String>> {
        let (at, answer) = self.0.as_ref()?;
        let counts = if answer.is_ok() { FRESH } else { FAILED };
        (at.elapsed() < counts).then(|| answer.clone())
    }
}

impl Engine {
    pub async fn models(&self) -> Result<Models, Refusal> {
        let settings = self.settings();
        let mut models = Vec::new();
        let mut add = |id: &str, note: Option<&'static str>| {
            if settings.check_model(id).is_ok() && !models.iter().any(|known: &ListedModel| known.id == id) {
                let title = if id == RELAY { RELAY_TITLE } else { id };
                models.push(ListedModel { id: id.to_owned(), title: title.to_owned(), note });
            }
        };
        add(&self.choices().model, Some("the server's default"));
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

    /// Whoever comes while it is being asked waits for the same answer.
    async fn ask_endpoint(&self) -> Result<Vec<String>, String> {
        let mut asked = self.shared.models.lock().await;
        if let Some(known) = asked.known() {
            return known;
        }
        let settings = self.settings();
        let answer = match Model::with_tuning(settings.endpoint.clone(), settings.model_tuning) {
            Ok(model) => model.names(PATIENCE).await.map_err(|fault| fault.to_string()),
            Err(error) => Err(error.to_string()),
        };
        asked.0 = Some((Instant::now(), answer.clone()));
        answer
    }
}
