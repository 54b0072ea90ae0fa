//! How much a tool may say. Text for a model is cut at whole lines and the cut is always announced by the caller.

/// Upper bound of what one tool call tells the model.
pub(crate) const CONTENT_BYTES: usize = 64 * 1024;

/// The longest prefix of whole lines within `limit_bytes`; of a first line that is too long, as much as fits.
pub(crate) fn whole_lines(text: &str, limit_bytes: usize) -> &str {
    if text.len() <= limit_bytes {
        return text;
    }
    let head = prefix(text, limit_bytes);
    match head.rfind('\n') {
        Some(end) => &head[..=end],
        None => head,
    }
}

/// The longest prefix within `limit_bytes` that does not split a character.
pub(crate) fn prefix(text: &str, limit_bytes: usize) -> &str {
    &text[..text.floor_char_boundary(limit_bytes)]
}

/// A NUL cannot be stored as text everywhere, so none leaves this crate.
pub(crate) fn clean(text: &str) -> String {
    text.replace('\0', "\u{2400}")
}

/// A name as a model gave it, short enough to be repeated in a message.
pub(crate) fn name(given: &str) -> String {
    let short = prefix(given, 200);
    let mark = if short.len() < given.len() { "…" } else { "" };
    let visible: String = short.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    format!("{visible}{mark}")
}

/// A size as people write it.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} bytes");
    }
    let mut amount = bytes as f64 / 1024.0;
    let mut unit = 0;
    while amount >= 1024.0 && unit + 1 < UNITS.len() {
        amount /= 1024.0;
        unit += 1;
    }
    format!("{amount:.1} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_at_lines_and_never_inside_a_character() {
        for (text, limit, expected) in
            [("ab\ncd\n", 10, "ab\ncd\n"), ("ab\ncd\n", 5, "ab\n"), ("abcdef", 3, "abc"), ("äöü", 3, "ä"), ("", 0, "")]
        {
            assert_eq!(whole_lines(text, limit), expected, "{text:?} within {limit}");
        }
    }

    #[test]
    fn sizes_are_readable() {
        for (bytes, expected) in [(5, "5 bytes"), (1024, "1.0 KiB"), (52_428_800, "50.0 MiB")] {
            assert_eq!(size(bytes), expected);
        }
    }
}
