//! What is wrong with a record, and what is left of it. Pure.

use std::fmt;

use serde_json::Value;
use uuid::Uuid;

use super::Records;

/// The first thing that is wrong, and how much more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Damage {
    pub kind: Kind,
    /// Counted from one.
    pub line: usize,
    /// Where that line begins, or where the tail does.
    pub byte: usize,
    /// How many lines are no events, the torn last one not counted.
    pub lines: usize,
    /// What is left can be loaded once the rest is taken out.
    pub repairable: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The last line was not written to its end.
    TornTail,
    /// Zeros at the end, as a loss of power leaves them.
    NulTail,
    /// A complete line that is no event.
    Garbage,
    /// The event that comes first is missing.
    NoBeginning,
}

impl fmt::Display for Damage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Damage { line, byte, lines, .. } = *self;
        match self.kind {
            Kind::TornTail => write!(out, "its last line is torn (line {line}, byte {byte})"),
            Kind::NulTail => write!(out, "it ends in zeros (line {line}, byte {byte})"),
            Kind::Garbage => write!(out, "line {line} is no event (byte {byte})"),
            Kind::NoBeginning => write!(out, "its beginning is missing (line {line}, byte {byte})"),
        }?;
        let more = if self.kind == Kind::Garbage { lines.saturating_sub(1) } else { lines };
        if more > 0 { write!(out, ", and {more} more line(s) are no events") } else { Ok(()) }
    }
}

pub(super) fn find(bytes: &[u8], shape: &Records) -> Option<Damage> {
    look(bytes, shape).1
}

/// What is left when everything damaged is taken out; `None` where that could not be loaded either.
pub(super) fn mended(bytes: &[u8], shape: &Records) -> Option<Vec<u8>> {
    match look(bytes, shape) {
        (left, Some(Damage { repairable: true, .. })) => Some(left),
        _ => None,
    }
}

fn look(bytes: &[u8], shape: &Records) -> (Vec<u8>, Option<Damage>) {
    let written = bytes.len() - bytes.iter().rev().take_while(|byte| **byte == 0).count();
    let (mut left, mut first, mut byte) = (Vec::new(), None, 0);
    let (mut garbage, mut tail): (Vec<(usize, usize)>, _) = (Vec::new(), None);
    let mut number = 0;
    for line in bytes[..written].split_inclusive(|byte| *byte == b'\n') {
        number += 1;
        match read(line, shape) {
            Line::Empty => {}
            Line::Event(kind) => {
                first.get_or_insert((kind.as_deref() == Some(shape.first), number, byte));
                left.extend_from_slice(line);
            }
            Line::Garbage if line.ends_with(b"\n") => garbage.push((number, byte)),
            Line::Garbage => tail = Some((Kind::TornTail, number, byte)),
        }
        byte += line.len();
    }
    if written < bytes.len() && tail.is_none() {
        tail = Some((Kind::NulTail, number + 1, written));
    }
    if !left.is_empty() && !left.ends_with(b"\n") {
        left.push(b'\n');
    }
    let repairable = first.is_some_and(|(is_first, ..)| is_first);
    let beginning = first.filter(|(is_first, ..)| !is_first).map(|(_, line, byte)| (Kind::NoBeginning, line, byte));
    let worst = beginning.or_else(|| garbage.first().map(|(line, byte)| (Kind::Garbage, *line, *byte))).or(tail);
    let damage = worst.map(|(kind, line, byte)| Damage { kind, line, byte, lines: garbage.len(), repairable });
    (left, damage)
}

enum Line {
    Empty,
    /// Its type; one without any is passed over by the agent.
    Event(Option<String>),
    Garbage,
}

/// As strict as the agent, and not stricter: what it reads is not damaged.
fn read(line: &[u8], shape: &Records) -> Line {
    if line.trim_ascii().is_empty() {
        return Line::Empty;
    }
    let Ok(event) = serde_json::from_str::<Value>(&String::from_utf8_lossy(line)) else { return Line::Garbage };
    let Some(kind) = event["type"].as_str() else { return Line::Event(None) };
    if !shape.families.iter().any(|family| kind.starts_with(family)) {
        return Line::Event(Some(kind.to_owned()));
    }
    let has_id = event["id"].as_str().is_some_and(|id| Uuid::parse_str(id).is_ok());
    let has_text = !shape.messages.contains(&kind) || event["data"]["content"].is_string();
    if has_id && has_text { Line::Event(Some(kind.to_owned())) } else { Line::Garbage }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::catalogue::{COPILOT, Catalogue, Settings};

    const START: &str = r#"{"type":"session.start","data":{"sessionId":"s"},"id":"b93ec98b-8f31-4d47-a002-f240514ede74","parentId":null}"#;
    const SAID: &str = r#"{"type":"user.message","data":{"content":"hi"},"id":"41317184-18e2-4bd2-8578-77c05274a3c5"}"#;
    const TURN: &str = r#"{"type":"assistant.turn_end","data":{},"id":"41317184-18e2-4bd2-8578-77c05274a3c6"}"#;

    fn shape() -> Records {
        let settings = Settings {
            copilot_command: "copilot".into(),
            copilot_home: None,
            copilot_token_file: None,
            own_exe: "x".into(),
            configured: vec![],
        };
        Catalogue::new(settings).get(COPILOT).unwrap().quirks.records.unwrap()
    }

    fn lines(lines: &[&str]) -> Vec<u8> {
        lines.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect()
    }

    #[test]
    fn what_the_agent_can_read_is_sound() {
        let whole = lines(&[START, SAID, TURN]);
        let without_end = whole[..whole.len() - 1].to_vec();
        for sound in [whole, without_end, lines(&[START, "", r#"{"a":1}"#, r#"{"type":"x.y"}"#, SAID]), lines(&[START]), Vec::new()] {
            assert_eq!(find(&sound, &shape()), None, "{}", String::from_utf8_lossy(&sound));
        }
    }

    #[test]
    fn every_kind_of_damage_is_named_with_its_place_and_what_is_left() {
        let whole = lines(&[START, SAID]);
        let at = |text: &str| START.len() + 1 + text.len();
        let half = &TURN.as_bytes()[..20];
        let no_text = r#"{"type":"user.message","data":{},"id":"41317184-18e2-4bd2-8578-77c05274a3c5"}"#;
        for (bytes, kind, line, byte, left) in [
            ([whole.clone(), half.to_vec()].concat(), Kind::TornTail, 3, whole.len(), Some(whole.clone())),
            ([whole.clone(), vec![0; 300]].concat(), Kind::NulTail, 3, whole.len(), Some(whole.clone())),
            ([whole.clone(), half.to_vec(), vec![0; 300]].concat(), Kind::TornTail, 3, whole.len(), Some(whole.clone())),
            (lines(&[START, "no event", SAID]), Kind::Garbage, 2, at(""), Some(whole.clone())),
            (lines(&[START, r#"{"type":"tool.done"}"#, SAID]), Kind::Garbage, 2, at(""), Some(whole.clone())),
            (lines(&[START, no_text, SAID]), Kind::Garbage, 2, at(""), Some(whole.clone())),
            (lines(&["no event", START, SAID]), Kind::Garbage, 1, 0, Some(whole.clone())),
            (lines(&[SAID, TURN]), Kind::NoBeginning, 1, 0, None),
            (vec![0xff, 0, 0x9d, b'\n', 0xfe, 1], Kind::Garbage, 1, 0, None),
        ] {
            let damage = find(&bytes, &shape()).unwrap();
            assert_eq!((damage.kind, damage.line, damage.byte), (kind, line, byte), "{}", String::from_utf8_lossy(&bytes));
            assert_eq!(mended(&bytes, &shape()), left, "{damage}");
            assert!(left.is_none_or(|left| find(&left, &shape()).is_none()));
        }
    }
}
