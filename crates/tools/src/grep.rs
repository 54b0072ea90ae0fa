//! `grep_search`: lines that match a regular expression, found with ripgrep's own libraries.

use std::fs::File;
use std::io::{self, Read};

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};

use crate::arguments::{self, GrepSearch};
use crate::beneath::Kind;
use crate::bound::{self, CONTENT_BYTES};
use crate::deadline::Deadline;
use crate::walk::{Entries, PathGlob};
use crate::work_dir::WorkDir;
use crate::{Answer, Output, Refusal};

const DEFAULT_RESULTS: u64 = 200;
const MOST_RESULTS: u64 = 2000;
const LINE_BYTES: usize = 400;

/// A line longer than this makes the searcher give up on the file, so memory stays bounded.
const HEAP_BYTES: usize = 16 * 1024 * 1024;

pub(crate) fn run(work_dir: &WorkDir, arguments: GrepSearch, deadline: &Deadline) -> Answer {
    let path = arguments::given(&arguments.path).unwrap_or(".");
    let start = work_dir.root().existing(path)?;
    let matcher = matcher(&arguments)?;
    let glob = arguments::given(&arguments.glob).map(|pattern| PathGlob::new(pattern, work_dir, &start.path)).transpose()?;
    let mut search = Search {
        searcher: searcher(),
        matcher,
        found: Found {
            text: String::new(),
            count: 0,
            limit: arguments.max_results.unwrap_or(DEFAULT_RESULTS).clamp(1, MOST_RESULTS),
            is_full: false,
            deadline,
        },
        skipped: 0,
    };
    if start.kind == Some(Kind::Directory) {
        for item in Entries::below(work_dir, &start)? {
            deadline.check()?;
            if item.kind != Kind::File || glob.as_ref().is_some_and(|glob| !glob.wants(&item.path)) {
                continue;
            }
            let shown = WorkDir::shown(&item.path);
            search.file(item.open(&shown), &shown)?;
            if search.found.is_full {
                break;
            }
        }
    } else {
        let (file, _) = start.file(path)?;
        search.file(Ok(file), &WorkDir::shown(&start.path))?;
    }
    deadline.check()?;
    Ok(Output::text(search.into_text(&arguments.pattern)))
}

fn matcher(arguments: &GrepSearch) -> Result<RegexMatcher, Refusal> {
    let pattern = &arguments.pattern;
    if pattern.is_empty() {
        return Err(Refusal::new("the pattern of grep_search is empty"));
    }
    let mut builder = RegexMatcherBuilder::new();
    // The order counts: `crlf` lets `$` match before a CR, and would also change the terminator.
    builder.multi_line(true).crlf(true).line_terminator(Some(b'\n'));
    match arguments.case_sensitive {
        Some(matters) => builder.case_insensitive(!matters),
        None => builder.case_smart(true),
    };
    builder.build(pattern).map_err(|why| {
        let why = bound::clean(bound::prefix(&why.to_string(), 1000));
        Refusal::new(format!("'{}' is not a valid regular expression: {why}", bound::name(pattern)))
    })
}

fn searcher() -> Searcher {
    SearcherBuilder::new().line_number(true).binary_detection(BinaryDetection::quit(0)).heap_limit(Some(HEAP_BYTES)).build()
}

struct Search<'a> {
    searcher: Searcher,
    matcher: RegexMatcher,
    found: Found<'a>,
    skipped: u64,
}

impl Search<'_> {
    /// A file that cannot be read is counted, not fatal: one broken file must not hide the others.
    fn file(&mut self, opened: Result<File, Refusal>, shown: &str) -> Result<(), Refusal> {
        let Ok(file) = opened else {
            self.skipped += 1;
            return Ok(());
        };
        let reader = Timed { file, deadline: self.found.deadline };
        let sink = Lines { path: shown, found: &mut self.found };
        let searched = self.searcher.search_reader(&self.matcher, reader, sink);
        self.found.deadline.check()?;
        self.skipped += u64::from(searched.is_err());
        Ok(())
    }

    fn into_text(self, pattern: &str) -> String {
        let Found { text, count, is_full, .. } = self.found;
        let mut notes = Vec::new();
        if is_full {
            notes.push(format!("the first {count} matching lines; there are more: use path, glob, a narrower pattern or max_results"));
        }
        if self.skipped > 0 {
            notes.push(format!("{} files could not be read and were skipped", self.skipped));
        }
        let body = if count == 0 { format!("no line matches '{}'", bound::name(pattern)) } else { text };
        if notes.is_empty() { body } else { format!("[{}]\n{body}", notes.join("; ")) }
    }
}

struct Found<'a> {
    text: String,
    count: u64,
    limit: u64,
    is_full: bool,
    deadline: &'a Deadline,
}

struct Lines<'a, 'b> {
    path: &'a str,
    found: &'a mut Found<'b>,
}

impl Sink for Lines<'_, '_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, line: &SinkMatch<'_>) -> Result<bool, io::Error> {
        let bytes = line.bytes();
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(LINE_BYTES * 2)]);
        let text = text.trim_end_matches(['\n', '\r']);
        let kept = bound::prefix(text, LINE_BYTES);
        let mark = if kept.len() < text.len() || bytes.len() > LINE_BYTES * 2 { "…" } else { "" };
        let number = line.line_number().unwrap_or(0);
        let result = format!("{}:{number}: {}{mark}\n", self.path, bound::clean(kept));
        let found = &mut *self.found;
        if found.count == found.limit || found.text.len() + result.len() > CONTENT_BYTES {
            found.is_full = true;
            return Ok(false);
        }
        found.text.push_str(&result);
        found.count += 1;
        Ok(!found.deadline.passed())
    }
}

/// A file without matches asks nobody anything, so the deadline is looked at while reading.
struct Timed<'a> {
    file: File,
    deadline: &'a Deadline,
}

impl Read for Timed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.deadline.passed() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.file.read(buffer)
    }
}
