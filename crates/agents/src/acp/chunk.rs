//! Message text straight out of a line, for the kind of line that comes by the hundred thousand.
//!
//! The lines of one answer differ only in their text. So the first is parsed, and what stands around its text is remembered: a line
//! that begins and ends the same, with nothing between that JSON would read otherwise, means the same but for its text.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Deserialize;

const KIND: &str = "agent_message_chunk";
/// Where the kind of an update stands at the latest, and how much around a text is remembered at most.
const LOOKED_AT: usize = 256;
const REMEMBERED: usize = 1024;

/// The line of the last chunk without its text, and its session.
#[derive(Default)]
pub(super) struct Form {
    before: Vec<u8>,
    after: Vec<u8>,
    session: Option<Arc<str>>,
}

impl Form {
    /// The session and the text of a line that is like the one before it.
    pub(super) fn text<'a>(&self, line: &'a [u8]) -> Option<(&Arc<str>, &'a str)> {
        let session = self.session.as_ref()?;
        let text = line.strip_prefix(&*self.before)?.strip_suffix(&*self.after)?;
        // Without an early end the whole of it is looked at in a few steps.
        let plain = text.iter().fold(true, |plain, byte| plain & (*byte >= b' ') & (*byte != b'"') & (*byte != b'\\'));
        plain.then_some((session, std::str::from_utf8(text).ok()?))
    }

    /// Remembers what stands around the text of this line.
    pub(super) fn learn(&mut self, line: &str, chunk: &Chunk<'_>, session: &Arc<str>) {
        let Cow::Borrowed(text) = chunk.text else { return };
        let from = text.as_ptr().addr() - line.as_ptr().addr();
        let (before, after) = (&line[..from], &line[from + text.len()..]);
        if before.len() + after.len() > REMEMBERED {
            return;
        }
        (self.before, self.after) = (before.as_bytes().to_vec(), after.as_bytes().to_vec());
        self.session = Some(Arc::clone(session));
    }
}

pub(super) struct Chunk<'a> {
    pub session: Cow<'a, str>,
    pub text: Cow<'a, str>,
}

/// `None` means only that the long way has to be taken.
pub(super) fn read(line: &str) -> Option<Chunk<'_>> {
    #[derive(Deserialize)]
    struct Line<'a> {
        #[serde(borrow)]
        method: Cow<'a, str>,
        #[serde(borrow)]
        params: Params<'a>,
        id: Option<serde::de::IgnoredAny>,
    }
    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(borrow, rename = "sessionId")]
        session: Cow<'a, str>,
        #[serde(borrow)]
        update: Update<'a>,
    }
    #[derive(Deserialize)]
    struct Update<'a> {
        #[serde(borrow, rename = "sessionUpdate")]
        kind: Cow<'a, str>,
        #[serde(borrow)]
        content: Text<'a>,
    }
    #[derive(Deserialize)]
    struct Text<'a> {
        #[serde(borrow, rename = "type")]
        kind: Cow<'a, str>,
        #[serde(borrow)]
        text: Cow<'a, str>,
    }

    let start = crate::signal::cut(line, LOOKED_AT);
    if !start.starts_with('{') || !start.contains(KIND) {
        return None;
    }
    let Line { method, params: Params { session, update }, id } = serde_json::from_str(line).ok()?;
    let plain = method == "session/update" && update.kind == KIND && update.content.kind == "text" && id.is_none();
    plain.then_some(Chunk { session, text: update.content.text })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"TEXT"}}}}"#;

    fn form() -> Form {
        let mut form = Form::default();
        form.learn(LINE, &read(LINE).unwrap(), &"s".into());
        form
    }

    #[test]
    fn a_line_of_the_same_form_is_its_text() {
        let form = form();
        for text in ["", "x", "two words", "ümläut 😀", "{}[]:,'/"] {
            let line = LINE.replace("TEXT", text);
            assert_eq!(form.text(line.as_bytes()).unwrap().1, text);
            assert_eq!(read(&line).unwrap().text, text, "and the long way says the same");
        }
    }

    #[test]
    fn whatever_json_might_read_otherwise_takes_the_long_way() {
        let form = form();
        let inside = [r"a\nb", r#"a"b"#, r#"x","text":"y"#, "tab\there", "\u{1}", "line\u{7f}\n"];
        for text in inside {
            let line = LINE.replace("TEXT", text);
            let long = read(&line).map(|chunk| chunk.text.into_owned());
            if let Some((_, text)) = form.text(line.as_bytes()) {
                assert_eq!(Some(text.to_owned()), long);
            }
        }
        let mut broken = LINE.as_bytes().to_vec();
        broken[LINE.find("TEXT").unwrap()] = 0xff;
        assert!(form.text(&broken).is_none());
        assert!(form.text(LINE.replace("\"s\"", "\"t\"").as_bytes()).is_none(), "another session");
        assert!(form.text(&LINE.as_bytes()[..LINE.len() - 1]).is_none());
        assert!(form.text(b"").is_none());
        // The end of the form may not be the end of the text as well.
        assert!(form.text(LINE.replace("TEXT\"", "").as_bytes()).is_none());
        assert!(Form::default().text(LINE.as_bytes()).is_none());
    }
}
