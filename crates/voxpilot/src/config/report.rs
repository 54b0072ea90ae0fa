//! The settings as a table for people.

use super::form::visible;
use super::resolve::Entry;

pub(super) fn table(entries: &[Entry]) -> String {
    let heading = ["setting".to_owned(), "value".to_owned(), "from".to_owned()];
    let line = |entry: &Entry| {
        let value = entry.value.clone().unwrap_or_else(|| "-".to_owned());
        [entry.key.clone(), visible(&value), visible(&entry.origin.to_string())]
    };
    let lines: Vec<_> = std::iter::once(heading).chain(entries.iter().map(line)).collect();
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let (first, second) = (width(0), width(1));
    lines.iter().map(|[key, value, origin]| format!("{key:first$}  {value:second$}  {origin}\n")).collect()
}
