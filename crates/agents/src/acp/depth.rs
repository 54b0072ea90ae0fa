//! A bound on how deep an agent's JSON is nested. What is stored of it stands inside records of ours, and a record that is nested
//! too deep could be written and never be read again.

use std::borrow::Cow;

/// How deep a value may be nested below its message.
const MAX: usize = 64;
/// Stands in the place of what is nested deeper.
const TOO_DEEP: &str = "\"(nested too deep)\"";

/// The line with everything that is nested too deep replaced by a short text. A line that is not JSON comes back as it is.
pub(crate) fn bounded(line: &str) -> Cow<'_, str> {
    // A batch is one level more, and so is the message itself.
    let limit = MAX + 1 + usize::from(line.starts_with('['));
    let opening = line.bytes().filter(|byte| matches!(byte, b'{' | b'[')).take(limit + 1).count();
    if opening <= limit { Cow::Borrowed(line) } else { rewritten(line, limit) }
}

fn rewritten(line: &str, limit: usize) -> Cow<'_, str> {
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    // Where the deep value that is being passed over began, and where the last one ended.
    let (mut begun, mut copied) = (None, 0);
    let mut bounded = String::new();
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            _ if in_text => {}
            b'{' | b'[' => {
                depth += 1;
                if depth > limit && begun.is_none() {
                    begun = Some(at);
                }
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == limit
                    && let Some(from) = begun.take()
                {
                    bounded.push_str(&line[copied..from]);
                    bounded.push_str(TOO_DEEP);
                    copied = at + 1;
                }
            }
            _ => {}
        }
    }
    if copied == 0 {
        return Cow::Borrowed(line);
    }
    bounded.push_str(&line[copied..]);
    Cow::Owned(bounded)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::Value;

    use super::*;

    fn nested(levels: usize) -> String {
        format!("{}1{}", "[".repeat(levels), "]".repeat(levels))
    }

    #[test]
    fn what_lies_too_deep_is_replaced_and_the_rest_stays() {
        let line = format!(r#"{{"a":"]}}\"[","b":{},"c":{},"d":[2]}}"#, nested(MAX), nested(5000));
        let read: Value = serde_json::from_str(&bounded(&line)).unwrap();
        assert_eq!(read["a"], "]}\"[");
        assert_eq!(read["b"].to_string(), nested(MAX));
        let deepest = (0..MAX).fold(&read["c"], |value, _| &value[0]);
        assert_eq!(*deepest, "(nested too deep)");
        assert_eq!(read["d"][0], 2);
    }

    #[test]
    fn wide_lines_and_lines_that_are_not_json_are_left_alone() {
        let wide = format!(r#"{{"a":[{}0]}}"#, "[],{},".repeat(500));
        for line in [wide.as_str(), &"[".repeat(500), &"{".repeat(10), "", "]]]]", &"]".repeat(200)] {
            assert!(matches!(bounded(line), Cow::Borrowed(same) if same == line), "{line}");
        }
    }
}
