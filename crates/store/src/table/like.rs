//! Looking for words in texts: the database narrows down, and what it finds is looked at again, since it knows no case but ASCII's.

/// What somebody looks for, in whatever case.
pub(crate) struct Sought {
    lower: String,
}

impl Sought {
    pub(crate) fn new(text: &str) -> Sought {
        Sought { lower: lower(text) }
    }

    /// For `LIKE … ESCAPE '\'`: finds at least everything that holds the text.
    pub(crate) fn pattern(&self) -> String {
        let mut pattern = String::from("%");
        for letter in self.lower.chars() {
            match letter {
                '%' | '_' | '\\' => pattern.extend(['\\', letter]),
                letter if letter.is_ascii() => pattern.push(letter),
                _ => pattern.push('%'),
            }
        }
        pattern.push('%');
        pattern
    }

    /// Where in the text it first is: its bytes from and to.
    pub(crate) fn find(&self, text: &str) -> Option<(usize, usize)> {
        let from = lower(text).find(&self.lower)?;
        let to = from + self.lower.len();
        // Lower case may be longer or shorter, so the text is counted along with it.
        let mut counted = 0;
        let mut begin = None;
        for (place, letter) in text.char_indices() {
            let next = counted + letter.to_lowercase().map(char::len_utf8).sum::<usize>();
            if begin.is_none() && next > from {
                begin = Some(place);
            }
            if let Some(begin) = begin
                && next >= to
            {
                return Some((begin, place + letter.len_utf8()));
            }
            counted = next;
        }
        None
    }
}

fn lower(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_the_database_would_read_as_a_wildcard_is_escaped() {
        assert_eq!(Sought::new(r"100%_\x").pattern(), r"%100\%\_\\x%");
        assert_eq!(Sought::new("Grüße").pattern(), "%gr%%e%");
    }

    #[test]
    fn a_text_is_found_in_whatever_case() {
        let table =
            [("Über uns", "ÜBER", Some((0, 5))), ("a 100% b", "100%", Some((2, 6))), ("aİb", "b", Some((3, 4))), ("abc", "d", None)];
        for (text, query, expected) in table {
            assert_eq!(Sought::new(query).find(text), expected, "{query} in {text}");
        }
    }

    proptest! {
        #[test]
        fn a_find_is_a_piece_of_the_text(text in ".{0,40}", query in ".{1,3}") {
            if let Some((from, to)) = Sought::new(&query).find(&text) {
                prop_assert!(text.get(from..to).is_some_and(|found| !found.is_empty()));
            }
        }
    }
}
