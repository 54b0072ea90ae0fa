//! Text as HTML text, with what people would not see of it made visible: a review that does not show what a compiler reads is worth
//! nothing.

use std::ops::Range;

use domain::text::{Piece, hidden_name, pieces, pieces_of, written_out};

/// So many hidden characters of a text are marked; a flood of them is written out without, as the page would hold more tags than text.
const MOST_MARKED: usize = 1000;

/// Appends `text` with everything that HTML would read as markup replaced.
pub(crate) fn text(text: &str, html: &mut String) {
    part(text, 0..text.len(), html);
}

/// As [`text`], for a part of it.
pub(crate) fn part(text: &str, range: Range<usize>, html: &mut String) {
    let mut marked = 0;
    for piece in pieces_of(text, range) {
        match piece {
            Piece::Plain(plain) => markup(plain, html),
            Piece::Hidden(character) if marked < MOST_MARKED => {
                marked += 1;
                html.push_str(&hidden(character));
            }
            Piece::Hidden(character) => html.push_str(&written_out(character)),
        }
    }
}

/// There are too many hidden characters to mark each.
pub(crate) fn is_flooded(text: &str) -> bool {
    pieces(text).filter(|piece| matches!(piece, Piece::Hidden(_))).nth(MOST_MARKED).is_some()
}

/// A hidden character by its number, with its name for whoever wonders.
pub(crate) fn hidden(character: char) -> String {
    let (number, name) = (u32::from(character), hidden_name(character));
    format!("<span class=\"hidden-char\" title=\"U+{number:04X} {name}\">{}</span>", written_out(character))
}

/// Appends `text` as it may stand between the quotes of an attribute.
pub(crate) fn attribute(text: &str, html: &mut String) {
    for character in text.chars() {
        match character {
            '"' => html.push_str("&quot;"),
            other => markup(other.encode_utf8(&mut [0; 4]), html),
        }
    }
}

/// Appends an address as it may stand between the quotes of an attribute: what does not belong into one is written by its number.
pub(crate) fn address(address: &str, html: &mut String) {
    for byte in address.bytes() {
        match byte {
            b'&' => html.push_str("&amp;"),
            b'\'' => html.push_str("&#39;"),
            _ if byte.is_ascii_alphanumeric() || b"!#$%()*+,-./:;=?@^_~".contains(&byte) => html.push(char::from(byte)),
            _ => html.push_str(&format!("%{byte:02X}")),
        }
    }
}

fn markup(text: &str, html: &mut String) {
    for character in text.chars() {
        match character {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            other => html.push(other),
        }
    }
}
