//! Text as HTML text.

/// Appends `text` with everything that HTML would read as markup replaced.
pub(crate) fn text(text: &str, html: &mut String) {
    for character in text.chars() {
        match character {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '\0' => html.push('\u{fffd}'),
            other => html.push(other),
        }
    }
}

/// As [`text`], for code: characters that reorder what is seen are shown by their number, since a review that does not show
/// what a compiler reads is worth nothing.
pub(crate) fn code(source: &str, html: &mut String) {
    let mut rest = source;
    while let Some(at) = rest.find(is_reordering) {
        text(&rest[..at], html);
        let character = rest[at..].chars().next().unwrap_or_default();
        html.push_str(&format!("<span class=\"hl-invalid\">U+{:04X}</span>", u32::from(character)));
        rest = &rest[at + character.len_utf8()..];
    }
    text(rest, html);
}

fn is_reordering(character: char) -> bool {
    matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
