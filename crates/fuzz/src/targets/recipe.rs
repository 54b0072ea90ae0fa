//! What targets whose inputs are recipes have in common.

/// The bytes of hexadecimal digits, up to the first that is none.
pub(super) fn hexadecimal(text: &[u8]) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    text.chunks_exact(2).map_while(|pair| Some(digit(pair[0])? * 16 + digit(pair[1])?)).collect()
}
