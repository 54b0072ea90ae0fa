//! The main AI that is set up in the page: what there is, and what comes of another.

use std::collections::BTreeMap;
use std::path::Path;

use engine::Choices;
use web::{Here, MainAiState, NewMainAi, SettingRefusal};

use super::{RELAY, choosable, resolved};
use crate::config::{self, ENDPOINT, Origin, Sources, visible};
use crate::{logging, main_ai};

const MODEL: &str = "model";

/// There is an endpoint at which a model can be asked for.
pub(super) fn has_provider(sources: &Sources) -> bool {
    sources.main_ai.is_some() || held(sources, &["model_provider", "model_base_url"]).is_some()
}

pub(super) fn view(sources: &Sources) -> MainAiState {
    let locked = held(sources, &ENDPOINT).map(|origin| shown(&origin));
    let current = sources.main_ai.as_ref().filter(|_| locked.is_none());
    MainAiState {
        provider: current.and_then(|main_ai| main_ai.provider.clone()),
        base_url: current.and_then(|main_ai| main_ai.base_url.clone()),
        is_set: current.is_some(),
        has_key: current.is_some_and(|main_ai| main_ai.api_key.is_some()),
        added_at: current.and_then(|main_ai| main_ai.added_at),
        added_by: current.and_then(|main_ai| main_ai.added_by.clone()),
        locked,
    }
}

/// Checks it as a start of the server would, keeps it, and gives what the engine goes by from then on. None forgets it, with its key.
pub(super) fn set(sources: &Sources, data_dir: &Path, here: &Here, wanted: Option<NewMainAi>) -> Result<(Here, Choices), SettingRefusal> {
    if let Some(origin) = held(sources, &ENDPOINT) {
        return Err(SettingRefusal::Fixed(format!("the main AI is set by {origin}: change it there, or remove it")));
    }
    if let Some(origin) = super::holds(sources, MODEL).filter(|_| wanted.is_some()) {
        return Err(SettingRefusal::Fixed(format!("`model` is set by {origin}: change it there, or remove it")));
    }
    let mut after = here.clone();
    let stored = wanted.as_ref().map(|wanted| main_ai::Stored {
        provider: wanted.provider.clone(),
        base_url: wanted.base_url.clone(),
        api_key: wanted.api_key.clone(),
        added_at: Some(wanted.added_at),
        added_by: Some(wanted.added_by.clone()),
    });
    match &wanted {
        Some(wanted) => drop(after.insert(MODEL.to_owned(), wanted.model.clone())),
        None => after.retain(|key, text| key != MODEL || text == RELAY),
    }
    let next = Sources { here: choosable(&after), main_ai: stored.clone(), ..sources.clone() };
    let (_, choices) = resolved(&next).map_err(|problem| SettingRefusal::Bad(visible(&problem)))?;
    logging::hide(choices.secret());
    let kept = match &stored {
        Some(stored) => main_ai::write(data_dir, stored),
        None => main_ai::remove(data_dir),
    };
    kept.map_err(|error| SettingRefusal::Bad(format!("the main AI could not be kept in the data directory: {error}")))?;
    Ok((after, choices))
}

/// What sets one of these anywhere else than in the page.
fn held(sources: &Sources, keys: &[&str]) -> Option<Origin> {
    let plain = Sources { here: BTreeMap::new(), main_ai: None, ..sources.clone() };
    let config = config::resolve(&plain).ok()?;
    let entry = config.entries.into_iter().find(|entry| keys.contains(&entry.key.as_str()) && entry.value.is_some())?;
    Some(entry.origin)
}

/// As the page names it.
fn shown(origin: &Origin) -> String {
    match origin {
        Origin::Flag(name) | Origin::Environment(name) => visible(name),
        Origin::File(path) => visible(&path.file_name().unwrap_or_default().to_string_lossy()),
        Origin::Here | Origin::Default => origin.to_string(),
    }
}
