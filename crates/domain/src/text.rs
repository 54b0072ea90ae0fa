//! Texts as a browser counts them, and as people have to see them.

mod hidden;

use sha2::{Digest, Sha256};

pub use hidden::{Piece, hidden_name, pieces, pieces_of, visible, written_out};

/// The number of UTF-16 code units of `text`: what JavaScript calls `length`.
pub fn utf16_len(text: &str) -> u64 {
    // Every chunk passes here, and nearly all are plain ASCII, which is known at the speed of memory.
    if text.is_ascii() {
        return text.len() as u64;
    }
    // A byte that starts a character counts one, and one more where the character needs a surrogate pair; this
    // is several times faster than decoding.
    text.bytes().map(|byte| u64::from(byte & 0xC0 != 0x80) + u64::from(byte >= 0xF0)).sum()
}

/// Cuts `text` to at most `max` bytes at a character boundary.
pub fn clip(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}

/// The last `max` bytes of `text`, at a character boundary.
pub fn clip_start(text: &str, max: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(max))..]
}

/// The SHA-256 of a text, in hexadecimal.
pub fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A word as a shell has to be told it.
pub fn shell_word(word: &str) -> String {
    let plain = |character: char| character.is_ascii_alphanumeric() || "-_./=:,@%+".contains(character);
    if !word.is_empty() && word.chars().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn length_is_what_encoding_gives(text in ".*") {
            prop_assert_eq!(utf16_len(&text), text.encode_utf16().count() as u64);
        }

        #[test]
        fn clipping_keeps_a_prefix_and_a_suffix(text in ".*", max in 0usize..40) {
            prop_assert!(text.starts_with(clip(&text, max)) && clip(&text, max).len() <= max);
            prop_assert!(text.ends_with(clip_start(&text, max)) && clip_start(&text, max).len() <= max);
        }
    }
}
