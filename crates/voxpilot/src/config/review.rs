//! A project's file as the person who is asked to trust it sees it: the very lines that need consent, and what each does.

use std::ops::Range;
use std::path::PathBuf;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::form::visible;
use super::project::needs_consent;
use super::{ConfigFile, Script, Sources, file};

/// The work directory's file as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Review {
    pub path: PathBuf,
    /// Of all that consent is given to: see [`ConfigFile::hash`].
    pub hash: String,
    /// All of it counts.
    pub trusted: bool,
    /// What needs consent, in order; nothing where it is harmless.
    pub lines: Vec<Line>,
    /// What those lines run below the project.
    pub scripts: Vec<Script>,
    /// Why nothing of it can count.
    pub problem: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// From 1.
    pub number: usize,
    /// As it is in the file, hidden characters made visible.
    pub text: String,
    pub key: String,
    /// What it does.
    pub why: &'static str,
}

impl Review {
    /// Somebody should look at it.
    pub fn is_waiting(&self) -> bool {
        !self.trusted && !self.lines.is_empty()
    }
}

impl Sources {
    /// None where the work directory has no file.
    pub fn review(&self) -> Option<Review> {
        let source = self.project.as_ref()?;
        let (lines, problem) = match lines(source, self) {
            Ok(lines) => (lines, None),
            Err(problem) => (Vec::new(), Some(problem)),
        };
        Some(Review {
            path: source.path.clone(),
            hash: source.hash(),
            trusted: source.trusted,
            lines,
            scripts: source.scripts.clone(),
            problem,
        })
    }
}

/// A key of the file and where it is: its section's heading, or the key up to the end of its value.
struct Place {
    range: Range<usize>,
    key: String,
    why: Option<&'static str>,
}

/// Whatever is neither empty nor a comment and does not belong to a harmless key.
fn lines(source: &ConfigFile, sources: &Sources) -> Result<Vec<Line>, String> {
    let values = file::table(source)?;
    let spans = DeTable::parse(&source.text).map_err(|error| error.message().to_owned())?;
    let mut places = Vec::new();
    for (key, value) in spans.get_ref() {
        let name: &str = key.get_ref();
        let why = values.get(name).and_then(|value| needs_consent(name, value, sources.own_policy()));
        find(&key.span(), value, name, why, &mut places);
    }
    let texts: Vec<_> = source.text.split_inclusive('\n').collect();
    let by_line = by_line(&texts, &places);
    let line = |(index, (text, place)): (usize, (&&str, Option<&Place>))| {
        let text = text.trim_end_matches(['\n', '\r']);
        let (key, why) = match place {
            Some(place) => (place.key.as_str(), place.why?),
            None if text.trim().is_empty() || text.trim_start().starts_with('#') => return None,
            None => ("", "is not understood"),
        };
        Some(Line { number: index + 1, text: visible(text), key: visible(key), why })
    };
    Ok(texts.iter().zip(by_line).enumerate().filter_map(line).collect())
}

fn find(key: &Range<usize>, value: &Spanned<DeValue<'_>>, path: &str, why: Option<&'static str>, places: &mut Vec<Place>) {
    // The span of a section is its heading, which holds the key; any other value comes behind its key.
    let (heading, end) = (value.span(), value.span().end.max(key.end));
    places.push(Place { range: heading.start.min(key.start)..end, key: path.to_owned(), why });
    if heading.start > key.start {
        return;
    }
    let tables = match value.get_ref() {
        DeValue::Table(table) => vec![(heading, table)],
        DeValue::Array(items) => items.iter().filter_map(|item| Some((item.span(), item.get_ref().as_table()?))).collect(),
        _ => Vec::new(),
    };
    for (heading, table) in tables {
        places.push(Place { range: heading, key: path.to_owned(), why });
        for (name, value) in table {
            find(&name.span(), value, &format!("{path}.{}", name.get_ref()), why, places);
        }
    }
}

/// For each line the innermost key on it, one that needs consent before any other.
fn by_line<'a>(texts: &[&str], places: &'a [Place]) -> Vec<Option<&'a Place>> {
    let ends: Vec<usize> = texts
        .iter()
        .scan(0, |end, text| {
            *end += text.len();
            Some(*end)
        })
        .collect();
    let line_of = |byte: usize| ends.partition_point(|end| *end <= byte);
    let rank = |place: &Place| (place.why.is_some(), place.key.len());
    let mut found: Vec<Option<&Place>> = vec![None; texts.len()];
    for place in places.iter().filter(|place| !place.range.is_empty()) {
        for line in line_of(place.range.start)..=line_of(place.range.end - 1) {
            if let Some(best) = found.get_mut(line)
                && best.is_none_or(|best| rank(best) < rank(place))
            {
                *best = Some(place);
            }
        }
    }
    found
}
