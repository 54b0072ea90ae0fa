//! How many values a JSON text has: each takes up to a hundred times its text once it is a tree.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// In one event or list. The longest list of models that is known has some twenty thousand.
const MAX_VALUES: usize = 100_000;
/// The text behind such a key would be read as JSON of its own.
const PARSED_KEY: &str = "$serde_json::private::RawValue";

/// Also where it is no JSON, if there are few up to there: nobody reads on.
pub(super) fn are_few(json: &[u8]) -> bool {
    // Each takes a byte at least.
    if json.len() <= MAX_VALUES {
        return true;
    }
    let values = Cell::new(0);
    let read = Count(&values).deserialize(&mut serde_json::Deserializer::from_slice(json));
    read.err().is_none_or(|error| !error.is_data())
}

struct Count<'a>(&'a Cell<usize>);

impl Count<'_> {
    fn one<E: Error>(&self) -> Result<(), E> {
        self.0.set(self.0.get() + 1);
        if self.0.get() > MAX_VALUES { Err(E::custom("too many values")) } else { Ok(()) }
    }
}

impl<'de> DeserializeSeed<'de> for Count<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.one()?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Count<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(Count(self.0))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while let Some(key) = fields.next_key::<String>()? {
            if key == PARSED_KEY {
                return Err(A::Error::custom("a value that is a text"));
            }
            fields.next_value_seed(Count(self.0))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_values_are_found_wherever_they_are() {
        let numbers = format!("[{}1]", "1,".repeat(100_000));
        let hidden = |key: &str| format!(r#"{{"a":{{"{key}" : "{numbers}"}}}}"#);
        for many in [
            numbers.clone(),
            format!(r#"{{"a":[{}{{}}]}}"#, "{},".repeat(100_000)),
            format!("{{{}\"\":0}}", r#""":0,"#.repeat(100_000)),
            "1,".repeat(100_000).replacen('1', "[1", 1),
            hidden(PARSED_KEY),
            hidden(r"\u0024serde_json::private::RawValue"),
        ] {
            assert!(!are_few(many.as_bytes()), "{many:.60}");
        }
    }

    #[test]
    fn a_long_text_is_one_value_and_garbage_is_none() {
        let prose = format!(r#"{{"a":"{}\"{{[,"}}"#, "so, it, goes [on] ".repeat(50_000));
        for few in [r#"{"a": [1, 2.5, -1, true, null, "x\\ny"]}"#, &prose, "", "[DONE]", "{", "<html>", &"[".repeat(1_000_000)] {
            assert!(are_few(few.as_bytes()), "{few:.60}");
        }
    }
}
