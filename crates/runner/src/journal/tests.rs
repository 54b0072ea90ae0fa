#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::record::Body;

fn open(dir: &Path) -> Journal {
    Journal::open(dir, Durability::Process, |_| ()).unwrap()
}

fn line(journal: &Journal, text: &str) {
    assert!(journal.append(|batch| batch.push(Kind::FromAgent, &[text.as_bytes()])));
}

fn texts(dir: &Path, after: u64) -> Vec<(u64, String)> {
    let text = |body: Body| match body {
        Body::FromAgent(line) => String::from_utf8(line.to_vec()).unwrap(),
        other => format!("{other:?}"),
    };
    read_journal(dir, after).unwrap().map(|record| (record.seq, text(record.body))).collect()
}

fn tail(journal: &Journal, dir: &Path, cursor: u64) -> Vec<u64> {
    let mut tail = Tail::new(dir, cursor);
    let mut bytes = Vec::new();
    loop {
        let Step::Bytes { to, through } = tail.next(journal, || true, || Box::new(|_, _| 0)).unwrap() else { panic!("no fault was made") };
        tail.copy(to, |chunk| bytes.write_all(chunk)).unwrap();
        if through == journal.last_seq() {
            break;
        }
    }
    let mut seqs = Vec::new();
    let mut rest = bytes.as_slice();
    while let record::Peek::Whole(total) = record::peek(rest) {
        seqs.push(record::seq_of(rest));
        rest = &rest[total..];
    }
    assert!(rest.is_empty());
    seqs
}

#[test]
fn a_torn_tail_is_cut_and_the_sequence_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    line(&journal, "one");
    line(&journal, "two");
    drop(journal);
    let segment = segment_path(&dir.path().join("journal"), 1);
    let whole = fs::read(&segment).unwrap();
    fs::write(&segment, &whole[..whole.len() - 1]).unwrap();
    assert_eq!(texts(dir.path(), 0), [(1, "one".to_owned())]);
    line(&open(dir.path()), "three");
    assert_eq!(texts(dir.path(), 0), [(1, "one".to_owned()), (2, "three".to_owned())]);
}

#[test]
fn damage_in_the_middle_ends_the_reading_there() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    for text in ["one", "two", "three"] {
        line(&journal, text);
    }
    let segment = segment_path(&dir.path().join("journal"), 1);
    let mut bytes = fs::read(&segment).unwrap();
    let second = HEADER_AND_ONE + crate::record::HEADER_BYTES;
    bytes[second] ^= 1;
    fs::write(&segment, bytes).unwrap();
    assert_eq!(texts(dir.path(), 0), [(1, "one".to_owned())]);
}

const HEADER_AND_ONE: usize = crate::record::HEADER_BYTES + 3;

#[test]
fn segments_rotate_are_read_from_any_cursor_and_are_trimmed_when_acknowledged() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    let long = "x".repeat(1024 * 1024);
    for _ in 0..20 {
        line(&journal, &long);
    }
    let segments = list_segments(dir.path()).unwrap();
    assert_eq!(segments, [1, 9, 17]);
    for cursor in [0, 1, 7, 8, 9, 15, 16, 19] {
        let expected: Vec<u64> = (cursor + 1..=20).collect();
        assert_eq!(tail(&journal, dir.path(), cursor), expected, "tail from {cursor}");
        let read: Vec<u64> = texts(dir.path(), cursor).iter().map(|(seq, _)| *seq).collect();
        assert_eq!(read, expected, "journal from {cursor}");
    }
    journal.trim(7);
    assert_eq!(list_segments(dir.path()).unwrap(), [1, 9, 17]);
    journal.trim(8);
    assert_eq!(list_segments(dir.path()).unwrap(), [9, 17]);
    journal.trim(20);
    assert_eq!(list_segments(dir.path()).unwrap(), [17]);
    assert_eq!(tail(&journal, dir.path(), 16), [17, 18, 19, 20]);
    drop(journal);
    line(&open(dir.path()), "after reopening");
    assert_eq!(texts(dir.path(), 20), [(21, "after reopening".to_owned())]);
}

#[test]
fn nothing_is_taken_after_the_seal() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    line(&journal, "one");
    assert_eq!(journal.seal(|batch| batch.push(Kind::FromAgent, &[b"last"])), 2);
    line(&journal, "late");
    assert!(journal.append_or_refuse(|batch| batch.push(Kind::FromAgent, &[b"late"])).is_err());
    assert_eq!(texts(dir.path(), 0).len(), 2);
}

#[test]
fn a_missing_segment_is_a_gap_nobody_reads_across() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    let long = "x".repeat(9 * 1024 * 1024);
    for _ in 0..3 {
        line(&journal, &long);
    }
    fs::remove_file(segment_path(&dir.path().join("journal"), 2)).unwrap();
    let read: Vec<u64> = read_journal(dir.path(), 0).unwrap().map(|record| record.seq).collect();
    assert_eq!(read, [1]);
}

/// A reader that takes at most so many bytes at a time while it sleeps. Gives everything that it got, in order.
fn follow(journal: &Journal, dir: &Path, at_once: usize, write: impl FnOnce()) -> Vec<u8> {
    let got = Arc::new(Mutex::new(Vec::new()));
    let wanted = AtomicBool::new(true);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut tail = Tail::new(dir, 0);
            let take = || -> Take {
                let got = Arc::clone(&got);
                Box::new(move |bytes, _| {
                    let taken = &bytes[..bytes.len().min(at_once)];
                    got.lock().unwrap().extend_from_slice(taken);
                    taken.len()
                })
            };
            while let Step::Bytes { to, .. } = tail.next(journal, || wanted.load(Ordering::Acquire), take).unwrap() {
                tail.copy(to, |chunk| got.lock().unwrap().write_all(chunk)).unwrap();
            }
        });
        write();
        let whole = read_journal(dir, 0).unwrap().count();
        while count(&got.lock().unwrap()) < whole {
            std::thread::yield_now();
        }
        wanted.store(false, Ordering::Release);
        journal.rouse();
    });
    Arc::into_inner(got).unwrap().into_inner().unwrap()
}

fn count(mut bytes: &[u8]) -> usize {
    let mut count = 0;
    while let record::Peek::Whole(total) = record::peek(bytes) {
        bytes = &bytes[total..];
        count += 1;
    }
    count
}

#[test]
fn a_sleeping_reader_is_handed_everything_once_and_in_order() {
    for at_once in [0, 1, 40, usize::MAX] {
        let dir = tempfile::tempdir().unwrap();
        let journal = open(dir.path());
        let long = "x".repeat(3 * 1024 * 1024);
        // Long lines begin new segments, which a reader has to enter itself.
        let got = follow(&journal, dir.path(), at_once, || (0..40).for_each(|n| line(&journal, if n % 8 == 7 { &long } else { "short" })));
        let mut on_disk = Vec::new();
        for segment in list_segments(dir.path()).unwrap() {
            on_disk.extend(fs::read(segment_path(&dir.path().join("journal"), segment)).unwrap());
        }
        assert!(got == on_disk, "at most {at_once} bytes at once");
    }
}

#[test]
fn a_fault_is_told_behind_a_whole_record() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    line(&journal, "first");
    let asleep = AtomicBool::new(false);
    let taken = Arc::new(Mutex::new(0));
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut tail = Tail::new(dir.path(), 0);
            let take = || -> Take {
                let taken = Arc::clone(&taken);
                asleep.store(true, Ordering::Release);
                Box::new(move |_, _| {
                    *taken.lock().unwrap() += 1;
                    1
                })
            };
            let mut steps = Vec::new();
            while !matches!(steps.last(), Some(Step::Fault(_))) {
                let step = tail.next(&journal, || true, take).unwrap();
                if let Step::Bytes { to, .. } = &step {
                    tail.copy(*to, |_| Ok(())).unwrap();
                }
                steps.push(step);
            }
            steps
        });
        while !asleep.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
        // Both happen before the reader can wake.
        let writer = journal.writer();
        let mut published = journal.published();
        assert!(published.sleeper.as_mut().is_some_and(|sleeper| !sleeper.hand(1, writer.segments.current().bytes, b"whole", 2)));
        published.segments[0].bytes += 5;
        fs::OpenOptions::new().append(true).open(segment_path(&dir.path().join("journal"), 1)).unwrap().write_all(b"whole").unwrap();
        published.fault = Some("full".to_owned());
        drop(published);
        journal.news.notify_all();
        let steps = reader.join().unwrap();
        assert!(matches!(steps[..], [Step::Bytes { .. }, Step::Bytes { .. }, Step::Fault(Some(_))]), "{}", steps.len());
    });
}

/// What a journal of a long prompt takes, and what can still be read of it.
#[test]
fn of_stored_lines_only_the_latest_stay_and_all_that_went_to_the_agent() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    let (ids, long) = ([uuid::Uuid::new_v4(), uuid::Uuid::new_v4()], "x".repeat(1_000_000));
    let write = |id: &uuid::Uuid, text: &str| {
        journal.append_or_refuse(|batch| batch.push(Kind::ToAgent, &[id.as_bytes(), text.as_bytes()])).unwrap();
    };
    write(&ids[0], "a prompt");
    (0..100).for_each(|_| line(&journal, &long));
    write(&ids[1], &long);
    (0..80).for_each(|_| line(&journal, &long));
    let disk = || fs::read_dir(dir.path().join("journal")).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum::<u64>();
    journal.thin(dir.path(), 20).unwrap();
    assert!(disk() > 120_000_000, "what is not stored stays");
    journal.thin(dir.path(), journal.last_seq()).unwrap();
    assert!((50_000_000..STORED_BYTES + 9_000_000).contains(&disk()), "{}", disk());
    let records: Vec<_> = read_journal(dir.path(), 0).unwrap().collect();
    let written = |record: &record::Record| match &record.body {
        Body::ToAgent { write_id, line } => Some((record.seq, *write_id, line.len())),
        _ => None,
    };
    assert_eq!(records.iter().filter_map(written).collect::<Vec<_>>(), [(1, ids[0], 8), (102, ids[1], 0)]);
    assert_eq!(records.last().unwrap().seq, 182);
    assert!(records.windows(2).all(|pair| pair[0].seq < pair[1].seq));
    assert_eq!(tail(&journal, dir.path(), 170), (171..=182).collect::<Vec<_>>());
    assert_eq!(texts(dir.path(), 180).len(), 2);
    drop(journal);
    line(&open(dir.path()), "goes on");
    assert_eq!(read_journal(dir.path(), 0).unwrap().last().unwrap().seq, 183);
    open(dir.path()).trim(183);
    assert_eq!(fs::read_dir(dir.path().join("journal")).unwrap().count(), 1);
}
