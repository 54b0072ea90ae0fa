//! A session's options in one shape, whatever the agent calls them. Agents that know only modes and models get an option for each, which
//! says by which older method it is set. Pure: reads and changes the descriptions that agents send.

use domain::agent::Update;
use domain::host::Described;
use serde_json::{Value, json};

use crate::acp::request::OptionValue;
use crate::catalogue::Asks;

/// The key under which an option that is not one says how it is set.
const METHOD: &str = "method";
pub(crate) const SET_MODE: &str = "session/set_mode";
pub(crate) const SET_MODEL: &str = "session/set_model";

/// All that can be set: the options as they are, and the modes and models where no option stands for them.
pub(crate) fn unified(options: Option<Value>, modes: Option<&Value>, models: Option<&Value>) -> Option<Value> {
    let mut list = match options {
        Some(Value::Array(list)) => list,
        _ => Vec::new(),
    };
    let older = [
        (modes, "mode", "Mode", SET_MODE, ["availableModes", "id", "currentModeId"]),
        (models, "model", "Model", SET_MODEL, ["availableModels", "modelId", "currentModelId"]),
    ];
    for (described, id, name, method, [all, key, current]) in older {
        let Some(choices) = described.and_then(|described| described.get(all)?.as_array()) else { continue };
        if choices.is_empty() || list.iter().any(|option| stands_for(option, id)) {
            continue;
        }
        let choice = |choice: &Value| json!({ "value": choice[key], "name": choice["name"], "description": choice["description"] });
        list.push(json!({
            "id": id, "name": name, "category": id, "type": "select", METHOD: method,
            "currentValue": described.and_then(|described| described.get(current)).cloned().unwrap_or_default(),
            "options": choices.iter().map(choice).collect::<Vec<_>>(),
        }));
    }
    (!list.is_empty()).then_some(Value::Array(list))
}

/// The older method by which an option is set, where it has one.
pub(crate) fn method(options: Option<&Value>, id: &str) -> Option<&'static str> {
    let named = entries(options?).find(|option| option["id"] == id)?.get(METHOD)?.as_str()?;
    [SET_MODE, SET_MODEL].into_iter().find(|method| *method == named)
}

/// Ids and values as they are.
pub(crate) fn values(options: &Value) -> impl Iterator<Item = (&str, &Value)> {
    entries(options).filter_map(|option| Some((option.get("id")?.as_str()?, option.get("currentValue")?)))
}

/// What is to be sent to set an option; nothing for a value of a kind that the protocol does not have.
pub(crate) fn sendable(value: &Value) -> Option<OptionValue> {
    match value {
        Value::Bool(on) => Some(OptionValue::Switch(*on)),
        Value::String(choice) => Some(OptionValue::Choice(choice.clone())),
        _ => None,
    }
}

/// The option that `key` names, by its id or as "mode" or "model", and the value that `wanted` names, by itself, by its name, or by the
/// last part of an address. The error says what there is.
pub fn choose(options: Option<&Value>, key: &str, wanted: &Value) -> Result<(String, Value), String> {
    let list: Vec<&Value> = options.map(|options| entries(options).collect()).unwrap_or_default();
    let found = list.iter().find(|option| option["id"] == key).or_else(|| list.iter().find(|option| stands_for(option, key)));
    let Some(option) = found else {
        let known: Vec<_> = list.iter().filter_map(|option| option["id"].as_str()).collect();
        let known = if known.is_empty() { "it has none".to_owned() } else { format!("it has {}", known.join(", ")) };
        return Err(format!("this agent session has no option `{key}`: {known}"));
    };
    let id = option["id"].as_str().unwrap_or(key).to_owned();
    if option["type"] == "boolean" {
        return if wanted.is_boolean() { Ok((id, wanted.clone())) } else { Err(format!("`{key}` is true or false, not {wanted}")) };
    }
    let choices = choices(option);
    let Some(text) = wanted.as_str() else { return Err(format!("`{key}` is a text, not {wanted}")) };
    let tail = |choice: &Value| choice["value"].as_str().and_then(|value| value.rsplit_once('#')).map(|(_, tail)| tail.to_owned());
    let exact = choices.iter().find(|choice| choice["value"] == text);
    let named = || choices.iter().find(|choice| choice["name"].as_str().is_some_and(|name| name.eq_ignore_ascii_case(text)));
    match exact.or_else(named).or_else(|| choices.iter().find(|choice| tail(choice).as_deref() == Some(text))) {
        Some(choice) => Ok((id, choice["value"].clone())),
        None => {
            let known: Vec<_> = choices.iter().filter_map(|choice| choice["value"].as_str()).collect();
            Err(format!("`{text}` is not a value of `{key}`: there is {}", known.join(", ")))
        }
    }
}

/// Notes the value of an option.
pub fn put(options: &mut Value, id: &str, value: &Value) {
    let list = options.as_array_mut().map(Vec::as_mut_slice).unwrap_or_default();
    if let Some(option) = list.iter_mut().find(|option| option["id"] == id) {
        option["currentValue"] = value.clone();
    }
}

/// The options that an agent reports, with what of the earlier ones is not an option of its own.
pub fn merge(old: Option<Value>, mut new: Value) -> Value {
    if let (Some(Value::Array(old)), Value::Array(list)) = (old, &mut new) {
        let kept = |option: &Value| option.get(METHOD).is_some() && !list.iter().any(|known| known["id"] == option["id"]);
        let kept: Vec<Value> = old.into_iter().filter(kept).collect();
        list.extend(kept);
    }
    new
}

/// The description of a session after `update`; `None` where it says nothing of mode or options.
pub fn described(old: Option<&Value>, old_mode: Option<&str>, update: &Update, asks: Asks) -> Option<Described> {
    let (mode, options) = match update {
        Update::Mode { mode_id } => {
            let mut options = old.cloned();
            if let Some(options) = &mut options
                && let Some(id) = self::mode_id(options)
            {
                put(options, &id, &Value::String(mode_id.clone()));
            }
            (Some(mode_id.clone()), options)
        }
        Update::Options { options } => {
            let options = merge(old.cloned(), options.clone());
            (mode(&options).or_else(|| old_mode.map(str::to_owned)), Some(options))
        }
        _ => return None,
    };
    let allows_all = acts_unasked(options.as_ref(), asks);
    Some(Described { mode, options, allows_all })
}

/// Whether an agent whose options are set so asks before it changes something.
#[derive(Clone, PartialEq, Debug)]
pub enum Asking {
    Asks,
    /// Not until this option has this value.
    After(String, Value),
    /// It should have an option for it, and has none.
    Cannot,
}

/// How the options say that it is. What an agent takes from its environment is not among them, see [`crate::Agent::acts_unasked`].
pub fn asking(options: Option<&Value>, asks: Asks) -> Asking {
    if let Some((id, off)) = options.and_then(|options| allow_all_to(options, false)) {
        return Asking::After(id.to_owned(), off);
    }
    let Asks::InMode { option, value } = asks else { return Asking::Asks };
    let found = options.and_then(|options| entries(options).find(|entry| entry["id"] == option));
    match found {
        Some(entry) if entry["currentValue"] == value => Asking::Asks,
        Some(entry) if choices(entry).iter().any(|choice| choice["value"] == value) => Asking::After(option.to_owned(), Value::from(value)),
        _ => Asking::Cannot,
    }
}

/// Whether it would act without asking, as its options are set.
pub fn acts_unasked(options: Option<&Value>, asks: Asks) -> bool {
    asking(options, asks) != Asking::Asks
}

/// Whether this option has a say in that.
pub fn decides_asking(id: &str, asks: Asks) -> bool {
    is_allow_all(id) || matches!(asks, Asks::InMode { option, .. } if option == id)
}

/// Whether it would, if this one were set so.
pub fn would_act_unasked(options: Option<&Value>, id: &str, value: &Value, asks: Asks) -> bool {
    let mut changed = options.cloned().unwrap_or_default();
    put(&mut changed, id, value);
    acts_unasked(Some(&changed), asks)
}

/// The agent's own switch to ask for nothing.
const ALLOW_ALL: &str = "allow_all";

pub fn is_allow_all(id: &str) -> bool {
    id == ALLOW_ALL
}

/// The change that makes the agent ask again, or ask no more; `None` where it is so already or the agent has no such switch.
pub fn allow_all_to(options: &Value, want: bool) -> Option<(&str, Value)> {
    let (id, value) = values(options).find(|(id, _)| is_allow_all(id))?;
    let wanted = match value {
        Value::Bool(_) => Value::Bool(want),
        Value::String(_) => Value::from(if want { "on" } else { "off" }),
        _ => return None,
    };
    (is_on(value) != want).then_some((id, wanted))
}

pub fn is_on(value: &Value) -> bool {
    *value == true || *value == "on"
}

/// The id of the option that stands for the mode.
pub fn mode_id(options: &Value) -> Option<String> {
    entries(options).find(|option| stands_for(option, "mode"))?["id"].as_str().map(str::to_owned)
}

/// The mode that it is set to.
pub fn mode(options: &Value) -> Option<String> {
    entries(options).find(|option| stands_for(option, "mode"))?["currentValue"].as_str().map(str::to_owned)
}

/// What people call an option and one of its values.
pub fn names(options: Option<&Value>, id: &str, value: &Value) -> (String, String) {
    let plain = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let Some(option) = options.and_then(|options| entries(options).find(|option| option["id"] == id)) else {
        return (id.to_owned(), plain);
    };
    let chosen = choices(option).into_iter().find(|choice| choice["value"] == *value).and_then(|choice| choice["name"].as_str());
    (option["name"].as_str().unwrap_or(id).to_owned(), chosen.map_or(plain, str::to_owned))
}

fn entries(options: &Value) -> impl Iterator<Item = &Value> {
    options.as_array().map(Vec::as_slice).unwrap_or_default().iter()
}

fn stands_for(option: &Value, what: &str) -> bool {
    option["category"] == what || (option["category"].is_null() && option["id"] == what)
}

/// The choices of an option, those in groups among them.
fn choices(option: &Value) -> Vec<&Value> {
    let list = option["options"].as_array().map(Vec::as_slice).unwrap_or_default();
    let grouped = |entry: &'_ Value| entry.get("group").is_some();
    list.iter().flat_map(|entry| if grouped(entry) { choices(entry) } else { vec![entry] }).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn copilot() -> Value {
        json!([
            { "id": "mode", "name": "Mode", "category": "mode", "type": "select", "currentValue": "https://x/modes#agent", "options": [
                { "value": "https://x/modes#agent", "name": "Agent" }, { "value": "https://x/modes#plan", "name": "Plan" } ] },
            { "id": "llm", "category": "model", "type": "select", "currentValue": "a", "options": [
                { "group": "g", "name": "G", "options": [{ "value": "a", "name": "A" }, { "value": "b", "name": "B" }] } ] },
            { "id": "fast", "type": "boolean", "currentValue": false },
        ])
    }

    #[test]
    fn a_value_is_found_by_itself_by_name_and_by_its_last_part() {
        let options = copilot();
        let choose = |key: &str, value: Value| choose(Some(&options), key, &value);
        for wanted in ["https://x/modes#plan", "Plan", "plan"] {
            assert_eq!(choose("mode", json!(wanted)).unwrap(), ("mode".to_owned(), json!("https://x/modes#plan")));
        }
        assert_eq!(choose("model", json!("b")).unwrap(), ("llm".to_owned(), json!("b")));
        assert_eq!(choose("fast", json!(true)).unwrap(), ("fast".to_owned(), json!(true)));
        assert_eq!(choose("fast", json!("on")).unwrap_err(), "`fast` is true or false, not \"on\"");
        assert_eq!(choose("speed", json!("x")).unwrap_err(), "this agent session has no option `speed`: it has mode, llm, fast");
        assert_eq!(choose("model", json!("c")).unwrap_err(), "`c` is not a value of `model`: there is a, b");
        assert_eq!(super::choose(None, "mode", &json!("x")).unwrap_err(), "this agent session has no option `mode`: it has none");
    }

    #[test]
    fn modes_and_models_become_options_where_there_are_none() {
        let modes = json!({ "availableModes": [{ "id": "plan", "name": "Plan" }], "currentModeId": "plan" });
        let models = json!({ "availableModels": [{ "modelId": "m", "name": "M" }], "currentModelId": "m" });
        let options = unified(None, Some(&modes), Some(&models)).unwrap();
        assert_eq!(values(&options).collect::<Vec<_>>(), [("mode", &json!("plan")), ("model", &json!("m"))]);
        assert_eq!((method(Some(&options), "mode"), method(Some(&options), "model")), (Some(SET_MODE), Some(SET_MODEL)));
        let kept = unified(Some(copilot()), Some(&modes), Some(&models)).unwrap();
        assert_eq!(kept, copilot());
        assert_eq!(method(Some(&kept), "mode"), None);
        assert_eq!(unified(None, None, None), None);
    }

    #[test]
    fn a_value_is_noted_and_named() {
        let mut options = copilot();
        put(&mut options, "llm", &json!("b"));
        assert_eq!(values(&options).nth(1).unwrap(), ("llm", &json!("b")));
        assert_eq!(names(Some(&options), "mode", &json!("https://x/modes#plan")), ("Mode".to_owned(), "Plan".to_owned()));
        assert_eq!(mode_id(&options).as_deref(), Some("mode"));
    }

    #[test]
    fn what_an_update_says_of_a_session_is_merged_into_its_description() {
        let plan = Update::Mode { mode_id: "https://x/modes#plan".into() };
        let changed = described(Some(&copilot()), None, &plan, Asks::Always).unwrap();
        assert_eq!(changed.mode.as_deref(), Some("https://x/modes#plan"));
        assert_eq!(mode(&changed.options.unwrap()).as_deref(), Some("https://x/modes#plan"));
        let modes = json!({ "availableModes": [{ "id": "a", "name": "A" }], "currentModeId": "a" });
        let old = unified(None, Some(&modes), None);
        let reported = Update::Options { options: json!([{ "id": "allow_all", "currentValue": "on" }]) };
        let changed = described(old.as_ref(), Some("a"), &reported, Asks::Always).unwrap();
        assert_eq!((changed.mode.as_deref(), changed.allows_all), (Some("a"), true));
        assert_eq!(values(&changed.options.unwrap()).map(|(id, _)| id).collect::<Vec<_>>(), ["allow_all", "mode"]);
        assert_eq!(described(None, None, &Update::Title { title: None }, Asks::Always), None);
    }

    #[test]
    fn allow_all_is_changed_only_where_it_is_otherwise() {
        let options = |value: Value| json!([{ "id": "allow_all", "currentValue": value }]);
        for (value, want, change) in [
            (json!("on"), false, Some(json!("off"))),
            (json!("off"), true, Some(json!("on"))),
            (json!(true), false, Some(json!(false))),
            (json!("off"), false, None),
            (json!(true), true, None),
            (json!(3), true, None),
        ] {
            assert_eq!(allow_all_to(&options(value.clone()), want), change.map(|change| ("allow_all", change)), "{value} {want}");
        }
        assert_eq!(allow_all_to(&copilot(), false), None);
    }

    #[test]
    fn an_agent_that_asks_only_in_one_mode_is_set_to_it() {
        let asks = Asks::InMode { option: "mode", value: "read-only" };
        let options = |current: &str, last: &str| json!([{ "id": "mode", "currentValue": current, "options": [{ "value": current }, { "value": last }] }]);
        let after = Asking::After("mode".to_owned(), json!("read-only"));
        for (options, expected) in [
            (Some(options("read-only", "agent")), Asking::Asks),
            (Some(options("agent", "read-only")), after),
            (Some(options("agent", "full")), Asking::Cannot),
            (Some(json!([{ "id": "model", "currentValue": "read-only" }])), Asking::Cannot),
            (None, Asking::Cannot),
        ] {
            assert_eq!(asking(options.as_ref(), asks), expected, "{options:?}");
        }
        assert_eq!(asking(None, Asks::Always), Asking::Asks);
        let on = json!([{ "id": "allow_all", "currentValue": "on" }]);
        assert_eq!(asking(Some(&on), Asks::Always), Asking::After("allow_all".to_owned(), json!("off")));
        let safe = options("read-only", "agent");
        assert!(would_act_unasked(Some(&safe), "mode", &json!("agent"), asks));
        assert!(!would_act_unasked(Some(&safe), "mode", &json!("read-only"), asks));
    }
}
