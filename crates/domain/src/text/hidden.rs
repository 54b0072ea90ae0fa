//! Characters that are not seen, or that put others into another order, made visible.
//!
//! Letters that merely look like others are left alone: every script has them, and text in it would become unreadable.

use std::borrow::Cow;
use std::ops::Range;

/// A part of a text as people have to see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Piece<'a> {
    Plain(&'a str),
    /// One that would not be seen as what it is.
    Hidden(char),
}

/// The text with every hidden character written out, such as `⟨U+202E⟩`.
pub fn visible(text: &str) -> Cow<'_, str> {
    let mut pieces = pieces(text).peekable();
    match pieces.next() {
        None => return Cow::Borrowed(text),
        Some(Piece::Plain(all)) if pieces.peek().is_none() => return Cow::Borrowed(all),
        Some(_) => {}
    }
    let mut out = String::with_capacity(text.len() + 16);
    for piece in self::pieces(text) {
        match piece {
            Piece::Plain(plain) => out.push_str(plain),
            Piece::Hidden(character) => out.push_str(&written_out(character)),
        }
    }
    Cow::Owned(out)
}

/// How a hidden character is shown.
pub fn written_out(character: char) -> String {
    format!("⟨U+{:04X}⟩", u32::from(character))
}

/// What the standard calls the ones that matter most.
pub fn hidden_name(character: char) -> &'static str {
    match character {
        '\u{8}' => "BACKSPACE",
        '\r' => "CARRIAGE RETURN",
        '\u{1B}' => "ESCAPE",
        '\u{AD}' => "SOFT HYPHEN",
        '\u{61C}' => "ARABIC LETTER MARK",
        '\u{200B}' => "ZERO WIDTH SPACE",
        '\u{200C}' => "ZERO WIDTH NON-JOINER",
        '\u{200D}' => "ZERO WIDTH JOINER",
        '\u{200E}' => "LEFT-TO-RIGHT MARK",
        '\u{200F}' => "RIGHT-TO-LEFT MARK",
        '\u{2028}' => "LINE SEPARATOR",
        '\u{2029}' => "PARAGRAPH SEPARATOR",
        '\u{202A}' => "LEFT-TO-RIGHT EMBEDDING",
        '\u{202B}' => "RIGHT-TO-LEFT EMBEDDING",
        '\u{202C}' => "POP DIRECTIONAL FORMATTING",
        '\u{202D}' => "LEFT-TO-RIGHT OVERRIDE",
        '\u{202E}' => "RIGHT-TO-LEFT OVERRIDE",
        '\u{2060}' => "WORD JOINER",
        '\u{2066}' => "LEFT-TO-RIGHT ISOLATE",
        '\u{2067}' => "RIGHT-TO-LEFT ISOLATE",
        '\u{2068}' => "FIRST STRONG ISOLATE",
        '\u{2069}' => "POP DIRECTIONAL ISOLATE",
        '\u{FEFF}' => "ZERO WIDTH NO-BREAK SPACE",
        '\u{E0000}'..='\u{E007F}' => "TAG CHARACTER",
        '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}' => "VARIATION SELECTOR",
        control if control.is_control() => "CONTROL CHARACTER",
        _ => "INVISIBLE CHARACTER",
    }
}

/// The text in order, hidden characters one by one.
pub fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    pieces_of(text, 0..text.len())
}

/// A part of a text. What is hidden depends on what stands around it.
pub fn pieces_of(text: &str, part: Range<usize>) -> impl Iterator<Item = Piece<'_>> {
    let mut from = part.start;
    std::iter::from_fn(move || {
        let rest = text.get(from..part.end).filter(|rest| !rest.is_empty())?;
        let hidden = rest.char_indices().find(|(at, character)| is_hidden(text, from + at, *character));
        match hidden {
            Some((0, character)) => {
                from += character.len_utf8();
                Some(Piece::Hidden(character))
            }
            Some((at, _)) => {
                from += at;
                Some(Piece::Plain(&rest[..at]))
            }
            None => {
                from = part.end;
                Some(Piece::Plain(rest))
            }
        }
    })
}

fn is_hidden(text: &str, at: usize, character: char) -> bool {
    match character {
        '\n' | '\t' | ' '..='~' => false,
        '\r' => !text[at + 1..].starts_with('\n'),
        '\u{200D}' | '\u{FE0E}' | '\u{FE0F}' => !is_in_emoji(text, at, character),
        '\0'..='\u{9F}' => true,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' => true,
        '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' => true,
        '\u{3164}' | '\u{FE00}'..='\u{FE0D}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF9}'..='\u{FFFB}' => true,
        '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}' => true,
        _ => false,
    }
}

/// One that makes an emoji of what is around it, and is seen by that.
fn is_in_emoji(text: &str, at: usize, character: char) -> bool {
    let mut before = text[..at].chars().rev();
    let mut after = text[at + character.len_utf8()..].chars();
    let modifier = |character: &char| matches!(character, '\u{FE0F}' | '\u{1F3FB}'..='\u{1F3FF}');
    match character {
        '\u{200D}' => before.find(|character| !modifier(character)).is_some_and(is_emoji) && after.next().is_some_and(is_emoji),
        _ => before.next().is_some_and(|base| is_emoji(base) || (is_key(base) && after.next() == Some('\u{20E3}'))),
    }
}

fn is_key(character: char) -> bool {
    matches!(character, '0'..='9' | '#' | '*')
}

fn is_emoji(character: char) -> bool {
    matches!(character,
        '\u{A9}' | '\u{AE}' | '\u{203C}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2190}'..='\u{2BFF}'
        | '\u{3030}' | '\u{303D}' | '\u{3297}' | '\u{3299}' | '\u{1F000}'..='\u{1FAFF}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_hides_or_reorders_is_written_out() {
        let table = [
            ("if admin\u{202E}\u{2066} // ok", "if admin⟨U+202E⟩⟨U+2066⟩ // ok"),
            ("a\u{200B}b\u{AD}c\u{FEFF}", "a⟨U+200B⟩b⟨U+00AD⟩c⟨U+FEFF⟩"),
            ("\u{1b}[31mred", "⟨U+001B⟩[31mred"),
            ("safe\rrm -rf", "safe⟨U+000D⟩rm -rf"),
            ("dos\r\nline\n\ttab", "dos\r\nline\n\ttab"),
            ("a\u{2028}b\u{85}c", "a⟨U+2028⟩b⟨U+0085⟩c"),
            ("tag\u{E0041}\u{E0100}", "tag⟨U+E0041⟩⟨U+E0100⟩"),
            ("\u{3164}\u{FFA0}\u{115F}", "⟨U+3164⟩⟨U+FFA0⟩⟨U+115F⟩"),
            ("a\u{200D}b \u{FE0F}", "a⟨U+200D⟩b ⟨U+FE0F⟩"),
            ("👩\u{200D}💻 ❤\u{FE0F} 1\u{FE0F}\u{20E3} 👩🏽\u{200D}🚀", "👩\u{200D}💻 ❤\u{FE0F} 1\u{FE0F}\u{20E3} 👩🏽\u{200D}🚀"),
            ("👩\u{200D}rm", "👩⟨U+200D⟩rm"),
            ("שלום, ä, 漢字, Привет", "שלום, ä, 漢字, Привет"),
        ];
        for (text, expected) in table {
            assert_eq!(visible(text), expected);
        }
        assert!(matches!(visible("nothing here"), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn nothing_is_dropped_and_nothing_hidden_is_left(text in "\\PC*|[\\x00-\\u{ff}\u{2000}-\u{20ff}\u{1F000}-\u{1F0FF}\u{E0000}-\u{E0100}]*") {
            let mut whole = String::new();
            for piece in pieces(&text) {
                match piece {
                    Piece::Plain(plain) => whole.push_str(plain),
                    Piece::Hidden(character) => whole.push(character),
                }
            }
            prop_assert_eq!(&whole, &text);
            let shown = visible(&text).into_owned();
            prop_assert_eq!(visible(&shown), shown.as_str());
        }
    }
}
