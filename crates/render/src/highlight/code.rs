//! Languages of words, strings and comments, which are nearly all.

use super::language::{Grammar, Keys, Quote};
use super::{Class, Spans};

const OPERATORS: &str = "+-*/%=<>!&|^~?:";

/// How many characters on the other bracket of a pair may be.
const NEAR: usize = 300;

pub(super) fn scan(text: &str, grammar: &Grammar, spans: &mut Spans<'_>) {
    let mut scanner = Scanner { text, at: 0, grammar, spans, braces: 0 };
    while scanner.at < text.len() {
        scanner.token();
    }
}

/// Each step takes at least one character and looks ahead no further than it takes, but over blanks or to what is near: one pass.
struct Scanner<'a, 'b> {
    text: &'a str,
    at: usize,
    grammar: &'a Grammar,
    spans: &'a mut Spans<'b>,
    braces: usize,
}

impl<'a> Scanner<'a, '_> {
    fn token(&mut self) {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else {
            return;
        };
        if first.is_whitespace() {
            self.take(rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len()), Class::Plain);
        } else if let Some(length) = self.comment() {
            self.take(length, Class::Comment);
        } else if let Some(length) = self.directive(first) {
            self.take(length, Class::Meta);
        } else if let Some(length) = self.raw_string() {
            self.take(length, Class::String);
        } else if let Some((prefix, quote)) = self.quote() {
            self.string(prefix, quote);
        } else if first.is_ascii_digit() {
            self.take(number(rest), Class::Number);
        } else if let Some(length) = self.sigil(first) {
            self.take(length, Class::Variable);
        } else if self.is_word(first) {
            self.word();
        } else if OPERATORS.contains(first) {
            self.take(first.len_utf8(), Class::Operator);
        } else {
            self.braces = match first {
                '{' => self.braces + 1,
                '}' => self.braces.saturating_sub(1),
                _ => self.braces,
            };
            self.take(first.len_utf8(), Class::Plain);
        }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn take(&mut self, length: usize, class: Class) {
        self.spans.push(&self.rest()[..length], class);
        self.at += length;
    }

    fn before(&self) -> Option<char> {
        self.text[..self.at].chars().next_back()
    }

    fn is_at_line_start(&self) -> bool {
        let before = self.text[..self.at].trim_end_matches([' ', '\t']);
        before.is_empty() || before.ends_with('\n')
    }

    fn comment(&self) -> Option<usize> {
        let rest = self.rest();
        if let Some((open, close)) = self.grammar.block_comment
            && let Some(inside) = rest.strip_prefix(open)
        {
            return Some(open.len() + until(inside, close));
        }
        let starts = |mark: &&&str| rest.starts_with(**mark);
        let mark = self.grammar.line_comments.iter().find(starts)?;
        // `$#`, `a#b`, and the address `https://…` are no comments.
        let is_part_of_a_word = match *mark {
            "#" => self.before().is_some_and(|c| !c.is_whitespace() && !";)".contains(c)),
            "//" => self.before() == Some(':'),
            _ => false,
        };
        (!is_part_of_a_word).then(|| rest.find('\n').unwrap_or(rest.len()))
    }

    /// `#[derive(…)]`, `#include`, `@decorator`, `[section]`.
    fn directive(&self, first: char) -> Option<usize> {
        let rest = self.rest();
        match first {
            '#' if self.grammar.has_attributes && (rest.starts_with("#[") || rest.starts_with("#![")) => balanced(rest, '[', ']'),
            '#' if self.grammar.has_preprocessor && self.is_at_line_start() => {
                let name = rest[1..].trim_start_matches([' ', '\t']);
                Some(rest.len() - name.len() + word_length(name, ""))
            }
            '[' if self.grammar.keys == Keys::Assigned && self.is_at_line_start() => balanced(rest, '[', ']'),
            '@' if self.grammar.has_decorators => Some(1 + word_length(&rest[1..], ".-")).filter(|length| *length > 1),
            _ => None,
        }
    }

    /// `r"…"` and `r#"…"#`, with any number of marks.
    fn raw_string(&self) -> Option<usize> {
        if !self.grammar.has_attributes {
            return None;
        }
        let rest = self.rest();
        let marked = rest.strip_prefix("br").or_else(|| rest.strip_prefix('r'))?;
        let marks = marked.len() - marked.trim_start_matches('#').len();
        let inside = marked[marks..].strip_prefix('"')?;
        let close = format!("\"{}", "#".repeat(marks));
        Some(rest.len() - inside.len() + until(inside, &close))
    }

    /// The string that begins here, and the length of the letters before its mark, such as the `f` of `f"…"`.
    fn quote(&self) -> Option<(usize, &'static Quote)> {
        let rest = self.rest();
        let letters = rest.bytes().take(3).take_while(u8::is_ascii_alphabetic).count();
        let is_prefix = letters > 0 && self.grammar.string_prefixes.split(' ').any(|prefix| prefix.eq_ignore_ascii_case(&rest[..letters]));
        let prefix = match letters {
            0 => 0,
            _ if is_prefix => letters,
            _ => return None,
        };
        let quote = self.grammar.quotes.iter().find(|quote| rest[prefix..].starts_with(quote.mark))?;
        // A lifetime is no character, and an apostrophe no quotation mark.
        let is_string = match quote.mark {
            "'" if self.grammar.has_attributes => is_character(&rest[prefix..]),
            "'" => prefix > 0 || !self.before().is_some_and(char::is_alphanumeric),
            _ => true,
        };
        is_string.then_some((prefix, quote))
    }

    fn string(&mut self, prefix: usize, quote: &Quote) {
        let key = self.is_key_string(prefix, quote);
        let class = if key { Class::Attribute } else { Class::String };
        self.take(prefix + quote.mark.len(), class);
        while let Some(next) = self.rest().chars().next() {
            let rest = self.rest();
            if rest.starts_with(quote.mark) {
                return self.take(quote.mark.len(), class);
            }
            if next == '\n' && !quote.spans_lines {
                return;
            }
            if next == '\\' && quote.escapes {
                let escaped = rest[1..].chars().next().filter(|c| *c != '\n' || quote.spans_lines);
                self.take(1 + escaped.map_or(0, char::len_utf8), Class::Escape);
                continue;
            }
            if next == '$'
                && quote.interpolates
                && let Some(length) = variable(rest)
            {
                self.take(length, Class::Variable);
                continue;
            }
            let is_special = |c: char| c == '\n' || c == '\\' || c == '$' || quote.mark.starts_with(c);
            let more = rest[next.len_utf8()..].find(is_special).map_or(rest.len(), |at| at + next.len_utf8());
            self.take(more, class);
        }
    }

    /// Whether this string names a value, as in JSON.
    fn is_key_string(&self, prefix: usize, quote: &Quote) -> bool {
        if self.grammar.keys != Keys::Quoted {
            return false;
        }
        let inside = &self.rest()[prefix + quote.mark.len()..];
        let mut is_escaped = false;
        let end = inside.find(|c: char| {
            let ends = !is_escaped && (c == '\n' || quote.mark.starts_with(c));
            is_escaped = c == '\\' && !is_escaped;
            ends
        });
        let after = end.and_then(|end| inside[end..].strip_prefix(quote.mark));
        after.is_some_and(|after| after.trim_start_matches([' ', '\t']).starts_with(':'))
    }

    fn sigil(&self, first: char) -> Option<usize> {
        match first {
            '$' if self.grammar.has_variables => variable(self.rest()),
            '\'' if self.grammar.has_attributes => Some(1 + word_length(&self.rest()[1..], "")),
            _ => None,
        }
    }

    fn is_word(&self, character: char) -> bool {
        character.is_alphabetic() || character == '_' || self.grammar.word_marks.contains(character)
    }

    fn word(&mut self) {
        let rest = self.rest();
        let word = &rest[..word_length(rest, self.grammar.word_marks)];
        let class = self.class_of(word, &rest[word.len()..]);
        self.take(word.len(), class);
    }

    fn class_of(&self, word: &str, after: &str) -> Class {
        let grammar = self.grammar;
        let is_one_of = |words: &str| match grammar.ignores_case {
            true => words.split_ascii_whitespace().any(|known| known.eq_ignore_ascii_case(word)),
            false => words.split_ascii_whitespace().any(|known| known == word),
        };
        let next = after.trim_start_matches([' ', '\t']);
        let is_key = match grammar.keys {
            Keys::None | Keys::Quoted => false,
            Keys::Colon => next.strip_prefix(':').is_some_and(|value| value.is_empty() || value.starts_with(char::is_whitespace)),
            Keys::Assigned => next.starts_with('=') && !next.starts_with("=="),
            Keys::Braced => self.braces > 0 && next.starts_with(':'),
        };
        let is_member = self.before() == Some('.');
        match () {
            () if is_key => Class::Attribute,
            () if !is_member && is_one_of(grammar.keywords) => Class::Keyword,
            () if !is_member && is_one_of(grammar.constants) => Class::Constant,
            () if grammar.calls && next.starts_with('(') => Class::Function,
            () if grammar.has_attributes && after.starts_with('!') && !after.starts_with("!=") => Class::Function,
            () if grammar.has_types && word.starts_with(char::is_uppercase) => match word.len() > 1 && !word.contains(char::is_lowercase) {
                true => Class::Constant,
                false => Class::Type,
            },
            () => Class::Plain,
        }
    }
}

/// The length up to and with `close`, or to the end.
fn until(text: &str, close: &str) -> usize {
    text.find(close).map_or(text.len(), |at| at + close.len())
}

fn word_length(text: &str, marks: &str) -> usize {
    text.find(|c: char| !c.is_alphanumeric() && c != '_' && !marks.contains(c)).unwrap_or(text.len())
}

/// The length up to the bracket that closes the first one, if that is near and on the same line.
fn balanced(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, character) in text.char_indices().take(NEAR).take_while(|(_, character)| *character != '\n') {
        if character == open {
            depth += 1;
        } else if character == close {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return Some(at + close.len_utf8());
            }
        }
    }
    None
}

/// `1_000`, `0xff`, `1.5e-3`, `12px`.
fn number(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_part = |at: usize| match bytes[at] {
        b'.' => bytes.get(at + 1).is_some_and(u8::is_ascii_digit),
        b'+' | b'-' => matches!(bytes[at - 1], b'e' | b'E') && !text.starts_with("0x") && bytes.get(at + 1).is_some_and(u8::is_ascii_digit),
        byte => byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'%',
    };
    (1..bytes.len()).find(|at| !is_part(*at)).unwrap_or(bytes.len())
}

/// `$name`, `${…}` on one line, `$1`, `$?`.
fn variable(text: &str) -> Option<usize> {
    let name = &text[1..];
    if name.starts_with('{') {
        return balanced(name, '{', '}').map(|length| 1 + length);
    }
    let length = match word_length(name, "") {
        0 => name.chars().next().filter(|c| "?!#@*$".contains(*c)).map_or(0, char::len_utf8),
        length => length,
    };
    (length > 0).then_some(1 + length)
}

/// Whether a single quote begins a character such as `'a'` or `'\n'`.
fn is_character(text: &str) -> bool {
    let mut characters = text.chars().skip(1);
    match characters.next() {
        Some('\\') => true,
        Some('\'') | None => false,
        Some(_) => characters.next() == Some('\''),
    }
}
