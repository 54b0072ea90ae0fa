//! Which links are let through, and links that were written without markup.

/// Longer addresses are data, not something to click on.
const ADDRESS_BYTES: usize = 2048;

const PAIRS: [(u8, u8); 3] = [(b'(', b')'), (b'[', b']'), (b'{', b'}')];

/// The scheme decides; a relative link would point into this application.
pub(crate) fn is_allowed(destination: &str) -> bool {
    ["http://", "https://", "mailto:"].iter().any(|scheme| starts_with(destination, scheme))
}

fn starts_with(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

/// Splits text at bare web addresses; true marks an address.
pub(crate) fn bare(text: &str) -> Vec<(bool, &str)> {
    let mut parts = Vec::new();
    let mut plain_from = 0;
    let mut search_from = 0;
    while let Some(found) = text[search_from..].find("http") {
        let at = search_from + found;
        let address = address(&text[at..]);
        let starts_a_word = !text[..at].ends_with(char::is_alphanumeric);
        if address.is_empty() || !starts_a_word {
            search_from = at + "http".len();
            continue;
        }
        parts.push((false, &text[plain_from..at]));
        parts.push((true, address));
        plain_from = at + address.len();
        search_from = plain_from;
    }
    parts.push((false, &text[plain_from..]));
    parts.retain(|(_, part)| !part.is_empty());
    parts
}

/// The address at the start of `text`, without the punctuation of the sentence around it; empty if there is none.
fn address(text: &str) -> &str {
    let scheme = match text {
        _ if text.starts_with("https://") => "https://".len(),
        _ if text.starts_with("http://") => "http://".len(),
        _ => return "",
    };
    let is_part = |byte: &u8| byte.is_ascii_graphic() && !b"<>\"`".contains(byte);
    let mut length = text.bytes().take(ADDRESS_BYTES + 1).take_while(is_part).count();
    if length > ADDRESS_BYTES {
        return "";
    }
    let bytes = &text.as_bytes()[..length];
    let mut surplus = PAIRS.map(|(open, close)| count(bytes, close).saturating_sub(count(bytes, open)));
    while length > 0 {
        let last = bytes[length - 1];
        let unbalanced = PAIRS.iter().zip(&mut surplus).find(|((_, close), surplus)| *close == last && **surplus > 0);
        match unbalanced {
            Some((_, surplus)) => *surplus -= 1,
            None if b".,:;!?'*_~".contains(&last) => {}
            None => break,
        }
        length -= 1;
    }
    if length > scheme { &text[..length] } else { "" }
}

fn count(bytes: &[u8], wanted: u8) -> usize {
    bytes.iter().filter(|byte| **byte == wanted).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_web_and_mail_are_linked() {
        for allowed in ["http://a", "HTTPS://a", "mailto:a@b"] {
            assert!(is_allowed(allowed), "{allowed}");
        }
        for refused in ["javascript:alert(1)", " http://a", "//a", "/a", "#a", "data:text/html,x", "file:///x", "", "ä"] {
            assert!(!is_allowed(refused), "{refused}");
        }
    }

    #[test]
    fn bare_addresses_end_where_the_sentence_goes_on() {
        for (text, expected) in [
            ("see https://a.b/c.", vec![(false, "see "), (true, "https://a.b/c"), (false, ".")]),
            ("(http://a.b/x_(y))", vec![(false, "("), (true, "http://a.b/x_(y)"), (false, ")")]),
            ("xhttp://a http:// http", vec![(false, "xhttp://a http:// http")]),
            ("ä https://a。b", vec![(false, "ä "), (true, "https://a"), (false, "。b")]),
            ("", vec![]),
        ] {
            assert_eq!(bare(text), expected);
        }
    }
}
