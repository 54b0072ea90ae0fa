//! Whether a value is what a schema says, and nothing beside it.
//!
//! `schema/0.166.0.json` is cut from what `codex app-server generate-json-schema --experimental --out DIR` of `@openai/codex` 0.166.0
//! writes: `ClientRequest.json` with the methods that we use, `ClientNotification.json`, and the response of every request that we
//! answer, each with the definitions that it refers to and without descriptions, titles and defaults.

use serde_json::{Map, Value};

pub(crate) struct Schema(Value);

impl Schema {
    /// By its key in the file.
    pub(crate) fn of(key: &str) -> Schema {
        let whole: Value = serde_json::from_str(include_str!("schema/0.166.0.json")).unwrap();
        assert!(whole[key].is_object(), "there is no schema for {key}");
        Schema(whole[key].clone())
    }

    pub(crate) fn check(&self, value: &Value) -> Result<(), String> {
        self.fits(&self.0, value)
    }

    fn fits(&self, schema: &Value, value: &Value) -> Result<(), String> {
        if let Some(name) = schema["$ref"].as_str() {
            return self.fits(&self.0["definitions"][name.rsplit('/').next().unwrap()], value);
        }
        // What stands beside a choice is not the choice's.
        let beside = |value: &Value| match (value.clone(), schema["properties"].as_object()) {
            (Value::Object(fields), Some(own)) => {
                fields.into_iter().filter(|(name, _)| !own.contains_key(name)).collect::<Map<_, _>>().into()
            }
            (value, _) => value,
        };
        for all in schema["allOf"].as_array().into_iter().flatten() {
            self.fits(all, &beside(value))?;
        }
        for choice in ["oneOf", "anyOf"] {
            let Some(options) = schema[choice].as_array() else { continue };
            let failed: Vec<String> = options.iter().map_while(|option| self.fits(option, &beside(value)).err()).collect();
            if failed.len() == options.len() {
                return Err(format!("{value} is none of: {}", failed.join("; ")));
            }
        }
        if let Some(allowed) = schema["enum"].as_array().filter(|allowed| !allowed.contains(value)) {
            return Err(format!("{value} is not among {allowed:?}"));
        }
        self.fits_type(&schema["type"], value)?;
        match value {
            Value::Object(_) => self.fits_object(schema, value),
            Value::Array(items) => {
                items.iter().filter(|_| !schema["items"].is_null()).try_for_each(|item| self.fits(&schema["items"], item))
            }
            _ => Ok(()),
        }
    }

    fn fits_type(&self, wanted: &Value, value: &Value) -> Result<(), String> {
        let kinds: &[&str] = match value {
            Value::Null => &["null"],
            Value::Bool(_) => &["boolean"],
            Value::Number(number) if number.is_f64() => &["number"],
            Value::Number(_) => &["integer", "number"],
            Value::String(_) => &["string"],
            Value::Array(_) => &["array"],
            Value::Object(_) => &["object"],
        };
        let fits = match wanted {
            Value::String(kind) => kinds.contains(&kind.as_str()),
            Value::Array(all) => all.iter().any(|kind| kinds.contains(&kind.as_str().unwrap())),
            _ => true,
        };
        if fits { Ok(()) } else { Err(format!("{value} is not of type {wanted}")) }
    }

    /// A field that the schema does not name is a mistake of ours.
    fn fits_object(&self, schema: &Value, value: &Value) -> Result<(), String> {
        for required in schema["required"].as_array().into_iter().flatten().map(|name| name.as_str().unwrap()) {
            if value.get(required).is_none() {
                return Err(format!("{value} has no {required}"));
            }
        }
        let choice = ["oneOf", "anyOf", "allOf"].iter().any(|key| !schema[*key].is_null());
        for (name, field) in value.as_object().unwrap() {
            match (&schema["properties"][name], &schema["additionalProperties"]) {
                (Value::Null, Value::Object(_)) => self.fits(&schema["additionalProperties"], field)?,
                (Value::Null, Value::Bool(true)) => {}
                (Value::Null, _) if choice || schema["type"].is_null() => {}
                (Value::Null, _) => return Err(format!("{value} has {name}, which the schema does not know")),
                (known, _) => self.fits(known, field)?,
            }
        }
        Ok(())
    }
}

#[test]
fn the_checker_knows_right_from_wrong() {
    let (request, approval) = (Schema::of("request"), Schema::of("item/commandExecution/requestApproval"));
    let line = |params: Value| serde_json::json!({ "id": "a", "method": "turn/interrupt", "params": params });
    request.check(&line(serde_json::json!({ "threadId": "t", "turnId": "u" }))).unwrap();
    for wrong in [serde_json::json!({ "threadId": "t" }), serde_json::json!({ "threadId": "t", "turnId": 1 })] {
        request.check(&line(wrong)).unwrap_err();
    }
    request.check(&line(serde_json::json!({ "threadId": "t", "turnId": "u", "more": 1 }))).unwrap_err();
    request.check(&serde_json::json!({ "id": "a", "method": "turn/stop", "params": {} })).unwrap_err();
    approval.check(&serde_json::json!({ "decision": "accept" })).unwrap();
    approval.check(&serde_json::json!({ "decision": "yes" })).unwrap_err();
}
