//! The settings in the page: every one with where it came from, and the choice of those that can be chosen there.
//!
//! What is chosen goes through the very code that reads the files, so nothing can be chosen with which the server would not start.

mod setup;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use domain::policy::Policy;
use engine::Choices;
use serde_json::{Map, Value};
use web::{Configuration, Here, NewMainAi, OriginKind, SettingKind, SettingOrigin, SettingRefusal, SettingUnit, SettingView};

use crate::config::{self, Change, Config, Entry, Kind, Origin, Shown, Sources, Unit, as_text, can_be_chosen, shown, visible};
use crate::{main_ai, serve};

const RELAY: &str = "relay";

/// `running` is what the server was started with.
pub(crate) fn for_page(running: &Sources, data_dir: &Path) -> Configuration {
    let current = {
        let (sources, data_dir) = (running.clone(), data_dir.to_owned());
        move || Sources { main_ai: main_ai::read(&data_dir), ..sources.clone() }
    };
    let (list_of, change_of, view_of, set_of) = (current.clone(), current.clone(), current.clone(), current);
    let data_dir = data_dir.to_owned();
    Configuration {
        list: Arc::new(move |here: &Here| list(&list_of(), here)),
        change: Arc::new(move |here: &Here, wishes: &Map<String, Value>| change(&change_of(), here, wishes)),
        main_ai: Arc::new(move || setup::view(&view_of())),
        set_main_ai: Arc::new(move |here: &Here, wanted: Option<NewMainAi>| setup::set(&set_of(), &data_dir, here, wanted)),
    }
}

/// The sources with what was chosen, as far as it can be chosen, and what comes of them. What does not fit any more is passed over, so
/// that a choice never keeps the server from starting.
pub(crate) fn with_chosen(config: &Config, sources: &Sources, stored: &Here) -> (Config, Sources) {
    let sources = Sources { main_ai: main_ai::read(&config.data_dir), ..sources.clone() };
    let with = |sources: Sources| resolved(&sources).map(|(config, _)| (config, sources));
    let chosen = with(Sources { here: chosen(&sources, stored), ..sources.clone() });
    chosen
        .or_else(|problem| {
            tracing::warn!("settings chosen in the page are no longer valid and are ignored: {}", visible(&problem));
            with(sources.clone())
        })
        .unwrap_or_else(|_| (config.clone(), Sources { main_ai: None, ..sources }))
}

/// A model whose provider is gone is no choice any more.
fn chosen(sources: &Sources, stored: &Here) -> BTreeMap<String, String> {
    let has_provider = setup::has_provider(sources);
    let mut chosen = choosable(stored);
    chosen.retain(|key, text| key != "model" || text == RELAY || has_provider);
    chosen
}

fn choosable(stored: &Here) -> BTreeMap<String, String> {
    stored.iter().filter(|(key, _)| can_be_chosen(key)).map(|(key, text)| (key.clone(), text.clone())).collect()
}

fn resolved(sources: &Sources) -> Result<(Config, Choices), String> {
    let config = config::check(sources).map_err(|error| error.to_string())?;
    config.keep_data_apart().map_err(|error| error.to_string())?;
    let settings = serve::settings(&config, sources).map_err(|error| format!("{error:#}"))?;
    Ok((config, Choices::of(&settings)))
}

fn change(sources: &Sources, here: &Here, wishes: &Map<String, Value>) -> Result<(Here, Choices), SettingRefusal> {
    let mut after = here.clone();
    after.retain(|key, _| key != "model" || chosen(sources, here).contains_key(key));
    for (key, value) in wishes {
        if !shown().any(|(known, ..)| known == *key) {
            return Err(SettingRefusal::Unknown(format!("there is no setting `{}`", visible(key))));
        }
        if !can_be_chosen(key) {
            return Err(SettingRefusal::Fixed(format!(
                "`{key}` cannot be changed here: set it in voxpilot.toml, with a variable or a flag"
            )));
        }
        if let Some(origin) = holds(sources, key) {
            return Err(SettingRefusal::Fixed(format!("`{key}` is set by {origin}: change it there, or remove it")));
        }
        if value.is_null() {
            after.remove(key);
        } else {
            let text = as_text(key, value).map_err(|form| SettingRefusal::Bad(format!("`{key}` has a bad value: expected {form}")))?;
            after.insert(key.clone(), text);
        }
    }
    let chosen = Sources { here: choosable(&after), ..sources.clone() };
    resolved(&chosen).map(|(_, choices)| (after, choices)).map_err(|problem| SettingRefusal::Bad(visible(&problem)))
}

/// The flag or variable that goes before what is chosen in the page.
fn holds(sources: &Sources, key: &str) -> Option<Origin> {
    let plain = Sources { here: BTreeMap::new(), ..sources.clone() };
    let config = config::check(&plain).ok()?;
    let origin = config.entries.into_iter().find(|entry| entry.key == key)?.origin;
    matches!(origin, Origin::Flag(_) | Origin::Environment(_)).then_some(origin)
}

fn list(sources: &Sources, stored: &Here) -> Vec<SettingView> {
    let here = Sources { here: chosen(sources, stored), ..sources.clone() };
    // It was resolved when the server started, or when it was chosen; a directory may be gone since.
    let resolved = config::resolve(&here).or_else(|_| config::resolve(sources));
    let Ok(config) = resolved else { return Vec::new() };
    let entry = |key: &str| config.entries.iter().find(|entry| entry.key == *key);
    let otherwise = config::resolve(sources)
        .ok()
        .and_then(|config| config.entries.into_iter().find(|entry| entry.key == "permission_policy").and_then(|entry| entry.value));
    let default_agent = serve::settings(&config, &here).ok().map(|settings| settings.default_agent);
    let view = |(key, shown, variable, default): (String, Shown, String, Option<&str>)| {
        let mut view = view(sources, entry(&key)?, shown, default);
        view.variable = variable;
        if view.kind == SettingKind::List {
            view.value = lines(&config, &key);
        }
        view.effective = match key.as_str() {
            _ if !view.value.is_null() => view.value.clone(),
            "title" => config.work_dir.file_name().map_or(Value::Null, |name| Value::from(visible(&name.to_string_lossy()))),
            "agent" => default_agent.clone().map_or(Value::Null, Value::from),
            // Who talks straight to an agent is asked all the same.
            "permission_policy" => Value::from(Policy::Auto.as_str()),
            _ => Value::Null,
        };
        // What it goes back to is said: whoever would be asked no more has to confirm that.
        if key == "permission_policy" {
            view.default = otherwise.clone().map_or_else(|| Value::from(Policy::Auto.as_str()), Value::from);
        }
        Some(view)
    };
    shown().filter_map(view).collect()
}

fn view(sources: &Sources, entry: &Entry, shown: Shown, default: Option<&str>) -> SettingView {
    let (kind, choices, unit) = match shown.kind {
        Kind::Text => (SettingKind::Text, &[][..], None),
        Kind::Number(Unit::Seconds) => (SettingKind::Number, &[][..], Some(SettingUnit::Seconds)),
        Kind::Number(Unit::Steps) => (SettingKind::Number, &[][..], Some(SettingUnit::Steps)),
        Kind::Choice(choices) => (SettingKind::Choice, choices, None),
        Kind::List => (SettingKind::List, &[][..], None),
        Kind::Secret => (SettingKind::Secret, &[][..], None),
    };
    SettingView {
        key: entry.key.clone(),
        title: shown.title.to_owned(),
        about: shown.about.to_owned(),
        section: shown.section.to_owned(),
        kind,
        choices: choices.iter().map(|choice| (*choice).to_owned()).collect(),
        unit,
        value: value(kind, entry.value.as_deref()),
        default: value(kind, default),
        effective: Value::Null,
        origin: origin(sources, &entry.origin),
        variable: String::new(),
        locked: matches!(entry.origin, Origin::Flag(_) | Origin::Environment(_)),
        changeable: shown.change != Change::Never,
        restart: shown.change == Change::Later,
    }
}

/// A list line by line: as one text it could not be told apart again.
fn lines(config: &Config, key: &str) -> Value {
    let lines = match key {
        "suggestions" => config.suggestions.clone(),
        "ignore" => config.ignore.clone(),
        _ => config.work_dirs.iter().map(|path| path.display().to_string()).collect(),
    };
    if lines.is_empty() { Value::Null } else { lines.iter().map(|line| Value::from(visible(line))).collect() }
}

fn value(kind: SettingKind, text: Option<&str>) -> Value {
    let Some(text) = text else { return Value::Null };
    match kind {
        SettingKind::Number => text.parse::<u64>().map_or_else(|_| Value::from(text), Value::from),
        SettingKind::Text | SettingKind::List | SettingKind::Boolean | SettingKind::Choice | SettingKind::Secret => {
            Value::from(visible(text))
        }
    }
}

fn origin(sources: &Sources, origin: &Origin) -> SettingOrigin {
    let is_project = |path: &Path| sources.project.as_ref().is_some_and(|project| project.path == path);
    let (kind, name) = match origin {
        Origin::Flag(flag) => (OriginKind::Flag, Some(flag.clone())),
        Origin::Environment(variable) => (OriginKind::Environment, Some(variable.clone())),
        Origin::File(path) if is_project(path) => (OriginKind::Project, Some(visible(&path.display().to_string()))),
        Origin::File(path) => (OriginKind::User, Some(visible(&path.display().to_string()))),
        Origin::Here => (OriginKind::Here, None),
        Origin::Default => (OriginKind::Default, None),
    };
    SettingOrigin { kind, name }
}
