//! What a command has printed, as much of its end as may be kept. Pure.

pub(super) struct Screen {
    bytes: Vec<u8>,
    limit: usize,
    truncated: bool,
}

impl Screen {
    pub(super) fn new(limit: usize) -> Self {
        Self { bytes: Vec::new(), limit, truncated: false }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        // Cut seldom and much: moving the rest costs as much as there is of it.
        if self.bytes.len() > 2 * self.limit {
            self.cut();
        }
    }

    /// The end of the output within the limit, beginning between two characters, and whether anything is missing before it.
    pub(super) fn text(&mut self) -> (String, bool) {
        if self.bytes.len() > self.limit {
            self.cut();
        }
        (String::from_utf8_lossy(&self.bytes).into_owned(), self.truncated)
    }

    fn cut(&mut self) {
        let mut start = self.bytes.len() - self.limit;
        // A character is at most four bytes long; what goes on for longer is none.
        let rest = self.bytes[start..].iter().take(3);
        start += rest.take_while(|byte| **byte & 0b1100_0000 == 0b1000_0000).count();
        self.bytes.drain(..start);
        self.truncated = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_kept_and_no_character_is_split() {
        let mut screen = Screen::new(5);
        screen.push("aé".as_bytes());
        assert_eq!(screen.text(), ("aé".to_owned(), false));
        screen.push("😀b".as_bytes());
        assert_eq!(screen.text(), ("😀b".to_owned(), true));
        screen.push("cd".as_bytes());
        assert_eq!(screen.text(), ("bcd".to_owned(), true));
        screen.push("x".repeat(100).as_bytes());
        assert_eq!(screen.text(), ("xxxxx".to_owned(), true));
        let mut nothing = Screen::new(0);
        nothing.push(b"x");
        assert_eq!(nothing.text(), (String::new(), true));
    }
}
