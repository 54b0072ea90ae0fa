//! A bound on the shape of an agent's JSON: how deep it is nested, and how many values there are.
//!
//! What is stored of it stands inside records of ours, and a record that is nested too deep could be written and never be read again.
//! And a value costs up to seventy times its text once it is parsed, so the text is made smaller before anybody parses it.

use std::borrow::Cow;

/// How deep a value may be nested below its message.
const MAX_DEPTH: usize = 64;
/// Stands in the place of what is nested deeper.
const TOO_DEEP: &str = "\"(nested too deep)\"";

/// So many values are kept of one part of a message: of a list, or of an object below those that every message has. The first ones.
const MAX_PART: usize = 20_000;
/// So many of all parts together.
const MAX_VALUES: usize = 50_000;
/// The message, its parameters, and what those are about. The fields of these are not dropped for what stands in another field.
const FRAME_DEPTH: usize = 3;
const MAX_FIELDS: usize = 128;
/// So many messages of a batch are read.
const MAX_BATCH: usize = 1024;
/// A key by which `serde_json` would parse the text behind it as JSON of its own.
const PARSED_KEY: &str = "$serde_json::private::RawValue";
const HARMLESS_KEY: &str = "\"$raw\"";

/// A line that can be parsed.
pub(crate) struct Bounded<'a> {
    pub text: Cow<'a, str>,
    /// Values were left out since there were too many.
    pub is_cut: bool,
}

/// The line with what is nested too deep replaced by a short text, and without what goes beyond the number of values. `None` where it is
/// not JSON.
pub(crate) fn bounded(line: &str) -> Option<Bounded<'_>> {
    let is_batch = line.starts_with('[');
    // A batch is one level more, and so is the message itself.
    let most_deep = MAX_DEPTH + 1 + usize::from(is_batch);
    let opening = line.bytes().filter(|byte| matches!(byte, b'{' | b'[')).take(most_deep + 1).count();
    // A value and what separates it from the next are two bytes at least.
    let is_many = line.len() > 2 * MAX_PART && line.bytes().filter(|byte| matches!(byte, b'{' | b'[' | b',')).count() > MAX_PART;
    if opening <= most_deep && !is_many {
        return Some(Bounded { text: Cow::Borrowed(line), is_cut: false });
    }
    let mut scan = Scan { line, at: 0, out: String::new(), copied: 0, most_deep, is_batch, values: 0, is_cut: false };
    scan.value(1, &mut None)?;
    scan.space();
    if scan.at < line.len() {
        return None;
    }
    Some(scan.finish())
}

/// Reads a line once and copies what is kept. It accepts whatever a parser would: what it lets through unread must not exist.
struct Scan<'a> {
    line: &'a str,
    at: usize,
    out: String,
    /// Everything before this is in `out` or left out.
    copied: usize,
    most_deep: usize,
    is_batch: bool,
    values: usize,
    is_cut: bool,
}

/// How many values a part still may have; `None` outside of any.
type Part = Option<usize>;

impl<'a> Scan<'a> {
    fn finish(mut self) -> Bounded<'a> {
        if self.copied == 0 {
            return Bounded { text: Cow::Borrowed(self.line), is_cut: self.is_cut };
        }
        self.out.push_str(&self.line[self.copied..]);
        Bounded { text: Cow::Owned(self.out), is_cut: self.is_cut }
    }

    fn value(&mut self, depth: usize, part: &mut Part) -> Option<()> {
        self.values += 1;
        if let Some(left) = part {
            *left = left.saturating_sub(1);
        }
        self.space();
        match self.peek()? {
            b'{' | b'[' if depth > self.most_deep => {
                let from = self.at;
                self.skip_value()?;
                self.replace(from, TOO_DEEP);
                Some(())
            }
            open @ (b'{' | b'[') => match part {
                None if !self.is_frame(open, depth) => self.container(open, depth, &mut Some(MAX_PART)),
                part => self.container(open, depth, part),
            },
            b'"' => self.string(),
            _ => self.scalar(),
        }
    }

    /// Whether it belongs to what every message has, where `open` opens it.
    fn is_frame(&self, open: u8, depth: usize) -> bool {
        match open {
            b'{' => depth <= FRAME_DEPTH + usize::from(self.is_batch),
            _ => self.is_batch && depth == 1,
        }
    }

    /// An object or a list: its elements for as long as there is room, and then its end.
    fn container(&mut self, open: u8, depth: usize, part: &mut Part) -> Option<()> {
        let close = if open == b'{' { b'}' } else { b']' };
        self.at += 1;
        self.space();
        if self.peek()? == close {
            self.at += 1;
            return Some(());
        }
        let most = if open == b'{' { MAX_FIELDS } else { MAX_BATCH };
        let mut kept = 0;
        loop {
            let has_room = match part {
                Some(left) => *left > 0 && self.values < MAX_VALUES,
                None => kept < most && self.values < 2 * MAX_VALUES,
            };
            if !has_room {
                return self.drop_rest(kept == 0, close);
            }
            if open == b'{' {
                self.space();
                self.key()?;
                self.space();
                (self.peek()? == b':').then_some(())?;
                self.at += 1;
            }
            self.value(depth + 1, part)?;
            kept += 1;
            self.space();
            match self.peek()? {
                b',' => self.at += 1,
                end if end == close => {
                    self.at += 1;
                    return Some(());
                }
                _ => return None,
            }
        }
    }

    /// Leaves out the elements from here to the end of the container, the comma before them included.
    fn drop_rest(&mut self, is_first: bool, close: u8) -> Option<()> {
        let from = if is_first { self.at } else { self.at - 1 };
        self.is_cut = true;
        self.skip_to_end(close)?;
        self.replace(from, "");
        self.at += 1;
        Some(())
    }

    /// Up to what closes the container that `at` is in.
    fn skip_to_end(&mut self, close: u8) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.peek()? {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                end @ (b'}' | b']') if depth == 0 => return (end == close).then_some(()),
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            self.at += 1;
        }
    }

    fn skip_value(&mut self) -> Option<()> {
        let close = if self.peek()? == b'{' { b'}' } else { b']' };
        self.at += 1;
        self.skip_to_end(close)?;
        self.at += 1;
        Some(())
    }

    fn key(&mut self) -> Option<()> {
        let from = self.at;
        (self.peek()? == b'"').then_some(())?;
        self.string()?;
        let key = &self.line[from..self.at];
        let is_parsed = match key.contains('\\') {
            true => key.len() <= 6 * PARSED_KEY.len() + 2 && serde_json::from_str::<String>(key).is_ok_and(|key| key == PARSED_KEY),
            false => key[1..key.len() - 1] == *PARSED_KEY,
        };
        if is_parsed {
            self.replace(from, HARMLESS_KEY);
        }
        Some(())
    }

    fn string(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            match self.peek()? {
                b'"' => break,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        Some(())
    }

    /// A number or a word; whether it is one, the parser says.
    fn scalar(&mut self) -> Option<()> {
        let rest = &self.line.as_bytes()[self.at..];
        let length = rest.iter().position(|byte| matches!(byte, b',' | b']' | b'}' | b' ' | b'\t' | b'\r' | b'\n')).unwrap_or(rest.len());
        self.at += length;
        (length > 0).then_some(())
    }

    fn space(&mut self) {
        while self.peek().is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.line.as_bytes().get(self.at).copied()
    }

    /// Puts a text in the place of everything from `from` to here.
    fn replace(&mut self, from: usize, by: &str) {
        self.out.push_str(&self.line[self.copied..from]);
        self.out.push_str(by);
        self.copied = self.at;
    }
}

#[cfg(test)]
mod tests;
