//! Arguments as models write them: JSON text that may be empty, wrapped twice, or loose about numbers and booleans.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::Refusal;

#[derive(Deserialize)]
pub(crate) struct ReadFile {
    pub path: String,
    #[serde(default, deserialize_with = "whole_number")]
    pub start_line: Option<u64>,
    #[serde(default, deserialize_with = "whole_number")]
    pub end_line: Option<u64>,
}

#[derive(Deserialize)]
pub(crate) struct ListDirectory {
    pub path: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct GrepSearch {
    pub pattern: String,
    pub path: Option<String>,
    pub glob: Option<String>,
    #[serde(default, deserialize_with = "truth")]
    pub case_sensitive: Option<bool>,
    #[serde(default, deserialize_with = "whole_number")]
    pub max_results: Option<u64>,
}

#[derive(Deserialize)]
pub(crate) struct GlobSearch {
    pub pattern: String,
    pub path: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct GitDiff {
    pub base: Option<String>,
    pub head: Option<String>,
    pub path: Option<String>,
    #[serde(default, deserialize_with = "truth")]
    pub staged: Option<bool>,
    #[serde(default, deserialize_with = "truth")]
    pub merge_base: Option<bool>,
}

#[derive(Deserialize)]
pub(crate) struct GitShow {
    pub commit: String,
}

pub(crate) fn parse<T: DeserializeOwned>(tool: &str, arguments: &str) -> Result<T, Refusal> {
    let arguments = arguments.trim();
    let malformed = |why: serde_json::Error| Refusal::new(format!("the arguments of {tool} are not valid JSON: {why}"));
    let mut value: Value = match arguments {
        "" | "null" => Value::Object(serde_json::Map::new()),
        text => serde_json::from_str(text).map_err(malformed)?,
    };
    if let Value::String(wrapped) = &value {
        value = serde_json::from_str(wrapped).map_err(malformed)?;
    }
    if !value.is_object() {
        return Err(Refusal::new(format!("the arguments of {tool} must be a JSON object")));
    }
    T::deserialize(value).map_err(|why| Refusal::new(format!("the arguments of {tool} do not fit: {why}")))
}

/// An optional text that was given and says something.
pub(crate) fn given(text: &Option<String>) -> Option<&str> {
    text.as_deref().filter(|text| !text.is_empty())
}

fn whole_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    let number = match &value {
        Value::Null => return Ok(None),
        Value::Number(number) => number.as_u64().or_else(|| number.as_f64().filter(|f| f.fract() == 0.0 && *f >= 0.0).map(|f| f as u64)),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    match number {
        Some(number) => Ok(Some(number)),
        None => Err(serde::de::Error::custom(format!("{value} is not a whole number of 0 or more"))),
    }
}

fn truth<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<bool>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    match &value {
        Value::Null => Ok(None),
        Value::Bool(truth) => Ok(Some(*truth)),
        Value::String(text) if text == "true" => Ok(Some(true)),
        Value::String(text) if text == "false" => Ok(Some(false)),
        _ => Err(serde::de::Error::custom(format!("{value} is neither true nor false"))),
    }
}
