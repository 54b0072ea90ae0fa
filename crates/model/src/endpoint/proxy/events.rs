//! The events of a stream, one after the other and each within its bounds.
//!
//! An event is passed on once it is whole: the library does nothing with part of one, and what it would keep of it is known only then.

use genai::adapter::AdapterKind;
use hyper::body::Bytes;

use super::calls::Calls;
use super::{MAX_EVENT_MIB, MAX_WIRE_MIB};
use crate::fault::Fault;

pub(super) struct Events {
    host: String,
    form: Form,
    /// The event that is not whole yet.
    held: Vec<u8>,
    bytes: usize,
    calls: Calls,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Up to an empty line, with its data behind `data:`.
    ServerSent,
    /// One line of JSON.
    Line,
}

impl Form {
    fn is_whole(self, event: &[u8]) -> bool {
        match self {
            Form::Line => event.ends_with(b"\n"),
            Form::ServerSent => event.ends_with(b"\n\n") || event.ends_with(b"\n\r\n") || matches!(event, b"\n" | b"\r\n"),
        }
    }

    /// What says nothing, but that the endpoint is still there.
    fn heartbeat(self) -> &'static [u8] {
        match self {
            Form::Line => b"\n",
            Form::ServerSent => b":\n",
        }
    }
}

impl Events {
    pub(super) fn of(adapter: AdapterKind, host: &str) -> Events {
        let form = if adapter == AdapterKind::Ollama { Form::Line } else { Form::ServerSent };
        Events { host: host.to_owned(), form, held: Vec::new(), bytes: 0, calls: Calls::default() }
    }

    /// What may be passed on with another piece of the stream.
    pub(super) fn take(&mut self, piece: &[u8]) -> Result<Bytes, Fault> {
        self.bytes += piece.len();
        if self.bytes > MAX_WIRE_MIB << 20 {
            return Err(self.too_long(MAX_WIRE_MIB));
        }
        let mut whole = Vec::new();
        for line in piece.split_inclusive(|byte| *byte == b'\n') {
            self.held.extend_from_slice(line);
            if self.held.len() > MAX_EVENT_MIB << 20 {
                return Err(self.too_long(MAX_EVENT_MIB));
            }
            if self.form.is_whole(&self.held) {
                self.check()?;
                whole.append(&mut self.held);
            }
        }
        Ok(if whole.is_empty() { Bytes::from_static(self.form.heartbeat()) } else { whole.into() })
    }

    /// The last event, where nothing marks its end.
    pub(super) fn rest(&mut self) -> Result<Bytes, Fault> {
        self.check()?;
        Ok(std::mem::take(&mut self.held).into())
    }

    fn check(&mut self) -> Result<(), Fault> {
        // One value at most.
        if !self.held.iter().any(|byte| matches!(byte, b'{' | b'[')) {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&self.held);
        let fits = match self.form {
            Form::Line => self.calls.take(&text),
            Form::ServerSent => {
                // As the library reads it: a return alone ends a line too, so there may be several events.
                let text = text.replace("\r\n", "\n").replace('\r', "\n");
                text.split("\n\n").all(|event| self.calls.take(&data(event)))
            }
        };
        if fits { Ok(()) } else { Err(self.too_long(MAX_EVENT_MIB)) }
    }

    fn too_long(&self, most_mib: usize) -> Fault {
        Fault::TooLong { host: self.host.clone(), most_mib }
    }
}

fn data(event: &str) -> String {
    let lines: Vec<&str> = event.lines().filter_map(|line| line.trim().strip_prefix("data:")).map(str::trim).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(form: AdapterKind, pieces: &[&str]) -> Vec<String> {
        let mut events = Events::of(form, "h");
        let mut passed: Vec<_> = pieces.iter().map(|piece| events.take(piece.as_bytes()).unwrap()).collect();
        passed.push(events.rest().unwrap());
        passed.into_iter().map(|bytes| String::from_utf8(bytes.to_vec()).unwrap()).collect()
    }

    #[test]
    fn whole_events_pass_and_a_part_shows_only_that_something_came() {
        let sent = passed(AdapterKind::OpenAI, &["data: a\n\nda", "ta: b\r\n", "\r\n", ": c\n\n\n", "data: d"]);
        assert_eq!(sent, ["data: a\n\n", ":\n", "data: b\r\n\r\n", ": c\n\n\n", ":\n", "data: d"]);
        let sent = passed(AdapterKind::Ollama, &["{}\n{", "}", "\n{}"]);
        assert_eq!(sent, ["{}\n", "\n", "{}\n", "{}"]);
    }

    #[test]
    fn one_event_has_a_bound_in_bytes_and_in_values() {
        let numbers = format!("[{}1]", "1,".repeat(100_000));
        for end in ["\n\n", "\r\n\r\n", "\r\r\n\n"] {
            assert!(Events::of(AdapterKind::OpenAI, "h").take(format!("data: {numbers}{end}").as_bytes()).is_err());
        }
        let lines = numbers.replace("1,", "data: 1,\n").replacen("data:", "data:[", 1).replacen('[', "", 1);
        assert!(Events::of(AdapterKind::Gemini, "h").take(format!("{lines}\n\n").as_bytes()).is_err(), "in many lines");
        assert!(Events::of(AdapterKind::Ollama, "h").take(format!("{numbers}\n").as_bytes()).is_err());
        let mut events = Events::of(AdapterKind::Anthropic, "h");
        let short = format!("data: {{\"a\":\"{}\"}}\r\n\r\n", "x, ".repeat(100_000));
        assert!((0..50).all(|_| events.take(short.as_bytes()).is_ok()));
        assert!((0..40).any(|_| events.take("x".repeat(1 << 18).as_bytes()).is_err()), "one without an end");
    }

    #[test]
    fn all_events_together_have_a_bound() {
        let mut events = Events::of(AdapterKind::OpenAI, "h");
        let comment = format!(": {}\n\n", "x".repeat(1 << 20));
        assert_eq!((0..1000).find(|_| events.take(comment.as_bytes()).is_err()), Some(127));
    }
}
