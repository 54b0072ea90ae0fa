//! Formats whose lines say by their beginning what they are.

use super::{Class, Spans};

pub(super) fn diff(text: &str, spans: &mut Spans<'_>) {
    for line in text.split_inclusive('\n') {
        let class = match line.as_bytes() {
            [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] | [b'd', b'i', b'f', b'f', b' ', ..] => Class::Heading,
            [b'@', b'@', ..] => Class::Meta,
            [b'+', ..] | [b'>', ..] => Class::Inserted,
            [b'-', ..] | [b'<', ..] => Class::Deleted,
            [b'!', ..] => Class::Changed,
            _ => Class::Plain,
        };
        push(line, class, spans);
    }
}

pub(super) fn markdown(text: &str, spans: &mut Spans<'_>) {
    let mut fence = None;
    for line in text.split_inclusive('\n') {
        let words = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| words.starts_with(mark));
        let class = match (fence, mark) {
            (None, Some(_)) => {
                fence = mark;
                Class::String
            }
            (Some(open), _) => {
                if mark == Some(open) {
                    fence = None;
                }
                Class::String
            }
            (None, None) if words.starts_with('#') => Class::Heading,
            (None, None) if words.starts_with('>') => Class::Comment,
            (None, None) => {
                inline(line, spans);
                continue;
            }
        };
        push(line, class, spans);
    }
}

/// List marks and code in a line.
fn inline(line: &str, spans: &mut Spans<'_>) {
    let words = line.trim_start();
    let indent = line.len() - words.len();
    let digits = words.len() - words.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let mark = match words.as_bytes() {
        [b'-' | b'*' | b'+', b' ', ..] => 1,
        bytes if digits > 0 && matches!(bytes.get(digits..), Some([b'.' | b')', b' ', ..])) => digits + 1,
        _ => 0,
    };
    spans.push(&line[..indent + mark], Class::Operator);
    let mut is_code = false;
    for part in line[indent + mark..].split_inclusive('`') {
        let (words, tick) = match part.strip_suffix('`') {
            Some(words) => (words, "`"),
            None => (part, ""),
        };
        push(words, if is_code { Class::String } else { Class::Plain }, spans);
        spans.push(tick, Class::String);
        is_code = !is_code;
    }
}

/// The end of a line is no part of its colour.
fn push(line: &str, class: Class, spans: &mut Spans<'_>) {
    let body = line.trim_end_matches('\n');
    spans.push(body, class);
    spans.push(&line[body.len()..], Class::Plain);
}
