//! The tool calls of one answer, as the library keeps them until the answer has ended.

use serde_json::Value;

use super::values;

/// The arguments of all calls together: they are parsed all at once.
const MAX_ARGUMENTS_BYTES: usize = 1024 * 1024;
const MAX_CALLS: usize = 128;
/// Without one of these an event has nothing of a call: its keys as they are written, and what any letter may be written with.
const SIGNS: [&str; 5] = ["tool_calls", "functionCall", "tool_use", "partial_json", "\\u"];

#[derive(Default)]
pub(super) struct Calls {
    count: usize,
    bytes: usize,
}

impl Calls {
    /// Whether everything still fits with the data of another event.
    pub(super) fn take(&mut self, data: &str) -> bool {
        if !values::are_few(data.as_bytes()) {
            return false;
        }
        if !SIGNS.iter().any(|sign| data.contains(sign)) {
            return true;
        }
        // What is no JSON is for the library to report.
        let Ok(event) = serde_json::from_str::<Value>(data) else { return true };
        list(&event, "/choices/0/delta/tool_calls").iter().for_each(|call| self.add_piece(call));
        list(&event, "/message/tool_calls").iter().for_each(|call| self.add(size(call)));
        for part in list(&event, "/candidates/0/content/parts").iter().filter(|part| part.get("functionCall").is_some()) {
            self.add(size(part));
        }
        if event.pointer("/content_block/type").is_some_and(|kind| kind == "tool_use") {
            self.add(size(&event["content_block"]));
        }
        self.bytes += event.pointer("/delta/partial_json").map_or(0, text);
        self.count <= MAX_CALLS && self.bytes <= MAX_ARGUMENTS_BYTES
    }

    fn add(&mut self, bytes: usize) {
        self.count += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// A piece of the call that its index names. The library fills the places before it with copies.
    fn add_piece(&mut self, call: &Value) {
        let index = call["index"].as_u64().map_or(0, |index| usize::try_from(index).unwrap_or(usize::MAX));
        let made = index.saturating_add(1).saturating_sub(self.count);
        let piece = text(&call["id"]) + text(&call["function"]["name"]) + text(&call["function"]["arguments"]);
        self.count = self.count.saturating_add(made);
        self.bytes = self.bytes.saturating_add(piece.saturating_mul(made.max(1)));
    }
}

fn list<'a>(event: &'a Value, pointer: &str) -> &'a [Value] {
    event.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn size(value: &Value) -> usize {
    value.to_string().len()
}

fn text(value: &Value) -> usize {
    value.as_str().map_or(0, str::len)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn piece(index: u64, arguments: &str) -> String {
        json!({ "choices": [{ "delta": { "tool_calls": [{ "index": index, "function": { "arguments": arguments } }] } }] }).to_string()
    }

    /// After how many such events there is too much.
    fn too_much_after(event: &str) -> Option<usize> {
        let mut calls = Calls::default();
        (0..1000).find(|_| !calls.take(event))
    }

    #[test]
    fn a_call_far_behind_the_others_is_refused() {
        for index in [128, 4_000_000_000, u64::MAX] {
            assert!(!Calls::default().take(&piece(index, "{}")), "{index}");
        }
        assert!(Calls::default().take(&piece(127, "{}")));
        assert!(!Calls::default().take(&piece(127, &"x".repeat(10_000))), "it would be copied");
    }

    #[test]
    fn the_arguments_of_all_calls_are_counted_in_every_dialect() {
        let long = "x".repeat(60_000);
        for event in [
            piece(0, &long),
            json!({ "message": { "tool_calls": [{ "function": { "name": "f", "arguments": { "a": long } } }] } }).to_string(),
            json!({ "candidates": [{ "content": { "parts": [{ "functionCall": { "args": { "a": long } } }] } }] }).to_string(),
            json!({ "content_block": { "type": "tool_use", "input": long } }).to_string(),
            json!({ "delta": { "partial_json": long } }).to_string(),
        ] {
            assert_eq!(too_much_after(&event), Some(17), "{event:.60}");
        }
        let escaped = piece(0, &long).replace("tool_calls", "tool\\u005fcalls");
        assert_eq!(too_much_after(&escaped), Some(17), "written in another way");
        let words = json!({ "choices": [{ "delta": { "content": long } }] }).to_string();
        assert_eq!(too_much_after(&words), None, "text is counted elsewhere");
    }
}
