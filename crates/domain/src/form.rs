//! Forms that agents have people fill in: how they are asked, and whether an answer fits the form's schema. Pure.

use serde_json::{Map, Value};

use crate::agent::{OptionKind, PermissionAsk, PermissionOption};

const ACCEPT: &str = "accept";
const DECLINE: &str = "decline";

/// Checks the fields against the schema; the error is for the person who filled them in.
pub fn check(schema: &Value, content: &Value) -> Result<(), String> {
    let Some(given) = content.as_object() else { return Err("the answer to a form is an object of fields".to_owned()) };
    let none = Map::new();
    let fields = schema["properties"].as_object().unwrap_or(&none);
    for required in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if given.get(required).is_none_or(Value::is_null) {
            return Err(format!("`{required}` is needed"));
        }
    }
    for (name, value) in given {
        let field = fields.get(name).ok_or_else(|| format!("`{name}` is not a field of this form"))?;
        check_field(field, value).map_err(|why| format!("`{name}` {why}"))?;
    }
    Ok(())
}

fn check_field(field: &Value, value: &Value) -> Result<(), String> {
    match (field["type"].as_str().unwrap_or_default(), value) {
        ("string", Value::String(text)) => check_text(field, text),
        ("string", _) => Err("must be a text".to_owned()),
        ("integer", Value::Number(number)) if number.is_i64() || number.is_u64() => check_range(field, number.as_f64()),
        ("integer", _) => Err("must be a whole number".to_owned()),
        ("number", Value::Number(number)) => check_range(field, number.as_f64()),
        ("number", _) => Err("must be a number".to_owned()),
        ("boolean", Value::Bool(_)) => Ok(()),
        ("boolean", _) => Err("must be yes or no".to_owned()),
        ("array", Value::Array(chosen)) => {
            let allowed = choices(&field["items"]).unwrap_or_default();
            let all = chosen.iter().all(|one| one.as_str().is_some_and(|one| allowed.contains(&one)));
            if all { Ok(()) } else { Err("holds something that cannot be chosen".to_owned()) }
        }
        ("array", _) => Err("must be a list of choices".to_owned()),
        // A kind of a later version of the protocol: the agent checks it.
        _ => Ok(()),
    }
}

fn check_text(field: &Value, text: &str) -> Result<(), String> {
    if let Some(allowed) = choices(field) {
        return if allowed.contains(&text) { Ok(()) } else { Err("is none of the choices".to_owned()) };
    }
    let length = text.chars().count() as u64;
    match (field["minLength"].as_u64(), field["maxLength"].as_u64()) {
        (Some(least), _) if length < least => Err(format!("must have at least {least} characters")),
        (_, Some(most)) if length > most => Err(format!("may have at most {most} characters")),
        _ => Ok(()),
    }
}

fn check_range(field: &Value, number: Option<f64>) -> Result<(), String> {
    let number = number.unwrap_or_default();
    match (field["minimum"].as_f64(), field["maximum"].as_f64()) {
        (Some(least), _) if number < least => Err(format!("must be at least {least}")),
        (_, Some(most)) if number > most => Err(format!("must be at most {most}")),
        _ => Ok(()),
    }
}

/// What can be chosen, where the field is a choice.
fn choices(field: &Value) -> Option<Vec<&str>> {
    let plain = field["enum"].as_array().map(|values| values.iter().filter_map(Value::as_str).collect());
    let titled = || field["oneOf"].as_array().or_else(|| field["anyOf"].as_array());
    plain.or_else(|| titled().map(|options| options.iter().filter_map(|option| option["const"].as_str()).collect()))
}

/// The question that puts a form in front of a person.
pub(crate) fn ask(title: String, schema: Value) -> PermissionAsk {
    PermissionAsk {
        title,
        options: vec![
            PermissionOption::new(ACCEPT, "Send", OptionKind::AllowOnce),
            PermissionOption::new(DECLINE, "Decline", OptionKind::RejectOnce),
            PermissionOption::new("cancel", "Cancel", OptionKind::Cancel),
        ],
        form: Some(schema),
        ..PermissionAsk::default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_must_fit_the_form() {
        let schema = json!({ "type": "object", "required": ["name"], "properties": {
            "name": { "type": "string", "minLength": 2, "maxLength": 4 },
            "size": { "type": "string", "enum": ["s", "l"] },
            "colour": { "type": "string", "oneOf": [{ "const": "r", "title": "Red" }] },
            "count": { "type": "integer", "minimum": 1, "maximum": 9 },
            "ratio": { "type": "number" },
            "sure": { "type": "boolean" },
            "tags": { "type": "array", "items": { "type": "string", "enum": ["a", "b"] } },
        } });
        let whole = json!({ "name": "abc", "size": "l", "colour": "r", "count": 3, "ratio": 0.5, "sure": true, "tags": ["a"] });
        assert_eq!(check(&schema, &whole), Ok(()));
        for (content, why) in [
            (json!([]), "object"),
            (json!({}), "`name` is needed"),
            (json!({ "name": "a" }), "at least 2"),
            (json!({ "name": "äöüßx" }), "at most 4"),
            (json!({ "name": 3 }), "must be a text"),
            (json!({ "name": "abc", "size": "m" }), "none of the choices"),
            (json!({ "name": "abc", "colour": "Red" }), "none of the choices"),
            (json!({ "name": "abc", "count": 1.5 }), "whole number"),
            (json!({ "name": "abc", "count": 10 }), "at most 9"),
            (json!({ "name": "abc", "sure": "yes" }), "yes or no"),
            (json!({ "name": "abc", "tags": ["c"] }), "cannot be chosen"),
            (json!({ "name": "abc", "other": 1 }), "not a field"),
        ] {
            let refused = check(&schema, &content);
            assert!(refused.as_ref().is_err_and(|message| message.contains(why)), "{content}: {refused:?}");
        }
    }
}
