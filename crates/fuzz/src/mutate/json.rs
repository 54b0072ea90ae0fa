//! Inputs that hold JSON: its values are replaced, repeated, wrapped and left out, so that most of the result still parses.

use std::ops::Range;

use crate::random::Random;

/// Values that a reader may not expect where they stand.
const VALUES: [&str; 22] = [
    "null",
    "true",
    "false",
    "0",
    "-0",
    "-1",
    "1.5",
    "1e999",
    "9223372036854775808",
    "-9223372036854775809",
    "18446744073709551616",
    r#""""#,
    r#""\ud83d""#,
    r#""\udc00\ud800""#,
    r#""\u0000""#,
    r#""\u202e""#,
    "[]",
    "{}",
    "[{}]",
    "[null]",
    r#"{"":""}"#,
    r#""a\nb""#,
];
/// A value is wrapped at most so often.
const MAX_DEPTH: usize = 200;
const MAX_REPEATS: usize = 40;
/// So many values of an input are known; one of them is changed.
const MAX_SPANS: usize = 2000;

pub(super) fn mutate(random: &mut Random, input: &mut Vec<u8>, other: &[u8], words: &[&str]) {
    let spans = values(input);
    let Some(span) = random.pick(&spans).cloned() else { return };
    let value = input[span.clone()].to_vec();
    let new = match random.below(9) {
        0 | 1 => random.pick(&VALUES).map(|value| value.as_bytes().to_vec()).unwrap_or_default(),
        2 | 3 => random.pick(&spans).map(|span| input[span.clone()].to_vec()).unwrap_or_default(),
        4 => random.pick(&values(other)).map(|span| other[span.clone()].to_vec()).unwrap_or_default(),
        5 => random.pick(words).map(|word| format!("\"{}\"", word.escape_default()).into_bytes()).unwrap_or_default(),
        6 => wrapped(random, &value),
        7 => {
            // Again and again, as elements of a list or as the same key.
            let mut repeated = value.clone();
            for _ in 0..1 + random.small(MAX_REPEATS) {
                repeated.push(b',');
                repeated.extend_from_slice(&value);
            }
            repeated
        }
        _ => return remove(input, span),
    };
    input.splice(span, new);
}

fn wrapped(random: &mut Random, value: &[u8]) -> Vec<u8> {
    let depth = 1 + random.small(MAX_DEPTH);
    let (open, close): (&[u8], &[u8]) = if random.one_in(2) { (b"[", b"]") } else { (b"{\"a\":", b"}") };
    [&open.repeat(depth), value, &close.repeat(depth)].concat()
}

/// With the comma that goes with it.
fn remove(input: &mut Vec<u8>, span: Range<usize>) {
    let end = if input.get(span.end) == Some(&b',') { span.end + 1 } else { span.end };
    input.drain(span.start..end);
}

/// The values of the input, keys with their values among them, wherever they stand.
fn values(input: &[u8]) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut at = 0;
    while at < input.len() && spans.len() < MAX_SPANS {
        let start = at;
        at += match input[at] {
            b'{' | b'[' => {
                open.push(at);
                1
            }
            b'}' | b']' => {
                spans.extend(open.pop().map(|start| start..at + 1));
                1
            }
            b'"' => {
                let length = string_bytes(&input[at..]);
                spans.push(start..at + length);
                if input.get(at + length) == Some(&b':') {
                    spans.extend(pair(input, start, at + length + 1));
                }
                length
            }
            byte if byte.is_ascii_alphanumeric() || byte == b'-' => {
                let length = plain_bytes(&input[at..]);
                spans.push(start..at + length);
                length
            }
            _ => 1,
        };
    }
    spans
}

/// A key with its value, where the value is a plain one.
fn pair(input: &[u8], start: usize, value: usize) -> Option<Range<usize>> {
    let length = match input.get(value)? {
        b'"' => string_bytes(&input[value..]),
        b'{' | b'[' => return None,
        _ => plain_bytes(&input[value..]),
    };
    Some(start..value + length)
}

fn string_bytes(input: &[u8]) -> usize {
    let mut at = 1;
    while at < input.len() && input[at] != b'"' {
        at += if input[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(input.len())
}

fn plain_bytes(input: &[u8]) -> usize {
    input.iter().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.')).count().max(1).min(input.len())
}
