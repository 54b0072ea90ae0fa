//! HTML, XML and their kin, with the scripts and styles inside.

use super::{Class, Spans, code, language};

pub(super) fn scan(text: &str, spans: &mut Spans<'_>) {
    let mut rest = text;
    while !rest.is_empty() {
        rest = match rest.find(['<', '&']) {
            Some(0) => mark(rest, spans),
            at => {
                let (words, after) = rest.split_at(at.unwrap_or(rest.len()));
                spans.push(words, Class::Plain);
                after
            }
        };
    }
}

/// Takes a comment, a tag or an entity; returns what is after it.
fn mark<'a>(text: &'a str, spans: &mut Spans<'_>) -> &'a str {
    if text.starts_with("<!--") {
        return take(text, text.find("-->").map_or(text.len(), |at| at + 3), Class::Comment, spans);
    }
    if let Some(name) = text.strip_prefix('&') {
        let length = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '#').unwrap_or(name.len());
        let is_entity = length > 0 && name[length..].starts_with(';');
        return if is_entity { take(text, length + 2, Class::Escape, spans) } else { take(text, 1, Class::Plain, spans) };
    }
    let named = text[1..].trim_start_matches(['/', '!', '?']);
    if !named.starts_with(|c: char| c.is_alphabetic() || c == '_') {
        return take(text, 1, Class::Plain, spans);
    }
    let before = text.len() - named.len();
    let name = &named[..named.find(|c: char| !is_name(c)).unwrap_or(named.len())];
    let rest = attributes(take(text, before + name.len(), Class::Tag, spans), spans);
    match before {
        1 => embedded(name, rest, spans),
        _ => rest,
    }
}

/// Takes what is up to and with the `>` of a tag.
fn attributes<'a>(text: &'a str, spans: &mut Spans<'_>) -> &'a str {
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        rest = match first {
            '>' => return take(rest, 1, Class::Tag, spans),
            '<' => return rest,
            '"' | '\'' => {
                let length = rest[1..].find(first).map_or(rest.len(), |at| at + 2);
                take(rest, length, Class::String, spans)
            }
            '/' | '?' => take(rest, 1, Class::Tag, spans),
            first if is_name(first) || first == '@' => {
                let length = rest.find(|c: char| !is_name(c) && c != '@').unwrap_or(rest.len());
                take(rest, length, Class::Attribute, spans)
            }
            first => take(rest, first.len_utf8(), Class::Plain, spans),
        };
    }
    rest
}

/// After `<script>` and `<style>` comes another language, up to the tag that closes it.
fn embedded<'a>(name: &str, text: &'a str, spans: &mut Spans<'_>) -> &'a str {
    let (language, close) = match name {
        "script" => ("js", "</script"),
        "style" => ("css", "</style"),
        _ => return text,
    };
    let (inside, rest) = text.split_at(text.find(close).unwrap_or(text.len()));
    match language::grammar(language) {
        Some(grammar) => code::scan(inside, grammar, spans),
        None => spans.push(inside, Class::Plain),
    }
    rest
}

fn take<'a>(text: &'a str, length: usize, class: Class, spans: &mut Spans<'_>) -> &'a str {
    let (token, rest) = text.split_at(length);
    spans.push(token, class);
    rest
}

fn is_name(character: char) -> bool {
    character.is_alphanumeric() || "_-:.".contains(character)
}
