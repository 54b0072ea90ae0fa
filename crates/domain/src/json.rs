//! JSON that somebody else wrote, kept as its text.
//!
//! A tree of values takes up to seventy times the memory of its text, and an agent decides how many values there are. So what is only
//! stored and shown stays text; whoever needs a part of it parses it for that moment.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::text::clip;

/// The text of one JSON value, on one line and without duplicate keys. Cloning shares it.
#[derive(Clone)]
pub struct RawJson(Arc<RawValue>);

impl RawJson {
    pub fn text(&self) -> &str {
        self.0.get()
    }

    /// The value as a tree; for a moment only.
    pub fn parse(&self) -> Value {
        serde_json::from_str(self.text()).unwrap_or_default()
    }

    /// The text in a field of the object, where it is one.
    pub fn text_field(&self, key: &str) -> Option<String> {
        match self.parse() {
            Value::Object(mut fields) => match fields.get_mut(key).map(Value::take) {
                Some(Value::String(text)) => Some(text),
                _ => None,
            },
            _ => None,
        }
    }

    /// Null, or an object without fields.
    pub fn is_empty(&self) -> bool {
        matches!(self.text(), "null" | "{}")
    }

    /// At most `max` bytes, and whether that is less than all. Long texts in it are cut first, since fields are worth more than the end of
    /// one; what is still too long becomes a text of its beginning.
    pub fn bounded(self, max: usize) -> (RawJson, bool) {
        if self.text().len() <= max {
            return (self, false);
        }
        let mut value = self.parse();
        cut_texts(&mut value, max / 16);
        let cut = RawJson::from(&value);
        if cut.text().len() <= max {
            return (cut, true);
        }
        // Escaping makes a text twice as long at most: it holds no control characters, as those are escaped already.
        let beginning = format!("{}{}", clip(self.text(), max / 2 - CUT.len()), CUT);
        (RawJson::from(&Value::String(beginning)), true)
    }
}

/// Stands where something was cut.
pub const CUT: &str = "… (cut: too long to keep)";

/// `text` with at most `max` bytes, the mark of the cut among them.
pub fn cut_text(text: &str, max: usize) -> String {
    format!("{}{CUT}", clip(text, max.saturating_sub(CUT.len())))
}

/// About how much memory a tree of values takes.
pub fn value_bytes(value: &Value) -> usize {
    size_of::<Value>()
        + match value {
            Value::String(text) => text.len(),
            Value::Array(items) => items.iter().map(value_bytes).sum(),
            Value::Object(fields) => fields.iter().map(|(name, field)| 2 * size_of::<String>() + name.len() + value_bytes(field)).sum(),
            _ => 0,
        }
}

fn cut_texts(value: &mut Value, max: usize) {
    match value {
        Value::String(text) if text.len() > max => *text = cut_text(text, max),
        Value::Array(items) => items.iter_mut().for_each(|item| cut_texts(item, max)),
        Value::Object(fields) => fields.values_mut().for_each(|field| cut_texts(field, max)),
        _ => {}
    }
}

impl From<&Value> for RawJson {
    fn from(value: &Value) -> Self {
        let raw = serde_json::value::to_raw_value(value).expect("a value is JSON");
        Self(raw.into())
    }
}

impl From<Value> for RawJson {
    fn from(value: Value) -> Self {
        Self::from(&value)
    }
}

impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl fmt::Debug for RawJson {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parse().fmt(formatter)
    }
}

impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// By way of a tree: what lies in a tagged enum cannot be read as text.
impl<'de> Deserialize<'de> for RawJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn survives_being_stored_also_inside_of_a_tagged_enum() {
        #[derive(Serialize, Deserialize, PartialEq, Debug)]
        #[serde(tag = "type")]
        enum Tagged {
            A { raw: RawJson },
        }
        let tagged = Tagged::A { raw: json!({ "a": [1, "x\r\n"], "b": null }).into() };
        let stored = serde_json::to_string(&tagged).unwrap();
        assert_eq!(stored, r#"{"type":"A","raw":{"a":[1,"x\r\n"],"b":null}}"#);
        assert_eq!(serde_json::from_str::<Tagged>(&stored).unwrap(), tagged);
        assert_eq!(serde_json::to_value(&tagged).unwrap()["raw"]["a"][0], 1);
        assert_eq!(format!("{tagged:?}"), format!("A {{ raw: {:?} }}", json!({ "a": [1, "x\r\n"], "b": null })));
    }

    #[test]
    fn fields_are_kept_and_long_texts_are_cut() {
        let long = RawJson::from(json!({ "path": "a", "content": "x".repeat(5000), "more": "y" }));
        let (cut, was_cut) = long.clone().bounded(2000);
        assert!(was_cut && cut.text().len() <= 2000);
        assert_eq!((cut.text_field("path"), cut.text_field("more")), (Some("a".into()), Some("y".into())));
        assert!(cut.text_field("content").is_some_and(|text| text.ends_with(CUT)));
        assert_eq!(long.clone().bounded(6000), (long, false));
    }

    #[test]
    fn what_has_too_many_fields_becomes_the_text_of_its_beginning() {
        for value in [json!(vec![1; 5000]), json!(vec!["\"\\"; 5000]), json!({ "k".repeat(9000): 1 })] {
            let (cut, was_cut) = RawJson::from(value).bounded(2000);
            assert!(was_cut && cut.text().len() <= 2000, "{}", cut.text().len());
            assert!(cut.parse().as_str().is_some_and(|text| text.ends_with(CUT)));
        }
    }
}
