//! The journal of a runner, read from its files after whatever a crash or a bad disk has left.
//!
//! An input is a recipe, one step a line, so that most inputs are whole records with some damage:
//!
//! ```text
//! segment 1                 a file whose name says that it begins with record 1
//! record 1 from {"id":1}    a whole record with this number and kind (from, to, exit, oversized, notice, or a number)
//! raw 00ff                  these bytes
//! flip 130                  flips this bit of the file so far
//! cut 40                    cuts the file to so many bytes
//! drop 5                    cuts so many bytes off its end
//! after 3                   reads what follows record 3
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use runner::{Body, Record, read_journal};
use serde::Deserialize;

use super::recipe::hexadecimal;
use super::{Memory, Target};
use crate::corpus::Corpus;
use crate::features::Features;
use crate::mutate::{self, Language};
use crate::random::Random;
use crate::scratch;

pub(super) const TARGET: Target = Target {
    name: "journal",
    about: "segments of a runner's journal, torn and garbled",
    run,
    generate,
    max_bytes: 8 * 1024,
    memory: Memory::USUAL,
};

const HEADER_BYTES: usize = 25;

const LANGUAGE: Language = Language {
    words: &[
        "segment 1\n",
        "segment 2\n",
        "segment 3\n",
        "segment 18446744073709551615\n",
        "record 1 from {\"a\":1}\n",
        "record 2 to 0123456789abcdef{\"a\":1}\n",
        "record 2 to short\n",
        "record 3 exit {\"code\":0,\"signal\":null,\"stderr_tail\":\"\"}\n",
        "record 3 exit {}\n",
        "record 4 oversized 12345678\n",
        "record 4 oversized 1\n",
        "record 5 notice the disk is full\n",
        "record 5 128 live\n",
        "record 5 77 later\n",
        "record 1 thinned 3\n",
        "record 2 thinned 18446744073709551615\n",
        "record 18446744073709551615 from x\n",
        "raw ffffffff\n",
        "raw 00000000ffffffff\n",
        "flip 1\n",
        "cut 30\n",
        "drop 1\n",
        "after 1\n",
    ],
    lines: true,
    json: false,
    text: true,
};

fn generate(random: &mut Random, corpus: &Corpus, max_bytes: usize) -> Vec<u8> {
    mutate::mutate(random, corpus, &LANGUAGE, max_bytes)
}

static DIR: LazyLock<PathBuf> = LazyLock::new(|| scratch::dir("journal"));

#[derive(Default)]
struct Recipe {
    segments: BTreeMap<u64, Vec<u8>>,
    after: u64,
}

impl Recipe {
    fn parse(input: &[u8]) -> Recipe {
        let mut recipe = Recipe::default();
        let mut current = 1;
        for line in input.split(|byte| *byte == b'\n') {
            let mut words = line.splitn(2, |byte| *byte == b' ');
            let (step, rest) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            let number = || std::str::from_utf8(rest).ok()?.trim().parse::<u64>().ok();
            let bytes = recipe.segments.entry(current).or_default();
            let length = bytes.len();
            match (step, number()) {
                (b"segment", Some(number)) => current = number,
                (b"record", _) => append_record(bytes, rest),
                (b"raw", _) => bytes.extend(hexadecimal(rest)),
                (b"flip", Some(bit)) if length > 0 => bytes[bit as usize / 8 % length] ^= 1 << (bit % 8),
                (b"cut", Some(most)) => bytes.truncate(usize::try_from(most).unwrap_or(usize::MAX)),
                (b"drop", Some(count)) => bytes.truncate(length.saturating_sub(usize::try_from(count).unwrap_or(usize::MAX))),
                (b"after", Some(number)) => recipe.after = number,
                _ => {}
            }
        }
        recipe
    }

    /// Writes the segments as a runner names them. Gives the runner's directory.
    fn write(&self) -> PathBuf {
        let dir = DIR.clone();
        let journal = dir.join("journal");
        let _there_was_none = std::fs::remove_dir_all(&journal);
        std::fs::create_dir(&journal).expect("the directory was just removed");
        for (first, bytes) in &self.segments {
            std::fs::write(journal.join(format!("{first:010}.seg")), bytes).expect("writing a segment");
        }
        dir
    }
}

/// `SEQ KIND PAYLOAD` as a whole record.
fn append_record(bytes: &mut Vec<u8>, line: &[u8]) {
    let mut words = line.splitn(3, |byte| *byte == b' ');
    let mut text = || std::str::from_utf8(words.next().unwrap_or_default()).unwrap_or_default();
    let seq: u64 = text().parse().unwrap_or_default();
    let kind: u8 = match text() {
        "from" => 1,
        "to" => 2,
        "exit" => 3,
        "oversized" => 4,
        "notice" => 5,
        "thinned" => 6,
        other => other.parse().unwrap_or_default(),
    };
    let text = words.next().unwrap_or_default();
    // Of a thinned segment the payload is a number, which nobody would hit by chance.
    let through = (kind == 6).then(|| std::str::from_utf8(text).ok()?.parse::<u64>().ok()).flatten();
    let through = through.map(u64::to_le_bytes);
    let payload = through.as_ref().map_or(text, |number| &number[..]);
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
    let time_ms = seq.wrapping_mul(7);
    let framed = [&length.to_le_bytes(), &seq.to_le_bytes()[..], &time_ms.to_le_bytes(), &[kind], payload].concat();
    bytes.extend(crc32fast::hash(&framed).to_le_bytes());
    bytes.extend(framed);
}

/// What follows record `after` up to the first damage, read by the description of the format alone: sequence number, time, kind and
/// payload. Reading begins with the last segment that can hold the next record.
fn expected(segments: &BTreeMap<u64, Vec<u8>>, after: u64) -> Vec<(u64, u64, u8, Vec<u8>)> {
    let mut records: Vec<(u64, u64, u8, Vec<u8>)> = Vec::new();
    let mut next: Option<u64> = None;
    let begin = segments.keys().rfind(|first| **first <= after.saturating_add(1)).copied().unwrap_or_default();
    for (first, bytes) in segments.range(begin..) {
        if *next.get_or_insert(*first) != *first {
            return records;
        }
        let mut rest = bytes.as_slice();
        let thinned = thinned(*first, rest);
        rest = &rest[thinned.map_or(0, |(length, _)| length)..];
        let through = thinned.map_or(0, |(_, through)| through);
        while !rest.is_empty() {
            let Some(frame) = whole_frame(rest) else { return records };
            let number = |from: usize| u64::from_le_bytes(frame[from..from + 8].try_into().expect("eight bytes"));
            let (seq, time_ms, kind, payload) = (number(8), number(16), frame[24], frame[HEADER_BYTES..].to_vec());
            let is_gap = next.is_some_and(|next| next < seq && seq <= through);
            if (Some(seq) != next && !is_gap) || !is_known(kind, &payload) {
                return records;
            }
            if seq > after {
                records.push((seq, time_ms, kind, payload));
            }
            next = seq.checked_add(1);
            rest = &rest[frame.len()..];
        }
        next = next.max(thinned.map(|(_, through)| through.saturating_add(1)));
    }
    records
}

/// How long the record is with which a thinned segment begins, and up to where records are missing behind it.
fn thinned(first: u64, segment: &[u8]) -> Option<(usize, u64)> {
    let frame = whole_frame(segment).filter(|frame| frame[8..16] == first.to_le_bytes() && frame[24] == 6)?;
    let through = u64::from_le_bytes(*frame[HEADER_BYTES..].first_chunk()?);
    (through >= first).then_some((frame.len(), through))
}

fn whole_frame(bytes: &[u8]) -> Option<&[u8]> {
    let word = |from: usize| Some(u32::from_le_bytes(bytes.get(from..from + 4)?.try_into().ok()?));
    let total = HEADER_BYTES.checked_add(word(4)? as usize)?;
    let frame = bytes.get(..total)?;
    (crc32fast::hash(&frame[4..]) == word(0)?).then_some(frame)
}

#[derive(Deserialize)]
struct Exit {
    #[serde(rename = "code")]
    _code: Option<i32>,
    #[serde(rename = "signal")]
    _signal: Option<i32>,
    #[serde(rename = "stderr_tail")]
    _stderr_tail: String,
}

/// Whether a reader of this version understands the payload.
fn is_known(kind: u8, payload: &[u8]) -> bool {
    match kind {
        1 | 5 | 0x80 => true,
        2 => payload.len() >= 16,
        3 => serde_json::from_slice::<Exit>(payload).is_ok(),
        4 => payload.len() >= 8,
        _ => false,
    }
}

fn run(input: &[u8], features: &mut Features) {
    let recipe = Recipe::parse(input);
    let dir = recipe.write();
    features.note_size("segments", recipe.segments.len());
    hold(&dir, &recipe, 0, features);
    hold(&dir, &recipe, recipe.after, features);
}

/// What is read behind `after` is what is there, whole and without a gap.
fn hold(dir: &Path, recipe: &Recipe, after: u64, features: &mut Features) {
    let read: Vec<Record> = read_journal(dir, after).expect("the files can be read").collect();
    let expected = expected(&recipe.segments, after);
    features.note_size("records", read.len());
    assert!(read.len() == expected.len(), "behind {after}, {} records were read, not {}", read.len(), expected.len());
    for (record, (seq, time_ms, kind, payload)) in read.iter().zip(&expected) {
        assert!((record.seq, record.time_ms) == (*seq, *time_ms), "record {seq} is read as {record:?}");
        features.note((kind, payload.is_empty()));
        let same = match &record.body {
            Body::FromAgent(line) => *kind == 1 && line == payload,
            Body::ToAgent { write_id, line } => *kind == 2 && write_id.as_bytes() == &payload[..16] && *line == payload[16..],
            Body::Exit { .. } => *kind == 3,
            Body::Oversized { bytes } => *kind == 4 && bytes.to_le_bytes() == payload[..8],
            Body::Notice(text) => matches!(kind, 5 | 0x80) && *text == String::from_utf8_lossy(payload),
        };
        assert!(same, "record {seq} says something else than the file: {record:?}");
    }
}
